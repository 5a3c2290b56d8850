//! The read models for a command: kept up by this process, whether or not a server runs beside it.

use std::{sync::Arc, time::Duration};

use event_store::{Clock, EventStore, Shard, StoreError};
use projections::{Projectors, ProjectorsError, ReadModels, notification::Inboxes};

use crate::audit::{Session, bar::Bar};

/// Between two looks at how far the read models are.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Looks without any progress until it is given up: half a minute.
const LOOKS_MAX: u32 = 600;

/// Why the read models cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    /// Not opened, or not followed.
    #[error(transparent)]
    Projectors(#[from] ProjectorsError),
    /// The log.
    #[error("read where the log stands")]
    Log(#[from] StoreError),
    /// They do not get on.
    #[error("wait for the read models: they are {0} events behind the log and do not get on")]
    Behind(u64),
}

/// What answers.
pub struct Models {
    /// Conversations.
    pub conversations: ReadModels,
    /// Notifications.
    pub inboxes: Inboxes,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    store: Arc<dyn EventStore>,
    projectors: Projectors,
}

impl Models {
    /// Starts the projectors. A server that projects, too, is no harm: each batch is applied by one.
    pub async fn start(session: &Session) -> Result<Self, ModelsError> {
        let (store, database) = (Arc::clone(&session.store), session.database());
        let clock = Arc::clone(&session.surroundings.clock);
        let projectors = Projectors::start(database, Arc::clone(&store), Arc::clone(&clock)).await?;
        let (conversations, inboxes) = (projectors.read_models(), projectors.inboxes());
        Ok(Self { conversations, inboxes, clock, store, projectors })
    }

    /// Waits until they have passed what the log has now, however long that takes, as long as they get on.
    pub async fn caught_up(&self) -> Result<(), ModelsError> {
        let heads = self.store.shard_heads().await?;
        let behind = || {
            let shards = self.projectors.watch().serving().map(|status| status.shards).unwrap_or_default();
            let at =
                |shard: Shard| shards.iter().find(|it| it.shard == shard).map_or(0, |it| it.position.get());
            let missing = Shard::all(u16::MAX)
                .zip(&heads)
                .map(|(shard, head)| head.position.get().saturating_sub(at(shard)));
            missing.sum::<u64>()
        };
        let (mut last, mut looks) = (behind(), 0);
        let bar = Bar::new(last);
        while last > 0 {
            if looks == LOOKS_MAX {
                return Err(ModelsError::Behind(last));
            }
            tokio::time::sleep(LOOK_EVERY).await;
            let now = behind();
            looks = if now < last { 0 } else { looks + 1 };
            bar.passed(last.saturating_sub(now));
            last = now;
        }
        bar.finish();
        Ok(())
    }

    /// Conversations that answer nothing until an operator has seen to them, of whomever they are.
    pub fn parked(&self) -> u64 {
        self.projectors.watch().serving().map_or(0, |status| status.parked)
    }

    /// Ends the projectors after their batch.
    pub async fn stop(self) {
        self.projectors.shutdown().await;
    }
}
