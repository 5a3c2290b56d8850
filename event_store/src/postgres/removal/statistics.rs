//! Samples of bodies that the planner may have taken before it was told not to.

use deadpool_postgres::Pool;

use super::is_forbidden;
use crate::{port::StoreError, postgres::failure::unavailable};

const DOING: &str = "take samples of bodies out of the planner's statistics";

/// Writes the table of samples anew, without those of bodies. False where that is not allowed here.
pub async fn clean(pool: &Pool) -> Result<bool, StoreError> {
    let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
    for sql in [include_str!("forget_samples.sql"), "vacuum (full) pg_catalog.pg_statistic"] {
        match client.batch_execute(sql).await {
            Ok(()) => {}
            Err(error) if is_forbidden(&error) => return Ok(false),
            Err(error) => return Err(unavailable(DOING, error)),
        }
    }
    Ok(true)
}
