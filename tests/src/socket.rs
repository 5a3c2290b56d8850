//! A WebSocket client that keeps answers and pushes apart.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{
    Error, Message, client::IntoClientRequest, http::Request, protocol::WebSocketConfig,
};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is read at once, in bytes: there are tests with a thousand of these.
const BUFFER_BYTES: usize = 8 << 10;

/// A connected device.
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pushes: VecDeque<Value>,
    answers: VecDeque<Value>,
    asked: u64,
}

impl Socket {
    /// Connects with a token in the header.
    pub async fn connect(address: &str, token: &str) -> Self {
        let mut request = Self::request(address);
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().expect("a header"));
        Self::open(request).await.expect("connect")
    }

    /// A handshake without a token.
    pub fn request(address: &str) -> Request<()> {
        format!("ws://{address}/v1/ws").into_client_request().expect("a request")
    }

    /// Sends a handshake.
    pub async fn open(request: Request<()>) -> Result<Self, Error> {
        let config = WebSocketConfig::default().read_buffer_size(BUFFER_BYTES);
        let (stream, _) = connect_async_with_config(request, Some(config), true).await?;
        Ok(Self { stream, pushes: VecDeque::new(), answers: VecDeque::new(), asked: 0 })
    }

    /// Sends a frame as it is.
    pub async fn send(&mut self, message: Message) {
        self.stream.send(message).await.expect("send a frame");
    }

    /// Sends a text frame.
    pub async fn say(&mut self, frame: &Value) {
        self.send(Message::text(frame.to_string())).await;
    }

    /// Asks without waiting; the id of the request.
    pub async fn begin(&mut self, op: &str, fields: Value) -> String {
        self.asked += 1;
        let id = format!("r{}", self.asked);
        let mut frame = json!({"id": id, "op": op});
        frame.as_object_mut().expect("an object").extend(fields.as_object().expect("fields").clone());
        self.say(&frame).await;
        id
    }

    /// Asks and waits for the answer, `ok` or `error` included.
    pub async fn ask(&mut self, op: &str, fields: Value) -> Value {
        let id = self.begin(op, fields).await;
        self.answer(&id).await
    }

    /// Asks and waits for what is under `ok`.
    pub async fn ok(&mut self, op: &str, fields: Value) -> Value {
        let answer = self.ask(op, fields).await;
        assert!(answer["error"].is_null(), "{op}: {answer}");
        answer["ok"].clone()
    }

    /// Asks and waits for the code of the problem.
    pub async fn refused(&mut self, op: &str, fields: Value) -> String {
        let answer = self.ask(op, fields).await;
        answer["error"]["code"].as_str().unwrap_or_else(|| panic!("{op}: {answer}")).to_owned()
    }

    /// The answer with this id; others are kept.
    pub async fn answer(&mut self, id: &str) -> Value {
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer["id"] == id) {
                return self.answers.remove(at).unwrap_or_default();
            }
            self.read().await;
        }
    }

    /// The next answer, whatever its id.
    pub async fn any_answer(&mut self) -> Value {
        loop {
            match self.answers.pop_front() {
                Some(answer) => return answer,
                None => self.read().await,
            }
        }
    }

    /// An answer that came while something else was waited for.
    pub fn kept_answer(&mut self) -> Option<Value> {
        self.answers.pop_front()
    }

    /// A push that came while something else was waited for.
    pub fn kept_push(&mut self) -> Option<Value> {
        self.pushes.pop_front()
    }

    /// Asks whether somebody is there: true once it is answered, false once the server closes instead.
    pub async fn is_open(&mut self) -> bool {
        // A connection that is being closed may not take it any more.
        let _ = self.stream.send(Message::text(r#"{"id":"there?","op":"ping"}"#)).await;
        loop {
            match timeout(PATIENCE, self.stream.next()).await.expect("an answer or a close in time") {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return false,
                Some(Ok(message)) => self.keep(message),
            }
            if let Some(at) = self.answers.iter().position(|answer| answer["id"] == "there?") {
                self.answers.remove(at);
                return true;
            }
        }
    }

    /// The next push.
    pub async fn push(&mut self) -> Value {
        loop {
            match self.pushes.pop_front() {
                Some(push) => return push,
                None => self.read().await,
            }
        }
    }

    /// Pushes that came so far, and within a moment.
    pub async fn pushes(&mut self, moment: Duration) -> Vec<Value> {
        // A cut-off read loses nothing: the stream keeps what it has.
        let _ = timeout(moment, async {
            loop {
                self.read().await
            }
        })
        .await;
        self.pushes.drain(..).collect()
    }

    /// Reads until the server closes; the code.
    pub async fn closed(&mut self) -> u16 {
        self.closed_because().await.0
    }

    /// Reads until the server closes; the code and the reason.
    pub async fn closed_because(&mut self) -> (u16, String) {
        loop {
            let next = timeout(PATIENCE, self.stream.next()).await.expect("a close in time");
            match next {
                Some(Ok(Message::Close(frame))) => {
                    return frame.map_or((1005, String::new()), |it| (it.code.into(), it.reason.to_string()));
                }
                Some(Ok(message)) => self.keep(message),
                Some(Err(error)) => panic!("a close was due: {error}"),
                None => return (0, String::new()),
            }
        }
    }

    /// The next frame, as it is.
    pub async fn raw(&mut self) -> Option<Result<Message, Error>> {
        timeout(PATIENCE, self.stream.next()).await.expect("a frame in time")
    }

    async fn read(&mut self) {
        let next = timeout(PATIENCE, self.stream.next()).await.expect("a frame in time");
        self.keep(next.expect("an open connection").expect("a frame"));
    }

    fn keep(&mut self, message: Message) {
        let Message::Text(text) = message else { return };
        let value: Value = serde_json::from_str(&text).expect("JSON");
        if value["push"].is_string() {
            self.pushes.push_back(value);
        } else {
            self.answers.push_back(value);
        }
    }
}
