//! A server in front of a server that hands everything on, but for what it spoils.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::{SinkExt, StreamExt};
use reqwest::Client;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::{self, client::IntoClientRequest};

use crate::sabotage::{OnSocket, Sabotage};

/// Larger than any answer.
const BODY_BYTES_MAX: usize = 64 << 20;

/// A running proxy; stops when dropped.
pub struct Proxy {
    /// Where it listens.
    pub url: String,
    running: JoinHandle<()>,
}

struct Between {
    /// host:port of the real one.
    server: String,
    client: Client,
    sabotage: Arc<Sabotage>,
}

impl Proxy {
    /// In front of this server.
    pub async fn start(server: &str, sabotage: Arc<Sabotage>) -> Self {
        let between = Arc::new(Between { server: server.to_owned(), client: Client::new(), sabotage });
        let router = Router::new().route("/v1/ws", get(socket)).fallback(rest).with_state(between);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("listen");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let running = tokio::spawn(async move { axum::serve(listener, router).await.expect("serve") });
        Self { url, running }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.running.abort();
    }
}

async fn rest(State(between): State<Arc<Between>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().expect("a path").to_string();
    let body = to_bytes(body, BODY_BYTES_MAX).await.expect("a body");
    let mut asked =
        between.client.request(parts.method, format!("http://{}{path}", between.server)).body(body);
    for name in [header::AUTHORIZATION, header::CONTENT_TYPE] {
        if let Some(value) = parts.headers.get(&name) {
            asked = asked.header(name, value);
        }
    }
    let answer = asked.send().await.expect("an answer");
    let status = answer.status();
    let bytes = answer.bytes().await.expect("a body");
    let spoilt = match serde_json::from_slice::<Value>(&bytes) {
        Ok(mut json) if status.is_success() => {
            between.sabotage.answer(&path, &mut json);
            Body::from(json.to_string())
        }
        _ => Body::from(bytes),
    };
    (status, spoilt).into_response()
}

async fn socket(
    State(between): State<Arc<Between>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade.on_upgrade(async move |device| pump(between, headers, device).await)
}

/// Hands on in both directions until one side goes.
async fn pump(between: Arc<Between>, headers: HeaderMap, mut device: WebSocket) {
    let mut request = format!("ws://{}/v1/ws", between.server).into_client_request().expect("a request");
    request.headers_mut().insert(header::AUTHORIZATION, headers[header::AUTHORIZATION].clone());
    let Ok((mut server, _)) = connect_async(request).await else { return };
    let mut spoiler = OnSocket::new(Arc::clone(&between.sabotage));
    loop {
        tokio::select! {
            said = device.next() => {
                let Some(Ok(Message::Text(text))) = said else { return };
                let (on, back) = spoiler.request(serde_json::from_str(&text).expect("JSON"));
                for frame in on {
                    if server.send(tungstenite::Message::text(frame.to_string())).await.is_err() { return }
                }
                for frame in back {
                    if device.send(Message::text(frame.to_string())).await.is_err() { return }
                }
            }
            heard = server.next() => {
                match heard {
                    Some(Ok(tungstenite::Message::Text(text))) => {
                        for frame in spoiler.frame(serde_json::from_str(&text).expect("JSON")) {
                            if device.send(Message::text(frame.to_string())).await.is_err() { return }
                        }
                    }
                    Some(Ok(tungstenite::Message::Close(_)) | Err(_)) | None => return,
                    Some(Ok(_)) => {}
                }
            }
        }
    }
}
