//! A JSON body: of a bounded size, within a bounded time, of exactly the shape that is due.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body as Bytes, BodyDataStream},
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, error::Category};

use crate::{
    app::App,
    problem::{Code, Problem},
};

/// A body that takes longer holds a connection for nothing: 256 KiB come through the slowest telephone in this.
const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// The least that a body may have, in bytes: ten thousand uids of a new group.
const BODY_BYTES_LEAST: usize = 256 * 1024;

/// `\u0041` writes one byte of a text in six.
const ESCAPED_BYTES: usize = 6;

/// Around a content: ids, a thousand mentions, in bytes.
const ENVELOPE_BYTES: usize = 32 * 1024;

/// What is read and dropped of a body that is too large, in bodies' limits, so that a client that writes before it
/// reads hears why.
const DRAINED_LIMITS: usize = 16;

/// The largest body, in bytes: whatever content is within its limit also fits as a client may have escaped it.
pub fn body_bytes_max(content_bytes_max: usize) -> usize {
    BODY_BYTES_LEAST.max(content_bytes_max.saturating_mul(ESCAPED_BYTES).saturating_add(ENVELOPE_BYTES))
}

/// A JSON body in its shape.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(Problem::new(Code::UnsupportedMediaType, "send the body as application/json"));
        }
        parse(&read_in_time(request, app).await?).map(Self)
    }
}

/// A JSON body all of whose fields may be left out, and so the body itself.
pub struct OptionalBody<T>(pub T);

impl<T: DeserializeOwned + Default> FromRequest<Arc<App>> for OptionalBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let json = is_json(request.headers());
        match read_in_time(request, app).await?.as_slice() {
            [] => Ok(Self(T::default())),
            bytes if json => parse(bytes).map(Self),
            _ => Err(Problem::new(Code::UnsupportedMediaType, "send the body as application/json")),
        }
    }
}

async fn read_in_time(request: Request, app: &App) -> Result<Vec<u8>, Problem> {
    let limit = body_bytes_max(app.limits.content_bytes);
    tokio::time::timeout(BODY_TIME_MAX, read(request.into_body(), limit))
        .await
        .map_err(|_| Problem::new(Code::RequestTimeout, "the body took longer than 30 s"))?
}

/// The media type `application/json`, with whatever parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|it| it.trim().eq_ignore_ascii_case("application/json"))
}

async fn read(body: Bytes, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut stream = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Problem::new(Code::MalformedJson, "the body ended early"))?;
        if bytes.len() + chunk.len() > limit {
            drain(&mut stream, limit.saturating_mul(DRAINED_LIMITS)).await;
            return Err(Problem::new(Code::ContentTooLarge, format!("a body has at most {limit} bytes")));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

async fn drain(stream: &mut BodyDataStream, most: usize) {
    let mut dropped = 0;
    while dropped < most
        && let Some(Ok(chunk)) = stream.next().await
    {
        dropped += chunk.len();
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| Problem::new(Code::MalformedJson, "the body is not UTF-8"))?;
    serde_json::from_str(text).map_err(|error| {
        // What is broken further on is broken, whatever the shape of its beginning.
        let broken = serde_json::from_str::<Value>(text).err();
        match (error.classify(), broken) {
            (Category::Data, None) => Problem::new(Code::InvalidBody, error),
            (_, Some(error)) => Problem::new(Code::MalformedJson, error),
            (_, None) => Problem::new(Code::MalformedJson, error),
        }
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Shape {
        #[serde(rename = "n")]
        _n: u64,
    }

    #[test]
    fn broken_json_and_json_of_another_shape_are_two_things() {
        let code = |text: &[u8]| parse::<Shape>(text).map_err(|problem| problem.code).err();
        assert_eq!(code(b"{\"n\":1}"), None);
        for malformed in [
            &b""[..],
            b"{",
            b"{\"n\":1",
            b"{\"n\":1}}",
            b"{\"m\":1}}",
            b"{'n':1}",
            b"\xff",
            b"{\"n\":\"\xff\"}",
        ] {
            assert_eq!(code(malformed), Some(Code::MalformedJson), "{malformed:?}");
        }
        for shape in [
            &b"{}"[..],
            b"[]",
            b"null",
            b"{\"n\":\"1\"}",
            b"{\"n\":-1}",
            b"{\"n\":1,\"m\":2}",
            b"{\"n\":1.5}",
        ] {
            assert_eq!(code(shape), Some(Code::InvalidBody), "{shape:?}");
        }
        let deep = "[".repeat(100_000);
        assert!(parse::<Value>(deep.as_bytes()).is_err(), "and the stack is still there");
    }

    #[test]
    fn a_text_within_its_limit_fits_however_it_is_escaped() {
        assert!(body_bytes_max(64 * 1024) >= 64 * 1024 * ESCAPED_BYTES);
        assert_eq!(body_bytes_max(10), BODY_BYTES_LEAST);
    }

    #[tokio::test]
    async fn a_body_past_its_limit_is_refused() {
        assert_eq!(read(Bytes::from(vec![b' '; 10]), 10).await.map(|it| it.len()), Ok(10));
        let refused = read(Bytes::from(vec![b' '; 11]), 10).await.map_err(|problem| problem.code);
        assert_eq!(refused, Err(Code::ContentTooLarge));
    }

    #[test]
    fn the_media_type_may_have_parameters() {
        let is =
            |value: &str| is_json(&[(header::CONTENT_TYPE, value.parse().unwrap())].into_iter().collect());
        assert!(is("application/json") && is("Application/JSON; charset=utf-8"));
        assert!(!is("text/plain") && !is("application/jsonp") && !is_json(&HeaderMap::new()));
    }
}
