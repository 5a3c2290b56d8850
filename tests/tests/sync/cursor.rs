//! Cursors that are altered, borrowed, of elsewhere or ahead.

use event_store::{EventStore, LogInfo, Position, Shard};
use quipu::sync_cursor::{Opened, Paging, SyncCursor, SyncCursors};
use serde_json::json;
use tests::log::{postgres_log, uid};
use tests::server::Server;
use uuid::Uuid;

use crate::said::{convs, page, say, sync};

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_altered_or_borrowed_cursor_is_400() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    say(&ana, "p2p-1-2", "hi").await;
    let (cursor, _) = sync(&ana, None).await;
    let altered = if cursor.ends_with('A') { "B" } else { "A" };
    let altered = format!("{}{altered}", &cursor[..cursor.len() - 1]);
    for bad in ["", "x", "%00", "1", &altered, &cursor[1..], &"A".repeat(5000)] {
        let answer = ana.get(&format!("/v1/sync?cursor={bad}")).await;
        assert_eq!(answer.problem(), (400, "invalid_cursor"), "{bad}");
    }
    assert_eq!(bo.get(&format!("/v1/sync?cursor={cursor}")).await.problem(), (400, "invalid_cursor"));
    for bad in ["limit=0", "limit=201", "limit=x", "curser=x", "limit=1&limit=2"] {
        assert_eq!(ana.get(&format!("/v1/sync?{bad}")).await.problem(), (400, "invalid_parameter"), "{bad}");
    }
    assert_eq!(server.request(reqwest::Method::GET, "/v1/sync").send().await.unwrap().status(), 401);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_survives_a_restart_and_a_change_of_server() {
    let server = Server::start().await;
    for peer in 2..=4 {
        say(&server.person(1), &format!("p2p-1-{peer}"), "hi").await;
    }
    let (cursor, _) = sync(&server.person(1), None).await;
    let paging = page(&server.person(1), None, 2).await["cursor"].clone();
    say(&server.person(2), "p2p-1-2", "while you were away").await;
    let next = Server::start_on(server.stop().await).await;
    let ana = next.person(1);
    assert_eq!(convs(&sync(&ana, Some(&cursor)).await.1), ["p2p-1-2"]);
    let last = page(&ana, paging.as_str(), 2).await;
    assert_eq!((&last["has_more"], &last["conversations"][0]["conv_id"]), (&json!(false), &json!("p2p-1-4")));
    assert_eq!(convs(&sync(&ana, last["cursor"].as_str()).await.1), ["p2p-1-2"]);
    next.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_another_log_or_from_before_a_restore_gets_everything_anew() {
    let server = Server::start().await;
    let ana = server.person(1);
    for peer in 2..=4 {
        say(&ana, &format!("p2p-1-{peer}"), "hi").await;
    }
    let log = postgres_log(&server.database.config).await;
    let here = log.info().clone();
    let (cursor, all) = sync(&ana, None).await;
    let Ok(Opened::Here(SyncCursor { at, paging: None })) = SyncCursors::of_log(&here).open(uid(1), &cursor)
    else {
        panic!("a cursor of this log");
    };
    let mut ahead = at.clone();
    ahead.raise(Shard::new(3), Position::new(1_000_000));
    let other = LogInfo { log_id: Uuid::from_u128(99), ..here.clone() };
    let restored = LogInfo { epoch: here.epoch + 1, ..here.clone() };
    let after = tests::log::chat(1, 3);
    for (log, at, since) in [
        (&other, &at, None),
        (&restored, &at, None),
        (&here, &ahead, None),
        (&other, &at, Some(at.clone())),
        (&here, &ahead, Some(at.clone())),
        (&here, &at, Some(ahead.clone())),
    ] {
        let paging = since.map(|since| Paging { since: Some(since), after: after.clone() });
        let cursor = SyncCursors::of_log(log).give(uid(1), &SyncCursor { at: at.clone(), paging });
        let answer = page(&ana, Some(&cursor), 50).await;
        assert_eq!((&answer["reset"], &answer["conversations"]), (&json!(true), &json!(all)));
        let good = answer["cursor"].as_str().unwrap();
        assert_eq!(sync(&ana, Some(good)).await.1, [json!(null); 0]);
        // On the first page only: who throws away what they have must not do so twice.
        let first = page(&ana, Some(&cursor), 2).await;
        let second = page(&ana, first["cursor"].as_str(), 2).await;
        assert_eq!((&first["reset"], second.get("reset")), (&json!(true), None));
        let both = [&first, &second].map(|page| convs(page["conversations"].as_array().unwrap()).len());
        assert_eq!(both, [2, 1]);
    }
    server.stop().await;
}
