//! The live feed: what is appended to the log is pushed to the connections of those who may see it.
//!
//! One follower a shard reads the log from now on (`follower.rs`), decides once for a conversation who hears of what
//! (`batch.rs`, `audience.rs`), and queues it to the connections (`hub.rs`, `outbox.rs`). Knows nothing of sockets.

mod audience;
mod batch;
mod follower;
pub mod hub;
mod notified;
pub mod outbox;
pub mod push;
pub mod resume;

use std::sync::Arc;

use event_store::{EventStore, Shard, StoreError, Vector};
use projections::ReadModels;
use tokio::{sync::Semaphore, task::JoinSet};

use self::follower::Follower;
pub use self::hub::Hub;
use self::notified::NotificationFollower;
use crate::sync_cursor::SyncCursors;

/// Shards that are read at a time: more would take connections from commands.
const SHARDS_AT_ONCE: usize = 4;

/// The running followers; they end when this is dropped.
pub struct Feed {
    /// Who is connected.
    pub hub: Arc<Hub>,
    /// The log, for what was missed.
    pub store: Arc<dyn EventStore>,
    _followers: JoinSet<()>,
}

impl Feed {
    /// Follows every shard from where it stands now.
    pub async fn start(
        store: &Arc<dyn EventStore>,
        read_models: &ReadModels,
        cursors: &Arc<SyncCursors>,
    ) -> Result<Self, StoreError> {
        let heads = store.shard_heads().await?.into_iter().map(|head| head.position).collect();
        let from = Vector::new(heads);
        let hub = Hub::new(from.clone());
        let turns = Arc::new(Semaphore::new(SHARDS_AT_ONCE));
        let mut followers = JoinSet::new();
        for shard in Shard::all(store.info().shards) {
            let follower = Follower {
                store: Arc::clone(store),
                read_models: read_models.clone(),
                cursors: Arc::clone(cursors),
                hub: Arc::clone(&hub),
                shard,
                turns: Arc::clone(&turns),
            };
            followers.spawn(follower.run(from.at(shard)));
        }
        let own = store.shard_head(Shard::OWN).await?.position;
        let follower = NotificationFollower {
            store: Arc::clone(store),
            cursors: Arc::clone(cursors),
            hub: Arc::clone(&hub),
        };
        followers.spawn(follower.run(own));
        Ok(Self { hub, store: Arc::clone(store), _followers: followers })
    }
}
