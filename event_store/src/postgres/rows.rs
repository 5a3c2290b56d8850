//! Between rows and values.

use bytes::Bytes;
use domain::{ConvId, EventId, MsgId, StreamKind};
use tokio_postgres::Row;
use uuid::Uuid;

use super::failure::corrupt;
use crate::{
    port::{ShardHead, StoreError},
    recorded::{Body, Header, Origin, Position, Recorded, StreamName},
    shard::Shard,
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

fn stream(cord: &str, stream_id: i64) -> Option<StreamName> {
    match parts(stream_id).1 {
        Some(kind) => Some(StreamName::Conversation { conv: ConvId::parse(cord).ok()?, kind }),
        None => StreamName::parse_own(cord),
    }
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
    let header = Header {
        shard: Shard::new(row.get::<_, i16>("shard") as u16),
        position: Position::new(row.get::<_, i64>("position") as u64),
        stream,
        version: version as u64,
        event_id: EventId::new(row.get("event_id")),
        event_type: row.get("event_type"),
        schema_version: row.get("schema_version"),
        recorded_at: row.get("recorded_at"),
        actor: row.get::<_, i64>("actor") as u64,
        device: row.get("device"),
        origin: if row.get::<_, i16>("origin") == 0 { Origin::Live } else { Origin::Import },
        correlation_id: row.get("correlation_id"),
        msg_id: row.get::<_, Option<i64>>("msg_id").map(|id| MsgId::new(id as u64)),
        msg_type: row.get::<_, Option<i16>>("msg_type").map(|n| n as u8),
        flags: row.get::<_, Option<i16>>("flags").map(|n| n as u16),
        create_at: row.get("create_at"),
        client_msg_id: row.get::<_, Option<Uuid>>("client_msg_id"),
        chain: hash(row.get("chain"))?,
    };
    Ok(Recorded { header, body })
}
