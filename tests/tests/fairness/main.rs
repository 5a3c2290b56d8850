//! What keeps one from spoiling it for the others, from outside: rate limits, devices, what is not stored, two nodes.

mod devices;
mod presence;
mod rates;
mod sequence;
mod two_nodes;
mod typing;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quipu::{Limits, rates::Rate};
use serde_json::{Value, json};
use tests::server::Server;
use tests::socket::Socket;
use uuid::Uuid;

const CHAT: &str = "p2p-1-2";

/// A new text in a conversation.
fn text(conv: &str, content: &str) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = Uuid::from_u128(NEXT.fetch_add(1, Ordering::Relaxed).into());
    json!({"conv_id": conv, "client_msg_id": id, "msg_type": 1, "content": content})
}

/// Says something and hears its seq.
async fn say(socket: &mut Socket, conv: &str, content: &str) -> u64 {
    socket.ok("send", text(conv, content)).await["seq"].as_u64().unwrap()
}

/// A group of these people, founded by the first.
async fn found(server: &Server, slug: &str, people: &[u64]) {
    let body = json!({"group_id": slug, "name": slug, "members": people[1..]});
    assert_eq!(server.person(people[0]).post("/v1/groups", body).await.status, 201);
}

/// So many tokens, and no more within any test.
fn only(burst: u32) -> Rate {
    Rate { every: Duration::from_secs(86_400), burst }
}

fn of_a_person(burst: u32) -> Limits {
    Limits { person_rate: only(burst), ..Limits::default() }
}

fn of_a_conversation(burst: u32) -> Limits {
    Limits { conversation_rate: only(burst), ..Limits::default() }
}
