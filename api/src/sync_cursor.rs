//! The cursor of sync, resume and pushes: where a device stands in the log, opaque and small.
//!
//! It names the log and its epoch, and one position a shard; within a paged sync also where the next page begins.
//! A checksum is bound to the person, so that an altered or borrowed one is told apart from a good one. Its key is
//! the same for every log: a cursor of another log, or from before a restore, is good but of elsewhere, and its
//! bearer gets everything anew instead of an error. Nothing in it names a node or a read model, so it survives
//! restarts, rebuilds and a change of server.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{ConvId, Uid};
use event_store::{LogInfo, Position, Vector};

use crate::problem::{Code, Problem};

/// Stands first in every cursor; another form gets another number.
const FORM: u8 = 1;
/// Names log and epoch.
const HOME_BYTES: usize = 8;
/// 64 bits, against mistakes and idle hands: a forged one shows its maker their own conversations only.
const CHECKSUM_BYTES: usize = 8;
/// Base64 (RFC 4648, 4) writes so many bytes as …
const GROUP_BYTES: usize = 3;
/// … so many characters.
const GROUP_CHARS: usize = 4;
/// The longest cursor, in characters: two vectors of sixteen huge positions and the longest conv_id fit twice.
const CURSOR_CHARS_MAX: usize = 1024;

/// Where a device stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncCursor {
    /// What it knows, or will know with the last page.
    pub at: Vector,
    /// Where the next page begins; none between syncs.
    pub paging: Option<Paging>,
}

/// Within a paged sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// Where the device stood when it began; none if it asked for everything.
    pub since: Option<Vector>,
    /// The next page begins behind this conversation.
    pub after: ConvId,
}

/// A good cursor, read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// Of this log and epoch. It may still be ahead of the log, after a restore that forgot to raise the epoch.
    Here(SyncCursor),
    /// Of another log or epoch: its positions mean nothing here.
    Elsewhere,
}

/// Writes and reads the cursors of one log.
pub struct SyncCursors {
    key: [u8; 32],
    home: [u8; HOME_BYTES],
    shards: u16,
}

/// A cursor that is not yet bound to anybody: written once, sealed for many.
#[derive(Debug)]
pub struct Unsealed {
    bytes: Vec<u8>,
    /// What every sealed one begins with: those of the bytes that fill whole groups of characters.
    beginning: String,
}

impl Unsealed {
    fn of(bytes: Vec<u8>) -> Self {
        let beginning = URL_SAFE_NO_PAD.encode(&bytes[..whole_groups(&bytes)]);
        Self { bytes, beginning }
    }

    /// Characters of a sealed one.
    pub fn sealed_chars(&self) -> usize {
        ((self.bytes.len() + CHECKSUM_BYTES) * GROUP_CHARS).div_ceil(GROUP_BYTES)
    }
}

/// How many of the bytes fill whole groups of characters, whatever comes behind them.
fn whole_groups(bytes: &[u8]) -> usize {
    bytes.len() / GROUP_BYTES * GROUP_BYTES
}

impl SyncCursors {
    /// Those of this log and epoch.
    pub fn of_log(log: &LogInfo) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("quipu 2026 sync cursor home");
        hasher.update(log.log_id.as_bytes()).update(&log.epoch.to_le_bytes());
        let mut home = [0; HOME_BYTES];
        hasher.finalize_xof().fill(&mut home);
        Self { key: blake3::derive_key("quipu 2026 sync cursor", b""), home, shards: log.shards }
    }

    /// A cursor for one person.
    pub fn give(&self, to: Uid, cursor: &SyncCursor) -> String {
        let mut text = String::new();
        self.seal(to, &self.write(cursor), &mut text);
        text
    }

    /// A cursor between syncs, to be sealed for each of many people.
    pub fn at(&self, at: &Vector) -> Unsealed {
        Unsealed::of(self.begin(at))
    }

    /// Binds it to one person and writes it behind what is in `text`. Only the last characters are a person's own.
    pub fn seal(&self, to: Uid, unsealed: &Unsealed, text: &mut String) {
        const REST_BYTES_MAX: usize = GROUP_BYTES - 1 + CHECKSUM_BYTES;
        let Unsealed { bytes, beginning } = unsealed;
        let rest = &bytes[whole_groups(bytes)..];
        let mut end = [0; REST_BYTES_MAX];
        end[..rest.len()].copy_from_slice(rest);
        end[rest.len()..rest.len() + CHECKSUM_BYTES].copy_from_slice(&self.checksum(to, bytes));
        let mut chars = [0; (REST_BYTES_MAX * GROUP_CHARS).div_ceil(GROUP_BYTES)];
        let end = URL_SAFE_NO_PAD.encode_slice(&end[..rest.len() + CHECKSUM_BYTES], &mut chars);
        // Base64 is ASCII, and there is room for all of it.
        let end = end.ok().and_then(|len| std::str::from_utf8(&chars[..len]).ok());
        text.push_str(beginning);
        text.push_str(end.unwrap_or_default());
    }

    /// Reads back what this person was given. Malformed, altered or another person's: `invalid_cursor`.
    pub fn open(&self, of: Uid, cursor: &str) -> Result<Opened, Problem> {
        self.read(of, cursor)
            .ok_or_else(|| Problem::new(Code::InvalidCursor, "a cursor is sent back as it was given"))
    }

    fn write(&self, cursor: &SyncCursor) -> Unsealed {
        let mut bytes = self.begin(&cursor.at);
        if let Some(Paging { since, after }) = &cursor.paging {
            bytes.push(u8::from(since.is_some()));
            since.iter().for_each(|since| write_vector(&mut bytes, since));
            bytes.extend_from_slice(after.as_str().as_bytes());
        }
        Unsealed::of(bytes)
    }

    fn begin(&self, at: &Vector) -> Vec<u8> {
        // Positions of a few bytes each.
        let mut bytes = Vec::with_capacity(1 + HOME_BYTES + 4 * usize::from(self.shards));
        bytes.push(FORM);
        bytes.extend_from_slice(&self.home);
        write_vector(&mut bytes, at);
        bytes
    }

    fn read(&self, of: Uid, cursor: &str) -> Option<Opened> {
        if cursor.len() > CURSOR_CHARS_MAX {
            return None;
        }
        let sealed = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (bytes, checksum) = sealed.split_at_checked(sealed.len().checked_sub(CHECKSUM_BYTES)?)?;
        if checksum != self.checksum(of, bytes) {
            return None;
        }
        let (home, mut rest) = bytes.strip_prefix(&[FORM])?.split_at_checked(HOME_BYTES)?;
        if home != self.home {
            return Some(Opened::Elsewhere);
        }
        let at = self.read_vector(&mut rest)?;
        let paging = match rest.split_first() {
            None => None,
            Some((with_since, mut rest)) => {
                let since = if *with_since == 1 { Some(self.read_vector(&mut rest)?) } else { None };
                Some(Paging { since, after: ConvId::parse(std::str::from_utf8(rest).ok()?).ok()? })
            }
        };
        Some(Opened::Here(SyncCursor { at, paging }))
    }

    fn read_vector(&self, bytes: &mut &[u8]) -> Option<Vector> {
        let positions = (0..self.shards).map(|_| read_varint(bytes).map(Position::new));
        Some(Vector::new(positions.collect::<Option<_>>()?))
    }

    fn checksum(&self, person: Uid, bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(&person.get().to_le_bytes()).update(bytes);
        let mut checksum = [0; CHECKSUM_BYTES];
        checksum.copy_from_slice(&hasher.finalize().as_bytes()[..CHECKSUM_BYTES]);
        checksum
    }
}

fn write_vector(bytes: &mut Vec<u8>, vector: &Vector) {
    vector.iter().for_each(|(_, position)| write_varint(bytes, position.get()));
}

/// LEB128: seven bits a byte, the lowest first.
fn write_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn uid(n: u64) -> Uid {
        Uid::new(n).unwrap()
    }

    fn cursors(log: u128, epoch: u32) -> SyncCursors {
        SyncCursors::of_log(&LogInfo { log_id: Uuid::from_u128(log), epoch, shards: 16 })
    }

    fn vector(factor: u64) -> Vector {
        Vector::new((0..16).map(|n| Position::new(n * factor)).collect())
    }

    fn samples() -> Vec<SyncCursor> {
        let after = ConvId::parse(&format!("grp-{}", "a".repeat(64))).unwrap();
        let paging = |since| Some(Paging { since, after: after.clone() });
        vec![
            SyncCursor { at: Vector::start(16), paging: None },
            SyncCursor { at: vector(100_000), paging: None },
            SyncCursor { at: vector(100_000), paging: paging(None) },
            SyncCursor {
                at: vector(i64::MAX as u64 / 16),
                paging: paging(Some(vector(i64::MAX as u64 / 16))),
            },
        ]
    }

    #[test]
    fn a_cursor_comes_back_as_it_was_given_on_whichever_server() {
        for cursor in samples() {
            let text = cursors(1, 1).give(uid(1), &cursor);
            assert!(text.len() <= CURSOR_CHARS_MAX / 2, "{text}");
            assert_eq!(cursors(1, 1).open(uid(1), &text), Ok(Opened::Here(cursor)));
        }
        assert!(cursors(1, 1).give(uid(1), &samples()[1]).len() <= 100, "small between syncs");
    }

    #[test]
    fn an_altered_or_borrowed_cursor_is_refused() {
        for cursor in samples() {
            let good = cursors(1, 1).give(uid(1), &cursor);
            for at in 0..good.len() {
                for with in [b'A', b'B', b'_', b'+', b'='] {
                    let mut altered = good.clone().into_bytes();
                    altered[at] = with;
                    let altered = String::from_utf8(altered).unwrap();
                    assert!(altered == good || cursors(1, 1).open(uid(1), &altered).is_err(), "{altered}");
                }
                assert!(cursors(1, 1).open(uid(1), &good[..at]).is_err(), "cut at {at}");
            }
            for odd in ["", " ", "A", "字", &format!("{good}A"), &format!("{good}="), &"A".repeat(99_999)] {
                assert!(cursors(1, 1).open(uid(1), odd).is_err(), "{odd}");
            }
            assert!(cursors(1, 1).open(uid(2), &good).is_err(), "another person's");
        }
    }

    #[test]
    fn one_of_another_log_or_epoch_is_good_but_of_elsewhere() {
        for cursor in samples() {
            let here = cursors(1, 2).give(uid(1), &cursor);
            assert_eq!(cursors(2, 2).open(uid(1), &here), Ok(Opened::Elsewhere));
            assert_eq!(cursors(1, 1).open(uid(1), &here), Ok(Opened::Elsewhere));
            assert!(cursors(2, 2).open(uid(2), &here).is_err(), "another person's still");
        }
    }

    /// Devices keep cursors for years.
    #[test]
    fn golden_cursor() {
        assert_eq!(cursors(1, 1).give(uid(7), &samples()[1]), GOLDEN);
    }

    const GOLDEN: &str =
        "AbzR7AVYBabJAKCNBsCaDOCnEoC1GKDCHsDPJODcKoDqMKD3NsCEPeCRQ4CfSaCsT8C5VeDGW7z6L1wc-lwJ";
}
