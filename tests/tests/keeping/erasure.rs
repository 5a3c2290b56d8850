//! Erasure over REST: who may ask, what is answered, and that it comes to its end by itself.

use std::time::Duration;

use event_store::{EventStore, StreamName, chain};
use reqwest::Method;
use serde_json::{Value, json};
use tests::log::{chat, postgres_log};
use tests::server::{Person, Server};

const CHAT: &str = "p2p-1-2";

async fn say(person: &Person<'_>, conv: &str, text: &str) {
    let id = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, text.as_bytes());
    let body = json!({"client_msg_id": id, "msg_type": 1, "content": text});
    assert_eq!(person.post(&format!("/v1/conversations/{conv}/messages"), body).await.status, 201);
}

/// Until it has come to its end.
async fn done(law: &Person<'_>, uid: u64) -> Value {
    let ended = async {
        loop {
            let erasure = law.get(&format!("/v1/audit/erasures/{uid}")).await;
            assert_eq!(erasure.status, 200, "{erasure:?}");
            if erasure.json["status"] == "done" {
                return erasure.json;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), ended).await.expect("an erasure comes to its end")
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_asked_for_and_comes_to_its_end_with_a_report() {
    let server = Server::start().await;
    let (law, ana, bo) = (server.with_roles(9, &["compliance"]), server.person(1), server.person(2));
    for n in 1..=120 {
        say(if n % 2 == 1 { &ana } else { &bo }, CHAT, &format!("{n}")).await;
    }
    assert_eq!(law.get("/v1/audit/erasures/1").await.problem(), (404, "erasure_not_found"));
    let asked = law.post("/v1/audit/erasures", json!({"uid": 1, "reason": "she asked"})).await;
    assert_eq!((asked.status, &asked.json["status"], &asked.json["by"]), (202, &json!("running"), &json!(9)));
    let ended = done(&law, 1).await;
    assert_eq!((&ended["report"]["messages"], &ended["report"]["conversations"]), (&json!(60), &json!(1)));
    assert_eq!(ended["report"]["months"][0]["removed"], 60, "{ended}");
    assert!(!ended["report"]["out_of_reach"].as_array().unwrap().is_empty());
    let page = bo.get(&format!("/v1/conversations/{CHAT}/messages?limit=200")).await.json;
    for item in page["items"].as_array().unwrap() {
        let state = if item["seq"].as_u64().unwrap() % 2 == 1 { "expired" } else { "normal" };
        assert_eq!(item["state"], state, "{item}");
    }
    let summary = bo.get(&format!("/v1/conversations/{CHAT}")).await.json;
    assert_eq!((&summary["unread"], &summary["last_message"]["seq"]), (&json!(0), &json!(120)));
    // The chain still holds.
    let log = postgres_log(&server.database.config).await;
    let stream = StreamName::new(&chat(1, 2), domain::StreamKind::Message);
    let events = log.read_stream(&stream, 1, 1000).await.unwrap();
    let mut previous = [0; 32];
    for event in &events {
        let link = chain::link(&previous, &event.header, &chain::body_digest(&event.body));
        assert_eq!(link, event.header.chain, "{}", event.header.version);
        previous = link;
    }
    let erased = events.iter().filter(|event| matches!(event.body, event_store::Body::Erased { .. })).count();
    assert_eq!((events.len(), erased), (120, 60));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_compliance_may_and_a_hold_beats_it() {
    let server = Server::start().await;
    let (law, nosy) = (server.with_roles(9, &["compliance"]), server.with_roles(1, &["admin"]));
    let body = || json!({"uid": 1, "reason": "she asked"});
    let ask = async |body: Value| law.post("/v1/audit/erasures", body).await;
    assert_eq!(nosy.post("/v1/audit/erasures", body()).await.problem(), (403, "not_allowed"));
    assert_eq!(nosy.get("/v1/audit/erasures/1").await.problem(), (403, "not_allowed"));
    assert_eq!(ask(json!({"uid": 0, "reason": "x"})).await.problem(), (422, "invalid_uid"));
    assert_eq!(ask(json!({"uid": 1, "reason": ""})).await.problem(), (422, "invalid_reason"));
    assert_eq!(ask(json!({"uid": 1})).await.problem(), (422, "invalid_body"));
    law.put("/v1/audit/holds/1", json!({"reason": "case"})).await;
    assert_eq!(ask(body()).await.problem(), (409, "legal_hold"));
    let accesses = law.request(Method::GET, "/v1/audit/accesses?limit=200");
    let text = accesses.send().await.unwrap().text().await.unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let refused = lines.iter().filter(|line| line["actor"] == 1 && line["body"]["allowed"] == false);
    assert_eq!(refused.count(), 2);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_conversation_is_passed_over_and_named_until_the_hold_is_lifted() {
    let server = Server::start().await;
    let (law, ana, bo) = (server.with_roles(9, &["compliance"]), server.person(1), server.person(2));
    say(&ana, CHAT, "held").await;
    say(&ana, "p2p-1-3", "not held").await;
    law.put(&format!("/v1/audit/holds/{CHAT}"), json!({"reason": "case"})).await;
    let ask = async || law.post("/v1/audit/erasures", json!({"uid": 1, "reason": "she asked"})).await;
    assert_eq!(ask().await.status, 202);
    let report = done(&law, 1).await["report"].take();
    assert_eq!((&report["messages"], &report["held"]), (&json!(1), &json!([CHAT])));
    let first = async || bo.get(&format!("/v1/conversations/{CHAT}/messages")).await.json["items"][0].take();
    assert_eq!(first().await["content"], "held");
    law.delete(&format!("/v1/audit/holds/{CHAT}")).await;
    assert_eq!(ask().await.status, 202);
    assert_eq!(done(&law, 1).await["report"]["messages"], 1);
    assert_eq!(first().await["state"], "expired");
    server.stop().await;
}
