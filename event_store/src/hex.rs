//! Bytes as lower-case hexadecimal text, as hashes and signatures are written for people.

use std::fmt::Write as _;

/// Two digits a byte.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Exactly `N` bytes; none from anything else.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != N * 2 {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = [pair[0], pair[1]].map(|digit| char::from(digit).to_digit(16));
        *byte = (high? << 4 | low?) as u8;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let bytes = [0, 1, 0x7f, 0x80, 0xff];
        assert_eq!(encode(&bytes), "00017f80ff");
        assert_eq!(decode(&encode(&bytes)), Some(bytes));
        for odd in ["", "00017f80f", "00017f80ff0", "00017f80fg", "é0017f80f", "00017f80ff00"] {
            assert_eq!(decode::<5>(odd), None, "{odd}");
        }
    }
}
