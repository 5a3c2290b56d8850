//! What people do in these tests, and how they ask for what they have missed.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tests::server::{Answer, Person};
use uuid::Uuid;

pub fn text(content: &str) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = Uuid::from_u128(NEXT.fetch_add(1, Ordering::Relaxed).into());
    json!({"client_msg_id": id, "msg_type": 1, "content": content})
}

pub async fn say(person: &Person<'_>, conv: &str, content: &str) -> u64 {
    let answer = person.post(&format!("/v1/conversations/{conv}/messages"), text(content)).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json["seq"].as_u64().unwrap()
}

pub fn ok(answer: Answer) -> Value {
    assert!((200..300).contains(&answer.status), "{answer:?}");
    answer.json
}

pub async fn recall(person: &Person<'_>, conv: &str, seq: u64) {
    ok(person.post(&format!("/v1/conversations/{conv}/messages/{seq}/recall"), json!({})).await);
}

pub async fn delete(person: &Person<'_>, conv: &str, seqs: &[u64]) {
    ok(person.post(&format!("/v1/conversations/{conv}/messages/delete"), json!({"seqs": seqs})).await);
}

pub async fn restore(person: &Person<'_>, conv: &str, seqs: &[u64]) {
    ok(person.post(&format!("/v1/conversations/{conv}/messages/restore"), json!({"seqs": seqs})).await);
}

pub async fn read(person: &Person<'_>, conv: &str, seq: u64) {
    ok(person.put(&format!("/v1/conversations/{conv}/read"), json!({"read_seq": seq})).await);
}

pub async fn clear(person: &Person<'_>, conv: &str, seq: u64) {
    ok(person.post(&format!("/v1/conversations/{conv}/clear"), json!({"up_to_seq": seq})).await);
}

pub async fn found(owner: &Person<'_>, slug: &str, members: &[u64]) {
    let body = json!({"group_id": slug, "name": slug, "members": members});
    ok(owner.post("/v1/groups", body).await);
}

pub async fn add(by: &Person<'_>, conv: &str, uids: &[u64]) {
    ok(by.post(&format!("/v1/groups/{conv}/members"), json!({"uids": uids})).await);
}

pub async fn remove(by: &Person<'_>, conv: &str, uid: u64) {
    ok(by.delete(&format!("/v1/groups/{conv}/members/{uid}")).await);
}

/// One page.
pub async fn page(person: &Person<'_>, cursor: Option<&str>, limit: u32) -> Value {
    let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
    ok(person.get(&format!("/v1/sync?limit={limit}{cursor}")).await)
}

/// All pages: the last cursor and every entry.
pub async fn sync(person: &Person<'_>, cursor: Option<&str>) -> (String, Vec<Value>) {
    let (mut cursor, mut entries) = (cursor.map(str::to_owned), vec![]);
    loop {
        let page = page(person, cursor.as_deref(), 50).await;
        entries.extend(page["conversations"].as_array().unwrap().iter().cloned());
        cursor = page["cursor"].as_str().map(str::to_owned);
        if page["has_more"] == false {
            return (cursor.unwrap(), entries);
        }
    }
}

/// The conversations that entries are about.
pub fn convs(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["conv_id"].as_str().unwrap()).collect()
}

/// Nothing but this has changed.
pub fn changes(with: Value) -> Value {
    let mut changes = json!({
        "recalled": [], "deleted": [], "restored": [], "expired": [], "read_positions": [], "members": [],
    });
    for (name, value) in with.as_object().unwrap() {
        changes[name] = value.clone();
    }
    changes
}
