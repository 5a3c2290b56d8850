//! Verification: where nothing is wrong it says so, however busy the log is; where one row is changed by hand it is
//! found and named.

use std::{sync::Arc, time::Duration};

use domain::{ConvId, Event, Flags, Seq, Settings};
use event_store::EventStore;
use projections::{
    past::PastError,
    verify::{Verified, Verifier, VerifyError},
};

use crate::{
    chance::{CONVS, conv, history, says, seq, uid},
    log::Log,
    world::World,
};

async fn verifier(world: &World, log: &Log) -> Verifier {
    Verifier::new(log.store.clone(), world.generation().await)
}

fn assert_clean(of: &ConvId, verified: &Verified) {
    assert_eq!((verified.drifts.count, verified.parked), (0, false), "{of}: {:#?}", verified.drifts.told);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_projection_has_no_drift_however_far_it_has_come() {
    for seed in [41, 42] {
        let (log, world) = (Log::new(), World::new().await);
        let mut events = history(seed, 1500);
        let sent = |of: &ConvId, event: &Event| {
            of.as_str() == "p2p-1-2" && matches!(event, Event::MessageSent { .. })
        };
        let head = events[..800].iter().filter(|(of, event)| sent(of, event)).count() as u64;
        events.insert(800, (conv("p2p-1-2"), Event::HistoryExpired { up_to_seq: seq(head / 2) }));
        crate::past::erase_some(&mut events, 900);
        let verifier = verifier(&world, &log).await;
        let projector = world.projector(log.store.clone()).await;
        // The projector works all the time, and comes late; nobody waits for it.
        for (n, (of, event)) in (1..).zip(&events) {
            log.append(of, event).await;
            if n % 150 == 0 {
                assert_clean(of, &verifier.conversation(of, n).await.unwrap());
            }
        }
        projector.shutdown().await;
        world.catch_up(log.store.clone()).await;
        for name in CONVS {
            let verified = verifier.conversation(&conv(name), 0).await.unwrap();
            assert_clean(&conv(name), &verified);
            let stands = log.store.conversation_position(&conv(name)).await.unwrap();
            assert!(verified.messages > 100 && verified.position >= stands, "{name}: {verified:?}");
            assert_eq!((verified.viewers, verified.removing), (verified.members, false), "{name}");
        }
    }
}

/// A group and a single chat with a row in every table, more than a bucket long.
async fn furnished() -> (Log, World) {
    let (log, world) = (Log::new(), World::new().await);
    let group = conv("grp-a");
    let joined = |uids: Vec<_>, joined_seq| Event::MembersJoined {
        uids,
        joined_seq,
        by: uid(1),
        announced: false,
        source: None,
    };
    let (name, history) = ("g".to_owned(), domain::History::All);
    let founded = Event::GroupCreated { name, owner: uid(1), history, announced: false, source: None };
    for event in [founded, says(0, "welcome"), joined(vec![uid(2), uid(3), uid(4)], seq(1))] {
        log.append(&group, &event).await;
    }
    for n in 0..140 {
        log.append(&group, &says(1 + n % 2, &format!("message {n}"))).await;
    }
    let Event::MessageSent { msg_id, sender, content, client_msg_id, create_at, .. } = says(2, "look") else {
        unreachable!("it says something");
    };
    let (flags, mentions, reply_to) = (Flags::AT_ALL, vec![uid(1), uid(3)], Some(seq(5)));
    let look =
        Event::MessageSent { msg_id, sender, content, flags, mentions, reply_to, client_msg_id, create_at };
    let settings = Settings { pinned: true, muted: false };
    for event in [
        look,
        Event::MessageRecalled { seq: seq(7), by: uid(1), at: 5 },
        Event::BodiesErased { uid: uid(2), seqs: vec![seq(11)] },
        Event::MessagesDeletedFor { uid: uid(3), seqs: vec![seq(3), seq(120)] },
        Event::ReadAdvanced { uid: uid(3), read_seq: seq(100), at: 6 },
        Event::HistoryCleared { uid: uid(2), up_to_seq: seq(20) },
        Event::SettingsChanged { uid: uid(2), settings },
        Event::MemberLeft { uid: uid(4), by: uid(4), announced: false, source: None },
    ] {
        log.append(&group, &event).await;
    }
    log.append(&conv("p2p-1-2"), &says(1, "hello")).await;
    world.catch_up(log.store.clone()).await;
    (log, world)
}

/// What is done by hand, and who and what must be named: viewer, view, field or seq.
const TAMPERINGS: [(&str, Option<u64>, &str, &str); 33] = [
    ("delete from history_tail where seq = 130", None, "history", "seq 130"),
    (
        "update history_tail set body = (select body from history_tail where seq = 131) where seq = 130",
        None,
        "history",
        "seq 130, content",
    ),
    ("update history_tail set body = '\\x0909' where seq = 130", None, "history", "seq 130"),
    ("update history_tail set body = '' where seq = 130", None, "history", "seq 130"),
    ("insert into history_tail values ('grp-a', 999, '')", None, "history", "seq 999 in history_tail"),
    (
        "insert into history_tail select conv_id, 50, body from history_tail where seq = 130",
        None,
        "history_tail",
        "seq 50",
    ),
    ("delete from history_bucket", None, "history", "seq 50"),
    (
        "update history_bucket set body = set_byte(body, 40, 255 - get_byte(body, 40))",
        None,
        "history_bucket",
        "bucket 0",
    ),
    ("insert into history_bucket values ('grp-a', 7, '')", None, "history", "seq 701 in history_bucket"),
    ("delete from recall", None, "recall", "seq 7"),
    ("update recall set by_uid = 2", None, "recall", "seq 7"),
    ("insert into recall values ('grp-a', 8, 1, 5)", None, "recall", "seq 8"),
    ("delete from system_message", None, "system_message", "seq 1"),
    ("insert into system_message values ('grp-a', 9)", None, "system_message", "seq 9"),
    ("delete from deleted where bucket = 0", Some(3), "deleted", "seq 3"),
    ("update deleted set bits = set_bit(bits, 18, 1) where bucket = 1", Some(3), "deleted", "seq 119"),
    ("delete from group_read where uid = 3", Some(3), "group_read", "read_seq"),
    ("update group_read set read_at = 7 where uid = 3", Some(3), "group_read", "read_at"),
    ("update watermark set cleared_seq = 21", Some(2), "watermark", "cleared_seq"),
    ("update head set max_seq = 143 where conv_id = 'grp-a'", None, "head", "max_seq"),
    ("update head set name = 'h' where conv_id = 'grp-a'", None, "head", "name"),
    ("delete from head where conv_id = 'p2p-1-2'", None, "head", "kind"),
    ("update member_by_conv set role = 'admin' where uid = 3", Some(3), "member_by_conv", "role"),
    ("insert into member_by_conv values ('grp-a', 9, 'member', 0, 0)", Some(9), "member_by_conv", "role"),
    ("delete from member_by_person where uid = 3", Some(3), "member_by_person", "joined_seq"),
    ("update departure set position = 1", Some(4), "departure", "position"),
    ("delete from expired", None, "expired", "seq 11"),
    ("update expired set bits = set_bit(bits, 11, 1)", None, "expired", "seq 12"),
    ("delete from departure", Some(4), "departure", "position"),
    ("delete from mention where uid = 0", Some(0), "mention", "seq 142"),
    ("update mention set sender = 4 where uid = 3", Some(3), "mention", "seq 142"),
    ("insert into mention values ('grp-a', 2, 60, 1)", Some(2), "mention", "seq 60"),
    ("update setting set muted = true", Some(2), "setting", "muted"),
];

#[tokio::test(flavor = "multi_thread")]
async fn one_row_changed_by_hand_is_found_and_named() {
    let (log, world) = furnished().await;
    let verifier = verifier(&world, &log).await;
    for name in ["grp-a", "p2p-1-2"] {
        assert_clean(&conv(name), &verifier.conversation(&conv(name), 0).await.unwrap());
    }
    let kept = world.db.connect().await;
    kept.batch_execute("set search_path = conversation_g1, public").await.unwrap();
    for (tampering, viewer, view, what) in TAMPERINGS {
        let of = if tampering.contains("p2p-1-2") { conv("p2p-1-2") } else { conv("grp-a") };
        let table = tampering.split_whitespace().find(|word| TABLES.contains(word)).unwrap();
        kept.batch_execute(&format!("create table saved as table {table}; {tampering}")).await.unwrap();
        let verified = verifier.conversation(&of, 0).await.unwrap();
        let named =
            |it: &&projections::verify::Drift| (it.viewer, it.view, it.what.as_str()) == (viewer, view, what);
        let found = verified.drifts.told.iter().find(named);
        assert!(found.is_some(), "{tampering}: {:#?}", verified.drifts.told);
        assert!(verified.drifts.count >= verified.drifts.told.len() as u64, "{tampering}");
        let undo = format!("delete from {table}; insert into {table} table saved; drop table saved");
        kept.batch_execute(&undo).await.unwrap();
    }
    for name in ["grp-a", "p2p-1-2"] {
        assert_clean(&conv(name), &verifier.conversation(&conv(name), 0).await.unwrap());
    }
}

const TABLES: [&str; 14] = [
    "expired",
    "history_tail",
    "history_bucket",
    "recall",
    "system_message",
    "deleted",
    "group_read",
    "watermark",
    "head",
    "member_by_conv",
    "member_by_person",
    "departure",
    "mention",
    "setting",
];

#[tokio::test(flavor = "multi_thread")]
async fn what_a_damaged_row_does_to_an_answer_is_named_too() {
    let (log, world) = furnished().await;
    let kept = world.db.connect().await;
    let damage = "update conversation_g1.group_read set read_seq = 90 where uid = 3";
    kept.batch_execute(damage).await.unwrap();
    let drifts = verifier(&world, &log).await.conversation(&conv("grp-a"), 0).await.unwrap().drifts;
    let unread = drifts.told.iter().find(|it| (it.view, it.what.as_str()) == ("conversation", "unread"));
    let unread = unread.unwrap_or_else(|| panic!("{drifts:#?}"));
    assert_eq!((unread.viewer, &*unread.expected, &*unread.found), (Some(3), "41", "51"));
    assert_eq!(unread.to_string(), "grp-a of 3: conversation, unread: expected 41, found 51");
}

#[tokio::test]
async fn a_conversation_that_is_not_there_is_told_so() {
    let (log, world) = (Log::new(), World::new().await);
    let nothing = verifier(&world, &log).await.conversation(&conv("grp-none"), 0).await;
    assert!(matches!(nothing, Err(VerifyError::Past(PastError::NoSuchConversation(_)))), "{nothing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_projector_has_not_done_yet_is_no_drift() {
    let (log, world) = furnished().await;
    let verifier = verifier(&world, &log).await;
    let before = verifier.conversation(&conv("grp-a"), 0).await.unwrap();
    log.append(&conv("grp-a"), &says(1, "later")).await;
    log.append(&conv("grp-a"), &Event::MessageRecalled { seq: Seq::new(8), by: uid(1), at: 9 }).await;
    let after = verifier.conversation(&conv("grp-a"), 0).await.unwrap();
    assert_eq!(after, Verified { behind: true, ..before.clone() }, "nobody projects");
    let store: Arc<dyn EventStore> = log.store.clone();
    tokio::time::timeout(Duration::from_secs(60), world.catch_up(store)).await.unwrap();
    let caught_up = verifier.conversation(&conv("grp-a"), 0).await.unwrap();
    assert_clean(&conv("grp-a"), &caught_up);
    assert_eq!(caught_up.messages, before.messages + 1);
}
