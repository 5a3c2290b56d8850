//! Follows one shard: reads after its checkpoint, applies batch after batch, and never ends on an error.

use std::{sync::Arc, time::Duration};

use event_store::{Clock, EventStore, Recorded, Shard, StoreError};
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, sleep, sleep_until},
};

use crate::{
    CONVERSATION,
    applier::{Applier, Standing, parts},
    apply::{ApplyError, give_back},
    checkpoint,
    effects::chain_of,
    generation::Generation,
    progress::{Progress, ShardProgress},
};

/// Events read at once: past a few hundred a batch gains little (design.md), and a transaction stays short.
const BATCH_EVENTS: u32 = 1000;
/// Bytes of bodies in one transaction: a thousand of the largest messages would be 64 MB.
const BATCH_BYTES: usize = 8 << 20;
/// Where events keep coming, batches of one shard begin no more often than this, unless somebody waits for one: a
/// batch of ten costs Postgres little more than one of a single event, and a conversation that spoke five times has its
/// head raised once. After a pause the first is applied at once.
const PACE: Duration = Duration::from_millis(200);
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
    #[error("this generation of the read models is gone")]
    Gone,
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

impl Follower {
    /// Runs until `stop` becomes true or its sender is gone.
    pub(crate) async fn run(self, stop: watch::Receiver<bool>) {
        self.follow(stop).await;
        // What has ended is behind nothing.
        self.gauge(0.0, 0.0);
    }

    async fn follow(&self, mut stop: watch::Receiver<bool>) {
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
                    let is_gone = matches!(error, LookError::Gone);
                    if is_gone {
                        self.progress.end();
                    }
                    // Said once; /readyz and the metrics go on saying it. One that was dropped is as it should be, and
                    // ends in a moment.
                    if !was_failing && !is_gone {
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
        let events: Arc<[Recorded]> = events.into();
        let (generation, shard, clock) = (self.generation.number(), self.shard, Arc::clone(&self.clock));
        let applier = Applier { generation, shard, clock, bulk: false };
        for part in parts(&events, BATCH_BYTES) {
            let count = part.len() as u64;
            let client = self.generation.pool().get().await?;
            let applied = applier.apply(&client, &mut standing, &events, part).await;
            give_back(client, applied.as_ref().err());
            match applied {
                Ok(()) => progress.moved_to(standing.position),
                // Somebody else is at it: read what they have done.
                Err(ApplyError::Moved) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
            metrics::counter!("quipu_projection_events_total", "projection" => CONVERSATION).increment(count);
            self.measure(progress, standing.parked.len());
        }
        *kept = Some(standing);
        Ok(full)
    }

    async fn standing(&self) -> Result<Standing, LookError> {
        let client = self.generation.pool().get().await?;
        let read = checkpoint::read(&client, self.generation.number(), self.shard).await;
        let (position, parked) = read.map_err(LookError::Checkpoint)?.ok_or(LookError::Gone)?;
        Ok(Standing { position, parked: Arc::new(parked) })
    }

    fn measure(&self, progress: &ShardProgress, parked: usize) {
        progress.set_parked(parked);
        // An estimate for people: positions of some logs have gaps.
        let lag = progress.head().get().saturating_sub(progress.position().get());
        self.gauge(lag as f64, parked as f64);
    }

    fn gauge(&self, lag: f64, parked: f64) {
        let labels = [
            ("projection", CONVERSATION.to_owned()),
            ("generation", self.generation.number().to_string()),
            ("shard", self.shard.get().to_string()),
        ];
        metrics::gauge!("quipu_projection_lag_events", &labels).set(lag);
        metrics::gauge!("quipu_projection_parked", &labels).set(parked);
    }
}
