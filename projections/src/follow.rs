//! Follows one shard: reads after its checkpoint, applies batch after batch, and never ends on an error.

use std::{collections::HashSet, sync::Arc, time::Duration};

use domain::ConvId;
use event_store::{Body, Clock, EventStore, Position, Recorded, Shard, StoreError, codec};
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, sleep, sleep_until},
};

use crate::{
    CONVERSATION,
    apply::{ApplyError, Step, apply},
    checkpoint,
    effects::{Folded, Parked, chain_of, fold},
    generation::Generation,
    progress::{Progress, ShardProgress},
};

/// Events read at once: past a few hundred a batch gains little (design.md), and a transaction stays short.
const BATCH_EVENTS: u32 = 1000;
/// Bytes of bodies in one transaction: a thousand of the largest messages would be 64 MB.
const BATCH_BYTES: usize = 8 << 20;
/// Where events keep coming, batches of one shard begin no more often than this, unless somebody waits for one: a
/// batch of ten costs Postgres little more than one of a single event. After a pause the first is applied at once.
const PACE: Duration = Duration::from_millis(50);
/// A wake-up may be lost; then this is how late an event shows.
const OWN_LOOK: Duration = Duration::from_secs(1);
/// The first wait after a failure, doubled with each further one.
const BACK_OFF_FIRST: Duration = Duration::from_millis(50);
/// The longest wait after a failure: how late we notice that the database is back.
const BACK_OFF_MAX: Duration = Duration::from_secs(5);

/// Why a look failed.
#[derive(Debug, thiserror::Error)]
enum LookError {
    #[error("read events for the read models")]
    Read(#[from] StoreError),
    #[error("read the checkpoint")]
    Checkpoint(#[source] tokio_postgres::Error),
    #[error("apply a batch to the read models")]
    Apply(#[from] ApplyError),
    #[error("get a connection for the projector")]
    Pool(#[from] deadpool_postgres::PoolError),
}

/// One shard's follower.
pub(crate) struct Follower {
    pub store: Arc<dyn EventStore>,
    pub generation: Generation,
    pub clock: Arc<dyn Clock>,
    pub shard: Shard,
    pub progress: Arc<Progress>,
    /// Turns at the database, shared by all shards.
    pub turns: Arc<Semaphore>,
}

/// What we believe of the checkpoint's row; the compare-and-set finds out.
struct Standing {
    position: Position,
    parked: HashSet<ConvId>,
}

impl Follower {
    /// Runs until `stop` becomes true or its sender is gone.
    pub(crate) async fn run(self, mut stop: watch::Receiver<bool>) {
        let Some(progress) = self.progress.shard(self.shard) else { return };
        let mut wake = self.store.wake(self.shard);
        let mut standing = None;
        let mut back_off = BACK_OFF_FIRST;
        let mut begun = None;
        while !*stop.borrow() {
            if let Some(begun) = begun.take() {
                tokio::select! {
                    _ = stop.changed() => return,
                    () = progress.nudged() => {}
                    () = sleep_until(begun + PACE) => {}
                }
            }
            // Marked as seen before reading, so that no wake-up falls between the two.
            wake.borrow_and_update();
            let (now, before) = (Instant::now(), progress.position());
            let looked = match self.turns.acquire().await {
                Ok(_turn) => self.look(progress, &mut standing).await,
                Err(_closed) => return,
            };
            begun = (progress.position() != before).then_some(now);
            let was_failing = progress.set_failing(looked.is_err());
            let wait = match looked {
                Ok(true) => {
                    begun = None;
                    continue;
                }
                Ok(false) => {
                    back_off = BACK_OFF_FIRST;
                    OWN_LOOK
                }
                Err(error) => {
                    // Said once; /readyz and the metrics go on saying it.
                    if !was_failing {
                        tracing::warn!(
                            shard = self.shard.get(),
                            error = chain_of(&error),
                            "the projector waits"
                        );
                    }
                    // The outcome of a COMMIT may be unknown: ask where we stand.
                    standing = None;
                    let wait = back_off;
                    back_off = (back_off * 2).min(BACK_OFF_MAX);
                    tokio::select! {
                        _ = stop.changed() => return,
                        () = sleep(wait) => continue,
                    }
                }
            };
            tokio::select! {
                _ = stop.changed() => return,
                // A store that has gone gives no more wake-ups; the own look goes on.
                Ok(()) = wake.changed() => {}
                () = progress.nudged() => begun = None,
                // A crash of Postgres may have taken the last batches: see where they really stand.
                () = sleep(wait) => standing = None,
            }
        }
    }

    /// One batch. True where there may be more at once.
    async fn look(&self, progress: &ShardProgress, kept: &mut Option<Standing>) -> Result<bool, LookError> {
        let mut standing = match kept.take() {
            Some(standing) => standing,
            None => self.standing().await?,
        };
        progress.moved_to(standing.position);
        let mut events = self.store.read_shard(self.shard, standing.position, BATCH_EVENTS).await?;
        let full = events.len() == BATCH_EVENTS as usize;
        // Stores deliver at least once: what we have passed is not applied again.
        events.retain(|event| event.header.position > standing.position);
        events.sort_by_key(|event| event.header.position);
        if full {
            progress.head_is_at_least(self.store.shard_head(self.shard).await?.position);
        } else if let Some(last) = events.last() {
            progress.head_is_at_least(last.header.position);
        }
        self.measure(progress, standing.parked.len());
        for batch in batches(&events) {
            match self.apply(&mut standing, batch).await {
                Ok(()) => progress.moved_to(standing.position),
                // Somebody else is at it: read what they have done.
                Err(ApplyError::Moved) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
            metrics::counter!("quipu_projection_events_total", "projection" => CONVERSATION)
                .increment(batch.len() as u64);
            self.measure(progress, standing.parked.len());
        }
        *kept = Some(standing);
        Ok(full)
    }

    async fn standing(&self) -> Result<Standing, LookError> {
        let client = self.generation.pool().get().await?;
        let read = checkpoint::read(&client, self.generation.number(), self.shard).await;
        let (position, parked) = read.map_err(LookError::Checkpoint)?;
        Ok(Standing { position, parked })
    }

    /// Applies a batch; where the database will not take it or not in time, halves it until one event is left, and
    /// parks the conversation of one that it will not take.
    async fn apply(&self, standing: &mut Standing, batch: &[Recorded]) -> Result<(), ApplyError> {
        let mut rest = vec![batch];
        // Each turn applies events or halves a batch: at most twice as many as there are events.
        while let Some(batch) = rest.pop() {
            let Some(last) = batch.last() else { continue };
            let to = last.header.position;
            match self.step(standing, to, fold(batch, &standing.parked)).await {
                Err(error) if batch.len() > 1 && (error.is_poison() || error.is_timeout()) => {
                    let (first, second) = batch.split_at(batch.len() / 2);
                    rest.extend([second, first]);
                }
                Err(error) if error.is_poison() => {
                    let parked = |conv| Parked::at(conv, &last.header, chain_of(&error));
                    let parked = last.header.stream.conv().map(parked).into_iter().collect();
                    self.step(standing, to, Folded { parked, ..Folded::default() }).await?;
                }
                done => done?,
            }
        }
        Ok(())
    }

    async fn step(&self, standing: &mut Standing, to: Position, folded: Folded) -> Result<(), ApplyError> {
        let parked = folded.parked.clone();
        let (generation, shard) = (self.generation.number(), self.shard);
        let step = Step { generation, shard, from: standing.position, to, folded, now: self.clock.now() };
        apply(self.generation.pool(), step).await?;
        standing.position = to;
        for Parked { conv, position, event_id, reason, .. } in parked {
            let (shard, position) = (shard.get(), position.get());
            tracing::error!(%conv, shard, position, %event_id, reason, "parked a conversation");
            standing.parked.insert(conv);
        }
        Ok(())
    }

    fn measure(&self, progress: &ShardProgress, parked: usize) {
        progress.set_parked(parked);
        // An estimate for people: positions of some logs have gaps.
        let lag = progress.head().get().saturating_sub(progress.position().get());
        let shard = self.shard.get().to_string();
        metrics::gauge!("quipu_projection_lag_events", "projection" => CONVERSATION, "shard" => shard.clone())
            .set(lag as f64);
        metrics::gauge!("quipu_projection_parked", "projection" => CONVERSATION, "shard" => shard)
            .set(parked as f64);
    }
}

/// Cuts so that no batch but one of a single event has more than [`BATCH_BYTES`] of bodies, and that an event which
/// takes bodies away is a batch of its own: what it takes must be written before, and what comes after, after.
fn batches(events: &[Recorded]) -> impl Iterator<Item = &[Recorded]> {
    let mut rest = events;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |event: &&Recorded| {
            bytes += body_len(event);
            bytes <= BATCH_BYTES && !codec::takes_bodies(event)
        };
        let length = rest.iter().take_while(fits).count().max(1).min(rest.len());
        let (batch, after) = rest.split_at(length);
        rest = after;
        (!batch.is_empty()).then_some(batch)
    })
}

fn body_len(event: &Recorded) -> usize {
    match &event.body {
        Body::Present { bytes, .. } => bytes.len(),
        Body::Erased { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use event_store::codec::EventType;

    use super::*;
    use crate::effects::tests::read;

    #[test]
    fn a_transaction_is_bounded_in_bytes_and_loses_nothing() {
        let sized = |version, bytes| {
            let mut event = read("grp-a", version);
            event.body = Body::Present { salt: [0; 16], bytes: Bytes::from(vec![0; bytes]) };
            event
        };
        let half = BATCH_BYTES / 2;
        let events = [sized(1, half), sized(2, half), sized(3, 1), sized(4, 2 * BATCH_BYTES), sized(5, 1)];
        let cut: Vec<Vec<u64>> =
            batches(&events).map(|batch| batch.iter().map(|event| event.header.version).collect()).collect();
        assert_eq!(cut, [vec![1, 2], vec![3], vec![4], vec![5]]);
        assert_eq!(batches(&[]).count(), 0);
    }

    #[test]
    fn what_takes_bodies_away_is_a_batch_of_its_own() {
        let mut events = [1, 2, 3, 4, 5, 6].map(|version| read("grp-a", version));
        events[0].header.event_type = EventType::BodiesErased as i16;
        events[3].header.event_type = EventType::HistoryExpired as i16;
        let cut: Vec<usize> = batches(&events).map(<[Recorded]>::len).collect();
        assert_eq!(cut, [1, 2, 1, 2]);
    }
}
