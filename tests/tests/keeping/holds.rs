//! Legal holds over REST: who may, what is answered, what they hold.

use domain::{Command, Seq, ids::Sender};
use serde_json::{Value, json};
use tests::log::{START, chat, request, uid};
use tests::server::{Person, Server};

const CHAT: &str = "p2p-1-2";

async fn say(person: &Person<'_>, text: &str) {
    let id = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, text.as_bytes());
    let body = json!({"client_msg_id": id, "msg_type": 1, "content": text});
    assert_eq!(person.post(&format!("/v1/conversations/{CHAT}/messages"), body).await.status, 201);
}

fn at(on: &str) -> String {
    format!("/v1/audit/holds/{on}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_says_who_when_and_why_until_it_is_lifted() {
    let server = Server::start().await;
    let (law, ana) = (server.with_roles(9, &["compliance"]), server.person(1));
    say(&ana, "hi").await;
    for (on, named) in [(CHAT, json!({"conv_id": CHAT})), ("7", json!({"uid": 7}))] {
        assert_eq!(law.get(&at(on)).await.problem(), (404, "hold_not_found"), "{on}");
        let mut stands = json!({"by": 9, "reason": "Fall 7", "at": START});
        stands.as_object_mut().unwrap().extend(named.as_object().unwrap().clone());
        let placed = law.put(&at(on), json!({"reason": "Fall 7"})).await;
        assert_eq!((placed.status, &placed.json), (200, &stands), "{on}");
        let again = law.put(&at(on), json!({"reason": "another"})).await;
        assert_eq!((again.status, &again.json), (200, &stands), "the first one stands");
        assert_eq!(law.get(&at(on)).await.json, stands);
    }
    let first = law.get("/v1/audit/holds?limit=1").await.json;
    assert_eq!(first["holds"][0]["conv_id"], CHAT);
    let rest = law.get(&format!("/v1/audit/holds?after={}", first["next"].as_str().unwrap())).await.json;
    assert_eq!((&rest["holds"][0]["uid"], &rest["next"]), (&json!(7), &Value::Null));
    for on in ["p2p-2-1", "7"] {
        assert_eq!(law.delete(&at(on)).await.json, json!({"lifted": true}));
        assert_eq!(law.delete(&at(on)).await.json, json!({"lifted": false}), "a repeat is nothing");
        assert_eq!(law.get(&at(on)).await.problem(), (404, "hold_not_found"));
    }
    assert_eq!(law.get("/v1/audit/holds").await.json, json!({"holds": []}));
    // What stands in the log's own shard beside notifications is nobody's notification.
    let ready = server.request(reqwest::Method::GET, "/readyz").send().await.unwrap();
    let text = ready.text().await.unwrap();
    assert!(!text.contains("skipped"), "{text}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_compliance_may_and_every_attempt_is_recorded() {
    let server = Server::start().await;
    let (law, nosy) = (server.with_roles(9, &["compliance"]), server.with_roles(1, &["admin"]));
    let why = json!({"reason": "curious"});
    for on in ["7", CHAT] {
        assert_eq!(nosy.put(&at(on), why.clone()).await.problem(), (403, "not_allowed"));
        assert_eq!(nosy.delete(&at(on)).await.problem(), (403, "not_allowed"));
        assert_eq!(nosy.get(&at(on)).await.problem(), (403, "not_allowed"));
    }
    assert_eq!(nosy.get("/v1/audit/holds").await.problem(), (403, "not_allowed"));
    let request = law.request(reqwest::Method::GET, "/v1/audit/accesses?limit=200");
    let text = request.send().await.unwrap().text().await.unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let refused = lines.iter().filter(|line| line["actor"] == 1 && line["body"]["allowed"] == false);
    assert_eq!(refused.count(), 7);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_on_what_does_not_exist_or_without_a_reason_is_refused() {
    let server = Server::start().await;
    let law = server.with_roles(9, &["compliance"]);
    let place = async |on: &str, body: Value| law.put(&at(on), body).await;
    let why = || json!({"reason": "case"});
    assert_eq!(place("p2p-1-2", why()).await.problem(), (404, "conversation_not_found"));
    assert_eq!(place("grp-no", why()).await.problem(), (404, "conversation_not_found"));
    assert_eq!(law.delete(&at("grp-no")).await.problem(), (404, "conversation_not_found"));
    assert_eq!(place("0", why()).await.problem(), (422, "invalid_uid"));
    assert_eq!(place("nonsense", why()).await.problem(), (400, "invalid_conv_id"));
    for reason in ["", "a\nb", &"x".repeat(501)] {
        assert_eq!(place("7", json!({"reason": reason})).await.problem(), (422, "invalid_reason"));
    }
    assert_eq!(place("7", json!({})).await.problem(), (422, "invalid_body"));
    assert_eq!(law.get("/v1/audit/holds").await.json, json!({"holds": []}), "nothing was placed");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_it_stands_nothing_expires_and_nothing_is_erased() {
    let server = Server::start().await;
    let (law, ana) = (server.with_roles(9, &["compliance"]), server.person(1));
    say(&ana, "one").await;
    say(&ana, "two").await;
    law.put(&at(CHAT), json!({"reason": "case"})).await;
    let expire = || request(Command::Expire { up_to_seq: Seq::new(1) });
    let seqs = vec![Seq::new(2)];
    let erase = || request(Command::Erase { uid: uid(1), seqs: seqs.clone(), by: Sender::System });
    for command in [expire(), erase()] {
        let refused = server.commands.handle(chat(1, 2), command).await.unwrap_err().to_string();
        assert!(refused.contains("hold"), "{refused}");
    }
    law.delete(&at(CHAT)).await;
    server.commands.handle(chat(1, 2), expire()).await.unwrap();
    server.commands.handle(chat(1, 2), erase()).await.unwrap();
    let page = ana.get(&format!("/v1/conversations/{CHAT}/messages")).await.json;
    assert_eq!((&page["min_seq"], &page["items"]), (&json!(2), &json!([{"seq": 2, "state": "expired"}])));
    let summary = server.person(2).get(&format!("/v1/conversations/{CHAT}")).await.json;
    assert_eq!((&summary["unread"], &summary["last_message"]), (&json!(0), &Value::Null));
    server.stop().await;
}
