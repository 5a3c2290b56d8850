//! What every request gets: an id, a line in the log, a number in the metrics. Never its body, never its token.

use std::sync::Arc;

use axum::{
    extract::{MatchedPath, Request, State},
    http::{Extensions, HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use tokio::time::Instant;
use tracing::Instrument;
use uuid::Uuid;

use crate::{app::App, entropy};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A request's id: the client's own where it sent a UUID, else one of ours. Answers carry it, the access log has it,
/// and so do the headers of the events that came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestId(pub Uuid);

impl RequestId {
    /// The id that [`follow`] has set; nil where a handler was called without it.
    pub fn of(extensions: &Extensions) -> Self {
        extensions.get().copied().unwrap_or(Self(Uuid::nil()))
    }

    fn sent(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get(X_REQUEST_ID)?.to_str().ok()?;
        Uuid::try_parse(text).ok().map(Self)
    }
}

/// Follows a request from its arrival to its answer.
pub async fn follow(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let id = RequestId::sent(request.headers())
        .unwrap_or_else(|| RequestId(entropy::uuid_v7(app.clock.now(), &*app.entropy)));
    request.extensions_mut().insert(id);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let began = Instant::now();
    let mut response = next.run(request).instrument(tracing::info_span!("request", request_id = %id.0)).await;
    let (took, status) = (began.elapsed(), response.status().as_u16());
    tracing::info!(
        target: "quipu::access",
        request_id = %id.0, %method, route, status, us = took.as_micros() as u64,
    );
    let labels = [("method", known(method.as_str())), ("route", route), ("status", status.to_string())];
    metrics::counter!("quipu_http_requests_total", &labels).increment(1);
    metrics::histogram!("quipu_http_request_seconds", &labels[..2]).record(took.as_secs_f64());
    if let Ok(value) = HeaderValue::from_str(&id.0.hyphenated().to_string()) {
        response.headers_mut().insert(X_REQUEST_ID, value);
    }
    response
}

/// Anybody can invent methods; each would be a metric of its own.
fn known(method: &str) -> String {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    known.into_iter().find(|it| *it == method).unwrap_or("other").to_owned()
}
