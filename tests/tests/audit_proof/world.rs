//! A log with two chats and checkpoints, a person with SQL, and what `verify` says.

use std::sync::{Arc, Mutex};

use domain::StreamKind;
use ed25519_dalek::SigningKey;
use event_store::chain;
use event_store::checkpoint::Checkpoint;
use event_store::postgres::pool;
use event_store::postgres::proof::{LogReader, Made, Scope, Verified, Watch, make_checkpoint, verify};
use event_store::surroundings::Surroundings;
use event_store::verify::{Fault, What};
use event_store::{CommandHandler, EventStore, Request, StreamName};
use tests::log::{chat, node, postgres_log, read, send, surroundings};
use tests::{TestDatabase, cluster};
use tokio_postgres::Client;

/// What is tampered with.
pub const STREAM: &str = "message-p2p-1-2";
/// Connections of a verification.
const CONNECTIONS: usize = 4;

pub struct World {
    pub store: Arc<dyn EventStore>,
    pub handler: CommandHandler,
    pub reader: LogReader,
    pub sql: Client,
    pub surroundings: Surroundings,
    // Last, so that it goes last.
    pub database: TestDatabase,
}

#[derive(Default)]
struct Heard {
    faults: Mutex<Vec<Fault>>,
    expected: Mutex<u64>,
    passed: Mutex<u64>,
}

impl Watch for Heard {
    fn expects(&self, events: u64) {
        *self.expected.lock().unwrap() = events;
    }

    fn passed(&self, events: u64) {
        *self.passed.lock().unwrap() += events;
    }

    fn fault(&self, fault: Fault) {
        self.faults.lock().unwrap().push(fault);
    }
}

pub fn key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

impl World {
    /// Ten messages of one chat and some marks, five of another one, a checkpoint; five more, a checkpoint; two more.
    pub async fn new() -> Self {
        let database = Self::migrated().await;
        let (store, handler) = node(postgres_log(&database.config).await);
        let reader = LogReader::new(pool(&database.config, CONNECTIONS).unwrap(), store.info().clone());
        let sql = database.connect().await;
        let world = Self { sql, store, handler, reader, surroundings: surroundings(), database };
        for n in 1..=10 {
            world.say(1, 2, n).await;
            if n % 2 == 0 {
                world.say(1, 3, 100 + n).await;
            }
        }
        for seq in [1, 3, 7] {
            world.handler.handle(chat(1, 2), read(2, seq)).await.unwrap();
        }
        world.checkpoint().await;
        for n in 11..=15 {
            world.say(1, 2, n).await;
        }
        world.checkpoint().await;
        for n in 16..=17 {
            world.say(1, 2, n).await;
        }
        world.backup().await;
        world
    }

    /// By quipu's own hand, so that its commands know it.
    pub async fn migrated() -> TestDatabase {
        let name = "quipu_migrated_by_itself";
        let migrate = async |config| drop(quipu::migrate::migrate(&config).await.unwrap());
        cluster().template(name, migrate).await;
        cluster().database_from(name)
    }

    pub async fn say(&self, from: u64, to: u64, n: u64) {
        let request = Request { device: Some("phone".into()), ..send(from, n) };
        self.handler.handle(chat(from, to), request).await.unwrap();
    }

    /// None where there was nothing new.
    pub async fn checkpoint(&self) -> Option<Checkpoint> {
        match make_checkpoint(&self.reader, &*self.store, &key(), &self.surroundings).await.unwrap() {
            Made::Checkpoint { checkpoint, more } => {
                assert!(!more);
                Some(*checkpoint)
            }
            Made::NothingNew => None,
            Made::AnotherNode => panic!("there is no other node"),
        }
    }

    async fn backup(&self) {
        let copies = "create schema backup;
            create table backup.event as table log.event;
            create table backup.body as table log.body;
            create table backup.digest as table log.digest;
            create table backup.checkpoint_heads as table log.checkpoint_heads;
            create table backup.conversation as table log.conversation";
        self.sql.batch_execute(copies).await.unwrap();
    }

    /// Undoes whatever was done.
    pub async fn restore(&self) {
        let tables = ["event", "body", "digest", "checkpoint_heads", "conversation"];
        let mut sql = String::from("begin;");
        for table in tables {
            let own = if table == "conversation" { "overriding system value" } else { "" };
            sql += &format!("delete from log.{table}; insert into log.{table} {own} table backup.{table};");
        }
        self.sql.batch_execute(&(sql + "commit")).await.unwrap();
    }

    pub async fn verify_with(&self, scope: Scope) -> (Verified, Vec<Fault>) {
        let heard = Arc::new(Heard::default());
        let watch: Arc<dyn Watch> = heard.clone();
        let verified = verify(&self.reader, &scope, &watch).await.unwrap();
        let mut faults = std::mem::take(&mut *heard.faults.lock().unwrap());
        faults.sort_by_key(|fault| (fault.stream.clone(), fault.version, fault.what));
        if faults.is_empty() {
            let (expected, passed) = (*heard.expected.lock().unwrap(), *heard.passed.lock().unwrap());
            assert!(passed >= expected * 2, "each event goes by twice, and what was appended meanwhile");
        }
        (verified, faults)
    }

    pub async fn verify(&self) -> Vec<Fault> {
        self.verify_with(self.scope()).await.1
    }

    pub fn scope(&self) -> Scope {
        Scope { keys: vec![key().verifying_key()], trusted: vec![], workers: 3 }
    }

    /// Runs SQL, says what is found, and undoes it.
    pub async fn tampered(&self, sql: &str) -> Vec<Fault> {
        let changed = self.sql.batch_execute(sql).await;
        changed.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let faults = self.verify().await;
        self.restore().await;
        faults
    }
}

/// The faults that name an event of a stream.
pub fn named(faults: &[Fault]) -> Vec<(&str, u64, What)> {
    faults.iter().filter_map(|it| Some((it.stream.as_deref()?, it.version?, it.what))).collect()
}

impl World {
    /// [`STREAM`].
    pub fn stream(&self) -> StreamName {
        StreamName::new(&chat(1, 2), StreamKind::Message)
    }

    /// Puts another actor into an event of [`STREAM`] and computes its chain, and that of all after it, again.
    pub async fn forge(&self, version: u64) {
        let events = self.store.read_stream(&self.stream(), 1, 1000).await.unwrap();
        let mut previous = [0; 32];
        for event in events {
            let mut header = event.header;
            if header.version == version {
                header.actor = 3;
            }
            header.chain = chain::link(&previous, &header, &chain::body_digest(&event.body));
            previous = header.chain;
            let forge = "update log.event set actor = $1, chain = $2 where shard = $3 and position = $4";
            let (actor, shard) = (header.actor as i64, header.shard.get() as i16);
            let position = header.position.get() as i64;
            self.sql.execute(forge, &[&actor, &&header.chain[..], &shard, &position]).await.unwrap();
        }
    }
}
