//! The right to remove: one process at a time, over all nodes and commands; it ends with the process that has it.

use deadpool_postgres::{Object, Pool};

use super::super::failure::unavailable;
use crate::port::StoreError;

/// Held until it is dropped.
pub struct Job {
    /// None only while it is dropped. Closed then, which gives the lock back at once or a moment later.
    client: Option<Object>,
}

impl Job {
    /// None where another process is at it.
    pub async fn take(pool: &Pool) -> Result<Option<Self>, StoreError> {
        let doing = "take the right to remove";
        let client = pool.get().await.map_err(|error| unavailable(doing, error))?;
        let row = client.query_one(include_str!("take_job.sql"), &[]).await;
        let row = row.map_err(|error| unavailable(doing, error))?;
        Ok(row.get::<_, bool>(0).then_some(Self { client: Some(client) }))
    }
}

impl Job {
    /// Gives it back at once; who only drops it gives it back a moment later.
    pub async fn give_back(mut self) {
        if let Some(client) = &self.client
            && client.execute(include_str!("give_job_back.sql"), &[]).await.is_ok()
        {
            // To the pool.
            drop(self.client.take());
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}
