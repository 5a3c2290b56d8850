//! The same log gives the same rows: whatever the batch boundaries, restarts, crashes and races.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use domain::{ConvId, Event, Seq, StreamKind};
use event_store::{Body, EventStore, Recorded, chain::body_digest};

use crate::{
    chance::{CONVS, Chance, conv, history},
    log::{BadDelivery, Log},
    naive::Naive,
    world::{World, caught_up},
};

const EVENTS: usize = 3000;

async fn filled(seed: u64) -> Log {
    let log = Log::new();
    for (conv, event) in history(seed, EVENTS) {
        log.append(&conv, &event).await;
    }
    log
}

#[track_caller]
fn assert_same(left: &[String], right: &[String]) {
    let differs = left.iter().zip(right).find(|(left, right)| left != right);
    assert_eq!(differs, None);
    assert_eq!(left.len(), right.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_boundaries_leave_no_trace() {
    let log = filled(1).await;
    let at_once = World::new().await;
    at_once.catch_up(log.store.clone()).await;
    let expected = at_once.rows().await;
    assert!(expected.iter().any(|row| row.starts_with("history_bucket")), "long enough to seal");
    for limit in [1, 7, 99, 100] {
        let world = World::new().await;
        world.catch_up(Arc::new(BadDelivery::new(&log.store, limit))).await;
        assert_same(&world.rows().await, &expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_projector_may_crash_anywhere() {
    let log = filled(2).await;
    let store: Arc<dyn EventStore> = Arc::new(BadDelivery::new(&log.store, 20));
    let straight = World::new().await;
    straight.catch_up(log.store.clone()).await;
    let world = Arc::new(World::new().await);
    let mut chance = Chance(2);
    for _ in 0..12 {
        let life = Duration::from_millis(5 + chance.below(60));
        let (world, store) = (Arc::clone(&world), Arc::clone(&store));
        // A runtime of its own that is thrown away in the middle, with its connections.
        let crash = move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            let started = runtime.block_on(world.projector(store));
            std::thread::sleep(life);
            runtime.shutdown_background();
            drop(started);
        };
        tokio::task::spawn_blocking(crash).await.unwrap();
    }
    world.catch_up(store).await;
    assert_same(&world.rows().await, &straight.rows().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_projectors_apply_everything_once() {
    let log = filled(3).await;
    let straight = World::new().await;
    straight.catch_up(log.store.clone()).await;
    let world = World::new().await;
    let one = world.projector(Arc::new(BadDelivery::new(&log.store, 13))).await;
    let other = world.projector(Arc::new(BadDelivery::new(&log.store, 17))).await;
    caught_up(&one, &*log.store).await;
    caught_up(&other, &*log.store).await;
    one.shutdown().await;
    other.shutdown().await;
    assert_same(&world.rows().await, &straight.rows().await);
}

/// What has followed live, and what is built from a log whose bodies are gone.
#[tokio::test(flavor = "multi_thread")]
async fn built_from_a_log_without_the_bodies_it_is_the_same() {
    for seed in 20..24 {
        let events = history(seed, EVENTS);
        let removals =
            |event: &Event| matches!(event, Event::HistoryExpired { .. } | Event::BodiesErased { .. });
        assert!(events.iter().filter(|(_, event)| removals(event)).count() > 5, "there is something to take");
        let gone: HashMap<ConvId, BTreeSet<Seq>> =
            CONVS.iter().map(|name| (conv(name), Naive::of(&conv(name), &events).gone())).collect();
        let (whole, emptied) = (Log::new(), Log::new());
        for (conv, event) in &events {
            whole.append(conv, event).await;
            let is_gone = |recorded: &Recorded| {
                recorded.header.stream.kind() == Some(StreamKind::Message)
                    && gone[conv].contains(&Seq::new(recorded.header.version))
            };
            let empty = |recorded: &mut Recorded| {
                if is_gone(recorded) {
                    recorded.body = Body::Erased { digest: body_digest(&recorded.body) };
                }
            };
            emptied.append_changed(conv, event, empty).await;
        }
        let (live, built) = (World::new().await, World::new().await);
        live.catch_up(Arc::new(BadDelivery::new(&whole.store, 50))).await;
        built.catch_up(emptied.store.clone()).await;
        assert_same(&built.rows().await, &live.rows().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_generation_has_the_same_tables() {
    let world = World::new().await;
    let client = world.db.connect().await;
    client.batch_execute("select create_conversation_generation(2)").await.unwrap();
    let columns = "select coalesce(string_agg(concat_ws(' ', table_name, column_name, data_type, is_nullable,
                                                        column_default), ', ' order by table_name, column_name), '')
                     from information_schema.columns where table_schema = $1";
    let of = async |schema: &str| client.query_one(columns, &[&schema]).await.unwrap().get::<_, String>(0);
    let first = of("conversation_g1").await;
    assert!(first.contains("head dissolved boolean") && first.contains("setting pinned boolean"), "{first}");
    assert_eq!(of("conversation_g2").await, first);
}
