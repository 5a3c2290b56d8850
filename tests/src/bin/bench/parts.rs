//! What is measured.

use std::sync::Arc;
use std::time::Duration;

use domain::{ConvId, Event, EventId, Seq, StreamKind, Uid};
use event_store::chain::{self, Unsealed};
use event_store::port::StreamHead;
use event_store::{Batch, CommandHandler, EventStore, Origin, Sequence, Shard, ShardHead, StreamName, codec};
use projections::query::{PageLimit, Range};
use projections::{
    Generation, Projection, Projector, ReadModels, generations::Generations, rebuild::Rebuild,
};
use tests::log::{HandClock, START, chat, migrated_on, node, postgres_log, say, uid};
use tests::{Cluster, TestDatabase};
use tokio::sync::watch;
use uuid::Uuid;

use super::{Scale, measure};

/// About what people write: 200 bytes.
const TEXT: &str = "The quick brown fox jumps over the lazy dog, and then it rests a while in the shade of the old oak \
                    tree; 敏捷的棕色狐狸跳过了懒狗，然后在老橡树的树荫下休息了一会儿。";
const CONNECTIONS: usize = 24;
/// Conversations that the messages are spread over.
const CONVERSATIONS: u64 = 500;

/// Events appended a second by one writer, by batch size: the floor under every command.
#[expect(clippy::print_stdout, reason = "its answer")]
pub async fn appends(cluster: &Cluster, scale: Scale) {
    println!("| events in a commit | events/s, one connection | ratio |\n|---|---|---|");
    let mut first = None;
    for size in [1, 10, 100, 500, 2000] {
        let mut rates = vec![];
        for _ in 0..scale.rounds {
            let database = migrated_on(cluster).await;
            let store = postgres_log(&database.config).await;
            let events = if size == 1 { scale.events / 10 } else { scale.events }.max(size);
            let batches = batches(events / size, size);
            let (_, took) = measure::timed(append_all(&store, batches)).await;
            rates.push((events / size * size) as f64 / took.as_secs_f64());
        }
        let rate = measure::median(rates);
        println!("| {size} | {rate:.0} | {:.1} |", rate / *first.get_or_insert(rate));
    }
    println!();
}

async fn append_all(store: &impl EventStore, batches: Vec<(ShardHead, Batch)>) {
    for (seen, batch) in batches {
        let shard = batch.events[0].header.shard;
        assert!(store.append_at(shard, seen, batch).await.expect("append"), "nobody else appends");
    }
}

/// Messages of one conversation, sealed beforehand, so that only the append is timed.
fn batches(count: usize, size: usize) -> Vec<(ShardHead, Batch)> {
    let conv = chat(1, 2);
    let shard = Shard::of(&conv, event_store::shard::SHARDS);
    let (mut head, mut stream_head) = (ShardHead::default(), StreamHead::default());
    let mut n = 0;
    let batch = |_| {
        let seen = head;
        let events = (0..size)
            .map(|_| {
                n += 1;
                let stream = StreamName::new(&conv, StreamKind::Message);
                chain::seal(message(&conv, n), shard, stream, &mut head, &mut stream_head, START, [7; 16])
            })
            .collect();
        (seen, Batch { events, ..Batch::default() })
    };
    (0..count).map(batch).collect()
}

fn message(conv: &ConvId, n: u64) -> Unsealed {
    let client_msg_id = tests::log::client_msg_id(1, n);
    let event = Event::MessageSent {
        msg_id: domain::MsgId::new(n),
        sender: uid(1).into(),
        content: domain::Content::text(TEXT, 1000).expect("a text"),
        flags: domain::Flags::NONE,
        mentions: vec![],
        reply_to: None,
        client_msg_id,
        create_at: START,
    };
    Unsealed {
        event_id: EventId::sent(conv, uid(1), client_msg_id),
        encoded: codec::encode(&event),
        actor: 1,
        device: None,
        origin: Origin::Live,
        correlation_id: Uuid::nil(),
    }
}

/// Sends through the handler, then the projection of them, then pages, then what it all weighs.
#[expect(clippy::print_stdout, reason = "its answer")]
pub async fn messages(cluster: &Cluster, scale: Scale) {
    let database = migrated_on(cluster).await;
    let client = measure::settle(&database).await;
    let (store, handler) = node(postgres_log(&database.config).await);
    let messages = scale.messages as f64;
    let (wal_before, _) = measure::bytes(&client).await;
    let (_, took) = measure::timed(send_all(&handler, scale.messages as u64)).await;
    println!("| part | figure |\n|---|---|");
    println!("| sends through the handler, everything in flight | {:.0}/s |", messages / took.as_secs_f64());
    let (wal_log, _) = measure::bytes(&client).await;
    println!("| WAL of the log | {:.0} bytes a message |", (wal_log - wal_before) / messages);

    let generation = Generation::serving(&database.config, CONNECTIONS).await.expect("open the read models");
    let (handle, took) = measure::timed(project(&store, &generation)).await;
    println!("| projection, catching up | {:.0} events/s |", messages / took.as_secs_f64());
    let (wal_models, _) = measure::bytes(&client).await;
    println!(
        "| WAL of the read models, in large batches | {:.0} bytes a message |",
        (wal_models - wal_log) / messages
    );

    rebuild(&database).await;
    let client = measure::settle(&database).await;
    for schema in ["log", "conversation_g1"] {
        let bytes = measure::schema_bytes(&client, schema).await;
        println!("| disk of {schema}, vacuumed | {:.0} bytes a message |", bytes / messages);
    }
    let read_models = ReadModels::new(Arc::clone(&store), generation, Some(handle.progress()));
    pages(&read_models, scale, "warm").await;
    handle.shutdown().await;
    drop(read_models);
    cold_pages(cluster, &database, scale).await;
}

async fn send_all(handler: &CommandHandler, count: u64) {
    let (sequence, mut pending) = (Sequence::default(), Vec::new());
    for n in 0..count {
        let person = 2 + n % CONVERSATIONS;
        pending.push(handler.submit_when_free(&sequence, chat(1, person), say(1, n, TEXT)).await);
    }
    for pending in pending {
        pending.answer().await.expect("sent");
    }
}

async fn project(store: &Arc<dyn EventStore>, generation: &Generation) -> projections::ProjectorHandle {
    let heads = store.shard_heads().await.expect("the shards' heads");
    let started = Projector::start(Arc::clone(store), generation.clone(), HandClock::new()).await;
    let handle = started.expect("start the projector");
    for (shard, head) in Shard::all(store.info().shards).zip(heads) {
        let patience = Duration::from_secs(600);
        assert!(handle.progress().reached(shard, head.position, patience).await, "the projector is stuck");
    }
    handle
}

/// A second generation beside the first; compared, switched to, and dropped again.
#[expect(clippy::print_stdout, reason = "its answer")]
async fn rebuild(database: &TestDatabase) {
    // Another process' log, which has nothing in memory.
    let store: Arc<dyn EventStore> = Arc::new(postgres_log(&database.config).await);
    let generations = Generations::new(&database.config, store, HandClock::new()).expect("a pool");
    let never = watch::Sender::new(false);
    let begun = Rebuild::begin(&generations, Projection::Conversation).await.expect("begin a rebuild");
    let report = begun.run(false, &mut |_| {}, &never.subscribe()).await.expect("rebuild");
    let rate = report.events as f64 / report.loading.as_secs_f64();
    println!("| rebuild, loading {} events | {rate:.0} events/s |", report.events);
    let rest = report.took.saturating_sub(report.loading).as_secs_f64();
    println!("| rebuild, comparing and switching | {rest:.2} s |");
    generations.roll_back(Projection::Conversation).await.expect("roll back");
    generations.drop(Projection::Conversation).await.expect("drop a generation");
}

/// Pages of 20 and of 100 from random places.
#[expect(clippy::print_stdout, reason = "its answer")]
async fn pages(read_models: &ReadModels, scale: Scale, how: &str) {
    let length = (scale.messages as u64 / CONVERSATIONS).max(1);
    for limit in [20, 100] {
        let mut durations = vec![];
        for n in 0..scale.pages as u64 {
            // Strides that share no factor with what they walk over: every page is another one.
            let (person, before) = (2 + n * 7919 % CONVERSATIONS, 2 + n * 104_729 % length);
            let range = Range { before_seq: Some(Seq::new(before)), after_seq: None };
            let limit = PageLimit::new(limit).expect("a limit");
            let viewer: Uid = uid(1);
            let (page, took) = measure::timed(read_models.page(&chat(1, person), viewer, range, limit)).await;
            page.expect("a page");
            durations.push(took);
        }
        durations.sort();
        let [p50, p99] = [50, 99].map(|of_hundred| measure::percentile(&durations, of_hundred));
        println!("| page of {limit}, {how} | p50 {p50:.2} ms, p99 {p99:.2} ms |");
    }
}

/// After a restart of Postgres: nothing in its buffers; what the kernel keeps, it keeps.
async fn cold_pages(cluster: &Cluster, database: &TestDatabase, scale: Scale) {
    cluster.kill();
    cluster.restart();
    let store: Arc<dyn EventStore> = Arc::new(postgres_log(&database.config).await);
    let generation = Generation::serving(&database.config, CONNECTIONS).await.expect("open the read models");
    let read_models = ReadModels::new(store, generation, None);
    let few = Scale { pages: (scale.pages / 10).max(10), ..scale };
    pages(&read_models, few, "after a restart of Postgres").await;
}
