//! Why a connection ends, as RFC 6455 (7.4) and the contract number it.

use axum::extract::ws::{CloseFrame, close_code};
use tokio_tungstenite::tungstenite;

/// The token has expired. 4000 to 4999 are the application's own.
const TOKEN_EXPIRED: u16 = 4401;

/// Another connection has taken this one's place.
const REPLACED: u16 = 4001;

/// Why a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// The client has closed, or is gone: there is nobody to tell.
    Gone,
    /// The client has broken the protocol.
    Protocol,
    /// Frames are text.
    Binary,
    /// A text frame is not UTF-8.
    NotUtf8,
    /// A frame, or a message of several, is too large.
    TooLarge,
    /// The token has expired while connected.
    TokenExpired,
    /// The same device has connected again.
    ConnectedAgain,
    /// The person has connected with more devices of this platform than they may.
    Replaced,
    /// The server is going down.
    GoingAway,
    /// A bug of ours.
    Internal,
}

impl Close {
    /// Of an error of the protocol's implementation.
    pub fn of(error: axum::Error) -> Self {
        match error.into_inner().downcast_ref::<tungstenite::Error>() {
            Some(tungstenite::Error::Capacity(_)) => Self::TooLarge,
            Some(tungstenite::Error::Utf8(_)) => Self::NotUtf8,
            Some(tungstenite::Error::Protocol(
                tungstenite::error::ProtocolError::ResetWithoutClosingHandshake,
            )) => Self::Gone,
            Some(tungstenite::Error::Protocol(_)) => Self::Protocol,
            _ => Self::Gone,
        }
    }

    /// What the client is told; none where nobody listens.
    pub fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Gone => return None,
            Self::Protocol => (close_code::PROTOCOL, "this is not RFC 6455"),
            Self::Binary => (close_code::UNSUPPORTED, "frames are text"),
            Self::NotUtf8 => (close_code::INVALID, "text is UTF-8"),
            Self::TooLarge => (close_code::SIZE, "a frame has at most 1 MiB"),
            Self::TokenExpired => (TOKEN_EXPIRED, "the token has expired"),
            Self::ConnectedAgain => (REPLACED, "this device has connected again"),
            Self::Replaced => (REPLACED, "another device of this platform has connected"),
            Self::GoingAway => (close_code::AWAY, "the server is going down"),
            Self::Internal => (close_code::ERROR, "the server has a bug"),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }
}
