//! A database with the read models' tables, and what one does with it.

use std::{sync::Arc, time::Duration};

use domain::Ms;
use event_store::{Clock, EventStore, Shard};
use projections::{Generation, Projector, ProjectorHandle, ReadModels};
use tests::{TestDatabase, cluster};

/// The longest that a projector may take for a test's few thousand events.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct World {
    pub db: TestDatabase,
}

struct StandingClock;

impl Clock for StandingClock {
    fn now(&self) -> Ms {
        1_764_000_000_000
    }
}

const TABLES: [(&str, &str); 14] = [
    ("history_tail", "conv_id, seq"),
    ("history_bucket", "conv_id, bucket"),
    ("system_message", "conv_id, seq"),
    ("recall", "conv_id, seq"),
    ("deleted", "conv_id, uid, bucket"),
    ("expired", "conv_id, bucket"),
    ("group_read", "conv_id, uid"),
    ("watermark", "conv_id, uid"),
    ("setting", "conv_id, uid"),
    ("head", "conv_id"),
    ("member_by_conv", "conv_id, uid"),
    ("member_by_person", "uid, conv_id"),
    ("mention", "conv_id, uid, seq"),
    ("departure", "uid, conv_id"),
];

impl World {
    pub async fn new() -> Self {
        let db = cluster().database();
        let client = db.connect().await;
        for migration in [
            include_str!("../../../migrations/V1__log.sql"),
            include_str!("../../../migrations/V2__read_models.sql"),
            include_str!("../../../migrations/V4__groups_and_lists.sql"),
            include_str!("../../../migrations/V5__sync.sql"),
            include_str!("../../../migrations/V10__keeping.sql"),
        ] {
            client.batch_execute(migration).await.unwrap();
        }
        Self { db }
    }

    pub async fn generation(&self) -> Generation {
        Generation::serving(&self.db.config, 8).await.unwrap()
    }

    pub async fn projector(&self, store: Arc<dyn EventStore>) -> ProjectorHandle {
        Projector::start(store, self.generation().await, Arc::new(StandingClock)).await.unwrap()
    }

    pub async fn read_models(
        &self,
        store: Arc<dyn EventStore>,
        projector: Option<&ProjectorHandle>,
    ) -> ReadModels {
        ReadModels::new(store, self.generation().await, projector.map(ProjectorHandle::progress))
    }

    /// Projects all that is in the log.
    pub async fn catch_up(&self, store: Arc<dyn EventStore>) {
        let projector = self.projector(Arc::clone(&store)).await;
        caught_up(&projector, &*store).await;
        projector.shutdown().await;
    }

    /// Every row of every read model and the checkpoints, as text.
    pub async fn rows(&self) -> Vec<String> {
        let client = self.db.connect().await;
        client.batch_execute("set search_path = conversation_g1, public").await.unwrap();
        let mut rows = Vec::new();
        let outside = [("checkpoint", "shard"), ("parked", "conv_id")];
        for (table, key) in TABLES.into_iter().chain(outside) {
            let sql = format!("select t::text from {table} t order by {key}");
            let of = client.query(&sql, &[]).await.unwrap();
            rows.extend(of.iter().map(|row| format!("{table} {}", row.get::<_, String>(0))));
        }
        rows
    }
}

/// Waits until the projector has passed the log's heads.
pub async fn caught_up(projector: &ProjectorHandle, store: &dyn EventStore) {
    let progress = projector.progress();
    for (shard, head) in Shard::all(u16::MAX).zip(store.shard_heads().await.unwrap()) {
        assert!(
            progress.reached(shard, head.position, PATIENCE).await,
            "{shard:?}: {:?}",
            projector.status()
        );
    }
}
