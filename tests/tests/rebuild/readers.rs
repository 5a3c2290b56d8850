//! Generations come and go under those who read: no error, no mixture, nothing old; and cursors stay good.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use domain::Seq;
use event_store::Vector;
use projections::{
    Projection, ReadModels,
    generations::Generations,
    query::{ItemState, PageLimit, Range},
    sync::{SyncEntry, SyncFrom},
};
use tests::{
    dice::Dice,
    log::{HandClock, chat, migrated, node, postgres_log, say, uid},
};

use crate::world::{World, rebuild, start};

const CONVERSATION: Projection = Projection::Conversation;

/// Each message says its own number.
async fn write(world: &World, number: u64) {
    world.commands.handle(chat(1, 2), say(1, number, &number.to_string())).await.unwrap();
}

/// All of the newest page, which must have what was acknowledged before it was asked for.
async fn read(models: &ReadModels, acknowledged: &AtomicU64) -> u64 {
    let least = acknowledged.load(Ordering::SeqCst);
    let limit = PageLimit::new(200).unwrap();
    let page = models.page(&chat(1, 2), uid(2), Range::default(), limit).await.unwrap();
    assert!(page.max_seq.get() >= least, "{} of {least}", page.max_seq.get());
    let mut expected = page.max_seq.get().saturating_sub(200);
    for item in &page.items {
        expected += 1;
        let ItemState::Normal(fact) = &item.state else { panic!("{item:?}") };
        assert_eq!((item.seq.get(), fact.content.json()), (expected, &*format!("\"{expected}\"")));
    }
    assert_eq!(expected, page.max_seq.get(), "no gap and no other end");
    page.max_seq.get()
}

/// What a device hears that has not asked since the beginning.
async fn sync(models: &ReadModels, since: &Vector, acknowledged: &AtomicU64) {
    let least = acknowledged.load(Ordering::SeqCst);
    let from = SyncFrom { since: Some(since.clone()), page: None };
    let page = models.sync(uid(2), from, PageLimit::default()).await.unwrap();
    assert!(!page.reset, "the cursor is good");
    let [SyncEntry::Here(here)] = &page.entries[..] else { panic!("{:?}", page.entries) };
    let summary = &here.summary;
    assert!(summary.max_seq.get() >= least && summary.read_seq == Seq::ZERO);
    // Computed from several tables: a mixture would show.
    assert_eq!(summary.unread, summary.max_seq.get());
    assert_eq!(summary.last_message.as_ref().map(|item| item.seq), Some(summary.max_seq));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_while_generations_come_and_go_hears_no_error_and_nothing_old() {
    let world = World::new().await;
    write(&world, 1).await;
    // Another node on the same database, which nobody tells anything.
    let elsewhere = start(&world.database.config, &world.store).await;
    let (models, others) = (world.projectors.read_models(), elsewhere.read_models());
    let since = models.sync(uid(2), SyncFrom::default(), PageLimit::default()).await.unwrap().at;
    let (acknowledged, over, pages) = (AtomicU64::new(1), AtomicBool::new(false), AtomicU64::new(0));
    let reads = async |models: &ReadModels| {
        while !over.load(Ordering::SeqCst) {
            read(models, &acknowledged).await;
            pages.fetch_add(1, Ordering::Relaxed);
        }
    };
    let syncs = async |models: &ReadModels| {
        // The founding is known; everything since is told, each time anew.
        while acknowledged.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        while !over.load(Ordering::SeqCst) {
            sync(models, &since, &acknowledged).await;
        }
    };
    let writes = async {
        while !over.load(Ordering::SeqCst) {
            let number = acknowledged.load(Ordering::SeqCst) + 1;
            write(&world, number).await;
            acknowledged.store(number, Ordering::SeqCst);
        }
    };
    let changes = async {
        let generations = world.generations();
        for round in 0..3 {
            let report = rebuild(&generations, CONVERSATION).await.unwrap();
            assert!(report.differences.is_empty(), "{round}: {report:?}");
            if round == 1 {
                generations.roll_back(CONVERSATION).await.unwrap();
            }
            // At once, while others still read in it.
            generations.drop(CONVERSATION).await.unwrap();
        }
        over.store(true, Ordering::SeqCst);
    };
    tokio::join!(changes, writes, reads(&models), reads(&others), syncs(&models), syncs(&others));
    assert!(pages.load(Ordering::Relaxed) > 10);
    assert_eq!(world.numbers(CONVERSATION).await, (4, None));
    assert_eq!(read(&others, &acknowledged).await, acknowledged.load(Ordering::SeqCst));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_shows_the_present() {
    let mut dice = Dice::of_this_run();
    let mut world = World::new().await;
    world.traffic(&mut dice, 300).await;
    write(&world, 1_000_001).await;
    let generations = world.generations();
    rebuild(&generations, CONVERSATION).await.unwrap();
    write(&world, 1_000_002).await;
    world.caught_up(CONVERSATION).await;
    assert_eq!(generations.roll_back(CONVERSATION).await.unwrap(), 1);
    assert_eq!(world.numbers(CONVERSATION).await, (1, Some(2)));
    generations.drop(CONVERSATION).await.unwrap();
    write(&world, 1_000_003).await;
    let models = world.projectors.read_models();
    let page = models.page(&chat(1, 2), uid(2), Range::default(), PageLimit::default()).await.unwrap();
    let said: Vec<&str> = page.items.iter().rev().take(3).map(|item| text(&item.state)).collect();
    assert_eq!(said, ["\"1000003\"", "\"1000002\"", "\"1000001\""]);
}

fn text(state: &ItemState) -> &str {
    match state {
        ItemState::Normal(fact) => fact.content.json(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_has_projected_yet_is_rebuilt_too() {
    let database = migrated().await;
    let (store, commands) = node(postgres_log(&database.config).await);
    for number in 1..=150 {
        commands.handle(chat(1, 2), say(1, number, &number.to_string())).await.unwrap();
    }
    let generations = Generations::new(&database.config, Arc::clone(&store), HandClock::new()).unwrap();
    let report = rebuild(&generations, CONVERSATION).await.unwrap();
    assert!(report.switched && report.events == 150 && report.differences.is_empty(), "{report:?}");
    let models = start(&database.config, &store).await.read_models();
    assert_eq!(read(&models, &AtomicU64::new(150)).await, 150);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_server_a_rebuild_and_a_rollback_do_their_own_projecting() {
    let mut dice = Dice::of_this_run();
    let mut world = World::new().await;
    world.traffic(&mut dice, 1_500).await;
    world.caught_up(CONVERSATION).await;
    let generations = world.generations();
    let World { database, store, commands, projectors, .. } = world;
    projectors.shutdown().await;
    rebuild(&generations, CONVERSATION).await.unwrap();
    for number in 1..=50 {
        commands.handle(chat(4, 4), say(4, 2_000_000 + number, "x")).await.unwrap();
    }
    // Nobody has projected these; whoever serves next does.
    assert_eq!(generations.roll_back(CONVERSATION).await.unwrap(), 1);
    let models = start(&database.config, &store).await.read_models();
    let page = models.page(&chat(4, 4), uid(4), Range::default(), PageLimit::default()).await.unwrap();
    assert_eq!(text(&page.items.last().unwrap().state), "\"x\"");
}
