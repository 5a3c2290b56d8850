//! Requests over one connection that is kept while it lasts.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, StatusCode,
    client::conn::http1::{SendRequest, handshake},
    header,
};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};

use super::{ANSWER_TIME_MAX, Address, ClientError, wire::Problem};

/// One person's connection.
pub struct Rest {
    address: Address,
    authorization: String,
    connection: Option<SendRequest<Full<Bytes>>>,
}

impl Rest {
    /// Connects when it is first asked.
    pub fn new(address: &Address, token: &str) -> Self {
        Self { address: address.clone(), authorization: format!("Bearer {token}"), connection: None }
    }

    /// Asks once. An error means that nobody knows what has been done.
    pub async fn ask<T: DeserializeOwned>(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Result<T, Problem>, ClientError> {
        let asked = timeout(ANSWER_TIME_MAX, self.exchange(method, path, body)).await;
        let (status, bytes) = match asked {
            Ok(Ok(answered)) => answered,
            failed => {
                self.connection = None;
                return Err(failed.map_or(ClientError::Silence, |it| it.err().unwrap_or(ClientError::Closed)));
            }
        };
        let what = "an answer over HTTP";
        if status.is_success() {
            let answer = serde_json::from_slice(&bytes);
            answer.map(Ok).map_err(|source| ClientError::Shape { what, source })
        } else {
            let problem = serde_json::from_slice(&bytes);
            problem.map(Err).map_err(|source| ClientError::Shape { what: "a problem over HTTP", source })
        }
    }

    /// What stands at a path, whatever it is.
    pub async fn text(&mut self, path: &str) -> Result<String, ClientError> {
        let asked = timeout(ANSWER_TIME_MAX, self.exchange(Method::GET, path, None)).await;
        let (_, bytes) = asked.map_err(|_| ClientError::Silence)??;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    async fn exchange(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let lost = "ask over HTTP";
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.address.as_str())
            .header(header::AUTHORIZATION, &self.authorization)
            .header(header::CONTENT_TYPE, "application/json");
        let bytes = Bytes::from(body.map(Value::to_string).unwrap_or_default());
        let request = request.body(Full::new(bytes)).map_err(ClientError::lost(lost))?;
        let connection = self.connected().await?;
        let response = connection.send_request(request).await.map_err(ClientError::lost(lost))?;
        let status = response.status();
        let body =
            response.into_body().collect().await.map_err(ClientError::lost("read an answer over HTTP"))?;
        Ok((status, body.to_bytes()))
    }

    async fn connected(&mut self) -> Result<&mut SendRequest<Full<Bytes>>, ClientError> {
        let kept = match self.connection.take() {
            Some(mut connection) => connection.ready().await.is_ok().then_some(connection),
            None => None,
        };
        let connection = match kept {
            Some(connection) => connection,
            None => connect(&self.address).await?,
        };
        Ok(self.connection.insert(connection))
    }
}

async fn connect(address: &Address) -> Result<SendRequest<Full<Bytes>>, ClientError> {
    let doing = "connect over HTTP";
    let stream = TcpStream::connect(address.as_str()).await.map_err(ClientError::lost(doing))?;
    stream.set_nodelay(true).map_err(ClientError::lost(doing))?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(ClientError::lost(doing))?;
    // Ends when the sender is dropped or the server goes; either way whoever asks hears of it.
    tokio::spawn(async {
        let _ = connection.await;
    });
    Ok(sender)
}

/// Is somebody there who says that all is well?
pub async fn is_ready(address: &Address) -> bool {
    let mut anybody = Rest::new(address, "");
    matches!(anybody.ask::<Value>(Method::GET, "/readyz", None).await, Ok(Ok(_)))
}

/// The ranges of a batch, as its body.
pub fn batch_body(ranges: &[(String, u64, Option<u64>)]) -> Value {
    let range = |(conv, after, before): &(String, u64, Option<u64>)| {
        let mut range = json!({"conv_id": conv, "after_seq": after});
        if let Some(before) = before {
            range["before_seq"] = json!(before);
        }
        range
    };
    json!({"ranges": ranges.iter().map(range).collect::<Vec<_>>()})
}
