//! Which generations of the read models there are: looked at, rolled back, dropped. A new one is built by
//! [`crate::rebuild`].
//!
//! Of each group of read models one generation serves, and at most one stands beside it: the one that is built, or
//! the one that served before, which every node keeps up with the log until it is dropped.

mod status;
mod switch;

use std::{sync::Arc, time::Duration};

use deadpool_postgres::{BuildError, ClientWrapper, Object, Pool, PoolError};
use event_store::{Clock, EventStore, StoreError};
use tokio::time::sleep;
use tokio_postgres::{Config, error::SqlState};

pub use status::{GenerationStatus, State};

use crate::{
    apply::ApplyError,
    generation::{Generation, OpenError, pool},
    projection::Projection,
};

/// Connections for looking, and for the right to build: one each.
const CONNECTIONS: usize = 2;
/// Who drops waits no longer for those who read, since projectors wait meanwhile; then it lets them, and tries again.
const DROP_LOCK_TIME_MAX: Duration = Duration::from_millis(500);
/// How often it tries.
const DROP_TRIES_MAX: u32 = 40;
/// The pause between two tries.
const DROP_PAUSE: Duration = Duration::from_millis(100);

/// Why a generation was not built, switched or dropped. What serves goes on serving.
#[derive(Debug, thiserror::Error)]
pub enum GenerationError {
    /// Somebody is at it: a rebuild, a rollback or a drop of the same read models.
    #[error(
        "the read models `{0}` are being rebuilt, rolled back or dropped by somebody else; wait for that"
    )]
    Running(&'static str),
    /// There is a generation beside the one that serves.
    #[error(
        "there is an earlier generation of `{0}` still, for a rollback; `quipu projections drop {0}` makes room"
    )]
    Left(&'static str),
    /// There is no generation beside the one that serves.
    #[error("there is no generation of `{0}` but the one that serves")]
    Alone(&'static str),
    /// The generation beside is not whole.
    #[error(
        "the other generation of `{0}` was never finished; `quipu projections rebuild {0}` goes on with it, \
         `quipu projections drop {0}` takes it away"
    )]
    Unfinished(&'static str),
    /// The disk is full.
    #[error(
        "the database has no room for another generation of `{0}`. What serves is untouched. Make room and give the \
         same command again, which goes on where it was; or `quipu projections drop {0}` gives back what it took"
    )]
    Full(&'static str, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// Traffic is faster than this machine builds.
    #[error(
        "the new generation of `{0}` does not catch up; give the command again when there is less traffic"
    )]
    TooSlow(&'static str),
    /// It was told to stop.
    #[error("stopped; `quipu projections rebuild {0}` goes on where it was")]
    Stopped(&'static str),
    /// The log.
    #[error("read the log")]
    Log(#[from] StoreError),
    /// A generation does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// No connection.
    #[error("connect to the read models")]
    Connect(#[from] PoolError),
    /// The pool's settings are wrong.
    #[error("make a connection pool for the read models")]
    Build(#[from] BuildError),
    /// The database says no.
    #[error("{doing}")]
    Database {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// An error of Postgres while we were doing this.
pub(crate) fn failed(
    projection: Projection,
    doing: &'static str,
) -> impl Fn(tokio_postgres::Error) -> GenerationError {
    move |error| match error.code() {
        Some(state) if *state == SqlState::DISK_FULL => {
            GenerationError::Full(projection.name(), error.into())
        }
        _ => GenerationError::Database { doing, source: error.into() },
    }
}

impl GenerationError {
    /// An error of applying events.
    pub(crate) fn of_apply(projection: Projection, error: ApplyError) -> Self {
        let state = match &error {
            ApplyError::Database { source, .. } => source.code(),
            _ => None,
        };
        if state == Some(&SqlState::DISK_FULL) {
            return Self::Full(projection.name(), error.into());
        }
        Self::Database { doing: "apply events to a generation", source: error.into() }
    }
}

/// What one does with generations. Cheap to clone.
#[derive(Clone)]
pub struct Generations {
    pub(crate) config: Config,
    pub(crate) store: Arc<dyn EventStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pool: Pool,
}

/// The right to build, switch and drop the generations of one group of read models; ends with its connection.
pub(crate) struct Right(ClientWrapper);

impl Right {
    /// Gives it back at once; who only drops it gives it back a moment later.
    pub(crate) async fn give_back(self) {
        // Where the connection is gone, so is the right.
        let _ = self.0.execute(include_str!("unlock.sql"), &[]).await;
    }
}

impl Generations {
    /// Of a migrated database and its log.
    pub fn new(
        config: &Config,
        store: Arc<dyn EventStore>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, GenerationError> {
        Ok(Self { config: config.clone(), store, clock, pool: pool(config, "", CONNECTIONS)? })
    }

    /// Has the generation before serve again, as it stands now: it was kept up with the log. Answers its number.
    pub async fn roll_back(&self, projection: Projection) -> Result<i32, GenerationError> {
        let right = self.right(projection).await?;
        let rolled_back = self.rolled_back(projection).await;
        right.give_back().await;
        rolled_back
    }

    async fn rolled_back(&self, projection: Projection) -> Result<i32, GenerationError> {
        let (serving, other) = self.two(projection).await?;
        let other = other.ok_or(GenerationError::Alone(projection.name()))?;
        if other.state != State::Kept {
            return Err(GenerationError::Unfinished(projection.name()));
        }
        tracing::info!(
            projection = projection.name(),
            from = serving.number,
            to = other.number,
            "rolling back"
        );
        self.switch(projection, serving.number, other.number).await?;
        tracing::warn!(projection = projection.name(), generation = other.number, "rolled back");
        Ok(other.number)
    }

    /// Drops the generation beside the one that serves. Answers its number.
    pub async fn drop(&self, projection: Projection) -> Result<i32, GenerationError> {
        let right = self.right(projection).await?;
        let dropped = self.dropped(projection).await;
        right.give_back().await;
        dropped
    }

    async fn dropped(&self, projection: Projection) -> Result<i32, GenerationError> {
        let client = self.pool.get().await?;
        let doing = "drop a generation";
        let lock_timeout = format!("set lock_timeout = {}", DROP_LOCK_TIME_MAX.as_millis());
        client.batch_execute(&lock_timeout).await.map_err(failed(projection, doing))?;
        let mut tries = 0;
        let dropped = loop {
            tries += 1;
            let dropped = client.query_one(include_str!("drop.sql"), &[&projection.name()]).await;
            match dropped {
                Err(error) if tries < DROP_TRIES_MAX && is_in_the_way(&error) => sleep(DROP_PAUSE).await,
                done => break done,
            }
        };
        // Its settings are its own.
        drop(Object::take(client));
        let row = dropped.map_err(failed(projection, doing))?;
        let number: Option<i32> = row.try_get(0).map_err(failed(projection, doing))?;
        let number = number.ok_or(GenerationError::Alone(projection.name()))?;
        tracing::info!(projection = projection.name(), generation = number, "dropped a generation");
        Ok(number)
    }

    /// Takes the right to build, switch and drop.
    pub(crate) async fn right(&self, projection: Projection) -> Result<Right, GenerationError> {
        let client = self.pool.get().await?;
        let locked = client.query_one(include_str!("try_lock.sql"), &[&projection.name()]).await;
        let locked = locked.and_then(|row| row.try_get(0)).map_err(failed(projection, "take a lock"))?;
        if locked {
            Ok(Right(Object::take(client)))
        } else {
            Err(GenerationError::Running(projection.name()))
        }
    }

    /// The generation that serves, and the other one.
    pub(crate) async fn two(
        &self,
        projection: Projection,
    ) -> Result<(GenerationStatus, Option<GenerationStatus>), GenerationError> {
        let mut all = self.known().await?.into_iter().filter(|status| status.projection == projection);
        let serving = all.next().ok_or(GenerationError::Alone(projection.name()))?;
        Ok((serving, all.next()))
    }

    /// Makes the next generation, or finds the one that was begun. Answers its number.
    pub(crate) async fn begin(&self, projection: Projection) -> Result<i32, GenerationError> {
        let client = self.pool.get().await?;
        let shards = projection.shards(self.store.info().shards);
        let shards: Vec<i32> = shards.into_iter().map(|shard| i32::from(shard.get())).collect();
        let begin = include_str!("begin.sql");
        let begun = client.query_one(begin, &[&projection.name(), &self.clock.now(), &shards]).await;
        let begun = begun.and_then(|row| row.try_get(0));
        begun.map_err(|error| match error.code() {
            Some(state) if state.code() == "QP002" => GenerationError::Left(projection.name()),
            _ => failed(projection, "make a generation")(error),
        })
    }

    /// Opens one.
    pub(crate) fn open(
        &self,
        projection: Projection,
        number: i32,
        connections: usize,
    ) -> Result<Generation, GenerationError> {
        Ok(Generation::numbered(projection.name(), &self.config, number, connections)?)
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// Is somebody reading what is to be dropped?
fn is_in_the_way(error: &tokio_postgres::Error) -> bool {
    let states = [SqlState::LOCK_NOT_AVAILABLE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::QUERY_CANCELED];
    error.code().is_some_and(|state| states.contains(state))
}
