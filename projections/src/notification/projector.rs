//! Keeps the read model of notifications up with the log, and never ends on an error.
//!
//! As the followers of conversations do it: rows and checkpoint move in one transaction by compare-and-set, so that
//! of several processes one applies a batch, and a crash anywhere loses and doubles nothing.

use std::{sync::Arc, time::Duration};

use deadpool_postgres::{Object, PoolError};
use domain::Ms;
use event_store::{Clock, EventStore, Position, Shard, StoreError};
use tokio::{sync::watch, task::JoinHandle, time::sleep};

use super::{
    NOTIFICATION,
    effects::{Effects, fold},
};
use crate::{
    apply::is_about_data,
    checkpoint,
    effects::chain_of,
    generation::Generation,
    projector::StartError,
    write::{count, int},
};

/// Events read at once; one may name ten thousand people, so fewer than of conversations.
const BATCH_EVENTS: u32 = 100;
/// A wake-up may be lost; then this is how late a notification shows.
const OWN_LOOK: Duration = Duration::from_secs(1);
/// The pause after a failure: how late we notice that the database is back.
const PAUSE: Duration = Duration::from_millis(500);

/// Read models are derived: a crash of Postgres may take the last batches, with their checkpoints.
const BEGIN: &str = "begin; set local synchronous_commit = off";

/// Why a look failed.
#[derive(Debug, thiserror::Error)]
enum LookError {
    #[error("read notifications from the log")]
    Read(#[from] StoreError),
    #[error("get a connection to the read models")]
    Pool(#[from] PoolError),
    #[error("apply notifications to the read model")]
    Apply(#[from] tokio_postgres::Error),
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
        let (from, _) =
            checkpoint::read_of(&client, NOTIFICATION, self.generation.number(), Shard::OWN).await?;
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
        // Each turn applies events or halves a batch: at most twice as many as there are events.
        let (mut at, mut rest) = (from, vec![&events[..]]);
        while let Some(batch) = rest.pop() {
            let Some(to) = batch.last().map(|event| event.header.position) else { continue };
            let Err(error) = self.apply(&client, at, to, &fold(batch)).await else {
                self.passed.send_replace(to);
                at = to;
                continue;
            };
            client.batch_execute("rollback").await?;
            match (error.code(), batch) {
                // Somebody else is at it: read what they have done.
                (Some(state), _) if checkpoint::was_moved(state) => return Ok(true),
                (Some(state), [one]) if is_about_data(state) => {
                    self.apply(&client, at, to, &Effects::skip(one, chain_of(&error))).await?;
                    self.passed.send_replace(to);
                    at = to;
                }
                (Some(state), _) if is_about_data(state) => {
                    let (first, second) = batch.split_at(batch.len() / 2);
                    rest.extend([second, first]);
                }
                _ => return Err(error.into()),
            }
        }
        metrics::counter!("quipu_projection_events_total", "projection" => NOTIFICATION)
            .increment(events.len() as u64);
        Ok(full)
    }

    async fn apply(
        &self,
        client: &Object,
        from: Position,
        to: Position,
        effects: &Effects,
    ) -> Result<(), tokio_postgres::Error> {
        let generation = self.generation.number();
        client.batch_execute(BEGIN).await?;
        let moved = client.prepare_cached(checkpoint::MOVE).await?;
        client
            .query(&moved, &[&NOTIFICATION, &generation, &shard(), &int(from.get()), &int(to.get())])
            .await?;
        for write in effects.writes() {
            let statement = client.prepare_cached(write.sql).await?;
            let params: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
                write.columns.iter().map(|column| &**column as _).collect();
            client.execute(&statement, &params).await?;
        }
        let now: Ms = self.clock.now();
        for (event, reason) in &effects.skipped {
            let skip = client.prepare_cached(include_str!("skip.sql")).await?;
            let name = format!("{} {}", event.header.stream, event.header.version);
            let (position, id) = (int(event.header.position.get()), event.header.event_id.get());
            // Postgres takes no NUL in a text, and a reason must not be a poison, too.
            let reason = reason.replace('\0', "\\0");
            tracing::error!(name, position, event_id = %id, reason, "skipped a notification");
            client
                .execute(&skip, &[&NOTIFICATION, &generation, &name, &shard(), &position, &id, &reason, &now])
                .await?;
        }
        client.batch_execute("commit").await
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
