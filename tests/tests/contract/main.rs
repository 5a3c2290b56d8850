//! Lines of the contract about conversations and groups that are rules of many cases: a table each. Which line is held
//! by which test is in docs/contract-tests.md.

mod conversations;
mod departures;
mod groups;

use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Method;
use serde_json::{Value, json};
use tests::server::{Answer, Person, Server, send};
use uuid::Uuid;

/// A new text.
fn text(content: &str) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = Uuid::from_u128(NEXT.fetch_add(1, Ordering::Relaxed).into());
    json!({"client_msg_id": id, "msg_type": 1, "content": content})
}

/// A new text with one more field.
fn with(field: &str, value: Value) -> Value {
    let mut body = text("x");
    body[field] = value;
    body
}

/// Sends it and hears its seq.
async fn say(person: &Person<'_>, conv: &str, body: Value) -> u64 {
    let sent = person.post(&format!("/v1/conversations/{conv}/messages"), body).await;
    assert_eq!(sent.status, 201, "{sent:?}");
    sent.json["seq"].as_u64().unwrap()
}

/// The group `grp-team` of person 1 and these.
async fn found(server: &Server, members: &[u64]) {
    let body = json!({"group_id": "team", "name": "Team", "members": members});
    assert_eq!(server.person(1).post("/v1/groups", body).await.status, 201);
}

/// Asks with a body, or without one where it is null.
async fn ask(person: &Person<'_>, method: &Method, path: &str, body: &Value) -> Answer {
    let request = person.request(method.clone(), path);
    send(if body.is_null() { request } else { request.json(body) }).await
}

fn ok(answer: Answer) -> Value {
    assert!((200..300).contains(&answer.status), "{answer:?}");
    answer.json
}
