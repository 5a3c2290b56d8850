//! Two nodes on one database: what is done at one is heard at the other, and who was removed hears nothing at either.

use std::time::Duration;

use quipu::Limits;
use serde_json::{Value, json};
use tests::server::Server;
use tests::socket::Socket;

use crate::{CHAT, found, of_a_person, say, text};

const GROUP: &str = "grp-g";

/// Each time it is said.
fn always() -> Limits {
    Limits { typing_every: Some(Duration::from_nanos(1)), ..Limits::default() }
}

/// Two nodes; people talk to whichever they like, with the tokens of either.
async fn two() -> (Server, Server) {
    let one = Server::start_with(always()).await;
    let other = one.beside(always()).await;
    (one, other)
}

/// A device that listens from now on.
async fn listening(server: &Server, person: u64) -> Socket {
    let mut socket = server.person(person).connect().await;
    socket.ok("resume", json!({})).await;
    // Answered once nothing is held back any more.
    socket.ok("ping", json!({})).await;
    socket
}

/// The next message's content that the server has not said itself.
async fn told(socket: &mut Socket) -> String {
    loop {
        let push = socket.push().await;
        if push["item"]["sender_id"].as_u64().is_some_and(|sender| sender > 0) {
            return push["item"]["content"].as_str().unwrap().to_owned();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_at_one_node_is_pushed_at_the_other() {
    let (one, other) = two().await;
    let (mut ana, mut bo) = (listening(&one, 1).await, listening(&other, 2).await);
    for n in 1..=50 {
        assert_eq!(say(&mut ana, CHAT, &format!("ana {n}")).await, 2 * n - 1);
        assert_eq!(told(&mut bo).await, format!("ana {n}"));
        assert_eq!(say(&mut bo, CHAT, &format!("bo {n}")).await, 2 * n);
        assert_eq!(told(&mut ana).await, format!("ana {n}"));
        assert_eq!(told(&mut ana).await, format!("bo {n}"));
        assert_eq!(told(&mut bo).await, format!("bo {n}"));
        // A question at either node sees what was pushed there.
        let path = format!("/v1/conversations/{CHAT}");
        for node in [&one, &other] {
            assert_eq!(node.person(1).get(&path).await.json["max_seq"], 2 * n);
        }
    }
    other.stop().await;
    one.stop().await;
}

/// Types until the other one hears it, as a person does: a word between nodes may be lost.
async fn types_until_heard(typist: &mut Socket, conv: &str, uid: u64, listener: &mut Socket) {
    let due = json!({"push": "typing", "conv_id": conv, "uid": uid});
    for _ in 0..300 {
        assert_eq!(typist.ok("typing", json!({"conv_id": conv})).await, json!({}));
        if listener.pushes(Duration::from_millis(100)).await.contains(&due) {
            return;
        }
    }
    panic!("not heard at all");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_typing_at_one_node_is_seen_at_the_other_and_where_they_are() {
    let (one, other) = two().await;
    found(&one, "g", &[1, 2, 3]).await;
    let (mut ana, mut bo, mut cy) =
        (listening(&one, 1).await, listening(&other, 2).await, listening(&one, 3).await);
    types_until_heard(&mut ana, GROUP, 1, &mut bo).await;
    types_until_heard(&mut bo, GROUP, 2, &mut ana).await;
    types_until_heard(&mut bo, CHAT, 2, &mut ana).await;
    let heard = cy.pushes(Duration::from_millis(100)).await;
    let seen = |uid: u64| heard.iter().any(|push| push["push"] == "typing" && push["uid"] == uid);
    assert!(seen(1) && seen(2), "{heard:?}");
    assert!(
        heard.iter().all(|push| push["conv_id"] == GROUP),
        "not what is said in another's chat: {heard:?}"
    );
    other.stop().await;
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_removed_at_one_node_hears_nothing_more_at_the_other() {
    let (one, other) = two().await;
    found(&one, "g", &[1, 2, 3]).await;
    let (mut ana, mut bo, mut cy) =
        (listening(&one, 1).await, listening(&other, 2).await, listening(&other, 3).await);
    say(&mut ana, GROUP, "with bo").await;
    assert_eq!((told(&mut bo).await, told(&mut cy).await), ("with bo".into(), "with bo".into()));
    assert_eq!(one.person(1).delete("/v1/groups/grp-g/members/2").await.status, 200);
    // What comes after the answer, at whichever node: nothing of it is his.
    assert_eq!(bo.refused("send", text(GROUP, "still here?")).await, "not_a_member");
    assert_eq!(bo.refused("typing", json!({"conv_id": GROUP})).await, "not_a_member");
    say(&mut ana, GROUP, "without bo").await;
    say(&mut cy, GROUP, "without bo, from here").await;
    assert_eq!(
        (told(&mut cy).await, told(&mut cy).await),
        ("without bo".into(), "without bo, from here".into())
    );
    types_until_heard(&mut ana, GROUP, 1, &mut cy).await;
    // After the last of it: what bo hears comes in the same order.
    say(&mut ana, CHAT, "only to bo").await;
    let mut heard: Vec<Value> = Vec::new();
    loop {
        let push = bo.push().await;
        if push["item"]["content"] == "only to bo" {
            break;
        }
        heard.push(push);
    }
    // Only that there is something to be fetched: a sync says that he is out.
    assert!(heard.len() == 1 && heard[0]["push"] == "resync", "{heard:?}");
    other.stop().await;
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stops_takes_nothing_from_the_other() {
    let (one, other) = two().await;
    let mut ana = listening(&one, 1).await;
    let mut bo = listening(&other, 2).await;
    assert_eq!(say(&mut bo, CHAT, "before").await, 1);
    let stopping = async {
        assert_eq!(bo.closed().await, 1001);
    };
    tokio::join!(stopping, async { drop(other.stop().await) });
    assert_eq!(say(&mut ana, CHAT, "after").await, 2);
    assert_eq!((told(&mut ana).await, told(&mut ana).await), ("before".into(), "after".into()));
    let mut bo = listening(&one, 2).await;
    types_until_heard(&mut ana, CHAT, 1, &mut bo).await;
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_is_recognised_at_the_other_node_however_many_tokens_are_left_there() {
    let one = Server::start_with(of_a_person(1)).await;
    let other = one.beside(of_a_person(1)).await;
    let (mut here, mut there) = (one.person(1).connect().await, other.person(1).connect().await);
    let message = text(CHAT, "once");
    let sent = here.ok("send", message.clone()).await;
    assert_eq!(say(&mut there, CHAT, "a token of its own").await, 2);
    assert_eq!(there.refused("send", text(CHAT, "too many")).await, "too_many_requests");
    let again = there.ok("send", message).await;
    assert_eq!((&again["msg_id"], &again["duplicate"]), (&sent["msg_id"], &json!(true)));
    other.stop().await;
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_that_is_posted_at_one_node_is_pushed_at_the_other() {
    let (one, other) = two().await;
    let (mut ana, mut bo) = (listening(&one, 1).await, listening(&other, 2).await);
    let admin = one.with_roles(9, &["admin"]);
    for (to, content) in [(json!([2]), "to bo"), (json!("all"), "to all"), (json!([1]), "to ana")] {
        let body = json!({"to": to, "category": "news", "content": content});
        assert_eq!(admin.post("/v1/notifications", body).await.status, 201);
    }
    for (socket, expected) in [(&mut ana, ["to all", "to ana"]), (&mut bo, ["to bo", "to all"])] {
        for content in expected {
            let push = socket.push().await;
            assert_eq!((&push["push"], &push["content"]), (&json!("notification"), &json!(content)));
        }
    }
    let read = other.person(2).put("/v1/notifications/read", json!({"read_id": 2})).await;
    assert_eq!(read.json, json!({"read_id": 2, "unread": 0}));
    let mut elsewhere = listening(&one, 2).await;
    let read = other.person(2).put("/v1/notifications/read", json!({"read_id": 3})).await;
    assert_eq!(read.json["read_id"], 3);
    // The one before may have come while this one began to listen.
    let mut push = elsewhere.push().await;
    if push["read_id"] == 2 {
        push = elsewhere.push().await;
    }
    assert_eq!((&push["push"], &push["read_id"]), (&json!("notifications_read"), &json!(3)));
}
