//! How long what was said is kept: legal holds, retention, the erasure of a person.
//!
//! Each removal is an event first; then its bodies go out of the log, the read models and the write-ahead log. One
//! process at a time works on that, wherever it runs: `serve` in the background, or a command at the command line.

use deadpool_postgres::Pool;
use domain::Hold;
use event_store::{
    EventStore, Persons, StoreError,
    postgres::{
        holds::{self, HoldOn},
        pool,
    },
    surroundings::Surroundings,
};
use std::sync::Arc;
use tokio_postgres::Config;

/// Connections for holds and removals: one that keeps the job's lock, and a few that work.
const CONNECTIONS: usize = 4;

/// Holds, retention and erasure on one database. Cheap to clone.
#[derive(Clone)]
pub struct Keeping {
    /// Takes commands about persons.
    pub persons: Persons,
    pool: Pool,
}

impl Keeping {
    /// On the database of this log.
    pub fn new(
        database: &Config,
        store: &Arc<dyn EventStore>,
        surroundings: &Surroundings,
    ) -> Result<Self, StoreError> {
        let persons = Persons::new(store, surroundings);
        Ok(Self { persons, pool: pool(database, CONNECTIONS)? })
    }

    /// The hold that stands on this.
    pub async fn hold(&self, on: &HoldOn) -> Result<Option<Hold>, StoreError> {
        holds::on(&self.pool, on).await
    }

    /// At most `limit` of the holds that stand, after a name.
    pub async fn holds(&self, after: &str, limit: u32) -> Result<Vec<(HoldOn, Hold)>, StoreError> {
        holds::page(&self.pool, after, limit).await
    }
}
