//! How long what was said is kept: until retention or erasure take it, but never while a hold stands.

use crate::ids::{Ms, Sender, Seq};

/// Messages of one person named in one BodiesErased: keeps a body below 20 KiB.
pub const ERASED_PER_EVENT: usize = 1000;

/// Why a hold is placed or lifted, in words for those who read it years later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(String);

/// Why a text is not a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a reason has 1 to {} characters, none of them a control character", Reason::CHARS_MAX)]
pub struct ReasonError;

impl Reason {
    /// The longest one.
    pub const CHARS_MAX: usize = 500;

    /// Checks one from outside.
    pub fn parse(text: &str) -> Result<Self, ReasonError> {
        let good = (1..=Self::CHARS_MAX).contains(&text.chars().count()) && !text.contains(char::is_control);
        if good { Ok(Self(text.to_owned())) } else { Err(ReasonError) }
    }

    /// From a log or a piece, where it was checked once.
    pub fn from_log(text: String) -> Self {
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A legal hold: nothing that was said is taken while it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// By whom; the system is an operator at the command line.
    pub by: Sender,
    /// Why.
    pub reason: Reason,
    /// Since when.
    pub at: Ms,
}

/// What retention has taken of a conversation, and whether it may take more.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keeping {
    /// Everything up to here is gone, for everybody.
    pub expired_seq: Seq,
    /// The hold that stands.
    pub hold: Option<Hold>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_line_of_text() {
        assert_eq!(Reason::parse("case 7 \u{7fa4}").unwrap().as_str(), "case 7 \u{7fa4}");
        for bad in ["", "a\nb", &"x".repeat(501)] {
            assert_eq!(Reason::parse(bad), Err(ReasonError), "{bad}");
        }
    }
}
