//! Nothing is pushed that is not stored, whatever dies in the middle of it; and when all is well again, everything that
//! is stored has been pushed, once and in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tests::Cluster;
use tests::dice::Dice;
use tests::process::until;
use tests::server::{Server, send};
use tests::socket::Socket;
use uuid::Uuid;

/// Each writes to person 1.
const SENDERS: u64 = 4;
const KILLS: usize = 3;
/// Pushes that are heard between two kills, at most.
const BETWEEN_MAX: u64 = 60;

fn messages(sender: u64) -> String {
    format!("/v1/conversations/p2p-1-{sender}/messages")
}

/// What the device has been pushed, by sender.
#[derive(Default)]
struct Heard(BTreeMap<u64, Vec<Value>>);

impl Heard {
    async fn next(&mut self, device: &mut Socket) {
        let push = device.push().await;
        assert_eq!(push["push"], "message", "{push}");
        let sender = push["item"]["sender_id"].as_u64().unwrap();
        let items = self.0.entry(sender).or_default();
        items.push(push["item"].clone());
        assert_eq!(push["item"]["seq"], items.len(), "once, in order, and without a gap");
    }

    fn of(&self, sender: u64) -> &[Value] {
        self.0.get(&sender).map_or(&[], Vec::as_slice)
    }
}

async fn history(server: &Server, sender: u64) -> Vec<Value> {
    let mut items = vec![];
    loop {
        let path = format!("{}?limit=200&after_seq={}", messages(sender), items.len());
        let page = server.person(1).get(&path).await;
        assert_eq!(page.status, 200, "{page:?}");
        items.extend(page.json["items"].as_array().unwrap().iter().cloned());
        if page.json["has_more"] == false {
            return items;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_pushed_is_stored_though_postgres_dies_in_the_middle() {
    let mut dice = Dice::of_this_run();
    let cluster = Cluster::private();
    let server = Server::start_on(tests::log::migrated_on(&cluster).await).await;
    let mut device = server.person(1).connect().await;
    device.ok("resume", json!({})).await;
    let over = AtomicBool::new(false);
    let sending = join_all((2..2 + SENDERS).map(async |sender| {
        let person = server.person(sender);
        for n in 0.. {
            if over.load(Ordering::Relaxed) {
                break;
            }
            let id = Uuid::from_u128(u128::from(sender) << 64 | n);
            let body = json!({"client_msg_id": id, "msg_type": 1, "content": format!("{n} of {sender}")});
            // Some are not taken while Postgres is away; nobody insists.
            let answer = person.post(&messages(sender), body).await;
            assert!([201, 503].contains(&answer.status), "{answer:?}");
        }
    }));
    let listening = async {
        let mut heard = Heard::default();
        for _ in 0..KILLS {
            for _ in 0..=dice.below(BETWEEN_MAX) {
                heard.next(&mut device).await;
            }
            cluster.kill();
            cluster.restart();
            until("the server is ready", async || {
                send(server.request(Method::GET, "/readyz")).await.status == 200
            })
            .await;
            for sender in 2..2 + SENDERS {
                let (pushed, stored) = (heard.of(sender), history(&server, sender).await);
                assert!(stored.starts_with(pushed), "{pushed:?} was pushed, and stored is {stored:?}");
            }
        }
        over.store(true, Ordering::Relaxed);
        heard
    };
    let (_, mut heard) = tokio::join!(sending, listening);
    for sender in 2..2 + SENDERS {
        let stored = history(&server, sender).await;
        while heard.of(sender).len() < stored.len() {
            heard.next(&mut device).await;
        }
        assert_eq!(heard.of(sender), stored);
    }
    server.stop().await;
}
