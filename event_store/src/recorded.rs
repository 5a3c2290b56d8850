//! An event as it stands in the log: a header that is never changed or deleted, and a body that the law may take.

use std::fmt;

use bytes::Bytes;
use domain::{ConvId, Event, EventId, Ms, MsgId, StreamKind};
use uuid::Uuid;

use crate::{
    codec::{self, DecodeError},
    shard::Shard,
};

/// A place in a shard's order. Opaque: may be compared, may not be counted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(u64);

impl Position {
    /// Before the first event.
    pub const START: Self = Self(0);

    /// From an adapter or a checkpoint.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// For an adapter or a checkpoint.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// A stream: a conversation's message, mark or group stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamName {
    /// Which of the three.
    pub kind: StreamKind,
    /// Whose.
    pub conv: ConvId,
}

/// A stream's name in short.
pub type StreamRef<'a> = (&'a ConvId, StreamKind);

impl StreamName {
    /// A conversation's stream of this kind.
    pub fn new(conv: &ConvId, kind: StreamKind) -> Self {
        Self { kind, conv: conv.clone() }
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.kind.name(), self.conv)
    }
}

/// Did it happen here, or was it brought from elsewhere?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Here.
    Live,
    /// Elsewhere, earlier.
    Import,
}

/// What is known of an event without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its conversation's shard.
    pub shard: Shard,
    /// Its place there.
    pub position: Position,
    /// Its stream.
    pub stream: StreamName,
    /// Its place there, from 1. For a message this is the seq.
    pub version: u64,
    /// Its id.
    pub event_id: EventId,
    /// What it is; see [`codec`].
    pub event_type: i16,
    /// In which form its body is written.
    pub schema_version: i16,
    /// When it was appended. Never goes down within a shard.
    pub recorded_at: Ms,
    /// Who did it; 0 is the server.
    pub actor: u64,
    /// With which device.
    pub device: Option<String>,
    /// Here or elsewhere.
    pub origin: Origin,
    /// The request that brought it.
    pub correlation_id: Uuid,
    /// Of a message: its id.
    pub msg_id: Option<MsgId>,
    /// Of a message: its type.
    pub msg_type: Option<u8>,
    /// Of a message: its flags.
    pub flags: Option<u16>,
    /// Of a message: when it was said.
    pub create_at: Option<Ms>,
    /// Of a message: the client's name for it.
    pub client_msg_id: Option<Uuid>,
    /// See [`crate::chain`].
    pub chain: [u8; 32],
}

/// An event's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// As it was stored.
    Present {
        /// Without it, a digest could be tried against guesses.
        salt: [u8; 16],
        /// The codec's bytes.
        bytes: Bytes,
    },
    /// Erased by law: what is left is the digest, so that the chain can be checked.
    Erased {
        /// BLAKE3 of salt and bytes.
        digest: [u8; 32],
    },
}

/// An event in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Never changes.
    pub header: Header,
    /// May go.
    pub body: Body,
}

impl Recorded {
    /// What happened. Fails on a type or form that this binary does not know, or on damage.
    pub fn event(&self) -> Result<Event, DecodeError> {
        codec::decode(self)
    }
}
