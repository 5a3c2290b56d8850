//! Sync where something is ill, and where too much has happened.

use domain::{ConvId, Event};
use event_store::{Position, Shard, Vector, shard::SHARDS};
use projections::{
    query::PageLimit,
    sync::{SyncEntry, SyncFrom, SyncPage},
};

use crate::{
    chance::{conv, says, seq, uid},
    faults::founded,
    log::Log,
    world::{World, caught_up},
};

fn since(at: Vector) -> SyncFrom {
    SyncFrom { since: Some(at), page: None }
}

fn told(page: &SyncPage) -> Vec<ConvId> {
    let conv = |entry: &SyncEntry| match entry {
        SyncEntry::Left(conv) => conv.clone(),
        SyncEntry::Here(here) => here.summary.conv.clone(),
    };
    page.entries.iter().map(conv).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_parked_is_told_of_once_it_is_well_again() {
    let (world, log) = (World::new().await, Log::new());
    let (ill, well) = (conv("grp-ill"), conv("grp-well"));
    for group in [&ill, &well] {
        log.append(group, &founded("ab")).await;
        log.append(group, &says(1, "x")).await;
    }
    let poison = log.append_changed(&ill, &says(1, "y"), |event| event.header.schema_version = 99).await;
    let after = log.append(&well, &says(1, "y")).await;
    let projector = world.projector(log.store.clone()).await;
    caught_up(&projector, &*log.store).await;
    let models = world.read_models(log.store.clone(), Some(&projector)).await;
    let sync = async |from| {
        let page = models.sync(uid(1), from, PageLimit::default()).await.unwrap();
        (told(&page), page.at)
    };
    let (everything, at) = sync(SyncFrom::default()).await;
    assert_eq!(everything, std::slice::from_ref(&well));
    let (of_ill, of_well) = (Shard::of(&ill, SHARDS), Shard::of(&well, SHARDS));
    assert_eq!(at.at(of_ill), Position::new(poison.get() - 1), "held back");
    assert_ne!(of_ill, of_well);
    assert_eq!(at.at(of_well), after);
    assert_eq!(sync(since(at.clone())).await, (vec![], at.clone()));
    world.db.connect().await.batch_execute("delete from parked").await.unwrap();
    let (missed, at) = sync(since(at)).await;
    assert_eq!((missed, at.at(of_ill)), (vec![ill], poison));
    projector.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_much_for_a_page_says_so_and_nothing_else_does() {
    // Of one conversation 500 facts are read, of a page 10,000.
    const GROUPS: usize = 25;
    const FACTS: usize = 500;
    let (world, log) = (World::new().await, Log::new());
    let groups: Vec<ConvId> = (0..GROUPS).map(|n| conv(&format!("grp-{n:02}"))).collect();
    for group in &groups {
        log.append(group, &founded("ab")).await;
        log.append(group, &says(1, "x")).await;
    }
    let projector = world.projector(log.store.clone()).await;
    let models = world.read_models(log.store.clone(), Some(&projector)).await;
    let limit = PageLimit::new(PageLimit::MAX).unwrap();
    let at = models.sync(uid(1), SyncFrom::default(), limit).await.unwrap().at;
    let (uid, seqs) = (uid(1), vec![seq(1)]);
    for group in &groups {
        for n in 0..FACTS {
            let (deleted, restored) = (
                Event::MessagesDeletedFor { uid, seqs: seqs.clone() },
                Event::MessagesRestoredFor { uid, seqs: seqs.clone() },
            );
            log.append(group, if n % 2 == 0 { &deleted } else { &restored }).await;
        }
    }
    log.append(&groups[3], &Event::MessagesDeletedFor { uid, seqs: seqs.clone() }).await;
    let page = models.sync(uid, since(at), limit).await.unwrap();
    let mut truncated = vec![];
    for entry in &page.entries {
        let SyncEntry::Here(here) = entry else { panic!("nobody left") };
        let changes = here.changes.as_ref().unwrap();
        assert!(changes.truncated || (changes.restored == seqs && changes.deleted.is_empty()), "{changes:?}");
        truncated.extend(changes.truncated.then(|| here.summary.conv.clone()));
    }
    assert_eq!(page.entries.len(), GROUPS);
    truncated.sort();
    let expected: Vec<ConvId> = [3].into_iter().chain(19..GROUPS).map(|n| groups[n].clone()).collect();
    assert_eq!(truncated, expected);
    projector.shutdown().await;
}
