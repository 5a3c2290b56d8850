//! What is wrong with a log, and where.

use std::fmt;

use serde::Serialize;

use crate::recorded::{Header, Position};

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Header, body, salt or chain hash is not what was appended.
    Altered,
    /// There is no such event.
    Missing,
    /// Neither a body nor the digest of one that was erased.
    BodyMissing,
    /// It stands where another one of its stream belongs.
    Swapped,
    /// It is in a shard or at a position where it does not belong.
    Misplaced,
    /// A stream, a shard or an export ends earlier than it once did.
    Truncated,
    /// A checkpoint has seen something else, although the chain is whole: it was computed again.
    Rewritten,
    /// Not signed, or with a key that is not trusted.
    Signature,
    /// An export's line, its proof or its manifest is not what was written.
    Export,
}

impl What {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Altered => "altered",
            Self::Missing => "missing",
            Self::BodyMissing => "body_missing",
            Self::Swapped => "swapped",
            Self::Misplaced => "misplaced",
            Self::Truncated => "truncated",
            Self::Rewritten => "rewritten",
            Self::Signature => "signature",
            Self::Export => "export",
        }
    }
}

/// One fault. What does not apply, or nobody can know any more, is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The stream's name, or `stream <number>` where the log has lost it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// The event's version in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The shard's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<u16>,
    /// The event's position in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// What is wrong.
    pub what: What,
    /// The same for people, with what was expected.
    pub detail: String,
}

impl Fault {
    /// Of no particular place.
    pub fn new(what: What, detail: impl Into<String>) -> Self {
        Self { stream: None, version: None, shard: None, position: None, what, detail: detail.into() }
    }

    /// Of an event that is there.
    pub fn of(header: &Header, what: What, detail: impl Into<String>) -> Self {
        let (shard, position) = (Some(header.shard.get()), Some(header.position.get()));
        Self { shard, position, ..Self::in_stream(&header.stream, header.version, what, detail) }
    }

    /// Of a version of a stream.
    pub fn in_stream(stream: impl fmt::Display, version: u64, what: What, detail: impl Into<String>) -> Self {
        Self { stream: Some(stream.to_string()), version: Some(version), ..Self::new(what, detail) }
    }

    /// Of a position of a shard.
    pub fn in_shard(shard: crate::Shard, position: Position, what: What, detail: impl Into<String>) -> Self {
        Self { shard: Some(shard.get()), position: Some(position.get()), ..Self::new(what, detail) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(stream) = &self.stream {
            write!(f, "{stream} ")?;
        }
        if let Some(version) = self.version {
            write!(f, "version {version} ")?;
        }
        if let (Some(shard), Some(position)) = (self.shard, self.position) {
            write!(f, "shard {shard} position {position} ")?;
        }
        write!(f, "{}: {}", self.what.name(), self.detail)
    }
}
