//! The small checked numbers that everything else is made of. Parsed once at the door, trusted inside.

use std::fmt;

use uuid::Uuid;

/// Unix time in milliseconds.
pub type Ms = i64;

/// Why a number or a string is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Not in 1..=2^53-1.
    #[error("a uid is an integer from 1 to 9007199254740991")]
    Uid,
    /// Not a positive integer that fits 63 bits.
    #[error("a seq is an integer from 1")]
    Seq,
    /// Not a UUID.
    #[error("a client_msg_id is a UUID")]
    ClientMsgId,
}

/// A person. 1..=2^53-1, so that it survives a JavaScript number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(u64);

impl Uid {
    /// The largest integer that a JavaScript number holds exactly.
    pub const MAX: u64 = (1 << 53) - 1;

    /// Checks the range.
    pub const fn new(value: u64) -> Result<Self, IdError> {
        if value >= 1 && value <= Self::MAX { Ok(Self(value)) } else { Err(IdError::Uid) }
    }

    /// Parses decimal digits: no sign, no leading zero, so that one person has one spelling.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        Self::new(decimal(text).ok_or(IdError::Uid)?)
    }

    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who a message is from: a person, or the server itself (sent as `0`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sender {
    /// The server's own messages, never counted as unread.
    System,
    /// A person.
    Person(Uid),
}

impl Sender {
    /// 0 for the system, else the uid.
    pub const fn get(self) -> u64 {
        match self {
            Self::System => 0,
            Self::Person(uid) => uid.get(),
        }
    }

    /// The inverse of [`Sender::get`].
    pub fn new(value: u64) -> Result<Self, IdError> {
        if value == 0 { Ok(Self::System) } else { Uid::new(value).map(Self::Person) }
    }

    /// Is this message this person's own?
    pub fn is(self, uid: Uid) -> bool {
        self == Self::Person(uid)
    }
}

impl From<Uid> for Sender {
    fn from(uid: Uid) -> Self {
        Self::Person(uid)
    }
}

/// A message's number in its conversation, from 1; [`Seq::ZERO`] stands for "before the first".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Seq(u64);

impl Seq {
    /// Before the first message: the head of an empty conversation, the position of one who has read nothing.
    pub const ZERO: Self = Self(0);
    /// Postgres' bigint is the narrowest place that a seq passes through.
    pub const MAX: u64 = i64::MAX as u64;

    /// Any count from 0; larger than [`Seq::MAX`] is clamped, far beyond any head.
    pub const fn new(value: u64) -> Self {
        if value > Self::MAX { Self(Self::MAX) } else { Self(value) }
    }

    /// A seq that names a message: an integer from 1.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        Self::of_message(decimal(text).ok_or(IdError::Seq)?)
    }

    /// A seq that names a message: from 1 to [`Seq::MAX`].
    pub fn of_message(value: u64) -> Result<Self, IdError> {
        if (1..=Self::MAX).contains(&value) { Ok(Self(value)) } else { Err(IdError::Seq) }
    }

    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The seq after this one.
    pub const fn next(self) -> Self {
        Self::new(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id that a client gives a message before it sends it: the name by which a repeat is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientMsgId(Uuid);

impl ClientMsgId {
    /// Any UUID is good.
    pub const fn new(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// Parses the usual spellings of a UUID.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        Uuid::try_parse(text).map(Self).map_err(|_| IdError::ClientMsgId)
    }

    /// The UUID itself.
    pub const fn get(self) -> Uuid {
        self.0
    }
}

/// Strict decimal: digits only, no leading zero except "0" itself, no overflow.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    let canonical = !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_digit())
        && (text.len() == 1 || !text.starts_with('0'));
    if canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_is_between_1_and_2_to_the_53_minus_1() {
        assert_eq!(Uid::new(0), Err(IdError::Uid));
        assert_eq!(Uid::new(1 << 53), Err(IdError::Uid));
        assert!(Uid::new(1).is_ok() && Uid::new((1 << 53) - 1).is_ok());
    }

    #[test]
    fn a_number_has_one_spelling() {
        for odd in ["", "+1", "-1", "01", " 1", "1 ", "1.0", "1e3", "٣", "18446744073709551616"] {
            assert_eq!(Uid::parse(odd), Err(IdError::Uid), "{odd:?}");
            assert_eq!(Seq::parse(odd), Err(IdError::Seq), "{odd:?}");
        }
        assert_eq!(Seq::parse("0"), Err(IdError::Seq));
        assert_eq!(Seq::parse("12"), Ok(Seq::new(12)));
    }
}
