//! Many connected people, read together.

use futures_util::{StreamExt, future::join_all, stream};
use serde_json::{Value, json};
use tests::server::Server;
use tests::socket::Socket;

/// Handshakes at once: fewer than a listening socket keeps waiting.
const AT_ONCE: usize = 64;

/// One device of each of many people, all of whom listen.
pub struct Crowd(Vec<Socket>);

impl Crowd {
    /// Connects these people.
    pub async fn of(server: &Server, people: impl IntoIterator<Item = u64>) -> Self {
        let connecting = stream::iter(people).map(|person| async move {
            let mut socket = server.person(person).connect().await;
            socket.ok("resume", json!({})).await;
            socket
        });
        Self(connecting.buffered(AT_ONCE).collect().await)
    }

    /// The next pushes of each of them; only messages may come.
    pub async fn hear(&mut self, count: usize) -> Vec<Vec<Value>> {
        join_all(self.0.iter_mut().map(async |socket| {
            let mut items = Vec::with_capacity(count);
            for _ in 0..count {
                let push = socket.push().await;
                assert_eq!(push["push"], "message", "{push}");
                assert!(push["cursor"].is_string(), "{push}");
                items.push(push["item"].clone());
            }
            items
        }))
        .await
    }
}
