//! The newest events that this node has appended, kept in memory: who follows a shard closely does not read from
//! Postgres what this process has just written there.
//!
//! Of each shard a run of consecutive positions, known to be committed. Where another node has appended in between,
//! or an outcome was unknown, the run starts anew; what lies before it is read from the log.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    codec,
    recorded::{Position, Recorded},
    shard::Shard,
};

/// Events that are kept of a shard: a quarter of a second at 16,000 messages a second in one shard.
const EVENTS_MAX: usize = 4096;
/// Bytes of bodies that are kept of a shard; of sixteen shards at most 32 MiB.
const BODY_BYTES_MAX: usize = 2 << 20;

pub(super) struct Recent {
    /// By shard number, and last that of the log's own streams.
    shards: Vec<Mutex<Run>>,
}

/// Consecutive positions.
#[derive(Default)]
struct Run {
    events: VecDeque<Recorded>,
    body_bytes: usize,
}

impl Recent {
    pub fn new(shards: u16) -> Self {
        Self { shards: (0..=shards).map(|_| Mutex::default()).collect() }
    }

    /// Events that are committed, in order.
    pub fn note(&self, shard: Shard, events: Vec<Recorded>) {
        let mut run = self.run(shard.place(self.shards.len()));
        events.into_iter().for_each(|event| run.push(event));
    }

    /// Nobody knows here any more what stands in the shard with this [`Shard::place`].
    pub fn forget(&self, place: usize) {
        if place < self.shards.len() {
            *self.run(place) = Run::default();
        }
    }

    /// The same, of a shard.
    pub fn forget_shard(&self, shard: Shard) {
        self.forget(shard.place(self.shards.len()));
    }

    /// At most `limit` events right after a position; none where they are not known here.
    pub fn after(&self, shard: Shard, after: Position, limit: u32) -> Vec<Recorded> {
        self.run(shard.place(self.shards.len())).after(after, limit as usize)
    }

    fn run(&self, place: usize) -> MutexGuard<'_, Run> {
        // Nothing in here can panic half-way; a poisoned lock holds a good run.
        self.shards[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    fn push(&mut self, event: Recorded) {
        let position = event.header.position;
        let follows = |last: &Recorded| last.header.position.get() + 1 == position.get();
        // What a removal names shall not be kept here either, and it is among what came before.
        if !self.events.back().is_none_or(follows) || codec::takes_bodies(&event) {
            *self = Self::default();
        }
        self.body_bytes += event.body_len();
        self.events.push_back(event);
        while self.events.len() > EVENTS_MAX || self.body_bytes > BODY_BYTES_MAX {
            let Some(oldest) = self.events.pop_front() else { return };
            self.body_bytes -= oldest.body_len();
        }
    }

    fn after(&self, after: Position, limit: usize) -> Vec<Recorded> {
        let Some(first) = self.events.front().map(|event| event.header.position.get()) else { return vec![] };
        let Some(skip) = (after.get() + 1).checked_sub(first) else { return vec![] };
        self.events.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).take(limit).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use domain::EventId;
    use uuid::Uuid;

    use super::*;
    use crate::codec::EventType;
    use crate::recorded::{Body, Header, Origin, StreamName};

    fn event(position: u64, body: usize) -> Recorded {
        let header = Header {
            shard: Shard::new(0),
            position: Position::new(position),
            stream: StreamName::Notification,
            version: position,
            event_id: EventId::new(Uuid::from_u128(position.into())),
            event_type: 1,
            schema_version: 1,
            recorded_at: 0,
            actor: 1,
            device: None,
            origin: Origin::Live,
            correlation_id: Uuid::nil(),
            msg_id: None,
            msg_type: None,
            flags: None,
            create_at: None,
            client_msg_id: None,
            chain: [0; 32],
        };
        Recorded { header, body: Body::Present { salt: [0; 16], bytes: Bytes::from(vec![0; body]) } }
    }

    fn noted(recent: &Recent, positions: impl IntoIterator<Item = u64>) {
        let events: Vec<_> = positions.into_iter().map(|position| event(position, 1)).collect();
        recent.note(Shard::new(0), events);
    }

    fn after(recent: &Recent, position: u64, limit: u32) -> Vec<u64> {
        let found = recent.after(Shard::new(0), Position::new(position), limit);
        found.iter().map(|event| event.header.position.get()).collect()
    }

    #[test]
    fn what_is_known_is_given_from_right_after_a_position_on() {
        let recent = Recent::new(2);
        noted(&recent, 5..=9);
        assert_eq!(after(&recent, 4, 10), [5, 6, 7, 8, 9]);
        assert_eq!(after(&recent, 6, 2), [7, 8]);
        for unknown in [0, 3, 9, 20, u64::MAX - 1] {
            assert!(after(&recent, unknown, 10).is_empty(), "{unknown}: read from the log");
        }
        assert_eq!(recent.after(Shard::new(1), Position::new(4), 10), []);
        assert_eq!(recent.after(Shard::OWN, Position::new(4), 10), []);
    }

    #[test]
    fn behind_a_gap_the_run_starts_anew() {
        let recent = Recent::new(1);
        noted(&recent, 1..=3);
        noted(&recent, 5..=6);
        assert!(after(&recent, 0, 10).is_empty() && after(&recent, 3, 10).is_empty());
        assert_eq!(after(&recent, 4, 10), [5, 6]);
        // After a restore positions may come again.
        noted(&recent, 2..=2);
        assert_eq!(after(&recent, 1, 10), [2]);
        recent.forget_shard(Shard::new(0));
        assert!(after(&recent, 1, 10).is_empty());
    }

    #[test]
    fn a_removal_takes_what_came_before_out_of_memory() {
        for removal in [EventType::HistoryExpired, EventType::BodiesErased] {
            let recent = Recent::new(1);
            noted(&recent, 1..=3);
            let mut event = event(4, 1);
            event.header.event_type = removal as i16;
            recent.note(Shard::new(0), vec![event]);
            noted(&recent, 5..=5);
            assert!(after(&recent, 0, 10).is_empty() && after(&recent, 2, 10).is_empty());
            assert_eq!(after(&recent, 3, 10), [4, 5]);
        }
    }

    #[test]
    fn it_is_bounded_in_events_and_bytes() {
        let recent = Recent::new(1);
        let count = EVENTS_MAX as u64;
        noted(&recent, 1..=count + 10);
        assert!(after(&recent, 9, 1).is_empty());
        assert_eq!(after(&recent, 10, u32::MAX).len(), EVENTS_MAX);
        let large = event(count + 11, BODY_BYTES_MAX + 1);
        recent.note(Shard::new(0), vec![large]);
        assert!(after(&recent, count + 10, 1).is_empty(), "what is too large is not kept");
        noted(&recent, [count + 12]);
        assert_eq!(after(&recent, count + 11, 1), [count + 12]);
    }
}
