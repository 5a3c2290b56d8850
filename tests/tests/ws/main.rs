//! The WebSocket from outside, over real sockets: every line of the contract's section.

mod closing;
mod frames;
mod full_queue;
mod handshake;
mod pushes;
mod requests;
mod resume;
mod wire;

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
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

/// A message's seq, of a push.
fn seq(push: &Value) -> u64 {
    assert_eq!(push["push"], "message", "{push}");
    push["item"]["seq"].as_u64().unwrap()
}
