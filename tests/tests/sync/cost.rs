//! What a sync costs: its statements do not grow with conversations in which nothing happened.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use event_store::postgres::{NewLog, PostgresEventStore, pool};
use event_store::{CommandHandler, EventStore};
use projections::query::PageLimit;
use projections::sync::{SyncFrom, SyncPage};
use projections::{Generation, Projector, ReadModels};
use tests::log::{HandClock, START, chat, migrated, node, postgres_log, send, uid};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio_postgres::{Config, config::Host};
use uuid::Uuid;

const IDLE: u64 = 300;

/// Stands before a Postgres and counts the statements that it is sent.
async fn counted(config: &Config) -> (Config, Arc<AtomicU64>) {
    let Some(Host::Unix(folder)) = config.get_hosts().first() else {
        panic!("a test's Postgres has a socket")
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let socket: PathBuf = folder.join(format!(".s.PGSQL.{port}"));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut through = Config::new();
    through.host("127.0.0.1").port(listener.local_addr().unwrap().port());
    through.user(config.get_user().unwrap_or("postgres")).dbname(config.get_dbname().unwrap_or("postgres"));
    if let Some(password) = config.get_password() {
        through.password(password);
    }
    let count = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = UnixStream::connect(&socket).await.unwrap();
            let ((from, to), (mut back, mut forth)) = (client.into_split(), server.into_split());
            let counter = Arc::clone(&counter);
            tokio::spawn(async move {
                // Ends when either side does.
                let _ = forward(from, &mut forth, &counter).await;
            });
            let mut to = to;
            tokio::spawn(async move {
                let _ = tokio::io::copy(&mut back, &mut to).await;
            });
        }
    });
    (through, count)
}

/// Message by message: the first has no type, then `E` executes a statement. What begins and ends a transaction is
/// sent otherwise, and may come late.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    to: &mut (impl AsyncWrite + Unpin),
    count: &AtomicU64,
) -> std::io::Result<()> {
    let mut kind = None;
    loop {
        let length = from.read_u32().await?;
        let mut rest = vec![0; length as usize - 4];
        from.read_exact(&mut rest).await?;
        if let Some(kind) = kind {
            to.write_u8(kind).await?;
            count.fetch_add(u64::from(kind == b'E'), Ordering::Relaxed);
        }
        to.write_u32(length).await?;
        to.write_all(&rest).await?;
        kind = Some(from.read_u8().await?);
    }
}

async fn write(handler: &CommandHandler, peers: std::ops::RangeInclusive<u64>, n: u64) {
    let sends = peers.map(|peer| handler.handle(chat(1, peer), send(peer, n)));
    for sent in futures_util::future::join_all(sends).await {
        sent.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_do_not_grow_with_idle_conversations() {
    let database = migrated().await;
    let (store, handler) = node(postgres_log(&database.config).await);
    let projections = Generation::serving(&database.config, 4).await.unwrap();
    let projector = Projector::start(store, projections, HandClock::new()).await.unwrap();
    let (through, count) = counted(&database.config).await;
    let new = NewLog { log_id: Uuid::from_u128(1), at: START };
    let log = PostgresEventStore::open(pool(&through, 1).unwrap(), &database.config, new).await.unwrap();
    let log: Arc<dyn EventStore> = Arc::new(log);
    let generation = Generation::serving(&through, 1).await.unwrap();
    let models = ReadModels::new(log, generation, Some(projector.progress()));
    let sync = async |from: &SyncFrom| -> (SyncPage, u64) {
        let limit = PageLimit::new(PageLimit::MAX).unwrap();
        // Once until the read models are there and all is prepared.
        models.sync(uid(1), from.clone(), limit).await.unwrap();
        let before = count.load(Ordering::Relaxed);
        let page = models.sync(uid(1), from.clone(), limit).await.unwrap();
        (page, count.load(Ordering::Relaxed) - before)
    };
    let since = |page: SyncPage| SyncFrom { since: Some(page.at), page: None };
    write(&handler, 2..=4, 1).await;
    let few = since(sync(&SyncFrom::default()).await.0);
    let nothing_of_few = sync(&few).await;
    write(&handler, 2..=2, 2).await;
    let one_of_few = sync(&few).await;
    assert_eq!((nothing_of_few.0.entries.len(), one_of_few.0.entries.len()), (0, 1));
    write(&handler, 5..=IDLE, 1).await;
    let many = since(sync(&SyncFrom::default()).await.0);
    let nothing_of_many = sync(&many).await;
    write(&handler, 2..=2, 3).await;
    let one_of_many = sync(&many).await;
    assert_eq!((nothing_of_many.0.entries.len(), one_of_many.0.entries.len()), (0, 1));
    assert_eq!((nothing_of_many.1, one_of_many.1), (nothing_of_few.1, one_of_few.1));
    write(&handler, 2..=50, 4).await;
    let some_of_many = sync(&many).await;
    assert_eq!(
        (some_of_many.0.entries.len(), some_of_many.1),
        (49, one_of_many.1),
        "nor with those that changed"
    );
    assert!(nothing_of_many.1 < 12 && one_of_many.1 < 30, "{} {}", nothing_of_many.1, one_of_many.1);
    drop(models);
    projector.shutdown().await;
}
