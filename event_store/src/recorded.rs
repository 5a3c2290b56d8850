//! An event as it stands in the log: a header that is never changed or deleted, and a body that the law may take.

use std::{borrow::Cow, fmt};

use bytes::Bytes;
use domain::{ConvId, Event, EventId, Ms, MsgId, StreamKind, Uid};
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

/// A stream: a conversation's message, mark or group stream, or one that is of no conversation. Those of a
/// conversation share its shard; all others share one of their own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamName {
    /// Of a conversation.
    Conversation {
        /// Whose.
        conv: ConvId,
        /// Which of the three.
        kind: StreamKind,
    },
    /// System notifications; the version is a notification's id.
    Notification,
    /// How far one person has read them.
    Inbox(Uid),
    /// Holds on what one person said, and its erasure.
    Person(Uid),
    /// Each access by compliance.
    Audit,
    /// Signed checkpoints over the heads of all streams.
    Checkpoint,
}

/// The name of the one stream of notifications.
const NOTIFICATION: &str = "notification";
/// Before the uid in the name of an inbox.
const INBOX: &str = "inbox-";
/// Before the uid in the name of a person's stream.
const PERSON: &str = "person-";
/// The name of the one stream of accesses.
const AUDIT: &str = "audit";
/// The name of the one stream of checkpoints.
const CHECKPOINT: &str = "checkpoint";

impl StreamName {
    /// A conversation's stream of this kind.
    pub fn new(conv: &ConvId, kind: StreamKind) -> Self {
        Self::Conversation { conv: conv.clone(), kind }
    }

    /// Of which conversation, if it is of one.
    pub fn conv(&self) -> Option<&ConvId> {
        match self {
            Self::Conversation { conv, .. } => Some(conv),
            Self::Notification | Self::Inbox(_) | Self::Person(_) | Self::Audit | Self::Checkpoint => None,
        }
    }

    /// Which of a conversation's three, if it is one of them.
    pub fn kind(&self) -> Option<StreamKind> {
        match self {
            Self::Conversation { kind, .. } => Some(*kind),
            Self::Notification | Self::Inbox(_) | Self::Person(_) | Self::Audit | Self::Checkpoint => None,
        }
    }

    /// The shard that it is in.
    pub fn shard(&self, shards: u16) -> Shard {
        self.conv().map_or(Shard::OWN, |conv| Shard::of(conv, shards))
    }

    /// The name under which a log keeps what belongs together: a conversation's id, or the stream's own name.
    pub fn cord(&self) -> Cow<'_, str> {
        match self {
            Self::Conversation { conv, .. } => conv.as_str().into(),
            Self::Notification => NOTIFICATION.into(),
            Self::Inbox(uid) => format!("{INBOX}{uid}").into(),
            Self::Person(uid) => format!("{PERSON}{uid}").into(),
            Self::Audit => AUDIT.into(),
            Self::Checkpoint => CHECKPOINT.into(),
        }
    }

    /// The inverse of [`StreamName::cord`] for a stream that is of no conversation.
    pub fn parse_own(name: &str) -> Option<Self> {
        if let Some(uid) = name.strip_prefix(INBOX) {
            return Uid::parse(uid).ok().map(Self::Inbox);
        }
        if let Some(uid) = name.strip_prefix(PERSON) {
            return Uid::parse(uid).ok().map(Self::Person);
        }
        let one = [Self::Notification, Self::Audit, Self::Checkpoint];
        one.into_iter().find(|stream| stream.cord() == name)
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conversation { conv, kind } => write!(f, "{}-{conv}", kind.name()),
            Self::Notification | Self::Inbox(_) | Self::Person(_) | Self::Audit | Self::Checkpoint => {
                f.write_str(&self.cord())
            }
        }
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
    /// Bytes of its body; 0 once it is erased.
    pub fn body_len(&self) -> usize {
        match &self.body {
            Body::Present { bytes, .. } => bytes.len(),
            Body::Erased { .. } => 0,
        }
    }

    /// What happened in a conversation. Fails on a type or form that this binary does not know, or on damage.
    pub fn event(&self) -> Result<Event, DecodeError> {
        codec::decode(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_of_no_conversation_is_found_by_its_name() {
        let uid = Uid::new(7).unwrap();
        let names = ["notification", "inbox-7", "person-7", "audit", "checkpoint"];
        let streams = [
            StreamName::Notification,
            StreamName::Inbox(uid),
            StreamName::Person(uid),
            StreamName::Audit,
            StreamName::Checkpoint,
        ];
        for (name, stream) in names.into_iter().zip(streams) {
            assert_eq!((stream.to_string(), stream.shard(16)), (name.to_owned(), Shard::OWN));
            assert_eq!(StreamName::parse_own(name), Some(stream));
        }
        for name in ["", "inbox-", "person-x", "audits", "p2p-1-2"] {
            assert_eq!(StreamName::parse_own(name), None, "{name}");
        }
    }
}
