//! The bytes of one stored message. Derived data: another layout takes a new format byte and a rebuild.
//!
//! A format byte, then type, flags, msg_id, sender, create_at, client_msg_id, reply_to (0: none), mentions and
//! content, in that order. Numbers are LEB128 but for the ids; lists and the content are preceded by their length.
//! No bytes at all stand for a message whose body is erased.

use domain::{ClientMsgId, Content, Fact, Flags, MsgId, MsgType, Sender, Seq, Uid};
use uuid::Uuid;

const FORMAT: u8 = 1;

/// Stored bytes that make no sense.
#[derive(Debug, thiserror::Error)]
#[error("read a stored message: {0}")]
pub(crate) struct Damaged(pub &'static str);

pub(crate) fn encode(fact: &Fact) -> Vec<u8> {
    let json = fact.content.json().as_bytes();
    let mut bytes = Vec::with_capacity(json.len() + 56);
    bytes.extend([FORMAT, fact.content.msg_type().get()]);
    put(&mut bytes, fact.flags.get().into());
    bytes.extend(fact.msg_id.get().to_le_bytes());
    put(&mut bytes, fact.sender.get());
    put(&mut bytes, zigzag(fact.create_at));
    bytes.extend(fact.client_msg_id.get().as_bytes());
    put(&mut bytes, fact.reply_to.map_or(0, Seq::get));
    put(&mut bytes, fact.mentions.len() as u64);
    fact.mentions.iter().for_each(|uid| put(&mut bytes, uid.get()));
    put(&mut bytes, json.len() as u64);
    bytes.extend(json);
    bytes
}

/// None where the body is erased.
pub(crate) fn decode(seq: Seq, bytes: &[u8]) -> Result<Option<Fact>, Damaged> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut rest = Reader(bytes);
    if rest.byte()? != FORMAT {
        return Err(Damaged("its format is not known"));
    }
    let msg_type = MsgType::new(rest.byte()?.into()).ok_or(Damaged("its type is not known"))?;
    let flags = Flags::new(rest.number()? as u16);
    let msg_id = MsgId::new(u64::from_le_bytes(rest.array()?));
    let sender = Sender::new(rest.number()?).map_err(|_| Damaged("its sender is out of range"))?;
    let create_at = unzigzag(rest.number()?);
    let client_msg_id = ClientMsgId::new(Uuid::from_bytes(rest.array()?));
    let reply_to = Some(rest.number()?).filter(|seq| *seq > 0).map(Seq::new);
    let mentions = (0..rest.number()?).map(|_| rest.uid()).collect::<Result<_, _>>()?;
    let length = rest.number()? as usize;
    let json = std::str::from_utf8(rest.take(length)?).map_err(|_| Damaged("its content is not UTF-8"))?;
    let content = Content::from_log(msg_type, json.to_owned());
    Ok(Some(Fact { seq, msg_id, sender, content, flags, mentions, reply_to, client_msg_id, create_at }))
}

/// Appends a LEB128 number.
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// What is still to be read.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Damaged("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        self.take(N)?.try_into().map_err(|_| Damaged("it ends too early"))
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Damaged> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn number(&mut self) -> Result<u64, Damaged> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Damaged("a number is too long"))
    }

    fn uid(&mut self) -> Result<Uid, Damaged> {
        Uid::new(self.number()?).map_err(|_| Damaged("a mention is out of range"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn fact(seq: u64, text: &str) -> Fact {
        Fact {
            seq: Seq::new(seq),
            msg_id: MsgId::new(251_376_382_771_220_487),
            sender: Sender::new(1001).unwrap(),
            content: Content::text(text, 1 << 20).unwrap(),
            flags: Flags::AT_ALL,
            mentions: [7, 1 << 40].map(|n| Uid::new(n).unwrap()).to_vec(),
            reply_to: Some(Seq::new(300)),
            client_msg_id: ClientMsgId::new(Uuid::from_u128(5)),
            create_at: 1_764_000_000_000,
        }
    }

    #[test]
    fn golden_message() {
        let hex: String = encode(&fact(9, "你好")).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, GOLDEN);
    }

    /// Computed from the layout in this file's header with another LEB128 (Python).
    const GOLDEN: &str = concat!(
        "010102075000007d117d03e90780a0bfe9d666",
        "00000000000000000000000000000005ac02",
        "0207808080808020",
        "0822e4bda0e5a5bd22",
    );

    #[test]
    fn what_was_written_is_read() {
        for fact in [
            fact(1, "x"),
            Fact { reply_to: None, mentions: vec![], flags: Flags::NONE, ..fact(2, "\u{1F600} \\ \" \n") },
            Fact { sender: Sender::System, create_at: -5, ..fact(3, "y") },
            Fact { content: Content::from_log(MsgType::App(101), "{\"a\": 1.0}".into()), ..fact(4, "z") },
        ] {
            assert_eq!(decode(fact.seq, &encode(&fact)).unwrap(), Some(fact));
        }
        assert_eq!(decode(Seq::new(1), &[]).unwrap(), None, "erased");
    }

    #[test]
    fn damage_is_noticed_and_never_a_panic() {
        let whole = encode(&fact(1, "hello"));
        for length in 1..whole.len() {
            assert!(decode(Seq::new(1), &whole[..length]).is_err(), "cut at {length}");
        }
        assert!(decode(Seq::new(1), &[9, 9, 9]).is_err());
    }
}
