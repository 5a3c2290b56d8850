//! Why a line was not imported, in words for the person who has the file.

use std::{fmt, path::PathBuf};

use domain::{ContentError, ConvId, ConvIdError, IdError, ids::Ms};

use super::{conversations::EQUALS_MAX, lines::LINE_BYTES_MAX};

/// A reason's longest text, in characters: what a file says may be of any length.
const REASON_CHARS_MAX: usize = 300;

/// A line that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The file.
    pub file: PathBuf,
    /// The line in it, from 1.
    pub line: u64,
    /// Why, at most 300 characters, none of them a control character.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.reason)
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Reason {
    #[error("not a line of an export: {}", without_line(.0))]
    Json(serde_json::Error),
    #[error("the line has more than {LINE_BYTES_MAX} bytes")]
    LineTooLong,
    #[error("conv is a name of 1 to 256 bytes without control characters")]
    Conv,
    #[error("{}", IdError::Uid)]
    Sender,
    #[error("ts is unix milliseconds from 0 to the end of the year 9999")]
    Ts,
    #[error("ts goes down inside its conversation, from {last}")]
    TsGoesDown { last: Ms },
    #[error("more than {EQUALS_MAX} different lines of its conversation have this ts")]
    TooManyEquals,
    #[error(transparent)]
    ConvId(#[from] ConvIdError),
    #[error("a single chat has two people, and {conv} has them already")]
    NotOneOfTwo { conv: ConvId },
    #[error("there is no type {0:?}")]
    Type(String),
    #[error(transparent)]
    Content(#[from] ContentError),
    #[error("its sender has left the group by a later line, which was imported before")]
    HasLeft,
    #[error("the log refuses it")]
    Log,
    #[error(transparent)]
    Other(domain::Rejection),
}

impl Reason {
    /// As it is shown: bounded, and without what could move a terminal's cursor.
    pub fn shown(&self) -> String {
        let text = self.to_string();
        let plain = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
        plain.take(REASON_CHARS_MAX).collect()
    }
}

/// To serde every line is line 1.
fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what} at column {}", error.column()),
        None => text,
    }
}
