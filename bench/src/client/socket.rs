//! A WebSocket: requests go out with an id, any number at a time; answers and pushes come in as they are sent.

use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{
        Message,
        client::IntoClientRequest,
        http::{HeaderValue, header::AUTHORIZATION},
        protocol::WebSocketConfig,
    },
};

use super::{
    Address, ClientError,
    wire::{Problem, Push},
};

/// Buffers of one socket, in bytes: the library's own take 128 KiB, and there are thousands of sockets.
const BUFFER_BYTES: usize = 4 * 1024;

/// What came in.
#[derive(Debug)]
pub enum Heard {
    /// To the request with this id.
    Answer(String, Result<Box<RawValue>, Problem>),
    /// Something happened.
    Push(Box<Push>),
}

#[derive(Deserialize)]
struct Frame<'a> {
    id: Option<String>,
    #[serde(borrow)]
    ok: Option<&'a RawValue>,
    error: Option<Problem>,
}

/// One connection.
pub struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    /// Connects with a token in the header.
    pub async fn connect(address: &Address, token: &str) -> Result<Self, ClientError> {
        let doing = "open a WebSocket";
        let stream = TcpStream::connect(address.as_str()).await.map_err(ClientError::lost(doing))?;
        stream.set_nodelay(true).map_err(ClientError::lost(doing))?;
        let url = format!("ws://{}/v1/ws", address.as_str());
        let mut request = url.into_client_request().map_err(ClientError::lost(doing))?;
        let bearer = HeaderValue::from_str(&format!("Bearer {token}")).map_err(ClientError::lost(doing))?;
        request.headers_mut().insert(AUTHORIZATION, bearer);
        let config =
            WebSocketConfig::default().read_buffer_size(BUFFER_BYTES).write_buffer_size(BUFFER_BYTES);
        let opened = client_async_with_config(request, stream, Some(config)).await;
        opened.map(|(stream, _)| Self(stream)).map_err(ClientError::lost(doing))
    }

    /// Sends a request; `fields` is an object.
    pub async fn ask(&mut self, id: &str, op: &str, mut fields: Value) -> Result<(), ClientError> {
        fields["id"] = id.into();
        fields["op"] = op.into();
        self.0.send(Message::text(fields.to_string())).await.map_err(ClientError::lost("send a frame"))
    }

    /// The next answer or push. May be cut off and asked again; nothing is lost.
    pub async fn next(&mut self) -> Result<Heard, ClientError> {
        loop {
            match self.0.next().await {
                None | Some(Ok(Message::Close(_))) => return Err(ClientError::Closed),
                Some(Err(error)) => return Err(ClientError::lost("read a frame")(error)),
                Some(Ok(Message::Text(text))) => return heard(text.as_str()),
                Some(Ok(_)) => {}
            }
        }
    }
}

fn heard(text: &str) -> Result<Heard, ClientError> {
    let shape = |source| ClientError::Shape { what: "a frame", source };
    let Frame { id, ok, error } = serde_json::from_str(text).map_err(shape)?;
    match (id, ok, error) {
        (Some(id), Some(ok), None) => Ok(Heard::Answer(id, Ok(ok.to_owned()))),
        (id, None, Some(problem)) => Ok(Heard::Answer(id.unwrap_or_default(), Err(problem))),
        _ => serde_json::from_str(text).map(Heard::Push).map_err(shape),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_refusals_and_pushes_are_told_apart() {
        assert!(matches!(heard(r#"{"id":"a","ok":{}}"#), Ok(Heard::Answer(id, Ok(_))) if id == "a"));
        let refused = r#"{"id":"a","error":{"status":403,"code":"not_a_member"}}"#;
        assert!(
            matches!(heard(refused), Ok(Heard::Answer(_, Err(problem))) if problem.code == "not_a_member")
        );
        assert!(matches!(heard(r#"{"push":"new","cursor":"x"}"#), Ok(Heard::Push(it)) if it.push == "new"));
        assert!(heard("{}").is_err());
    }
}
