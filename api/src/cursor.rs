//! Opaque cursors of paged lists: where the next page begins, sealed with a checksum that is bound to the log, to
//! the list and to the person, so that an altered or borrowed one is told apart from a good one.
//!
//! The checksum's key follows from the log's id: every server of a log reads the cursors of every other.

use domain::{ConvId, Uid};
use projections::query::ListPlace;
use uuid::Uuid;

use crate::problem::{Code, Problem};

/// Stands first in every cursor; another form gets another number.
const VERSION: &str = "1";

/// Of the checksum, in hex digits: 64 bits, against mistakes and idle hands.
const CHECKSUM_DIGITS: usize = 16;

/// The longest cursor, in bytes: a time and a conversation's id take far less.
const CURSOR_BYTES_MAX: usize = 512;

/// How a place in the list of conversations begins: those that are not pinned, and those that are.
const PLAIN: &str = "n";
const PINNED: &str = "p";

/// Writes and reads cursors.
pub struct Cursors {
    key: [u8; 32],
}

/// Which list a cursor belongs to. A cursor of one is nothing to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum List {
    /// A person's conversations.
    Conversations,
    /// The members of a group.
    Members(ConvId),
    /// Read positions in a conversation.
    ReadPositions(ConvId),
    /// Readers of a message.
    Readers(ConvId, domain::Seq),
}

impl List {
    fn name(&self) -> String {
        match self {
            Self::Conversations => "conversations".into(),
            Self::Members(conv) => format!("members/{conv}"),
            Self::ReadPositions(conv) => format!("read-positions/{conv}"),
            Self::Readers(conv, seq) => format!("readers/{conv}/{seq}"),
        }
    }
}

impl Cursors {
    /// Those of this log.
    pub fn of_log(log_id: Uuid) -> Self {
        Self { key: blake3::derive_key("quipu 2026 list cursor", log_id.as_bytes()) }
    }

    /// A cursor behind a person.
    pub fn after_uid(&self, list: &List, viewer: Uid, last: Uid) -> String {
        self.seal(list, viewer, &last.to_string())
    }

    /// Reads it back.
    pub fn uid(&self, list: &List, viewer: Uid, cursor: Option<&str>) -> Result<Option<Uid>, Problem> {
        self.open(list, viewer, cursor, |text| Uid::parse(text).ok())
    }

    /// A cursor behind a conversation's place.
    pub fn after_conversation(&self, viewer: Uid, place: &ListPlace) -> String {
        let ListPlace { pinned, at, conv } = place;
        self.seal(
            &List::Conversations,
            viewer,
            &format!("{}/{at}/{conv}", if *pinned { PINNED } else { PLAIN }),
        )
    }

    /// Reads it back.
    pub fn conversation(&self, viewer: Uid, cursor: Option<&str>) -> Result<Option<ListPlace>, Problem> {
        self.open(&List::Conversations, viewer, cursor, |text| {
            let (pinned, place) = text.split_once('/')?;
            let (at, conv) = place.split_once('/')?;
            let pinned = [PLAIN, PINNED].iter().position(|it| *it == pinned)? == 1;
            Some(ListPlace { pinned, at: at.parse().ok()?, conv: ConvId::parse(conv).ok()? })
        })
    }

    fn seal(&self, list: &List, viewer: Uid, place: &str) -> String {
        let place: String = place.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{VERSION}{}{place}", self.checksum(list, viewer, &place))
    }

    fn open<T>(
        &self,
        list: &List,
        viewer: Uid,
        cursor: Option<&str>,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(cursor) = cursor else { return Ok(None) };
        let place = || {
            let sealed = cursor.strip_prefix(VERSION).filter(|_| cursor.len() <= CURSOR_BYTES_MAX)?;
            let (checksum, place) = sealed.split_at_checked(CHECKSUM_DIGITS)?;
            let good = checksum == self.checksum(list, viewer, place);
            good.then(|| from_hex(place)).flatten()
        };
        let parsed = place().as_deref().and_then(parse);
        parsed
            .map(Some)
            .ok_or_else(|| Problem::new(Code::InvalidCursor, "a cursor is sent back as it was given"))
    }

    fn checksum(&self, list: &List, viewer: Uid, place: &str) -> String {
        let text = format!("{}\n{viewer}\n{place}", list.name());
        let mut digits = blake3::keyed_hash(&self.key, text.as_bytes()).to_hex().to_string();
        digits.truncate(CHECKSUM_DIGITS);
        digits
    }
}

fn from_hex(digits: &str) -> Option<String> {
    let bytes =
        digits.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uid(n: u64) -> Uid {
        Uid::new(n).unwrap()
    }

    #[test]
    fn a_cursor_comes_back_as_it_was_given() {
        let cursors = Cursors::of_log(Uuid::from_u128(1));
        let conv = ConvId::single(uid(1), uid(2));
        let again = Cursors::of_log(Uuid::from_u128(1));
        for pinned in [false, true] {
            let place = ListPlace { pinned, at: 7, conv: conv.clone() };
            let cursor = cursors.after_conversation(uid(1), &place);
            assert_eq!(again.conversation(uid(1), Some(&cursor)), Ok(Some(place)));
        }
        assert_eq!(again.conversation(uid(1), None), Ok(None));
    }

    #[test]
    fn an_altered_or_borrowed_cursor_is_refused() {
        let cursors = Cursors::of_log(Uuid::from_u128(1));
        let list = List::Members(ConvId::parse("grp-a").unwrap());
        let good = cursors.after_uid(&list, uid(1), uid(5));
        for at in 0..good.len() {
            let mut altered = good.clone().into_bytes();
            altered[at] = if altered[at] == b'0' { b'1' } else { b'0' };
            let altered = String::from_utf8(altered).unwrap();
            assert!(cursors.uid(&list, uid(1), Some(&altered)).is_err(), "{altered}");
        }
        for odd in [
            "",
            "1",
            "x",
            "字字字字字字字字",
            &good[..good.len() - 1],
            &format!("{good}0"),
            &"1".repeat(9999),
        ] {
            assert!(cursors.uid(&list, uid(1), Some(odd)).is_err(), "{odd}");
        }
        assert!(cursors.uid(&list, uid(2), Some(&good)).is_err(), "another person's");
        let other = List::Members(ConvId::parse("grp-b").unwrap());
        assert!(cursors.uid(&other, uid(1), Some(&good)).is_err(), "another list's");
        assert!(
            Cursors::of_log(Uuid::from_u128(2)).uid(&list, uid(1), Some(&good)).is_err(),
            "another log's"
        );
    }
}
