//! The WebSocket: the same commands and questions as REST, many in flight on one connection, and pushes.
//!
//! What a frame asks is in `request.rs`, the life of a connection in `connection.rs`, why it ends in `close.rs`. What
//! is pushed is decided in `live/`.

pub mod close;
mod connection;
mod fields;
mod flight;
mod request;

use std::sync::Arc;

use axum::{
    extract::{State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::{Extensions, HeaderMap, header},
    response::Response,
};

use crate::{
    app::App,
    auth::{Caller, TokenError, bearer},
    openapi::ConnectProblems,
    problem::{Code, Problem},
    requests::RequestId,
};

/// The name under which a token comes where no header can be set.
const BEARER: &str = "bearer";

/// What is read at once, in bytes. The default of 128 KiB would make ten thousand idle connections take gigabytes.
const READ_BUFFER_BYTES: usize = 4 * 1024;

/// What is written at once, in bytes of texts, or a little more. A member of a busy group is told of dozens of messages
/// with one call of the system; who is told little keeps no such buffer.
const WRITTEN_BYTES: usize = 12 * 1024;

/// The texts that are written at once with their cursors, in bytes. What does not fit goes out in two writes.
const WRITE_BUFFER_BYTES: usize = 16 * 1024;

/// The largest frame that is read to its end, in bytes, so that who sends one of a little over 1 MiB hears why it is
/// too large; of a larger one nothing is read.
const READ_BYTES_MAX: usize = 4 << 20;

/// Opens a WebSocket.
///
/// The token comes in the Authorization header, or as `Sec-WebSocket-Protocol: bearer, <token>` (answered with the
/// subprotocol `bearer`). Text frames; the client sends `{"id":"a1","op":"send","conv_id":"p2p-1-2",…}` with the fields
/// of the REST body, and gets `{"id":"a1","ok":{…as REST…}}` or `{"id":"a1","error":{…problem…}}`. `op` is one of
/// send, recall (`seq`), delete, restore, read, clear (`key`), history (`before_seq`, `after_seq`, `limit`), sync
/// (`cursor`, `limit`), resume (`cursor`), typing and ping. Pushes come as `{"push":"message","conv_id","item",…,"cursor"}`.
///
/// What is gone for everybody comes as `{"push":"expired","conv_id","seqs":[…],"cursor"}` (erased) or with `min_seq` instead
/// of `seqs`: nothing below it is there any more (retention).
///
/// `{"op":"typing","conv_id"}` tells the other members who are connected: `{"push":"typing","conv_id","uid"}`, which has
/// no cursor, is not stored and may be lost. It is refused where a send would be, passed on about once a second at most,
/// and not at all in groups of more than 50. A client takes the sign away after some five seconds, or with the next
/// message of that person. Where the server has it switched off the code is `switched_off`.
///
/// What the operator tells comes as `{"push":"notification","id","category","content","create_at","cursor"}`, and what
/// another device has read of it as `{"push":"notifications_read","read_id","cursor"}`.
///
/// Where the server sets a limit to the devices of a platform, the oldest one beyond it hears
/// `{"push":"replaced","by":"<device>"}` (null where the token names none) and is closed with 4001.
#[utoipa::path(
    get, path = "/v1/ws", tag = "live",
    responses((status = 101, description = "The WebSocket is open"), ConnectProblems),
)]
pub async fn connect(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    extensions: Extensions,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let identity = app.tokens.check(token(&headers)?)?;
    let upgrade = upgrade.map_err(|error| Problem::new(Code::UpgradeRequired, error.body_text()))?;
    let expires_at = identity.expires_at;
    let caller = Caller::new(identity, RequestId::of(&extensions));
    let upgrade = upgrade
        .protocols([BEARER])
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .max_frame_size(READ_BYTES_MAX)
        .max_message_size(READ_BYTES_MAX);
    Ok(upgrade.on_upgrade(move |socket| connection::run(app, caller, expires_at, socket)))
}

/// The Authorization header's, or else the one behind `bearer` among the subprotocols.
fn token(headers: &HeaderMap) -> Result<&str, TokenError> {
    if headers.contains_key(header::AUTHORIZATION) {
        return bearer(headers);
    }
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let mut offered =
        offered.filter_map(|value| value.to_str().ok()).flat_map(|it| it.split(',')).map(str::trim);
    match (offered.next(), offered.next(), offered.next()) {
        (Some(BEARER), Some(token), None) => Ok(token),
        _ => Err(TokenError::Missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_by_header_or_by_subprotocol() {
        let token = |headers: &[(header::HeaderName, &str)]| {
            let headers: HeaderMap =
                headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
            token(&headers).map(str::to_owned)
        };
        let (authorization, protocol) = (header::AUTHORIZATION, header::SEC_WEBSOCKET_PROTOCOL);
        assert_eq!(token(&[(authorization.clone(), "Bearer a.b.c")]).as_deref(), Ok("a.b.c"));
        assert_eq!(token(&[(protocol.clone(), "bearer, a.b.c")]).as_deref(), Ok("a.b.c"));
        assert_eq!(token(&[(protocol.clone(), "bearer,a.b.c")]).as_deref(), Ok("a.b.c"));
        assert_eq!(
            token(&[(authorization.clone(), "Basic x"), (protocol.clone(), "bearer, a")]),
            Err(TokenError::Missing)
        );
        for odd in ["", "bearer", "a.b.c", "a.b.c, bearer", "bearer, a, b", "chat, a.b.c"] {
            assert_eq!(token(&[(protocol.clone(), odd)]), Err(TokenError::Missing), "{odd}");
        }
    }
}
