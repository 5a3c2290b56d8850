//! A moment is a position: recorded_at never goes down within a shard, so the last event that was there at a moment
//! is found by halving, not by scanning.

use domain::Ms;

use crate::{
    port::{EventStore, StoreError},
    recorded::Position,
    shard::Shard,
};

/// The position of the shard's last event that was appended at this moment or before; the start where there was
/// none yet. One small read for each bit of the shard's length.
pub async fn position_at(store: &dyn EventStore, shard: Shard, at: Ms) -> Result<Position, StoreError> {
    let head = store.shard_head(shard).await?;
    if head.recorded_at <= at {
        return Ok(head.position);
    }
    // What is wanted is at `low` or above it, and below `high`.
    let (mut low, mut high) = (Position::START, head.position);
    while high.get() - low.get() > 1 {
        let middle = Position::new(low.get() + (high.get() - low.get()) / 2);
        let next = store.read_shard(shard, Position::new(middle.get() - 1), 1).await?;
        match next.first().map(|event| &event.header) {
            Some(header) if header.recorded_at <= at => low = header.position,
            _ => high = middle,
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use domain::{ConvId, EventId};
    use uuid::Uuid;

    use super::*;
    use crate::{
        chain::{Unsealed, seal},
        codec,
        memory::MemoryEventStore,
        port::{Batch, StreamHead},
        recorded::{Origin, StreamName},
    };

    #[tokio::test]
    async fn the_last_event_of_a_moment_is_found_by_halving() {
        let store = MemoryEventStore::new(Uuid::nil());
        let conv = ConvId::parse("p2p-1-2").unwrap();
        let shard = Shard::of(&conv, store.info().shards);
        assert_eq!(position_at(&store, shard, 5).await.unwrap(), Position::START);
        let times = [3, 3, 4, 9, 9, 9, 12];
        let mut stream_head = StreamHead::default();
        for (n, at) in (1..).zip(times) {
            let event = domain::Event::ReadAdvanced {
                uid: domain::Uid::new(1).unwrap(),
                read_seq: domain::Seq::new(n),
                at,
            };
            let unsealed = Unsealed {
                event_id: EventId::new(Uuid::from_u128(n.into())),
                encoded: codec::encode(&event),
                actor: 1,
                device: None,
                origin: Origin::Live,
                correlation_id: Uuid::nil(),
            };
            let seen = store.shard_head(shard).await.unwrap();
            let stream = StreamName::new(&conv, event.stream());
            let sealed = seal(unsealed, shard, stream, &mut seen.clone(), &mut stream_head, at, [0; 16]);
            let batch = Batch { events: vec![sealed], ..Batch::default() };
            assert!(store.append_at(shard, seen, batch).await.unwrap());
        }
        for at in 0..15 {
            let expected = times.iter().filter(|time| **time <= at).count() as u64;
            assert_eq!(position_at(&store, shard, at).await.unwrap().get(), expected, "at {at}");
        }
    }
}
