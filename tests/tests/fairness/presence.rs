//! Presence from outside: who is shown to whom, over nodes and restarts.

use std::time::Duration;

use quipu::Limits;
use serde_json::{Value, json};
use tests::server::Server;
use tests::socket::Socket;

use crate::{CHAT, found, say};

/// Longer than any word between nodes takes on a busy machine.
const TRIES: u32 = 150;

fn shown() -> Limits {
    Limits { presence: true, ..Limits::default() }
}

async fn asked(server: &Server, person: u64, uids: &str) -> Value {
    let answer = server.person(person).get(&format!("/v1/presence?uids={uids}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json["items"].clone()
}

/// Asks about one person until it is so.
async fn becomes(server: &Server, person: u64, uid: u64, online: bool) -> Value {
    for _ in 0..TRIES {
        let items = asked(server, person, &uid.to_string()).await;
        if items[0]["online"] == online {
            assert_eq!(items[0]["uid"], uid);
            return items[0]["last_seen"].clone();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{uid} does not become {online}");
}

/// Waits until some node has written its good-bye.
async fn is_written_as_gone(server: &Server, uid: u64) {
    let client = server.database.connect().await;
    for _ in 0..TRIES {
        let sql = format!("select from presence where uid = {uid} and gone");
        if !client.query(&sql, &[]).await.unwrap().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{uid} is not written as gone");
}

/// A connection that the server knows of.
async fn connected(server: &Server, person: u64) -> Socket {
    let mut socket = server.person(person).connect().await;
    assert_eq!(socket.ok("ping", json!({})).await, json!({}));
    socket
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_off_unless_somebody_switches_it_on() {
    let server = Server::start().await;
    let answer = server.person(1).get("/v1/presence?uids=2").await;
    assert_eq!(answer.problem(), (404, "switched_off"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_told_about_strangers() {
    let server = Server::start_with(shown()).await;
    let _devices = (connected(&server, 2).await, connected(&server, 3).await, connected(&server, 4).await);
    let mut ana = connected(&server, 1).await;
    assert_eq!(asked(&server, 1, "2,3,4,99").await, json!([]), "a single chat that nobody has used is none");
    say(&mut ana, CHAT, "hi").await;
    found(&server, "g", &[3, 1]).await;
    let uids = |items: Value| -> Vec<u64> {
        items.as_array().unwrap().iter().map(|item| item["uid"].as_u64().unwrap()).collect()
    };
    assert_eq!(uids(asked(&server, 1, "4,3,2,3,99").await), [2, 3]);
    assert_eq!(uids(asked(&server, 2, "1,3").await), [1], "not whom another knows");
    assert_eq!(server.person(3).delete("/v1/groups/grp-g/members/1").await.status, 200);
    assert_eq!(uids(asked(&server, 1, "2,3").await), [2], "not any more");
    for odd in ["", "?uids=", "?uids=0", "?uids=1,,2", "?uids=a", "?uids=1&uids=2", "?uids=1&more=1"] {
        let answer = server.person(1).get(&format!("/v1/presence{odd}")).await;
        assert_eq!(answer.problem(), (400, "invalid_parameter"), "{odd}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_connects_is_online_and_who_has_gone_was_last_seen() {
    let server = Server::start_with(shown()).await;
    let mut ana = connected(&server, 1).await;
    say(&mut ana, CHAT, "hi").await;
    assert_eq!(
        asked(&server, 1, "2").await,
        json!([{"uid": 2, "online": false, "last_seen": null}]),
        "never seen"
    );
    let (bo, tablet) = (connected(&server, 2).await, connected(&server, 2).await);
    let seen = becomes(&server, 1, 2, true).await.as_u64().unwrap();
    drop(bo);
    let still = becomes(&server, 1, 2, true).await.as_u64().unwrap();
    assert!(still >= seen);
    // Without having to wait for the table: the node itself knows.
    drop(tablet);
    let last = becomes(&server, 1, 2, false).await;
    assert!(last.is_null() || last.as_u64().unwrap() >= seen, "{last} {seen}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_the_same_at_every_node_and_after_a_restart() {
    let one = Server::start_with(shown()).await;
    let other = one.beside(shown()).await;
    let mut ana = connected(&one, 1).await;
    say(&mut ana, CHAT, "hi").await;
    let bo = connected(&other, 2).await;
    becomes(&one, 1, 2, true).await;
    becomes(&other, 2, 1, true).await;
    // Connected to both, and gone from one: still there.
    let here = connected(&one, 2).await;
    drop(bo);
    is_written_as_gone(&one, 2).await;
    assert_eq!(asked(&other, 1, "2").await[0]["online"], true);
    assert_eq!(asked(&one, 1, "2").await[0]["online"], true);
    drop(here);
    let last = becomes(&other, 1, 2, false).await.as_u64().unwrap();
    assert_eq!(becomes(&one, 1, 2, false).await.as_u64().unwrap(), last);
    // A node that stops says good-bye for all.
    let _bo = connected(&other, 2).await;
    becomes(&one, 1, 2, true).await;
    other.stop().await;
    let last = becomes(&one, 1, 2, false).await.as_u64().unwrap();
    let database = one.stop().await;
    let again = Server::run(database, shown()).await;
    assert_eq!(becomes(&again, 1, 2, false).await.as_u64().unwrap(), last);
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_people_of_a_node_that_was_killed_are_gone_after_a_while() {
    let server = Server::start_with(shown()).await;
    let mut ana = connected(&server, 1).await;
    say(&mut ana, CHAT, "hi").await;
    // As such a node leaves them behind.
    let left_behind = async |instance: u16, ago_s: u32| {
        let client = server.database.connect().await;
        let row = format!(
            "insert into presence values (2, {instance}, extract(epoch from clock_timestamp()) * 1000 - {ago_s} * 1000, false)"
        );
        client.batch_execute(&row).await.unwrap();
    };
    left_behind(700, 40).await;
    let items = asked(&server, 1, "2").await;
    assert!(items[0]["online"] == false && items[0]["last_seen"].is_u64(), "{items}");
    left_behind(701, 0).await;
    assert_eq!(asked(&server, 1, "2").await[0]["online"], true);
    server.stop().await;
}
