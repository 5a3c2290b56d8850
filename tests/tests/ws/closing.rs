//! RFC 6455 from outside, how a connection ends: closes that are answered and closes that are none, clients that go in
//! the middle of something, dead peers.

use std::time::Duration;

use futures_util::future::join_all;
use quipu::Limits;
use serde_json::json;
use tests::server::Server;
use tokio_tungstenite::tungstenite::Message;

use crate::wire::{CLOSE, FIN, Got, TEXT, Wire, code, frame};
use crate::{CHAT, text};

/// The payload of a close.
fn payload(code: u16, reason: &str) -> Vec<u8> {
    [&code.to_be_bytes()[..], reason.as_bytes()].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_close_is_answered_with_what_it_says() {
    let server = Server::start().await;
    let mut closes = vec![vec![]];
    let codes =
        [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 3000, 3999, 4000, 4401, 4999];
    closes.extend(codes.map(|code| payload(code, "")));
    closes.extend([payload(1000, "bye 再见"), payload(1000, &"x".repeat(123))]);
    for close in closes {
        let mut ana = Wire::open(&server, &server.person(1)).await;
        ana.frame(FIN | CLOSE, &close).await;
        assert_eq!(ana.next().await, Some(Got { opcode: CLOSE, payload: close }));
        assert_eq!(ana.next().await, None, "the server ends the connection");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_close_that_is_none_is_closed_with_its_code() {
    let server = Server::start().await;
    let mut cases = vec![
        (vec![3], 1002),
        (payload(1000, "").into_iter().chain([0xff]).collect(), 1007),
        (payload(1000, "").into_iter().chain("字".bytes().take(2)).collect(), 1007),
    ];
    // 1004 to 1006 and 1015 may not be sent, 1014 is not known here, the others belong to nobody (7.4).
    for code in [0, 1, 999, 1004, 1005, 1006, 1014, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
        cases.push((payload(code, "x"), 1002));
    }
    let closing = (1..).zip(&cases).map(async |(person, (close, expected))| {
        let mut wire = Wire::open(&server, &server.person(person)).await;
        wire.frame(FIN | CLOSE, close).await;
        assert_eq!(wire.closed().await, Some(*expected), "{close:?}");
    });
    join_all(closing).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_taken_behind_a_close() {
    let server = Server::start().await;
    let mut ana = Wire::open(&server, &server.person(1)).await;
    let mut send = text(CHAT, "too late");
    (send["id"], send["op"]) = (json!("a"), json!("send"));
    let bytes =
        [frame(FIN | CLOSE, &payload(1000, "")), frame(FIN | TEXT, send.to_string().as_bytes())].concat();
    ana.bytes(&bytes).await;
    assert_eq!(ana.closed().await, Some(1000));
    assert_eq!(
        server.stop().await.connect().await.query("select from log.event", &[]).await.unwrap().len(),
        0
    );
}

/// A send of a message that says its number.
fn numbered(n: u64) -> Vec<u8> {
    let mut send = text(CHAT, &n.to_string());
    (send["id"], send["op"]) = (json!(n.to_string()), json!("send"));
    frame(FIN | TEXT, send.to_string().as_bytes())
}

/// What is in the log, after a stop that lets everything that was taken come to its end: the first so many of what was
/// sent, in the order sent.
async fn stored(server: Server) -> u64 {
    let server = Server::start_on(server.stop().await).await;
    let mut contents = vec![];
    loop {
        let path = format!("/v1/conversations/{CHAT}/messages?limit=200&after_seq={}", contents.len());
        let page = server.person(2).get(&path).await.json;
        contents.extend(page["items"].as_array().unwrap().iter().map(|item| item["content"].clone()));
        if page["has_more"] == false {
            break;
        }
    }
    server.stop().await;
    let count = contents.len() as u64;
    assert_eq!(contents, (1..=count).map(|n| json!(n.to_string())).collect::<Vec<_>>());
    count
}

/// More than may be in flight.
const SENDS: u64 = 400;
/// Of them answered before the client goes.
const AWAITED: u64 = 20;

/// Sends a lot and hears the first answers; how many.
async fn send_and_hear(wire: &mut Wire) -> u64 {
    wire.bytes(&(1..=SENDS).flat_map(numbered).collect::<Vec<_>>()).await;
    let mut answered = 0;
    while answered < AWAITED {
        answered += u64::from(!wire.answer().await["ok"].is_null());
    }
    answered
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_before_a_close_is_stored() {
    let server = Server::start().await;
    let mut ana = Wire::open(&server, &server.person(1)).await;
    let mut answered = send_and_hear(&mut ana).await;
    ana.frame(FIN | CLOSE, &payload(1000, "")).await;
    loop {
        let got = ana.next().await.expect("a close");
        if got.opcode == CLOSE {
            assert_eq!(code(&got), Some(1000));
            break;
        }
        let answer: serde_json::Value = serde_json::from_slice(&got.payload).unwrap();
        assert!(answer["error"].is_null(), "{answer}");
        answered += u64::from(!answer["ok"].is_null());
    }
    assert_eq!(ana.next().await, None);
    // Those that were taken and not answered any more may be there, too: in order, and none of them half.
    let stored = stored(server).await;
    assert!((answered..=SENDS).contains(&stored), "{answered} answered, {stored} stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_vanishes_in_the_middle_of_a_frame_leaves_what_was_answered_and_nothing_half() {
    let server = Server::start().await;
    let mut ana = Wire::open(&server, &server.person(1)).await;
    let answered = send_and_hear(&mut ana).await;
    let next = numbered(SENDS + 1);
    ana.bytes(&next[..next.len() / 2]).await;
    ana.vanish().await;
    // The others do not notice.
    let mut bo = server.person(3).connect().await;
    assert_eq!(bo.ok("ping", json!({})).await, json!({}));
    let stored = stored(server).await;
    assert!((answered..=SENDS).contains(&stored), "{answered} answered, {stored} stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_are_pinged_and_a_dead_one_is_closed() {
    let limits = Limits { ping_every: Duration::from_secs(1), ..Limits::default() };
    let server = Server::start_with(limits).await;
    let mut ana = server.person(1).connect().await;
    assert!(matches!(ana.raw().await, Some(Ok(Message::Ping(_)))));
    // It answers as long as it reads, and is there after more than the two intervals that make one dead.
    let alive = ana.pushes(Duration::from_secs(3)).await;
    assert!(alive.is_empty());
    assert_eq!(ana.ok("ping", json!({})).await, json!({}));
    // One that reads but says nothing is dead.
    let mut dead = Wire::open(&server, &server.person(1)).await;
    while dead.next().await.is_some() {}
    server.stop().await;
}
