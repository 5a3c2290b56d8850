//! Poison, and a projector that is not there.

use domain::{Event, History};
use projections::query::{PageLimit, QueryError, Range};

use crate::{
    chance::{conv, says, uid},
    log::Log,
    world::{World, caught_up},
};

pub fn founded(name: &str) -> Event {
    let (name, history) = (name.into(), History::All);
    Event::GroupCreated { name, owner: uid(1), history, announced: false, source: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn poison_parks_its_conversation_and_no_other() {
    let (world, log) = (World::new().await, Log::new());
    // Seventeen groups share sixteen shards with the poisoned ones.
    let healthy: Vec<_> = (0..17).map(|n| conv(&format!("grp-{n}"))).collect();
    // Postgres takes no NUL in a text; this binary does not know the other's form.
    let (refused, unknown) = (conv("grp-refused"), conv("grp-unknown"));
    for round in 0..3 {
        for group in healthy.iter().chain([&refused, &unknown]) {
            match round {
                0 if *group == refused => log.append(group, &founded("a\0b")).await,
                0 => log.append(group, &founded("ab")).await,
                1 if *group == unknown => {
                    log.append_changed(group, &says(1, "x"), |event| event.header.schema_version = 99).await
                }
                _ => log.append(group, &says(1, "x")).await,
            };
        }
    }
    let projector = world.projector(log.store.clone()).await;
    caught_up(&projector, &*log.store).await;
    let models = world.read_models(log.store.clone(), Some(&projector)).await;
    let limit = PageLimit::default();
    for group in &healthy {
        assert_eq!(
            models.page(group, uid(1), Range::default(), limit).await.unwrap().items.len(),
            2,
            "{group}"
        );
    }
    for group in [&refused, &unknown] {
        let answer = models.page(group, uid(1), Range::default(), limit).await;
        assert!(matches!(answer, Err(QueryError::Parked)), "{group}: {answer:?}");
    }
    let listed = models.summaries(uid(1), limit, None).await.unwrap().conversations;
    assert_eq!(listed.len(), healthy.len(), "the others' list goes on");
    assert_eq!(projector.status().parked, 2);
    projector.shutdown().await;
    // It stays parked for the next process, whatever comes.
    log.append(&unknown, &says(1, "y")).await;
    world.catch_up(log.store.clone()).await;
    let client = world.db.connect().await;
    let parked = client.query("select conv_id, reason from parked order by 1", &[]).await.unwrap();
    let parked: Vec<(String, String)> = parked.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert!(parked[0].0 == "grp-refused" && parked[0].1.contains("raise heads"), "{parked:?}");
    assert!(parked[1].0 == "grp-unknown" && parked[1].1.contains("schema version 99"), "{parked:?}");
    let rows = world.rows().await;
    assert!(!rows.iter().any(|row| row.contains("grp-refused") && !row.starts_with("parked")));
    assert!(!rows.iter().any(|row| row.starts_with("history") && row.contains("grp-unknown")));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_projector_an_answer_says_behind() {
    let (world, log) = (World::new().await, Log::new());
    let chat = conv("p2p-1-2");
    let models = world.read_models(log.store.clone(), None).await;
    log.append(&chat, &says(1, "x")).await;
    let answer = models.page(&chat, uid(2), Range::default(), PageLimit::default()).await;
    assert!(matches!(answer, Err(QueryError::Behind)), "{answer:?}");
    assert!(matches!(models.summaries(uid(2), PageLimit::default(), None).await, Err(QueryError::Behind)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_projector_outlives_its_database() {
    let (world, log) = (World::new().await, Log::new());
    let projector = world.projector(log.store.clone()).await;
    let chat = conv("p2p-1-2");
    let client = world.db.connect().await;
    for n in 1..=20 {
        log.append(&chat, &says(1, "x")).await;
        let others = "select pg_terminate_backend(pid) from pg_stat_activity
                       where datname = current_database() and pid <> pg_backend_pid()";
        client.execute(others, &[]).await.unwrap();
        caught_up(&projector, &*log.store).await;
        let models = world.read_models(log.store.clone(), Some(&projector)).await;
        let page = models.page(&chat, uid(2), Range::default(), PageLimit::default()).await.unwrap();
        assert_eq!(page.items.len(), n);
    }
    projector.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_crash_has_taken_comes_back_by_itself() {
    let (world, log) = (World::new().await, Log::new());
    let projector = world.projector(log.store.clone()).await;
    let chat = conv("p2p-1-2");
    for _ in 0..150 {
        log.append(&chat, &says(1, "x")).await;
    }
    caught_up(&projector, &*log.store).await;
    // As if Postgres had crashed before any of it, commits without a flush, reached the disk.
    let lost = "set search_path = conversation_g1, public; begin;
                truncate history_tail, history_bucket, group_read, head, member_by_conv, member_by_person;
                update checkpoint set position = 0; commit";
    world.db.connect().await.batch_execute(lost).await.unwrap();
    let models = world.read_models(log.store.clone(), Some(&projector)).await;
    let page = models.page(&chat, uid(2), Range::default(), PageLimit::new(200).unwrap()).await.unwrap();
    assert_eq!(page.items.len(), 150);
    projector.shutdown().await;
}
