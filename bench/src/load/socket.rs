//! One WebSocket under load: many requests in flight, answers and pushes told apart by their first bytes.

use std::collections::HashMap;

use futures_util::{FutureExt, SinkExt, StreamExt};
use serde_json::json;
use tokio::{
    net::TcpStream,
    time::{Instant, sleep_until},
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{Message, client::IntoClientRequest, protocol::WebSocketConfig},
};
use uuid::Uuid;

use super::{
    ANSWERS_AWAITED,
    case::{Ask, Script, Stage},
    pace::{Due, Pace, Span},
    stats::Stats,
};
use crate::client::{Address, ClientError};

/// Bytes read or written at once. As many are filled with zeros before each read: with 64 KiB that was a sixth of the tool.
const BUFFER_BYTES: usize = 8 << 10;

const ANSWER: &str = "{\"id\":\"";
const PUSH: &str = "{\"push\":\"message\"";
const CLIENT_MSG_ID: &str = "\"client_msg_id\":\"";

/// A request in flight.
struct Waiting {
    due: Instant,
    /// Of a send: which of this connection's.
    sent: Option<u64>,
}

struct Connection<'a> {
    script: Script<'a>,
    span: Span,
    stats: Stats,
    asked: u64,
    waiting: HashMap<u64, Waiting>,
    /// Sends whose push has not come.
    unpushed: HashMap<u64, Instant>,
}

/// Drives one connection to the end of the span.
pub async fn drive(
    stage: &Stage,
    address: &Address,
    number: usize,
    run: u64,
    pace: Pace,
    span: Span,
) -> Result<Stats, ClientError> {
    let mut socket = connect(address, stage.token(number)).await?;
    let mut connection = Connection {
        script: stage.script(number, run),
        span,
        stats: Stats::default(),
        asked: 0,
        waiting: HashMap::new(),
        unpushed: HashMap::new(),
    };
    let mut due = Due::new(pace, span);
    let give_up = span.until + ANSWERS_AWAITED;
    let lost =
        |error| ClientError::Lost { doing: "talk over a WebSocket under load", source: Box::new(error) };
    loop {
        let now = Instant::now();
        let mut fed = false;
        while let Some(at) = due.take(now, connection.waiting.len()) {
            socket.feed(Message::text(connection.frame(at))).await.map_err(lost)?;
            fed = true;
        }
        if fed {
            socket.flush().await.map_err(lost)?;
        }
        if now >= give_up || now >= span.until && connection.waiting.is_empty() {
            connection.stats.unanswered += connection.waiting.len() as u64;
            let _ = socket.close(None).await;
            return Ok(connection.stats);
        }
        let look = if now >= span.until { give_up } else { due.look() };
        tokio::select! {
            message = socket.next() => {
                let mut next = Some(message);
                while let Some(message) = next {
                    match message {
                        Some(Ok(message)) => connection.hear(&message),
                        Some(Err(error)) => return Err(lost(error)),
                        None => return Err(ClientError::Closed),
                    }
                    next = socket.next().now_or_never();
                }
            }
            () = sleep_until(look) => {}
        }
    }
}

async fn connect(address: &Address, token: &str) -> Result<WebSocketStream<TcpStream>, ClientError> {
    let doing = "connect a WebSocket under load";
    let lost = |source| ClientError::Lost { doing, source };
    let stream = TcpStream::connect(address.as_str()).await.map_err(|error| lost(error.into()))?;
    stream.set_nodelay(true).map_err(|error| lost(error.into()))?;
    let request = format!("ws://{}/v1/ws", address.as_str()).into_client_request();
    let mut request = request.map_err(|error| lost(error.into()))?;
    let bearer = format!("Bearer {token}").parse();
    request.headers_mut().insert("authorization", bearer.map_err(|error| lost(Box::new(error)))?);
    let config = WebSocketConfig::default().read_buffer_size(BUFFER_BYTES).write_buffer_size(BUFFER_BYTES);
    let connected = client_async_with_config(request, stream, Some(config)).await;
    let (mut socket, _) = connected.map_err(|error| lost(error.into()))?;
    let frame = Message::text(json!({"id": "r", "op": "resume"}).to_string());
    socket.send(frame).await.map_err(|error| lost(error.into()))?;
    Ok(socket)
}

impl Connection<'_> {
    fn frame(&mut self, due: Instant) -> String {
        let id = self.asked;
        self.asked += 1;
        let (sent, frame) = match self.script.next() {
            Ask::Send { conv, id: name, content } => (
                self.script.own(name),
                format!(
                    r#"{{"id":"{id}","op":"send","conv_id":"{conv}","client_msg_id":"{name}","msg_type":1,"content":"{content}"}}"#
                ),
            ),
            Ask::Page { conv, before, limit } => {
                let before = before.map_or_else(String::new, |before| format!(r#","before_seq":{before}"#));
                let frame =
                    format!(r#"{{"id":"{id}","op":"history","conv_id":"{conv}","limit":{limit}{before}}}"#);
                (None, frame)
            }
            // There is no op for a list: a first page of sync is the same rows.
            Ask::List { limit, .. } => (None, format!(r#"{{"id":"{id}","op":"sync","limit":{limit}}}"#)),
        };
        if let Some(sent) = sent {
            self.unpushed.insert(sent, due);
        }
        self.waiting.insert(id, Waiting { due, sent });
        frame
    }

    fn hear(&mut self, message: &Message) {
        let Message::Text(text) = message else { return };
        let text = text.as_str();
        let now = Instant::now();
        if let Some(rest) = text.strip_prefix(ANSWER) {
            self.answered(rest, now);
        } else if text.starts_with(PUSH) {
            let counted = now >= self.span.from && now < self.span.until;
            self.stats.pushed += u64::from(counted);
            self.pushed(text, now);
        }
    }

    fn answered(&mut self, rest: &str, now: Instant) {
        let Some((id, rest)) = rest.split_once('"') else { return };
        let Some(Waiting { due, sent }) = id.parse().ok().and_then(|id: u64| self.waiting.remove(&id)) else {
            return;
        };
        let good = rest.starts_with(",\"ok\":");
        if !good && let Some(sent) = sent {
            self.unpushed.remove(&sent);
        }
        if !good {
            self.stats.refused += 1;
        } else {
            self.stats.answered(due, now, self.span);
        }
    }

    fn pushed(&mut self, text: &str, now: Instant) {
        // Not looked for in what others have sent while nothing of one's own is due.
        if self.unpushed.is_empty() {
            return;
        }
        let Some(at) = text.find(CLIENT_MSG_ID) else { return };
        let id = text.get(at + CLIENT_MSG_ID.len()..).and_then(|rest| Uuid::try_parse(rest.get(..36)?).ok());
        if let Some(due) = id.and_then(|id| self.script.own(id)).and_then(|sent| self.unpushed.remove(&sent))
            && due >= self.span.from
        {
            self.stats.pushes.note(now - due);
        }
    }
}
