//! A migrated database, a log in it, and requests to ask of it.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use domain::{ClientMsgId, Command, Content, ConvId, Flags, GroupSlug, Ms, MsgId, Seq, Stamp, Uid};
use event_store::postgres::{NewLog, PostgresEventStore, pool};
use event_store::surroundings::{Clock, Entropy, Surroundings};
use event_store::{CommandHandler, EventStore, Request};
use uuid::Uuid;

use crate::{Cluster, TestDatabase, cluster, database::connect};

/// Where a test's time begins.
pub const START: Ms = 1_764_000_000_000;
/// Connections of a test's pool: more than one a shard are never needed at once.
const CONNECTIONS: usize = 8;

/// A database with every migration applied, on the cluster that tests share.
pub async fn migrated() -> TestDatabase {
    migrated_on(cluster()).await
}

/// A database with every migration applied.
pub async fn migrated_on(cluster: &Cluster) -> TestDatabase {
    let migrations = migrations();
    let mut hasher = DefaultHasher::new();
    migrations.hash(&mut hasher);
    let name = format!("quipu_migrated_{:016x}", hasher.finish());
    cluster
        .template(&name, async |config| {
            let client = connect(&config).await.expect("connect to the template");
            for sql in &migrations {
                client.batch_execute(sql).await.expect("apply a migration");
            }
        })
        .await;
    cluster.database_from(&name)
}

/// The migrations' texts, in their order.
fn migrations() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations");
    let number = |path: &Path| -> u32 {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.trim_start_matches('V').split("__").next().unwrap_or_default().parse().expect("V<n>__name.sql")
    };
    let entries = std::fs::read_dir(folder).expect("list the migrations");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("list the migrations").path()).collect();
    files.sort_by_key(|path| number(path));
    files.iter().map(|path| std::fs::read_to_string(path).expect("read a migration")).collect()
}

/// The log of a migrated database; each call is another node.
pub async fn postgres_log(config: &tokio_postgres::Config) -> PostgresEventStore {
    let pool = pool(config, CONNECTIONS).expect("make a pool");
    let new = NewLog { log_id: Uuid::from_u128(1), at: START };
    PostgresEventStore::open(pool, config, new).await.expect("open the log")
}

/// A clock that stands where it is put.
#[derive(Debug)]
pub struct HandClock(AtomicI64);

impl HandClock {
    /// Stands at [`START`].
    pub fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(START)))
    }

    /// Moves it, forwards or back.
    pub fn put(&self, now: Ms) {
        self.0.store(now, Ordering::Relaxed);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Ms {
        self.0.load(Ordering::Relaxed)
    }
}

/// Salts that count.
#[derive(Debug, Default)]
pub struct CountingEntropy(AtomicU64);

impl Entropy for CountingEntropy {
    fn salt(&self) -> [u8; 16] {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)).to_le_bytes()
    }
}

/// A clock that stands still and salts that count.
pub fn surroundings() -> Surroundings {
    Surroundings { clock: HandClock::new(), entropy: Arc::new(CountingEntropy::default()) }
}

/// A handler over a store of its own: a node.
pub fn node(store: impl EventStore) -> (Arc<dyn EventStore>, CommandHandler) {
    let store: Arc<dyn EventStore> = Arc::new(store);
    let handler = CommandHandler::start(&store, &surroundings());
    (store, handler)
}

/// A person.
pub fn uid(n: u64) -> Uid {
    Uid::new(n).expect("a test's uid is in range")
}

/// A single chat.
pub fn chat(a: u64, b: u64) -> ConvId {
    ConvId::single(uid(a), uid(b))
}

/// A group.
pub fn group(slug: &str) -> ConvId {
    ConvId::group(&GroupSlug::parse(slug).expect("a test's slug is good"))
}

/// Of a message of the system's own.
pub fn stamp() -> Stamp {
    Stamp { msg_id: MsgId::new(1 << 62), at: START }
}

/// Of nobody's device.
pub fn request(command: Command) -> Request {
    Request { command, device: None, correlation_id: Uuid::from_u128(7), over_limit: None }
}

/// A message that is named by its sender and number.
pub fn send(sender: u64, n: u64) -> Request {
    say(sender, n, &format!("message {n} of {sender}"))
}

/// As [`send`], with another text.
pub fn say(sender: u64, n: u64, text: &str) -> Request {
    request(Command::Send(domain::Send {
        client_msg_id: client_msg_id(sender, n),
        msg_id: MsgId::new(sender << 32 | n),
        sender: uid(sender),
        content: Content::text(text, 70_000).expect("a test's text is good"),
        flags: Flags::NONE,
        mentions: vec![],
        reply_to: None,
        at: START,
    }))
}

/// What [`send`] names its messages.
pub fn client_msg_id(sender: u64, n: u64) -> ClientMsgId {
    ClientMsgId::new(Uuid::from_u128(u128::from(sender) << 64 | u128::from(n)))
}

/// A position.
pub fn read(person: u64, seq: u64) -> Request {
    request(Command::Read { uid: uid(person), read_seq: Seq::new(seq), at: START })
}
