//! Between rows and values.

use bytes::Bytes;
use domain::{ConvId, EventId, MsgId, StreamKind};
use tokio_postgres::Row;
use uuid::Uuid;

use super::failure::corrupt;
use crate::{
    chain::digest,
    port::{ShardHead, StoreError},
    recorded::{Body, Header, Origin, Position, Recorded, StreamName},
    shard::Shard,
    verify::{Fault, What},
};

/// Streams that one conversation may have: room for more kinds than there are.
const STREAMS_PER_CONVERSATION: i64 = 8;

/// The kind of a stream that is of no conversation.
const OWN_KIND: i64 = STREAMS_PER_CONVERSATION - 1;

/// `kind` is none for a stream that is of no conversation.
pub(super) fn stream_id(number: i64, kind: Option<StreamKind>) -> i64 {
    number * STREAMS_PER_CONVERSATION + kind.map_or(OWN_KIND, |kind| kind as i64)
}

/// The conversation's number and the stream's kind.
pub(super) fn parts(stream_id: i64) -> (i64, Option<StreamKind>) {
    let kind = (stream_id % STREAMS_PER_CONVERSATION) as usize;
    (stream_id / STREAMS_PER_CONVERSATION, StreamKind::ALL.get(kind).copied())
}

pub(super) fn position(position: Position) -> i64 {
    i64::try_from(position.get()).unwrap_or(i64::MAX)
}

pub(super) fn shard_head(position: i64, recorded_at: i64) -> ShardHead {
    ShardHead { position: Position::new(position as u64), recorded_at }
}

pub(super) fn hash(bytes: &[u8]) -> Result<[u8; 32], StoreError> {
    bytes.try_into().map_err(|_| corrupt("read a hash", format!("it has {} bytes", bytes.len())))
}

/// As [`hash`], of what may have been tampered with: what has another length is no hash that was ever made.
pub(super) fn lenient_hash(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().unwrap_or_default()
}

/// The name of a stream by that of its conversation, or its own.
pub(super) fn stream(cord: &str, stream_id: i64) -> Option<StreamName> {
    match parts(stream_id).1 {
        Some(kind) => Some(StreamName::Conversation { conv: ConvId::parse(cord).ok()?, kind }),
        None => StreamName::parse_own(cord),
    }
}

/// What a stream is called whose name is gone.
pub(super) fn lost_name(stream_id: i64) -> String {
    format!("stream {stream_id}")
}

/// A row of read_stream.sql, read_shard.sql or events_by_id.sql.
pub(super) fn recorded(row: &Row) -> Result<Recorded, StoreError> {
    let doing = "read an event";
    let stream = stream(row.get("conv_id"), row.get("stream_id"))
        .ok_or_else(|| corrupt(doing, format!("stream {}", row.get::<_, i64>("stream_id"))))?;
    let version: i64 = row.get("version");
    let body = match (row.get::<_, Option<&[u8]>>("salt"), row.get::<_, Option<&[u8]>>("bytes")) {
        (Some(salt), Some(bytes)) => {
            let salt = salt.try_into().map_err(|_| corrupt(doing, format!("{stream} {version}: salt")))?;
            Body::Present { salt, bytes: Bytes::copy_from_slice(bytes) }
        }
        _ => match row.get::<_, Option<&[u8]>>("digest") {
            Some(digest) => Body::Erased { digest: hash(digest)? },
            None => return Err(corrupt(doing, format!("{stream} {version} has neither body nor digest"))),
        },
    };
    let chain = hash(row.get("chain"))?;
    Ok(Recorded { header: Header { chain, ..header(row, stream) }, body })
}

/// An event that may have been tampered with.
#[expect(clippy::large_enum_variant, reason = "one at a time, on its way into a check")]
pub(super) enum Stored {
    /// As it stands.
    Event {
        /// What the row says.
        header: Header,
        /// Of what is there of its body; none where nothing is.
        digest: Option<[u8; 32]>,
    },
    /// The log has lost the name of its stream.
    Nameless {
        /// The number of its stream.
        stream_id: i64,
        version: u64,
    },
}

impl Stored {
    pub fn stream(&self) -> Option<&StreamName> {
        match self {
            Self::Event { header, .. } => Some(&header.stream),
            Self::Nameless { .. } => None,
        }
    }

    /// The fault of one whose stream has lost its name.
    pub fn nameless(&self) -> Option<Fault> {
        let Self::Nameless { stream_id, version } = self else { return None };
        let (name, detail) = (lost_name(*stream_id), "the name of its stream is gone, or no name");
        Some(Fault::in_stream(name, *version, What::Altered, detail))
    }
}

/// A row of verify_streams.sql, whatever stands in it.
pub(super) fn stored(row: &Row) -> Stored {
    let stream_id = row.get("stream_id");
    let name = row.get::<_, Option<&str>>("conv_id").and_then(|cord| {
        // Exactly: a name that is only read as another one has been tampered with, too.
        stream(cord, stream_id).filter(|stream| stream.cord() == cord)
    });
    let Some(stream) = name else {
        return Stored::Nameless { stream_id, version: row.get::<_, i64>("version") as u64 };
    };
    let kept = row.get::<_, Option<&[u8]>>("digest").map(lenient_hash);
    let digest = match (row.get::<_, Option<&[u8]>>("salt"), row.get::<_, Option<&[u8]>>("bytes")) {
        (Some(salt), Some(bytes)) => {
            let found = digest(salt.try_into().unwrap_or(&[0; 16]), bytes);
            // Where both are there, they say the same.
            Some(kept.filter(|kept| *kept != found).map_or(found, |_| [0; 32]))
        }
        _ => kept,
    };
    let mut header = header(row, stream);
    header.chain = lenient_hash(row.get("chain"));
    Stored::Event { header, digest }
}

/// All but the chain hash. A type that is none becomes one that no message ever has.
fn header(row: &Row, stream: StreamName) -> Header {
    Header {
        shard: Shard::new(row.get::<_, i16>("shard") as u16),
        position: Position::new(row.get::<_, i64>("position") as u64),
        stream,
        version: row.get::<_, i64>("version") as u64,
        event_id: EventId::new(row.get("event_id")),
        event_type: row.get("event_type"),
        schema_version: row.get("schema_version"),
        recorded_at: row.get("recorded_at"),
        actor: row.get::<_, i64>("actor") as u64,
        device: row.get("device"),
        origin: if row.get::<_, i16>("origin") == 0 { Origin::Live } else { Origin::Import },
        correlation_id: row.get("correlation_id"),
        msg_id: row.get::<_, Option<i64>>("msg_id").map(|id| MsgId::new(id as u64)),
        msg_type: row.get::<_, Option<i16>>("msg_type").map(|n| u8::try_from(n).unwrap_or(u8::MAX)),
        flags: row.get::<_, Option<i16>>("flags").map(|n| n as u16),
        create_at: row.get("create_at"),
        client_msg_id: row.get::<_, Option<Uuid>>("client_msg_id"),
        chain: [0; 32],
    }
}
