//! How long what was said is kept: legal holds, retention, the erasure of a person.
//!
//! Each removal is an event first; then its bodies go out of the log, the read models and the write-ahead log. One
//! process at a time works on that, wherever it runs: `serve` in the background, or a command at the command line.

pub mod erasure;
pub mod policy;
pub mod program;
pub mod removal;
pub mod report;
pub mod retention;
pub mod site;
pub mod upkeep;

use std::sync::Arc;

use deadpool_postgres::Pool;
use domain::{ConvId, Hold};
use event_store::{
    CommandError, EventStore, Persons, StoreError,
    postgres::{
        holds::{self, HoldOn},
        pool,
        removal::{Job, Spared},
    },
    surroundings::Surroundings,
};
use projections::{ReadModels, files::FilesError, query::QueryError};
use tokio::sync::Notify;
use tokio_postgres::Config;

/// Connections for holds and removals: one that keeps the job's lock, and a few that work.
const CONNECTIONS: usize = 6;

/// Why a removal came to no end. It goes on where it was when it is begun again.
#[derive(Debug, thiserror::Error)]
pub enum KeepingError {
    /// One at a time.
    #[error("another process removes something at the moment; it goes on by itself")]
    Busy,
    /// Nobody has asked for it.
    #[error("nobody has asked for an erasure of this person")]
    NotAsked,
    /// Holds come and go faster than a month is written anew.
    #[error("holds change all the time; nothing more is removed for now")]
    HoldsChange,
    /// A command was refused, or the log is away.
    #[error("append what is to go")]
    Command(#[from] CommandError),
    /// The log.
    #[error(transparent)]
    Log(#[from] StoreError),
    /// The read models.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Their files.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// It cannot be, but was.
    #[error("{0}")]
    Bug(&'static str),
}

/// Holds, retention and erasure on one database. Cheap to clone.
#[derive(Clone)]
pub struct Keeping {
    /// Takes commands about persons.
    pub persons: Persons,
    /// Whose database it is.
    database: Config,
    pool: Pool,
    store: Arc<dyn EventStore>,
    surroundings: Surroundings,
    /// Wakes whoever works on erasures in this process.
    wake: Arc<Notify>,
}

impl Keeping {
    /// On the database of this log.
    pub fn new(
        database: &Config,
        store: &Arc<dyn EventStore>,
        surroundings: &Surroundings,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            persons: Persons::new(store, surroundings),
            database: database.clone(),
            pool: pool(database, CONNECTIONS)?,
            store: Arc::clone(store),
            surroundings: surroundings.clone(),
            wake: Arc::new(Notify::new()),
        })
    }

    /// The hold that stands on this.
    pub async fn hold(&self, on: &HoldOn) -> Result<Option<Hold>, StoreError> {
        holds::on(&self.pool, on).await
    }

    /// At most `limit` of the holds that stand, after a name.
    pub async fn holds(&self, after: &str, limit: u32) -> Result<Vec<(HoldOn, Hold)>, StoreError> {
        holds::page(&self.pool, after, limit).await
    }

    /// There is an erasure to work on.
    pub fn nudge(&self) {
        self.wake.notify_one();
    }

    /// The right to remove.
    async fn job(&self) -> Result<Job, KeepingError> {
        Job::take(&self.pool).await?.ok_or(KeepingError::Busy)
    }

    /// Every conversation in which a person is or was who is held.
    async fn held_by_people(&self, read_models: &ReadModels) -> Result<Vec<ConvId>, KeepingError> {
        let mut convs = Vec::new();
        for person in Spared::people(&self.pool).await? {
            let mut after: Option<ConvId> = None;
            loop {
                let page = read_models.ever_in(person, after.as_ref()).await?;
                let Some(last) = page.last() else { break };
                after = Some(last.clone());
                convs.extend(page);
            }
        }
        convs.sort_unstable();
        convs.dedup();
        Ok(convs)
    }
}
