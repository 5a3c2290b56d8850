//! The live feed with many connected: a group of ten thousand, a slow consumer among five hundred, and what one send
//! costs. Real sockets on a real server, in one process.

mod cost;
mod crowd;
mod large_group;
mod slow_consumer;

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tests::server::Server;
use uuid::Uuid;

/// A new text.
fn text(content: &str) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = Uuid::from_u128(NEXT.fetch_add(1, Ordering::Relaxed).into());
    json!({"client_msg_id": id, "msg_type": 1, "content": content})
}

/// A person says something and hears its seq.
async fn say(server: &Server, person: u64, conv: &str, content: &str) -> u64 {
    let sent = server.person(person).post(&format!("/v1/conversations/{conv}/messages"), text(content)).await;
    assert_eq!(sent.status, 201, "{sent:?}");
    sent.json["seq"].as_u64().unwrap()
}

/// A group of the people from 1 to `size`, founded by the first; its conv_id.
async fn found(server: &Server, slug: &str, size: u64) -> String {
    let members: Vec<u64> = (2..=size).collect();
    let body = json!({"group_id": slug, "name": slug, "members": members});
    let founded = server.person(1).post("/v1/groups", body).await;
    assert_eq!(founded.status, 201, "{founded:?}");
    founded.json["conv_id"].as_str().unwrap().to_owned()
}

/// What a person sees of a conversation, up to 200 items.
async fn history(server: &Server, person: u64, conv: &str, after: u64) -> Vec<Value> {
    let path = format!("/v1/conversations/{conv}/messages?after_seq={after}&limit=200");
    let page = server.person(person).get(&path).await;
    page.json["items"].as_array().unwrap_or_else(|| panic!("{page:?}")).clone()
}
