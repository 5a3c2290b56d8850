//! Keeps the read models up with the log: one follower a shard.

use std::sync::Arc;

use event_store::{Clock, EventStore, Position, Shard};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
};

use crate::{
    CONVERSATION, checkpoint,
    follow::Follower,
    generation::Generation,
    progress::{Progress, ShardProgress},
};

/// Shards that read or write at a time: one is read while another one is written. More would take connections from queries
/// and, where many buckets become full at once, the processor from those who send.
pub const SHARDS_AT_ONCE: usize = 2;

/// Why a projector did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No connection.
    #[error("connect the projector")]
    Connect(#[from] deadpool_postgres::PoolError),
    /// The checkpoints cannot be written.
    #[error("begin the checkpoints of the read models")]
    Begin(#[from] tokio_postgres::Error),
}

/// Starts the followers.
pub struct Projector;

/// The running followers. Dropping it lets them end after their batch.
pub struct ProjectorHandle {
    generation: i32,
    progress: Arc<Progress>,
    stop: watch::Sender<bool>,
    followers: JoinSet<()>,
}

/// Where one shard's read models stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardStatus {
    /// Which shard.
    pub shard: Shard,
    /// What the read models have passed.
    pub position: Position,
    /// The highest position that the projector knows of.
    pub head: Position,
    /// Did the last look fail?
    pub failing: bool,
}

/// Where the read models stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Which group of read models.
    pub projection: &'static str,
    /// Which generation.
    pub generation: i32,
    /// By shard.
    pub shards: Vec<ShardStatus>,
    /// Conversations that answer nothing until an operator has seen to them.
    pub parked: u64,
}

impl Status {
    pub(crate) fn of(generation: i32, progress: &Progress) -> Self {
        let shards = || Shard::all(u16::MAX).map_while(|shard| Some((shard, progress.shard(shard)?)));
        let status = |(shard, progress): (Shard, &ShardProgress)| ShardStatus {
            shard,
            position: progress.position(),
            head: progress.head(),
            failing: progress.failing(),
        };
        Self {
            projection: CONVERSATION,
            generation,
            shards: shards().map(status).collect(),
            parked: shards().map(|(_, progress)| progress.parked()).sum(),
        }
    }
}

impl Projector {
    /// Follows every shard of `store` into `generation`, whose pool wants as many connections as `SHARDS_AT_ONCE` says. Several
    /// processes may do so at once: each batch is applied by one of them.
    pub async fn start(
        store: Arc<dyn EventStore>,
        generation: Generation,
        clock: Arc<dyn Clock>,
    ) -> Result<ProjectorHandle, StartError> {
        let shards = store.info().shards;
        checkpoint::begin(&generation.pool().get().await?, generation.number(), shards).await?;
        let progress = Arc::new(Progress::new(shards));
        let turns = Arc::new(Semaphore::new(SHARDS_AT_ONCE));
        let stop = watch::Sender::new(false);
        let mut followers = JoinSet::new();
        for shard in Shard::all(shards) {
            let follower = Follower {
                store: Arc::clone(&store),
                generation: generation.clone(),
                clock: Arc::clone(&clock),
                shard,
                progress: Arc::clone(&progress),
                turns: Arc::clone(&turns),
            };
            followers.spawn(follower.run(stop.subscribe()));
        }
        Ok(ProjectorHandle { generation: generation.number(), progress, stop, followers })
    }
}

impl ProjectorHandle {
    /// What waiters wait for.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// For /readyz, /metrics and operators.
    pub fn status(&self) -> Status {
        Status::of(self.generation, &self.progress)
    }

    /// Lets each follower end its batch, and waits for it.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        while let Some(ended) = self.followers.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a follower of the log panicked");
            }
        }
    }
}

impl Drop for ProjectorHandle {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        // A JoinSet would abort them in the middle of a batch.
        self.followers.detach_all();
    }
}
