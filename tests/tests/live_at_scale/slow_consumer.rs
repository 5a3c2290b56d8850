//! One consumer that does not read, among five hundred that do: these wait for nobody and are never told to fetch; that
//! one is, once it reads again, and then has everything.

use std::collections::BTreeMap;
use std::time::Duration;

use quipu::Limits;
use serde_json::{Value, json};
use tests::server::{Person, Server};
use tests::socket::Socket;

use crate::{crowd::Crowd, found, history, say};

/// The fast ones are the first of the group, the slow one is its last.
const FAST: u64 = 500;
const SLOW: u64 = FAST + 1;
/// The slow one hears of large texts in a chat of its own, too, so that five hundred need not read them.
const CHAT: &str = "p2p-501-600";
/// A round is small enough for any queue: a fast one that has heard the last round has room for the next.
const ROUNDS: u64 = 20;
const LARGE_A_ROUND: u64 = 14;
const LARGE_BYTES: usize = 60_000;
const GROUP_A_ROUND: u64 = 3;
/// 4 MiB wait in the queue, as much in the server's socket, a little in the client's.
const _: () = assert!(ROUNDS as usize * LARGE_A_ROUND as usize * LARGE_BYTES > 16 << 20);

#[tokio::test(flavor = "multi_thread")]
async fn of_five_hundred_and_one_the_slow_one_is_told_to_fetch_and_nobody_waits_for_it() {
    // Whoever does not read does not answer pings either; that is another test's matter. (One that takes nothing for a
    // minute is given up, too; what is pushed meanwhile takes some seconds.)
    let server =
        Server::start_with(Limits { ping_every: Duration::from_secs(600), ..Limits::default() }).await;
    let group = found(&server, "hall", SLOW).await;
    let founded = history(&server, 1, &group, 0).await.len() as u64;
    let slow = server.person(SLOW);
    let mut replica = Replica::default();
    replica.catch_up(&slow, None).await;
    let mut device = slow.connect().await;
    device.ok("resume", json!({})).await;
    let mut crowd = Crowd::of(&server, 1..=FAST).await;
    let large = "x".repeat(LARGE_BYTES);
    let mut last = founded;
    for _ in 0..ROUNDS {
        for _ in 0..LARGE_A_ROUND {
            say(&server, 600, CHAT, &large).await;
        }
        for n in 1..=GROUP_A_ROUND {
            assert_eq!(say(&server, 1 + n, &group, "to all").await, last + n);
        }
        for items in crowd.hear(GROUP_A_ROUND as usize).await {
            let seqs: Vec<_> = items.iter().map(|item| item["seq"].as_u64().unwrap()).collect();
            assert_eq!(seqs, (last + 1..=last + GROUP_A_ROUND).collect::<Vec<_>>());
        }
        last += GROUP_A_ROUND;
    }
    // Of something that it has been pushed.
    let recall = format!("/v1/conversations/{group}/messages/{}/recall", founded + 1);
    assert_eq!(server.person(2).post(&recall, json!({})).await.status, 200);

    let cursor = replica.hear_until_resync(&mut device).await;
    assert!(replica.last(&group) < last, "it has missed some of the group, too");
    replica.catch_up(&slow, Some(&cursor)).await;
    // It hears pushes again, and what comes now joins what it has fetched.
    say(&server, 1, &group, "the last").await;
    while replica.last(&group) < last + 1 {
        let push = device.push().await;
        replica.take(&push);
    }
    for (conv, len) in [(group.as_str(), last + 1), (CHAT, ROUNDS * LARGE_A_ROUND)] {
        let mut all = vec![];
        while (all.len() as u64) < len {
            all.extend(history(&server, SLOW, conv, all.len() as u64).await);
        }
        assert_eq!(all.len() as u64, len);
        let kept: Vec<Value> = replica.0[conv].values().cloned().collect();
        assert!(kept == all, "{conv}: {} of {len} kept, or not as they are", kept.len());
    }
    server.stop().await;
}

/// What the device keeps: messages by conversation and seq.
#[derive(Default)]
struct Replica(BTreeMap<String, BTreeMap<u64, Value>>);

impl Replica {
    fn last(&self, conv: &str) -> u64 {
        self.0.get(conv).and_then(|kept| kept.last_key_value()).map_or(0, |(seq, _)| *seq)
    }

    /// A push that is no resync.
    fn take(&mut self, push: &Value) {
        let conv = push["conv_id"].as_str().unwrap().to_owned();
        match push["push"].as_str() {
            Some("message") => {
                let seq = push["item"]["seq"].as_u64().unwrap();
                // Known already where it was fetched; never a gap.
                assert!(seq <= self.last(&conv) + 1, "a gap after {}: {push}", self.last(&conv));
                self.0.entry(conv).or_default().insert(seq, push["item"].clone());
            }
            Some("recalled") => {}
            _ => panic!("{push}"),
        }
    }

    /// Reads what had room; the cursor of the resync in whose place the rest is missing.
    async fn hear_until_resync(&mut self, device: &mut Socket) -> String {
        loop {
            let push = device.push().await;
            if push["push"] == "resync" {
                return push["cursor"].as_str().unwrap().to_owned();
            }
            self.take(&push);
        }
    }

    /// Asks what has changed since the cursor and fetches what is not here.
    async fn catch_up(&mut self, person: &Person<'_>, cursor: Option<&str>) {
        let query = cursor.map(|cursor| format!("?cursor={cursor}")).unwrap_or_default();
        let synced = person.get(&format!("/v1/sync{query}")).await.json;
        assert_eq!(synced["has_more"], false, "{synced}");
        for entry in synced["conversations"].as_array().unwrap() {
            let conv = entry["conv_id"].as_str().unwrap();
            for seq in entry["changes"]["recalled"].as_array().into_iter().flatten() {
                let seq = seq.as_u64().unwrap();
                if seq <= self.last(conv) {
                    self.fetch(person, conv, seq - 1, 1).await;
                }
            }
            while self.last(conv) < entry["max_seq"].as_u64().unwrap() {
                self.fetch(person, conv, self.last(conv), 200).await;
            }
        }
    }

    async fn fetch(&mut self, person: &Person<'_>, conv: &str, after: u64, limit: u64) {
        let path = format!("/v1/conversations/{conv}/messages?after_seq={after}&limit={limit}");
        let page = person.get(&path).await.json;
        for item in page["items"].as_array().unwrap() {
            let seq = item["seq"].as_u64().unwrap();
            self.0.entry(conv.to_owned()).or_default().insert(seq, item.clone());
        }
    }
}
