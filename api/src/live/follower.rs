//! Follows one shard of the log, from now on, and queues what happens to the connections of those who may see it.
//!
//! Only what is durable is in the log, so nothing else is pushed. A batch is pushed in the order of its positions, and
//! **as it is seen at its end**: who was removed, what was recalled, deleted or cleared later in the same batch is so
//! for all of it. It does not wait for the read models: a question asks the log how far it has to wait by itself.

use std::{sync::Arc, time::Duration};

use event_store::{EventStore, Position, Recorded, Shard, Vector};
use projections::{ReadModels, query::QueryError};
use tokio::{
    sync::{Semaphore, watch},
    time::sleep,
};

use super::{audience::Audiences, batch::Batch, hub::Hub, outbox::PACE};
use crate::sync_cursor::SyncCursors;

/// Events read at once: a cursor's component moves after each, and what is seen is decided once for each.
const BATCH_EVENTS: u32 = 500;
/// A wake-up may be lost; then this is how late a push comes.
const OWN_LOOK: Duration = Duration::from_secs(1);
/// The pause after a failure: how late we notice that the database is back.
const PAUSE: Duration = Duration::from_millis(200);

/// One shard's follower.
pub(super) struct Follower {
    pub store: Arc<dyn EventStore>,
    pub read_models: ReadModels,
    pub cursors: Arc<SyncCursors>,
    pub hub: Arc<Hub>,
    pub shard: Shard,
    /// Turns at the database, shared by all shards.
    pub turns: Arc<Semaphore>,
}

/// Why a look failed.
#[derive(Debug, thiserror::Error)]
enum LookError {
    #[error("read events for the live feed: {0}")]
    Read(#[from] event_store::StoreError),
    #[error("ask for the live feed: {0}")]
    Query(#[from] QueryError),
}

impl Follower {
    /// Runs until it is aborted.
    pub async fn run(self, from: Position) {
        let mut wake = self.store.wake(self.shard);
        let (mut at, mut audiences) = (from, Audiences::new());
        loop {
            // Marked as seen before reading, so that no wake-up falls between the two.
            wake.borrow_and_update();
            match self.look(&mut at, &mut audiences).await {
                Ok(true) => continue,
                Ok(false) => wait(&mut wake).await,
                Err(error) => {
                    tracing::warn!(shard = self.shard.get(), %error, "the live feed waits");
                    // What is known may have been led on half-way.
                    audiences.forget();
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// One batch. True where there may be more at once.
    async fn look(&self, at: &mut Position, audiences: &mut Audiences) -> Result<bool, LookError> {
        if self.hub.is_empty() {
            let head = self.store.shard_head(self.shard).await?.position;
            if self.hub.skip_if_nobody(self.shard, head.max(*at)) {
                *at = head.max(*at);
                audiences.forget();
                return Ok(false);
            }
        }
        let mut events = {
            // Never closed; without a turn it would only be slower.
            let _turn = self.turns.acquire().await;
            self.store.read_shard(self.shard, *at, BATCH_EVENTS).await?
        };
        let full = events.len() == BATCH_EVENTS as usize;
        // Stores deliver at least once: what has been pushed is not pushed again.
        events.retain(|event| event.header.position > *at);
        events.sort_by_key(|event| event.header.position);
        let Some(to) = events.last().map(|event| event.header.position) else { return Ok(false) };
        self.hub.begin(self.shard, to);
        self.push(*at, &events, audiences).await?;
        self.hub.end(self.shard, to);
        audiences.trim();
        *at = to;
        Ok(full)
    }

    async fn push(
        &self,
        at: Position,
        events: &[Recorded],
        audiences: &mut Audiences,
    ) -> Result<(), LookError> {
        // Nothing is queued before everything is known, so that a batch that fails can be tried again as a whole.
        let before: Vector = self.hub.done();
        let batch = Batch::learn(&self.hub, &self.read_models, audiences, at, events).await?;
        let quotes = batch.quotes(&self.read_models).await?;
        let to_wake = batch.push(&self.cursors, before, &quotes);
        if !to_wake.is_empty() {
            // Each connection is in one of these at most.
            tokio::spawn(async move {
                sleep(PACE).await;
                to_wake.iter().for_each(|outbox| outbox.wake());
            });
        }
        Ok(())
    }
}

/// For a wake-up, or until it is time to look by oneself.
async fn wait(wake: &mut watch::Receiver<u64>) {
    tokio::select! {
        // A store that has gone gives no more wake-ups; the own look goes on.
        Ok(()) = wake.changed() => {}
        () = sleep(OWN_LOOK) => {}
    }
}
