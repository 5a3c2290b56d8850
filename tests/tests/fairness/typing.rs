//! Typing from outside: who hears of it, who may be seen, and that it never stands in the way.

use std::time::Duration;

use quipu::Limits;
use reqwest::Method;
use serde_json::{Value, json};
use tests::server::{Server, send};
use tests::socket::Socket;

use crate::{CHAT, found, say};

const GROUP: &str = "grp-g";

/// Long enough for a push to come, had there been one.
const MOMENT: Duration = Duration::from_millis(400);

/// Typing in one conversation is passed on once in a test.
async fn once() -> Server {
    let typing_every = Some(Duration::from_secs(86_400));
    Server::start_with(Limits { typing_every, ..Limits::default() }).await
}

/// Each time.
async fn always() -> Server {
    Server::start_with(Limits { typing_every: Some(Duration::from_nanos(1)), ..Limits::default() }).await
}

/// A device that listens from now on.
async fn listening(server: &Server, person: u64) -> Socket {
    let mut socket = server.person(person).connect().await;
    socket.ok("resume", json!({})).await;
    // Answered once nothing is held back any more.
    socket.ok("ping", json!({})).await;
    socket
}

async fn types(socket: &mut Socket, conv: &str) {
    assert_eq!(socket.ok("typing", json!({"conv_id": conv})).await, json!({}));
}

fn typing(conv: &str, uid: u64) -> Value {
    json!({"push": "typing", "conv_id": conv, "uid": uid})
}

/// What a socket hears up to a message that is said after all else.
async fn heard_until(socket: &mut Socket, word: &str) -> Vec<Value> {
    let mut heard = Vec::new();
    loop {
        let push = socket.push().await;
        if push["item"]["content"] == word {
            return heard;
        }
        heard.push(push);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_hears_of_it_and_ones_own_devices_and_strangers_do_not() {
    let server = always().await;
    let mut ana = listening(&server, 1).await;
    let (mut tablet, mut bo, mut cy) =
        (listening(&server, 1).await, listening(&server, 2).await, listening(&server, 3).await);
    types(&mut ana, "P2P-2-1").await;
    assert_eq!(bo.push().await, typing(CHAT, 1), "no cursor, and the canonical id");
    // A note to oneself has nobody to hear of it.
    types(&mut ana, "p2p-1-1").await;
    say(&mut ana, CHAT, "done").await;
    say(&mut ana, "p2p-1-3", "done").await;
    assert!(heard_until(&mut tablet, "done").await.is_empty());
    assert!(heard_until(&mut bo, "done").await.is_empty());
    assert!(heard_until(&mut cy, "done").await.is_empty());
    assert_eq!(cy.refused("typing", json!({"conv_id": CHAT})).await, "not_a_member");
    assert_eq!(cy.refused("typing", json!({"conv_id": "grp-none"})).await, "not_a_member");
    assert_eq!(cy.refused("typing", json!({"conv_id": "p2p-1"})).await, "invalid_conv_id");
    assert_eq!(cy.refused("typing", json!({"conv_id": CHAT, "more": 1})).await, "invalid_body");
    assert_eq!(server.events().await, 2, "nothing is stored");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_often_is_answered_and_not_passed_on() {
    let server = once().await;
    let (mut ana, mut bo) = (listening(&server, 1).await, listening(&server, 2).await);
    for _ in 0..20 {
        types(&mut ana, CHAT).await;
    }
    types(&mut bo, CHAT).await;
    assert_eq!(bo.push().await, typing(CHAT, 1));
    assert_eq!(ana.push().await, typing(CHAT, 2), "everybody has a pace of their own");
    say(&mut ana, CHAT, "done").await;
    assert!(heard_until(&mut bo, "done").await.is_empty());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_group_those_hear_of_it_who_are_in_now_and_only_who_may_send_is_seen() {
    let server = always().await;
    found(&server, "g", &[1, 2, 3]).await;
    let mut sockets = vec![];
    for person in 1..=3 {
        sockets.push(listening(&server, person).await);
    }
    let seen = |push: &Value| push["push"] == "typing";
    let [ana, bo, cy] = &mut sockets[..] else { panic!("three") };
    types(bo, GROUP).await;
    for other in [&mut *ana, &mut *cy] {
        assert_eq!(other.push().await, typing(GROUP, 2));
    }
    let founder = server.person(1);
    assert_eq!(founder.delete("/v1/groups/grp-g/members/3").await.status, 200);
    assert_eq!(cy.refused("typing", json!({"conv_id": GROUP})).await, "not_a_member");
    types(bo, GROUP).await;
    let mute =
        send(founder.request(Method::PATCH, "/v1/groups/grp-g").json(&json!({"mute_all": true}))).await;
    assert_eq!(mute.status, 200);
    assert_eq!(bo.refused("typing", json!({"conv_id": GROUP})).await, "muted");
    // It is lost while pushes wait, as those of the change may.
    let mut heard = Vec::new();
    for _ in 0..100 {
        types(ana, GROUP).await;
        heard = bo.pushes(Duration::from_millis(100)).await.into_iter().filter(seen).collect();
        if !heard.is_empty() {
            break;
        }
    }
    assert_eq!(heard, [typing(GROUP, 1)], "the owner may send, and is seen");
    assert_eq!(founder.delete("/v1/groups/grp-g").await.status, 200);
    assert_eq!(ana.refused("typing", json!({"conv_id": GROUP})).await, "group_dissolved");
    assert!(!cy.pushes(MOMENT).await.iter().any(seen), "who was removed hears nothing more");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_large_groups_it_is_not_passed_on() {
    let server = always().await;
    for (slug, size, passed) in [("small", 50, true), ("large", 51, false)] {
        found(&server, slug, &(1..=size).collect::<Vec<_>>()).await;
        let group = format!("grp-{slug}");
        let (mut ana, mut bo) = (listening(&server, 1).await, listening(&server, 2).await);
        types(&mut ana, &group).await;
        say(&mut ana, &group, "done").await;
        let heard = heard_until(&mut bo, "done").await;
        assert_eq!(heard == [typing(&group, 1)], passed, "{slug}: {heard:?}");
        assert_eq!(heard.is_empty(), !passed, "{slug}: {heard:?}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_it_is_switched_off_it_says_so() {
    let server = Server::start_with(Limits { typing_every: None, ..Limits::default() }).await;
    let mut ana = server.person(1).connect().await;
    assert_eq!(ana.refused("typing", json!({"conv_id": CHAT})).await, "switched_off");
    assert_eq!(ana.ok("ping", json!({})).await, json!({}));
    server.stop().await;
}
