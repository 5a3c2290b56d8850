//! The hash chain, one a stream: what makes an alteration of the log visible.
//!
//! hash(n) covers hash(n−1), every header field but the position (which only the lock knows), and the digest of
//! salt and body, so that a body may go and the chain still verifies. The layout is fixed: docs/decisions/0003.

use bytes::Bytes;
use domain::{EventId, Ms};
use uuid::Uuid;

use crate::{
    codec::Encoded,
    port::{ShardHead, StreamHead},
    recorded::{Body, Header, Origin, Position, Recorded, StreamName},
    shard::Shard,
};

/// An event that has everything but its place.
#[derive(Debug, Clone)]
pub struct Unsealed {
    /// Its id.
    pub event_id: EventId,
    /// What it says, encoded.
    pub encoded: Encoded,
    /// Who did it; 0 is the server.
    pub actor: u64,
    /// With which device.
    pub device: Option<String>,
    /// Here or elsewhere.
    pub origin: Origin,
    /// The request that brought it.
    pub correlation_id: Uuid,
}

/// Gives an event its place after `shard_head` and `stream_head`, both of which move on.
pub fn seal(
    unsealed: Unsealed,
    shard: Shard,
    stream: StreamName,
    shard_head: &mut ShardHead,
    stream_head: &mut StreamHead,
    now: Ms,
    salt: [u8; 16],
) -> Recorded {
    let Unsealed { event_id, encoded, actor, device, origin, correlation_id } = unsealed;
    let message = encoded.message;
    let mut header = Header {
        shard,
        position: Position::new(shard_head.position.get() + 1),
        stream,
        version: stream_head.version + 1,
        event_id,
        event_type: encoded.event_type,
        schema_version: encoded.schema_version,
        recorded_at: now.max(shard_head.recorded_at),
        actor,
        device,
        origin,
        correlation_id,
        msg_id: message.as_ref().map(|m| m.msg_id),
        msg_type: message.as_ref().map(|m| m.msg_type),
        flags: message.as_ref().map(|m| m.flags),
        create_at: message.as_ref().map(|m| m.create_at),
        client_msg_id: message.as_ref().map(|m| m.client_msg_id),
        chain: [0; 32],
    };
    header.chain = link(&stream_head.chain, &header, &digest(&salt, &encoded.body));
    *shard_head = ShardHead { position: header.position, recorded_at: header.recorded_at };
    *stream_head = StreamHead { version: header.version, chain: header.chain };
    Recorded { header, body: Body::Present { salt, bytes: Bytes::from(encoded.body) } }
}

/// BLAKE3 of the salt followed by the body exactly as stored.
pub fn digest(salt: &[u8; 16], body: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(salt);
    hasher.update(body);
    *hasher.finalize().as_bytes()
}

/// The digest of an event's body, whether it is there or erased.
pub fn body_digest(body: &Body) -> [u8; 32] {
    match body {
        Body::Present { salt, bytes } => digest(salt, bytes),
        Body::Erased { digest } => *digest,
    }
}

/// The chain hash of an event whose predecessor in its stream has `previous` (zeros before the first).
pub fn link(previous: &[u8; 32], header: &Header, body_digest: &[u8; 32]) -> [u8; 32] {
    let mut fields = Fields(blake3::Hasher::new());
    fields.bytes(previous);
    fields.bytes(header.stream.to_string().as_bytes());
    fields.number(header.version);
    fields.bytes(header.event_id.get().as_bytes());
    fields.number(header.event_type as u64);
    fields.number(header.schema_version as u64);
    fields.number(header.recorded_at as u64);
    fields.number(header.actor);
    fields.optional(header.device.as_ref().map(|d| d.as_bytes()));
    fields.number(match header.origin {
        Origin::Live => 0,
        Origin::Import => 1,
    });
    fields.bytes(header.correlation_id.as_bytes());
    fields.optional(header.msg_id.map(|id| id.get().to_le_bytes()).as_ref());
    fields.optional(header.msg_type.map(|t| u64::from(t).to_le_bytes()).as_ref());
    fields.optional(header.flags.map(|f| u64::from(f).to_le_bytes()).as_ref());
    fields.optional(header.create_at.map(|at| at.to_le_bytes()).as_ref());
    fields.optional(header.client_msg_id.as_ref().map(|id| id.as_bytes()));
    fields.bytes(body_digest);
    *fields.0.finalize().as_bytes()
}

/// Each field is preceded by its length in four bytes, little-endian; an absent one is a length of 2^32−1.
struct Fields(blake3::Hasher);

impl Fields {
    const ABSENT: [u8; 4] = u32::MAX.to_le_bytes();

    fn bytes(&mut self, field: &[u8]) {
        self.0.update(&(field.len() as u32).to_le_bytes());
        self.0.update(field);
    }

    fn number(&mut self, field: u64) {
        self.bytes(&field.to_le_bytes());
    }

    fn optional<const N: usize>(&mut self, field: Option<impl AsField<N>>) {
        match field {
            Some(field) => self.bytes(field.field()),
            None => drop(self.0.update(&Self::ABSENT)),
        }
    }
}

/// What can stand as an optional field.
trait AsField<const N: usize> {
    fn field(&self) -> &[u8];
}

impl<const N: usize> AsField<N> for &[u8; N] {
    fn field(&self) -> &[u8] {
        *self
    }
}

impl AsField<0> for &[u8] {
    fn field(&self) -> &[u8] {
        self
    }
}

#[cfg(test)]
mod tests {
    use domain::{ConvId, MsgId, StreamKind};

    use super::*;

    fn header() -> Header {
        Header {
            shard: Shard::new(7),
            position: Position::new(99),
            stream: StreamName::new(&ConvId::parse("p2p-1001-1002").unwrap(), StreamKind::Message),
            version: 3,
            event_id: EventId::new(Uuid::from_u128(1)),
            event_type: 1,
            schema_version: 1,
            recorded_at: 1_764_000_000_000,
            actor: 1001,
            device: Some("phone".into()),
            origin: Origin::Live,
            correlation_id: Uuid::from_u128(2),
            msg_id: Some(MsgId::new(4)),
            msg_type: Some(1),
            flags: Some(0),
            create_at: Some(1_764_000_000_000),
            client_msg_id: Some(Uuid::from_u128(3)),
            chain: [0; 32],
        }
    }

    fn hex(hash: &[u8; 32]) -> String {
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Every log rests on these. Computed with another BLAKE3 from the layout in docs/decisions/0003.
    #[test]
    fn golden_links() {
        let digest = digest(&[5; 16], b"{}");
        let mark = Header {
            device: None,
            origin: Origin::Import,
            msg_id: None,
            msg_type: None,
            flags: None,
            create_at: None,
            client_msg_id: None,
            ..header()
        };
        assert_eq!([hex(&link(&[0; 32], &header(), &digest)), hex(&link(&[9; 32], &mark, &digest))], GOLDEN);
    }

    const GOLDEN: [&str; 2] = [
        "922fb47b92d5f87e1820d48b406ebd191b3ca43a246dda720a58757210b8946c",
        "38c0c2b6f361b71992bff7da1d6d9027951d415250d1b76f39c6fbe191cdca16",
    ];

    #[test]
    fn every_field_counts_but_the_place() {
        type Change = fn(&mut Header);
        let original = link(&[0; 32], &header(), &[1; 32]);
        let changes: [Change; 15] = [
            |h| h.stream = StreamName::new(&ConvId::parse("p2p-1001-1002").unwrap(), StreamKind::Mark),
            |h| h.version += 1,
            |h| h.event_id = EventId::new(Uuid::from_u128(9)),
            |h| h.event_type = 2,
            |h| h.schema_version = 2,
            |h| h.recorded_at += 1,
            |h| h.actor += 1,
            |h| h.device = None,
            |h| h.origin = Origin::Import,
            |h| h.correlation_id = Uuid::nil(),
            |h| h.msg_id = None,
            |h| h.msg_type = Some(2),
            |h| h.flags = Some(2),
            |h| h.create_at = Some(0),
            |h| h.client_msg_id = None,
        ];
        for (index, change) in changes.iter().enumerate() {
            let mut changed = header();
            change(&mut changed);
            assert_ne!(link(&[0; 32], &changed, &[1; 32]), original, "change {index}");
        }
        let mut moved = header();
        (moved.position, moved.shard) = (Position::new(1), Shard::new(1));
        assert_eq!(link(&[0; 32], &moved, &[1; 32]), original);
        assert_ne!(link(&[1; 32], &header(), &[1; 32]), original);
        assert_ne!(link(&[0; 32], &header(), &[2; 32]), original);
    }
}
