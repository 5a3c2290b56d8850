//! Takes bodies out of the log for good: each leaves its digest, so that the chain still verifies, and then its month's
//! partition is written anew without it.
//!
//! The digest comes first and is the work list: a body whose digest stands is to go, whoever was interrupted where.
//! While a hold spares it, it stays beside its digest. One process at a time works here, see [`Job`].

pub mod digests;
pub mod job;
pub mod months;
pub mod spared;
pub mod statistics;
pub mod targets;
pub mod wal;

pub use job::Job;
pub use months::Rewritten;
pub use spared::Spared;
pub use wal::TurnedOver;

use deadpool_postgres::Object;
use tokio_postgres::{Row, error::SqlState, types::ToSql};

use super::failure::unavailable;
use crate::port::StoreError;

/// Asks, with a statement that is kept.
async fn query(
    client: &Object,
    doing: &'static str,
    sql: &str,
    params: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, StoreError> {
    let statement = client.prepare_cached(sql).await.map_err(|error| unavailable(doing, error))?;
    client.query(&statement, params).await.map_err(|error| unavailable(doing, error))
}

/// Does.
async fn execute(client: &Object, doing: &'static str, sql: &str) -> Result<(), StoreError> {
    client.batch_execute(sql).await.map_err(|error| unavailable(doing, error))
}

/// Is it that we have not the right?
fn is_forbidden(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE)
}
