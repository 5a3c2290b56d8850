//! Brings one generation up to a place in the log, chunk by chunk: what a rebuild and a switch do, and no follower.
//!
//! Whoever else feeds the same generation is no danger: each chunk moves the checkpoint by compare-and-set.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use deadpool_postgres::Object;
use event_store::{Clock, EventStore, Position, Recorded, Shard};
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use tokio::sync::watch;

use crate::{
    applier::{Applier, Standing, parts},
    apply::{ApplyError, give_back},
    checkpoint,
    generation::Generation,
    generations::{GenerationError, failed},
    notification::applier::Applier as NotificationApplier,
    projection::Projection,
};

/// Events of one transaction: many enough that whole buckets of busy conversations are among them, few enough for a
/// second or less.
const CHUNK_EVENTS: usize = 20_000;
/// Bytes of bodies of one transaction.
const CHUNK_BYTES: usize = 16 << 20;
/// Events that are read at once: of the largest messages 128 MB.
const READ_EVENTS: u32 = 2_000;
/// From so many events on a chunk is written in bulk.
const BULK_EVENTS: usize = 1_000;
/// One notification may be for ten thousand people: then a hundred are a million rows.
const NOTIFICATION_EVENTS: usize = 100;

/// Shards that are fed at a time: one is read while the other is written.
pub(crate) const SHARDS_AT_ONCE: usize = 2;

/// Feeds one generation.
pub(crate) struct Feeder {
    pub store: Arc<dyn EventStore>,
    pub clock: Arc<dyn Clock>,
    pub projection: Projection,
    pub generation: Generation,
}

impl Feeder {
    /// One chunk of a shard, and never beyond `to`. Answers how many events were passed, and where it stands then.
    pub async fn chunk(&self, shard: Shard, to: Position) -> Result<(u64, Position), GenerationError> {
        let client = self.generation.pool().get().await?;
        self.chunk_on(&client, shard, to).await.map_err(|error| match error {
            FeedError::Apply(error) => {
                give_back(client, Some(&error));
                GenerationError::of_apply(self.projection, error)
            }
            FeedError::Other(error) => error,
        })
    }

    /// Brings shards up to these places, two at a time, counting what was passed; stops between chunks.
    pub async fn lead(
        &self,
        goals: &HashMap<Shard, Position>,
        passed: &AtomicU64,
        stop: &watch::Receiver<bool>,
    ) -> Result<(), GenerationError> {
        let here = self.positions().await?;
        let is_behind = |shard: &Shard, goal: &Position| here.get(shard).is_none_or(|at| at < goal);
        let shards = goals.iter().filter(|(shard, goal)| is_behind(shard, goal));
        let all: Vec<_> =
            shards.map(|(shard, goal)| self.lead_one(*shard, *goal, passed, stop).boxed()).collect();
        stream::iter(all).buffer_unordered(SHARDS_AT_ONCE).try_collect().await
    }

    async fn lead_one(
        &self,
        shard: Shard,
        goal: Position,
        passed: &AtomicU64,
        stop: &watch::Receiver<bool>,
    ) -> Result<(), GenerationError> {
        loop {
            if *stop.borrow() {
                return Err(GenerationError::Stopped(self.projection.name()));
            }
            let (count, at) = self.chunk(shard, goal).await?;
            passed.fetch_add(count, Ordering::Relaxed);
            if at >= goal {
                return Ok(());
            }
        }
    }

    /// The same on a connection of the caller's, who gives it away after an error.
    pub async fn chunk_on(
        &self,
        client: &Object,
        shard: Shard,
        to: Position,
    ) -> Result<(u64, Position), FeedError> {
        let mut standing = self.standing(client, shard).await?;
        let from = standing.position;
        if from >= to {
            return Ok((0, from));
        }
        let events = self.read(shard, from, to).await?;
        let count = events.len() as u64;
        match self.apply(client, shard, &mut standing, events, to).await {
            Ok(()) => {}
            // Somebody else is at it: whoever asks again finds out how far they have come.
            Err(ApplyError::Moved) => return Ok((0, from)),
            Err(error) => return Err(error.into()),
        }
        metrics::counter!("quipu_rebuild_events_total", "projection" => self.projection.name())
            .increment(count);
        Ok((count, standing.position))
    }

    async fn apply(
        &self,
        client: &Object,
        shard: Shard,
        standing: &mut Standing,
        events: Vec<Recorded>,
        to: Position,
    ) -> Result<(), ApplyError> {
        let (generation, clock) = (self.generation.number(), Arc::clone(&self.clock));
        match self.projection {
            Projection::Conversation => {
                let bulk = events.len() >= BULK_EVENTS;
                let applier = Applier { generation, shard, clock, bulk };
                if events.is_empty() {
                    return applier.pass(client, standing, to).await;
                }
                let events: Arc<[Recorded]> = events.into();
                for part in parts(&events, CHUNK_BYTES) {
                    applier.apply(client, standing, &events, part).await?;
                }
                Ok(())
            }
            Projection::Notification => {
                let applier = NotificationApplier { generation, clock };
                if events.is_empty() {
                    return applier.pass(client, &mut standing.position, to).await;
                }
                applier.apply(client, &mut standing.position, &events).await
            }
        }
    }

    /// Where it stands in each shard.
    pub async fn positions(&self) -> Result<HashMap<Shard, Position>, GenerationError> {
        let (name, number) = (self.projection.name(), self.generation.number());
        let failed = failed(self.projection, "read checkpoints");
        let client = self.generation.pool().get().await?;
        let positions = client.prepare_cached(checkpoint::POSITIONS).await.map_err(&failed)?;
        let rows = client.query(&positions, &[&name, &number]).await.map_err(&failed)?;
        Ok(checkpoint::positions(&rows).map_err(failed)?.into_iter().collect())
    }

    async fn standing(&self, client: &Object, shard: Shard) -> Result<Standing, GenerationError> {
        let (name, number) = (self.projection.name(), self.generation.number());
        let read = checkpoint::read_of(client, name, number, shard).await;
        let read = read.map_err(failed(self.projection, "read a checkpoint"))?;
        let (position, parked) = read.ok_or(GenerationError::Alone(name))?;
        Ok(Standing { position, parked: Arc::new(parked) })
    }

    /// The events behind a position, as many as make a chunk, and none behind `to`.
    async fn read(
        &self,
        shard: Shard,
        from: Position,
        to: Position,
    ) -> Result<Vec<Recorded>, GenerationError> {
        let most = match self.projection {
            Projection::Conversation => CHUNK_EVENTS,
            Projection::Notification => NOTIFICATION_EVENTS,
        };
        let (mut events, mut bytes, mut at) = (Vec::new(), 0, from);
        while at < to && events.len() < most && bytes < CHUNK_BYTES {
            let limit = READ_EVENTS.min((most - events.len()) as u32);
            let mut read = self.store.read_shard(shard, at, limit).await?;
            // Stores deliver at least once, and not in order.
            read.retain(|event| event.header.position > at);
            read.sort_by_key(|event| event.header.position);
            let Some(last) = read.last() else { break };
            at = last.header.position;
            read.retain(|event| event.header.position <= to);
            bytes += read.iter().map(Recorded::body_len).sum::<usize>();
            events.append(&mut read);
        }
        Ok(events)
    }
}

/// Why a chunk was not applied.
pub(crate) enum FeedError {
    /// It could not be written.
    Apply(ApplyError),
    /// It came to no writing.
    Other(GenerationError),
}

impl From<ApplyError> for FeedError {
    fn from(error: ApplyError) -> Self {
        Self::Apply(error)
    }
}

impl From<GenerationError> for FeedError {
    fn from(error: GenerationError) -> Self {
        Self::Other(error)
    }
}
