//! A group of ten thousand, of whom a thousand are connected: each hears each message, in order.

use futures_util::future::join_all;
use serde_json::json;
use tests::server::Server;

use crate::{crowd::Crowd, found, history, say};

const MEMBERS: u64 = 10_000;
const CONNECTED: u64 = 1_000;
const SENDERS: u64 = 4;
const EACH: u64 = 5;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_connected_of_ten_thousand_hear_every_message_in_order() {
    let server = Server::start().await;
    let group = found(&server, "city", MEMBERS).await;
    let founded = history(&server, 1, &group, 0).await.len() as u64;
    // Every tenth member, the senders among them or not.
    let mut crowd = Crowd::of(&server, (1..=CONNECTED).map(|n| n * (MEMBERS / CONNECTED))).await;
    let mut outsider = server.person(MEMBERS + 1).connect().await;
    outsider.ok("resume", json!({})).await;
    let sending = join_all((1..=SENDERS).map(async |sender| {
        for n in 0..EACH {
            say(&server, sender * 5, "grp-city", &format!("{n} of {sender}")).await;
        }
    }));
    let (_, heard) = tokio::join!(sending, crowd.hear((SENDERS * EACH) as usize));
    let expected = history(&server, 1, &group, founded).await;
    let seqs: Vec<u64> = expected.iter().map(|item| item["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (founded + 1..=founded + SENDERS * EACH).collect::<Vec<_>>());
    assert_eq!(heard.len() as u64, CONNECTED);
    for items in &heard {
        assert_eq!(items, &expected);
    }
    // The first that somebody else hears is what is theirs.
    say(&server, MEMBERS + 1, "p2p-10001-10001", "a note").await;
    assert_eq!(outsider.push().await["item"]["content"], "a note");
    server.stop().await;
}
