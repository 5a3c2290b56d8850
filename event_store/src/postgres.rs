//! The log on Postgres. One lock a shard makes position order the order of commits, on any number of nodes.
//!
//! Schema: migrations/V1__log.sql. Protocol: docs/decisions/0002.

mod append;
mod conversations;
mod failure;
mod group_commit;
pub mod holds;
mod load;
mod notifier;
pub mod proof;
mod read;
mod recent;
pub mod removal;
mod rows;
mod since;
mod turn;

use std::{
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, QueueMode, RecyclingMethod, Runtime};
use domain::{ConvId, Ms, MsgId, Seq, bucket::BUCKET_SIZE};
use tokio::sync::watch;
use tokio_postgres::NoTls;
use uuid::Uuid;

use crate::{
    port::{Batch, EventStore, Found, LogInfo, ShardHead, Since, StoreError, Turn, Wanted},
    recorded::{Position, Recorded, StreamName},
    shard::{SHARD_FUNCTION, SHARDS, Shard},
};
use conversations::Conversations;
use failure::{corrupt, unavailable};
use group_commit::GroupCommit;
use notifier::Notifier;
use recent::Recent;

/// How long a statement waits for a lock before the command is answered as unavailable. A turn takes
/// milliseconds; only a node that hangs holds one for longer.
const LOCK_TIMEOUT_S: u32 = 5;
/// A transaction that has nothing to do for this long belongs to a node that hangs: Postgres ends it.
const IDLE_TRANSACTION_TIMEOUT_S: u32 = 5;

/// Every statement here probes keys, so the planner is not asked: a plan made for an empty table, and kept for the
/// life of a connection, would scan what an import has filled since. Each is planned once, so that what
/// `tests/tests/plans.rs` explains is what runs.
const PLANS: &str = "-c enable_seqscan=off -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off \
                     -c enable_material=off -c jit=off -c plan_cache_mode=force_generic_plan";
/// How long one waits for a connection: by then the database is away, or hundreds wait.
const CONNECTION_WAIT: Duration = Duration::from_secs(5);

/// A log in a Postgres database. Cheap to clone.
#[derive(Clone)]
pub struct PostgresEventStore {
    inner: Arc<Inner>,
}

struct Inner {
    pool: Pool,
    info: LogInfo,
    conversations: Conversations,
    /// A month whose bodies are known to have their partition.
    month: Mutex<Range<Ms>>,
    /// Statements sent to load what commands need: what a test counts.
    loads: AtomicU64,
    commits: GroupCommit,
    recent: Arc<Recent>,
    notifier: Notifier,
}

/// What a new log is created with, if there is none yet.
#[derive(Debug, Clone, Copy)]
pub struct NewLog {
    /// Its name.
    pub log_id: Uuid,
    /// Now.
    pub at: Ms,
}

/// Connections for the log: with time limits on locks and idle transactions, so that no node holds up another.
pub fn pool(config: &tokio_postgres::Config, connections: usize) -> Result<Pool, StoreError> {
    let mut config = config.clone();
    let options = config.get_options().unwrap_or_default().to_owned();
    config.options(format!(
        "{options} -c lock_timeout={LOCK_TIMEOUT_S}s -c idle_in_transaction_session_timeout={IDLE_TRANSACTION_TIMEOUT_S}s {PLANS}"
    ));
    if config.get_application_name().is_none() {
        config.application_name("quipu");
    }
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config, NoTls, recycling);
    let build = Pool::builder(manager)
        .max_size(connections)
        // The connection that was used last has what it needs in memory, and so has its process in Postgres.
        .queue_mode(QueueMode::Lifo)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(CONNECTION_WAIT))
        .create_timeout(Some(CONNECTION_WAIT))
        .build();
    build.map_err(|error| unavailable("make a connection pool", error))
}

impl PostgresEventStore {
    /// Opens the log of a migrated database, or creates it. Refuses one that was made with another shard function
    /// or bucket size than this binary has.
    pub async fn open(pool: Pool, config: &tokio_postgres::Config, new: NewLog) -> Result<Self, StoreError> {
        let doing = "open the log";
        let client = pool.get().await.map_err(|error| unavailable(doing, error))?;
        let created: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
            [&new.log_id, &(SHARDS as i16), &SHARD_FUNCTION, &(BUCKET_SIZE as i32), &new.at];
        client
            .execute(include_str!("postgres/create_log.sql"), &created)
            .await
            .map_err(|error| unavailable(doing, error))?;
        let row = client
            .query_one(include_str!("postgres/log_info.sql"), &[])
            .await
            .map_err(|error| unavailable(doing, error))?;
        let (function, bucket): (String, i32) = (row.get("shard_function"), row.get("bucket_size"));
        if function != SHARD_FUNCTION || i64::from(bucket) != BUCKET_SIZE as i64 {
            let what = format!(
                "the log has shard function {function} and buckets of {bucket}; this binary has {SHARD_FUNCTION} and {BUCKET_SIZE}"
            );
            return Err(corrupt(doing, what));
        }
        let (epoch, shards): (i32, i16) = (row.get("epoch"), row.get("shards"));
        let info = LogInfo { log_id: row.get("log_id"), epoch: epoch as u32, shards: shards as u16 };
        drop(client);
        let recent = Arc::new(Recent::new(info.shards));
        let notifier = Notifier::start(pool.clone(), config.clone(), info.shards, Arc::clone(&recent));
        let inner = Inner {
            pool,
            conversations: Conversations::new(),
            month: Mutex::new(0..0),
            loads: AtomicU64::new(0),
            commits: GroupCommit::new(),
            recent,
            notifier,
            info,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// How many statements were sent so far to load what commands need.
    pub fn loads(&self) -> u64 {
        self.inner.loads.load(Ordering::Relaxed)
    }
}

impl Inner {
    /// Events are committed: followers may have them.
    fn grown(&self, shard: Shard, events: Vec<Recorded>) {
        if !events.is_empty() {
            self.recent.note(shard, events);
            self.notifier.grown(shard);
        }
    }

    async fn client(&self, doing: &'static str) -> Result<Client, StoreError> {
        self.pool.get().await.map_err(|error| unavailable(doing, error))
    }

    fn month(&self) -> MutexGuard<'_, Range<Ms>> {
        self.month.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl EventStore for PostgresEventStore {
    fn info(&self) -> &LogInfo {
        &self.inner.info
    }

    async fn read_stream(
        &self,
        stream: &StreamName,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        let client = self.inner.client(read::DOING).await?;
        read::stream(&client, &self.inner.conversations, stream, from, limit).await
    }

    async fn read_shard(
        &self,
        shard: Shard,
        after: Position,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        let known = self.inner.recent.after(shard, after, limit);
        if !known.is_empty() {
            return Ok(known);
        }
        let doing = "read a shard";
        let client = self.inner.client(doing).await?;
        let statement = client
            .prepare_cached(include_str!("postgres/read_shard.sql"))
            .await
            .map_err(|error| unavailable(doing, error))?;
        let rows = client
            .query(&statement, &[&(shard.get() as i16), &rows::position(after), &i64::from(limit)])
            .await
            .map_err(|error| unavailable(doing, error))?;
        rows.iter().map(rows::recorded).collect()
    }

    async fn read_conversation(
        &self,
        conv: &ConvId,
        after: Position,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        let client = self.inner.client(read::DOING_CONVERSATION).await?;
        read::conversation(&client, conv, after, limit).await
    }

    async fn conversations(&self, after: Option<&ConvId>, limit: u32) -> Result<Vec<ConvId>, StoreError> {
        let client = self.inner.client(read::DOING_NAMES).await?;
        read::names(&client, after, limit).await
    }

    async fn message(&self, id: MsgId) -> Result<Option<Recorded>, StoreError> {
        let mut client = self.inner.client(read::DOING_MESSAGE).await?;
        read::message(&mut client, id).await
    }

    async fn shard_heads(&self) -> Result<Vec<ShardHead>, StoreError> {
        let doing = "read where the shards stand";
        let client = self.inner.client(doing).await?;
        let statement = client
            .prepare_cached(include_str!("postgres/shard_heads.sql"))
            .await
            .map_err(|error| unavailable(doing, error))?;
        let shards = self.inner.info.shards;
        let rows = client
            .query(&statement, &[&i32::from(shards)])
            .await
            .map_err(|error| unavailable(doing, error))?;
        let mut heads = vec![ShardHead::default(); usize::from(shards)];
        for row in rows {
            if let Some(head) = heads.get_mut(row.get::<_, i32>(0) as usize) {
                *head = rows::shard_head(row.get(1), row.get(2));
            }
        }
        Ok(heads)
    }

    async fn shard_head(&self, shard: Shard) -> Result<ShardHead, StoreError> {
        let client = self.inner.client(turn::READ_HEAD).await?;
        turn::shard_head(&client, shard).await
    }

    async fn conversation_position(&self, conv: &ConvId) -> Result<Position, StoreError> {
        let doing = "read where a conversation stands";
        let client = self.inner.client(doing).await?;
        let statement = client
            .prepare_cached(include_str!("postgres/conversation_position.sql"))
            .await
            .map_err(|error| unavailable(doing, error))?;
        let row = client
            .query_one(&statement, &[&conv.as_str()])
            .await
            .map_err(|error| unavailable(doing, error))?;
        Ok(Position::new(row.get::<_, Option<i64>>(0).unwrap_or(0) as u64))
    }

    async fn stream_positions(&self, convs: &[ConvId]) -> Result<Vec<[Position; 3]>, StoreError> {
        since::stream_positions(&self.inner, convs).await
    }

    async fn first_messages(&self, asked: &[(ConvId, Position)]) -> Result<Vec<Option<Seq>>, StoreError> {
        since::first_messages(&self.inner, asked).await
    }

    async fn facts_since(&self, asked: &[Since], each: u32, limit: u32) -> Result<Vec<Recorded>, StoreError> {
        since::facts_since(&self.inner, asked, each, limit).await
    }

    async fn load(&self, _shard: Shard, wanted: &[Wanted]) -> Result<Vec<Found>, StoreError> {
        let client = self.inner.client(load::DOING).await?;
        load::load(&client, &self.inner.conversations, &self.inner.loads, wanted).await
    }

    async fn append_at(&self, shard: Shard, seen: ShardHead, batch: Batch) -> Result<bool, StoreError> {
        let inner = &self.inner;
        let numbers = inner.conversations.of_batch(inner, shard, &batch).await?;
        inner.commits.append(inner, shard, seen, batch, numbers).await
    }

    async fn turn(&self, shard: Shard) -> Result<Box<dyn Turn + '_>, StoreError> {
        Ok(Box::new(turn::PostgresTurn::wait(&self.inner, shard).await?))
    }

    fn wake(&self, shard: Shard) -> watch::Receiver<u64> {
        self.inner.notifier.subscribe(shard)
    }
}
