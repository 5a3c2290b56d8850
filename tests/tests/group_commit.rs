//! Batches of several shards in one commit: what is wrong with one of them is nobody else's business.

use domain::{ConvId, EventId, StreamKind};
use event_store::{
    Batch, EventStore, Origin, Position, Shard, ShardHead, StoreError, StreamName,
    chain::{self, Unsealed},
    codec::Encoded,
    port::StreamHead,
    postgres::PostgresEventStore,
};
use futures_util::future::join_all;
use tests::log::{START, chat, migrated, postgres_log};
use uuid::Uuid;

/// A conversation of each shard.
fn conversations(store: &PostgresEventStore) -> Vec<ConvId> {
    let shards = store.info().shards;
    let of = |shard: Shard| (2..).map(|n| chat(1, n)).find(|conv| Shard::of(conv, shards) == shard).unwrap();
    Shard::all(shards).map(of).collect()
}

fn shard_of(store: &PostgresEventStore, conv: &ConvId) -> Shard {
    Shard::of(conv, store.info().shards)
}

/// Events `first` to `last` of a message stream that stands right before them.
fn batch(
    store: &PostgresEventStore,
    conv: &ConvId,
    seen: ShardHead,
    numbers: std::ops::RangeInclusive<u64>,
) -> Batch {
    let stream = StreamName::new(conv, StreamKind::Message);
    let mut stream_head = StreamHead { version: numbers.start() - 1, chain: [0; 32] };
    let mut head = seen;
    let id = |n: u64| EventId::new(Uuid::from_u64_pair(shard_of(store, conv).get().into(), n));
    let absent = numbers.clone().map(|n| (stream.clone(), id(n))).collect();
    let seal = |n: u64| {
        let encoded = Encoded { event_type: 1, schema_version: 1, body: b"{}".to_vec(), message: None };
        let (origin, correlation_id) = (Origin::Live, Uuid::nil());
        let unsealed = Unsealed { event_id: id(n), encoded, actor: 1, device: None, origin, correlation_id };
        chain::seal(
            unsealed,
            shard_of(store, conv),
            stream.clone(),
            &mut head,
            &mut stream_head,
            START,
            [0; 16],
        )
    };
    Batch { events: numbers.map(seal).collect(), pieces: vec![], absent }
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Appended,
    NotDone,
    Refused,
}

async fn appended(store: &PostgresEventStore, conv: &ConvId, seen: ShardHead, batch: Batch) -> Outcome {
    match store.append_at(shard_of(store, conv), seen, batch).await {
        Ok(true) => Outcome::Appended,
        Ok(false) => Outcome::NotDone,
        Err(StoreError::Refused { .. }) => Outcome::Refused,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_batch_of_a_commit_is_on_its_own() {
    let database = migrated().await;
    let store = postgres_log(&database.config).await;
    let convs = conversations(&store);
    let start = ShardHead::default();
    let first = convs.iter().map(|conv| appended(&store, conv, start, batch(&store, conv, start, 1..=2)));
    assert!(join_all(first).await.iter().all(|outcome| *outcome == Outcome::Appended));
    let heads = store.shard_heads().await.unwrap();
    let second = convs.iter().zip(&heads).enumerate().map(|(n, (conv, seen))| {
        let (mut seen, mut batch) = (*seen, batch(&store, conv, *seen, 3..=4));
        match n % 4 {
            // Seen before it moved.
            1 => seen.position = Position::new(1),
            // A row that no table takes.
            2 => batch.events[1].header.version = 0,
            // An event that is there already.
            3 => batch.events[1].header.event_id = EventId::new(Uuid::from_u64_pair(n as u64, 1)),
            _ => {}
        }
        appended(&store, conv, seen, batch)
    });
    let outcomes = join_all(second).await;
    for (n, (conv, outcome)) in convs.iter().zip(outcomes).enumerate() {
        let (expected, events) = match n % 4 {
            0 => (Outcome::Appended, 4),
            2 => (Outcome::Refused, 2),
            _ => (Outcome::NotDone, 2),
        };
        assert_eq!(outcome, expected, "{conv}");
        let read = store.read_shard(shard_of(&store, conv), Position::START, 10).await.unwrap();
        let positions: Vec<_> = read.iter().map(|event| event.header.position.get()).collect();
        assert_eq!(positions, (1..=events).collect::<Vec<_>>(), "{conv}");
        let stored = store.read_conversation(conv, Position::START, 10).await.unwrap();
        assert_eq!(stored, read, "{conv}: in memory as in the log");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_fits_into_one_commit_is_all_appended() {
    let database = migrated().await;
    let store = postgres_log(&database.config).await;
    let convs = conversations(&store);
    for round in 0..3 {
        let heads = store.shard_heads().await.unwrap();
        // Of 16 shards two or three fit; that of one alone is larger than what fits.
        let appends = convs.iter().zip(&heads).enumerate().map(|(n, (conv, seen))| {
            let count = if n == 5 { 600 } else { 200 };
            let numbers = round * count + 1..=(round + 1) * count;
            appended(&store, conv, *seen, batch(&store, conv, *seen, numbers))
        });
        assert!(join_all(appends).await.iter().all(|outcome| *outcome == Outcome::Appended));
    }
    let heads = store.shard_heads().await.unwrap();
    let counts: Vec<_> = heads.iter().map(|head| head.position.get()).collect();
    let expected: Vec<_> = (0..convs.len()).map(|n| if n == 5 { 1800 } else { 600 }).collect();
    assert_eq!(counts, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_away_takes_nobody_along() {
    let database = migrated().await;
    let store = postgres_log(&database.config).await;
    let (convs, start) = (conversations(&store), ShardHead::default());
    let mut tasks: Vec<_> = convs
        .iter()
        .cloned()
        .map(|conv| {
            let store = store.clone();
            tokio::spawn(async move {
                let batch = batch(&store, &conv, start, 1..=3);
                store.append_at(shard_of(&store, &conv), start, batch).await
            })
        })
        .collect();
    // Perhaps the one who leads.
    tokio::task::yield_now().await;
    tasks.remove(0).abort();
    for (task, conv) in tasks.into_iter().zip(&convs[1..]) {
        match task.await.unwrap() {
            Ok(done) => assert!(done, "{conv}"),
            Err(StoreError::Unknown { .. }) => {
                // Ask again, as a worker does.
                let head = store.turn(shard_of(&store, conv)).await.unwrap().head();
                if head == start {
                    let again = appended(&store, conv, start, batch(&store, conv, start, 1..=3)).await;
                    assert_eq!(again, Outcome::Appended);
                }
            }
            Err(error) => panic!("{conv}: {error}"),
        }
    }
    for conv in &convs[1..] {
        assert_eq!(
            store.shard_head(shard_of(&store, conv)).await.unwrap().position,
            Position::new(3),
            "{conv}"
        );
    }
}
