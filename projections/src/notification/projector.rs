//! Keeps the read model of notifications up with the log, and never ends on an error.
//!
//! As the followers of conversations do it: rows and checkpoint move in one transaction by compare-and-set, so that
//! of several processes one applies a batch, and a crash anywhere loses and doubles nothing.

use std::{sync::Arc, time::Duration};

use deadpool_postgres::PoolError;
use event_store::{Clock, EventStore, Position, Shard, StoreError};
use tokio::{sync::watch, task::JoinHandle, time::sleep};

use super::{NOTIFICATION, applier::Applier};
use crate::{
    apply::{ApplyError, give_back},
    checkpoint,
    effects::chain_of,
    generation::Generation,
    projector::StartError,
    write::count,
};

/// Events read at once; one may name ten thousand people, so fewer than of conversations.
const BATCH_EVENTS: u32 = 100;
/// A wake-up may be lost; then this is how late a notification shows.
const OWN_LOOK: Duration = Duration::from_secs(1);
/// The pause after a failure: how late we notice that the database is back.
const PAUSE: Duration = Duration::from_millis(500);

/// Why a look failed.
#[derive(Debug, thiserror::Error)]
enum LookError {
    #[error("read notifications from the log")]
    Read(#[from] StoreError),
    #[error("get a connection to the read models")]
    Pool(#[from] PoolError),
    #[error("read the checkpoint")]
    Checkpoint(#[source] tokio_postgres::Error),
    #[error("this generation of the read model is gone")]
    Gone,
    #[error("apply notifications to the read model")]
    Apply(#[from] ApplyError),
}

/// The running follower. Dropping it lets it end after its batch.
pub struct NotificationProjector {
    passed: watch::Receiver<Position>,
    failing: watch::Receiver<bool>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

struct Follower {
    store: Arc<dyn EventStore>,
    generation: Generation,
    clock: Arc<dyn Clock>,
    passed: watch::Sender<Position>,
    failing: watch::Sender<bool>,
}

impl NotificationProjector {
    /// Follows the shard of the log's own streams into `generation`, which is one of notifications.
    pub async fn start(
        store: Arc<dyn EventStore>,
        generation: Generation,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StartError> {
        let client = generation.pool().get().await?;
        let begin = client.prepare_cached(include_str!("begin.sql")).await?;
        client.execute(&begin, &[&NOTIFICATION, &generation.number(), &shard()]).await?;
        drop(client);
        let (passed, failing) = (watch::Sender::new(Position::START), watch::Sender::new(false));
        let (position, failed) = (passed.subscribe(), failing.subscribe());
        let stop = watch::Sender::new(false);
        let follower = Follower { store, generation, clock, passed, failing };
        let task = tokio::spawn(follower.run(stop.subscribe()));
        Ok(Self { passed: position, failing: failed, stop, task })
    }

    /// What the read model has passed.
    pub fn passed(&self) -> watch::Receiver<Position> {
        self.passed.clone()
    }

    /// Did the last look fail?
    pub fn failing(&self) -> bool {
        *self.failing.borrow()
    }

    /// Lets the follower end its batch, and waits for it.
    pub async fn shutdown(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the follower of notifications panicked");
        }
    }
}

fn shard() -> i32 {
    i32::from(Shard::OWN.get())
}

impl Follower {
    async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut wake = self.store.wake(Shard::OWN);
        while !*stop.borrow() {
            // Marked as seen before reading, so that no wake-up falls between the two.
            wake.borrow_and_update();
            let looked = self.look().await;
            let was_failing = self.failing.send_replace(looked.is_err());
            let wait = match looked {
                Ok(true) => continue,
                Ok(false) => OWN_LOOK,
                Err(error) => {
                    // Said once; /readyz goes on saying it.
                    if !was_failing {
                        tracing::warn!(error = chain_of(&error), "the projector of notifications waits");
                    }
                    PAUSE
                }
            };
            tokio::select! {
                changed = stop.changed() => if changed.is_err() { return },
                // A store that has gone gives no more wake-ups; the own look goes on.
                Ok(()) = wake.changed() => {}
                () = sleep(wait) => {}
            }
        }
    }

    /// One batch, after where the checkpoint's row says that we stand. True where there may be more at once.
    async fn look(&self) -> Result<bool, LookError> {
        let client = self.generation.pool().get().await?;
        let read = checkpoint::read_of(&client, NOTIFICATION, self.generation.number(), Shard::OWN).await;
        let (from, _) = read.map_err(LookError::Checkpoint)?.ok_or(LookError::Gone)?;
        // Not only ever up: a crash of Postgres may have taken the last batches.
        self.passed.send_replace(from);
        drop(client);
        let mut events = self.store.read_shard(Shard::OWN, from, BATCH_EVENTS).await?;
        let full = events.len() == BATCH_EVENTS as usize;
        // Stores deliver at least once: what we have passed is not applied again.
        events.retain(|event| event.header.position > from);
        events.sort_by_key(|event| event.header.position);
        if events.is_empty() {
            return Ok(false);
        }
        let client = self.generation.pool().get().await?;
        let applier = Applier { generation: self.generation.number(), clock: Arc::clone(&self.clock) };
        let mut at = from;
        let applied = applier.apply(&client, &mut at, &events).await;
        give_back(client, applied.as_ref().err());
        self.passed.send_replace(at);
        match applied {
            Ok(()) => {}
            // Somebody else is at it: read what they have done.
            Err(ApplyError::Moved) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        metrics::counter!("quipu_projection_events_total", "projection" => NOTIFICATION)
            .increment(events.len() as u64);
        Ok(full)
    }
}

/// How many events were passed over, for /readyz.
pub(super) async fn skipped(
    generation: &Generation,
) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    let client = generation.pool().get().await?;
    let statement = client.prepare_cached(include_str!("skipped.sql")).await?;
    let row = client.query_one(&statement, &[&NOTIFICATION, &generation.number()]).await?;
    Ok(count(row.try_get(0)?))
}
