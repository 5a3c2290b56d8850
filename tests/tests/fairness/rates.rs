//! Rate limits: who is over one is told when to come back, a repeat is not, and what came behind does not overtake.

use std::collections::BTreeSet;

use quipu::Limits;
use reqwest::Method;
use serde_json::{Value, json};
use tests::server::{Answer, Server, send};
use tests::socket::Socket;

use crate::{CHAT, found, of_a_conversation, of_a_person, only, say, text};

const MESSAGES: &str = "/v1/conversations/p2p-1-2/messages";

fn body(conv: &str, content: &str) -> Value {
    let mut body = text(conv, content);
    body.as_object_mut().unwrap().remove("conv_id");
    body
}

/// Seconds until there is room again: a token a day is what these limits give.
fn is_a_day(seconds: u64) -> bool {
    (80_000..=86_400).contains(&seconds)
}

fn retry_after(answer: &Answer) -> u64 {
    assert_eq!(answer.problem(), (429, "too_many_requests"));
    answer.headers["retry-after"].to_str().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_too_fast_hears_when_to_come_back_and_a_repeat_gets_its_first_answer() {
    let server = Server::start_with(of_a_person(2)).await;
    let ana = server.person(1);
    let (first, second, third) = (body(CHAT, "one"), body(CHAT, "two"), body(CHAT, "three"));
    let sent = ana.post(MESSAGES, first.clone()).await;
    assert_eq!(sent.status, 201);
    assert_eq!(ana.post(MESSAGES, second.clone()).await.status, 201);
    let refused = ana.post(MESSAGES, third.clone()).await;
    assert!(is_a_day(retry_after(&refused)), "{refused:?}");
    let mut elsewhere = server.person(1).connect().await;
    let refused = elsewhere.ask("send", text("p2p-1-3", "the same person on a socket")).await;
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["status"]),
        (&json!("too_many_requests"), &json!(429))
    );
    assert!(is_a_day(refused["error"]["retry_after"].as_u64().unwrap()), "{refused}");
    // A repeat is recognised before limits, over REST and over the socket.
    let again = ana.post(MESSAGES, first.clone()).await;
    assert_eq!((again.status, &again.json["msg_id"]), (200, &sent.json["msg_id"]));
    let mut repeat = second.clone();
    repeat["conv_id"] = json!(CHAT);
    let again = elsewhere.ok("send", repeat).await;
    assert_eq!((&again["seq"], &again["duplicate"]), (&json!(2), &json!(true)));
    // The same id with something else in it is no repeat, and says so.
    let other = json!({"client_msg_id": first["client_msg_id"], "msg_type": 1, "content": "other"});
    assert_eq!(ana.post(MESSAGES, other).await.problem(), (409, "idempotency_conflict"));
    // Questions are not commands, and others are not concerned.
    assert_eq!(ana.get(MESSAGES).await.json["max_seq"], 2);
    assert_eq!(server.person(2).post(MESSAGES, body(CHAT, "hi")).await.status, 201);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_takes_from_the_same_bucket() {
    let server = Server::start_with(of_a_person(1)).await;
    found(&server, "g", &[1, 2]).await;
    let (ana, group) = (server.person(1), "/v1/groups/grp-g");
    let conversation = "/v1/conversations/grp-g";
    let patched = send(ana.request(Method::PATCH, group).json(&json!({"name": "other"}))).await;
    let role = ana.put(&format!("{group}/members/2/role"), json!({"role": "admin"})).await;
    for refused in [
        patched,
        role,
        ana.post(&format!("{group}/members"), json!({"uids": [3]})).await,
        ana.delete(&format!("{group}/members/2")).await,
        ana.delete(group).await,
        ana.post("/v1/groups", json!({"group_id": "h", "name": "h"})).await,
        ana.post(&format!("{conversation}/messages"), body("", "x")).await,
        ana.post(&format!("{conversation}/messages/delete"), json!({"seqs": [1]})).await,
        ana.put(&format!("{conversation}/settings"), json!({"pinned": true})).await,
        ana.post(&format!("{conversation}/clear"), json!({})).await,
        ana.delete(conversation).await,
    ] {
        assert!(is_a_day(retry_after(&refused)), "{refused:?}");
    }
    let said = send(server.request(Method::GET, "/metrics")).await;
    assert_eq!(said.status, 200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_behind_a_refused_command_in_flight_is_not_done_either() {
    let server = Server::start_with(of_a_conversation(3)).await;
    let mut ana = server.person(1).connect().await;
    let mut ids = Vec::new();
    for n in 0..200 {
        ids.push(ana.begin("send", text(CHAT, &format!("{n}"))).await);
    }
    let mut answers = Vec::new();
    for id in ids {
        answers.push(ana.answer(&id).await);
    }
    let sent = answers.iter().take_while(|answer| answer["ok"]["seq"].is_u64()).count();
    assert_eq!(sent, 3);
    for refused in &answers[sent..] {
        assert_eq!(refused["error"]["code"], "too_many_requests");
        assert!(is_a_day(refused["error"]["retry_after"].as_u64().unwrap()), "{refused}");
    }
    // Another conversation has its own bucket.
    assert_eq!(say(&mut ana, "p2p-1-3", "elsewhere").await, 1);
    server.stop().await;
}

/// Sends as fast as it goes, and counts what was sent and what was refused.
async fn flood(mut socket: Socket, conv: &str, messages: usize) -> (u64, u64) {
    let (mut sent, mut refused) = (0, 0);
    let mut waiting = BTreeSet::new();
    for n in 0..messages {
        waiting.insert(socket.begin("send", text(conv, &format!("{n}"))).await);
        while waiting.len() >= 200 || (n + 1 == messages && !waiting.is_empty()) {
            let answer = socket.any_answer().await;
            waiting.remove(answer["id"].as_str().unwrap());
            match answer["error"]["code"].as_str() {
                None => sent += 1,
                Some("too_many_requests") => refused += 1,
                Some(other) => panic!("{other}"),
            }
        }
    }
    (sent, refused)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_is_flooded_is_held_up_and_another_conversation_is_not() {
    const FLOODERS: u64 = 4;
    const EACH: usize = 600;
    let server = Server::start_with(Limits { conversation_rate: only(300), ..Limits::default() }).await;
    found(&server, "hot", &(1..=FLOODERS).collect::<Vec<_>>()).await;
    let floods = (1..=FLOODERS).map(|person| {
        let server = &server;
        async move { flood(server.person(person).connect().await, "grp-hot", EACH).await }
    });
    let calm = async {
        let mut bo = server.person(20).connect().await;
        for n in 1..=200 {
            assert_eq!(say(&mut bo, "p2p-20-21", "undisturbed").await, n);
        }
    };
    let (counts, ()) = tokio::join!(futures_util::future::join_all(floods), calm);
    let sent: u64 = counts.iter().map(|(sent, _)| sent).sum();
    let refused: u64 = counts.iter().map(|(_, refused)| refused).sum();
    assert_eq!(sent + refused, FLOODERS * EACH as u64);
    // The founding has taken one; of those in flight behind a refused one, some may have had a token.
    assert!(sent < 300 && refused > 0, "{sent} sent, {refused} refused");
    let page = server.person(1).get("/v1/conversations/grp-hot/messages?limit=1").await;
    assert_eq!(
        page.json["max_seq"],
        sent + 1,
        "the system's word of the founding, and what was acknowledged"
    );
    let metrics = server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("quipu_commands_over_limit_total{limit=\"conversation\"}"), "{metrics}");
    server.stop().await;
}
