//! What a rebuild makes is what was there; and where something else was there, it is named and healed.

use std::sync::atomic::{AtomicBool, Ordering};

use domain::Seq;
use projections::{
    Projection,
    generations::GenerationError,
    query::{PageLimit, QueryError, Range},
    rebuild::Rebuild,
};
use tests::{
    dice::Dice,
    log::{chat, uid},
};
use tokio::sync::watch;

use crate::world::{World, rebuild};

const CONVERSATION: Projection = Projection::Conversation;
const NOTIFICATION: Projection = Projection::Notification;
/// Enough for several buckets of a conversation, and for a chunk that is written in bulk.
const COMMANDS: u64 = 6_000;

/// Both generations are kept up with the log; once it stands still they are the same, row for row.
async fn assert_same(world: &World, projection: Projection, old: i32, new: i32) {
    world.caught_up(projection).await;
    let (left, right) = (world.rows(projection, old).await, world.rows(projection, new).await);
    assert!(!left.is_empty());
    let differs = left.iter().zip(&right).find(|(left, right)| left != right);
    assert_eq!(differs, None);
    assert_eq!(left.len(), right.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_generation_equals_the_old_one_row_for_row() {
    let mut dice = Dice::of_this_run();
    let mut world = World::new().await;
    world.traffic(&mut dice, COMMANDS).await;
    world.caught_up(CONVERSATION).await;
    let report = rebuild(&world.generations(), CONVERSATION).await.unwrap();
    assert!(report.switched && report.differences.is_empty(), "{report:?}");
    assert!(report.events > COMMANDS / 4, "{report:?}");
    assert_eq!((report.old, report.new), (1, 2));
    assert_eq!(world.numbers(CONVERSATION).await, (2, Some(1)));
    let rows = world.rows(CONVERSATION, 2).await;
    for table in ["history_bucket", "history_tail", "recall", "deleted", "group_read", "watermark", "setting"]
    {
        assert!(rows.iter().any(|row| row.starts_with(table)), "no {table}");
    }
    assert_same(&world, CONVERSATION, 1, 2).await;
    // Whatever comes after, in both.
    world.traffic(&mut dice, 500).await;
    assert_same(&world, CONVERSATION, 1, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_under_traffic_ends_and_finds_no_difference() {
    let mut dice = Dice::of_this_run();
    let mut world = World::new().await;
    world.traffic(&mut dice, COMMANDS / 2).await;
    let (generations, over) = (world.generations(), AtomicBool::new(false));
    let (report, ()) = tokio::join!(
        async {
            let report = rebuild(&generations, CONVERSATION).await;
            over.store(true, Ordering::Relaxed);
            report.unwrap()
        },
        async {
            while !over.load(Ordering::Relaxed) {
                world.traffic(&mut dice, 200).await;
            }
        }
    );
    assert!(report.switched && report.differences.is_empty(), "{report:?}");
    assert_same(&world, CONVERSATION, 1, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_are_rebuilt_too() {
    let world = World::new().await;
    world.tell(150).await;
    let inboxes = world.projectors.inboxes();
    let before = inboxes.standing(uid(2)).await.unwrap();
    let report = rebuild(&world.generations(), NOTIFICATION).await.unwrap();
    assert!(report.switched && report.differences.is_empty() && report.events > 150, "{report:?}");
    assert_same(&world, NOTIFICATION, 1, 2).await;
    assert_eq!(world.generations().drop(NOTIFICATION).await.unwrap(), 1);
    assert_eq!(inboxes.standing(uid(2)).await.unwrap(), before);
    assert_eq!(world.numbers(CONVERSATION).await, (1, None), "the others are as they were");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_corrupted_is_named_and_healed() {
    let mut dice = Dice::of_this_run();
    let mut world = World::new().await;
    world.traffic(&mut dice, COMMANDS / 2).await;
    world.caught_up(CONVERSATION).await;
    // Other, missing, too many; and in a table that is kept by person.
    let broken = [
        (
            "update conversation_g1.head set max_seq = max_seq - 1 where conv_id = 'grp-a'",
            "head grp-a: was otherwise",
        ),
        (
            "delete from conversation_g1.group_read where conv_id = 'grp-b' and uid = 1",
            "group_read grp-b 1: was missing",
        ),
        (
            "insert into conversation_g1.recall values ('p2p-1-2', 99999, 1, 1)",
            "recall p2p-1-2 99999: was too many",
        ),
        (
            "update conversation_g1.member_by_person set joined_at = 5 where conv_id = 'p2p-2-3' and uid = 2",
            "member_by_person 2 p2p-2-3: was otherwise",
        ),
    ];
    for (sql, _) in broken {
        assert_eq!(world.corrupt(sql).await, 1, "{sql}");
    }
    // First only looked at.
    let generations = world.generations();
    let never = watch::Sender::new(false);
    let checking = Rebuild::begin(&generations, CONVERSATION).await.unwrap();
    let checked = checking.run(true, &mut |_| {}, &never.subscribe()).await.unwrap();
    assert!(!checked.switched);
    assert_eq!(world.numbers(CONVERSATION).await, (1, Some(2)));
    let (rows, conversations) = (checked.differences.rows, checked.differences.conversations);
    assert_eq!((rows, conversations), (4, 4), "{:?}", checked.differences);
    for (_, named) in broken {
        assert!(checked.differences.first.iter().any(|it| it == named), "{named}: {:?}", checked.differences);
    }
    let report = rebuild(&generations, CONVERSATION).await.unwrap();
    assert!(report.switched && report.events == 0, "it was built already: {report:?}");
    let status = generations.status().await.unwrap();
    assert_eq!((status[0].number, status[0].differing), (2, 4), "it stands in the status, too");
    let models = world.projectors.read_models();
    world.generations().drop(CONVERSATION).await.unwrap();
    let page = models.page(&chat(1, 2), uid(1), Range::default(), PageLimit::default()).await.unwrap();
    assert!(page.max_seq > Seq::new(1));
    assert!(rebuild(&generations, CONVERSATION).await.unwrap().differences.is_empty(), "it is well");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_poison_parks_in_the_new_generation_and_no_other_conversation() {
    let mut dice = Dice::of_this_run();
    let mut world = World::new().await;
    world.traffic(&mut dice, 800).await;
    world.caught_up(CONVERSATION).await;
    let unknown =
        "update log.event set schema_version = 99 where event_type = 1 and version = 3 and stream_id =
                   (select conv_no * 8 from log.conversation where conv_id = 'p2p-1-2')";
    assert_eq!(world.corrupt(unknown).await, 1);
    // Another process, which has nothing of it in memory.
    let generations = world.generations_elsewhere().await;
    let report = rebuild(&generations, CONVERSATION).await.unwrap();
    assert!(report.differences.is_empty() && report.differences.parked_rows > 0, "{report:?}");
    assert_eq!(world.generations().drop(CONVERSATION).await.unwrap(), 1);
    let models = world.projectors.read_models();
    let (range, limit) = (Range::default(), PageLimit::default());
    let parked = models.page(&chat(1, 2), uid(1), range, limit).await;
    assert!(matches!(parked, Err(QueryError::Parked)), "{parked:?}");
    assert!(models.page(&chat(2, 3), uid(2), range, limit).await.is_ok());
    assert_eq!(world.generations().status().await.unwrap()[0].parked, 1);
    // Once the binary can read it, a rebuild brings it back.
    world.corrupt(&unknown.replace("schema_version = 99", "schema_version = 1")).await;
    rebuild(&generations, CONVERSATION).await.unwrap();
    generations.drop(CONVERSATION).await.unwrap();
    assert!(models.page(&chat(1, 2), uid(1), range, limit).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_never_comes_twice_and_there_is_one_beside_at_most() {
    let world = World::new().await;
    let generations = world.generations();
    assert!(
        matches!(generations.drop(CONVERSATION).await, Err(GenerationError::Alone(_))),
        "never what serves"
    );
    assert!(matches!(generations.roll_back(CONVERSATION).await, Err(GenerationError::Alone(_))));
    rebuild(&generations, CONVERSATION).await.unwrap();
    assert!(matches!(rebuild(&generations, CONVERSATION).await, Err(GenerationError::Left(_))));
    assert_eq!(generations.roll_back(CONVERSATION).await.unwrap(), 1);
    assert_eq!(generations.drop(CONVERSATION).await.unwrap(), 2);
    assert_eq!(rebuild(&generations, CONVERSATION).await.unwrap().new, 3);
    let schemas = "select nspname::text from pg_namespace where nspname like 'conversation_g%' order by 1";
    let schemas = world.database.connect().await.query(schemas, &[]).await.unwrap();
    let schemas: Vec<String> = schemas.iter().map(|row| row.get(0)).collect();
    assert_eq!(schemas, ["conversation_g1", "conversation_g3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_being_built_is_neither_dropped_nor_rolled_back_to_nor_built_by_another() {
    let world = World::new().await;
    let generations = world.generations();
    let building = Rebuild::begin(&generations, CONVERSATION).await.unwrap();
    let other = world.generations();
    assert!(matches!(Rebuild::begin(&other, CONVERSATION).await, Err(GenerationError::Running(_))));
    assert!(matches!(other.drop(CONVERSATION).await, Err(GenerationError::Running(_))));
    assert!(matches!(other.roll_back(CONVERSATION).await, Err(GenerationError::Running(_))));
    // Those of other read models may.
    rebuild(&other, NOTIFICATION).await.unwrap();
    drop(building);
    tests::process::until("its right has ended with it", async || {
        !matches!(other.roll_back(CONVERSATION).await, Err(GenerationError::Running(_)))
    })
    .await;
    assert!(matches!(other.roll_back(CONVERSATION).await, Err(GenerationError::Unfinished(_))));
    assert_eq!(other.drop(CONVERSATION).await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_that_is_told_to_stop_goes_on_later() {
    let mut dice = Dice::of_this_run();
    let mut world = World::new().await;
    world.traffic(&mut dice, COMMANDS / 2).await;
    world.caught_up(CONVERSATION).await;
    let generations = world.generations();
    let stopped = watch::Sender::new(true);
    let begun = Rebuild::begin(&generations, CONVERSATION).await.unwrap();
    let ended = begun.run(false, &mut |_| {}, &stopped.subscribe()).await;
    assert!(matches!(ended, Err(GenerationError::Stopped(_))), "{ended:?}");
    assert_eq!(world.numbers(CONVERSATION).await, (1, Some(2)));
    assert!(rebuild(&generations, CONVERSATION).await.unwrap().switched);
    assert_same(&world, CONVERSATION, 1, 2).await;
}
