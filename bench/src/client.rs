//! A client of the contract: tokens, requests over one kept connection, and a WebSocket with many requests in flight.

pub mod rest;
pub mod socket;
pub mod token;
pub mod wire;

use std::time::Duration;

/// Longer than any answer takes, with a Postgres that is coming back on a busy machine.
pub const ANSWER_TIME_MAX: Duration = Duration::from_secs(90);

/// There was no answer, so nobody knows what has been done; or there was one that nobody understands.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The connection did not come about, or broke.
    #[error("{doing}")]
    Lost {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server has closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// Nothing came for [`ANSWER_TIME_MAX`].
    #[error("no answer came for {} s", ANSWER_TIME_MAX.as_secs())]
    Silence,
    /// What came has another shape than the contract says.
    #[error("read {what}")]
    Shape {
        /// Which answer.
        what: &'static str,
        /// What went wrong.
        source: serde_json::Error,
    },
    /// The token could not be made.
    #[error("sign a token")]
    Token(#[from] jsonwebtoken::errors::Error),
}

impl ClientError {
    fn lost<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        doing: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::Lost { doing, source: source.into() }
    }
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// From http://host:port.
    pub fn of_url(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("http://")?;
        let host = rest.strip_suffix('/').unwrap_or(rest);
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
        (!name.is_empty() && !name.contains('/') && port.parse::<u16>().is_ok())
            .then(|| Self(format!("{name}:{port}")))
    }

    /// host:port.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_host_and_port_of_a_plain_url() {
        let read = |url| Address::of_url(url).map(|address| address.0);
        assert_eq!(read("http://127.0.0.1:7300/"), Some("127.0.0.1:7300".into()));
        assert_eq!(read("http://chat"), Some("chat:80".into()));
        for bad in ["https://chat", "chat:80", "http://", "http://chat/path", "http://chat:x"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
