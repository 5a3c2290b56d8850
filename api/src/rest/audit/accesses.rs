//! Who has looked at what.

use std::sync::Arc;

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use event_store::{Action, StreamName};
use serde::Deserialize;

use super::events::NDJSON;
use crate::{
    app::App,
    audit::{Asked, line::EventLine},
    auth::Caller,
    door::{Params, page_limit},
    openapi::AccessesProblems,
    problem::Problem,
};

/// Where to begin, and how much.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AccessesParams {
    /// Only accesses after this version of the `audit` stream.
    after_version: Option<u64>,
    /// 1 to 200, 50 by default.
    limit: Option<u32>,
}

/// The record of accesses, in order; this one stands at its end.
#[utoipa::path(
    get, path = "/v1/audit/accesses", tag = "compliance",
    params(AccessesParams),
    responses(
        (status = 200, description = "One access a line", body = EventLine, content_type = "application/x-ndjson"),
        AccessesProblems
    ),
)]
pub async fn accesses(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(AccessesParams { after_version, limit }): Params<AccessesParams>,
) -> Result<Response, Problem> {
    let asked = Asked::default().with("after_version", after_version).with("limit", limit);
    app.record_access(&caller, Action::Accesses, asked).await?;
    let (from, limit) = (after_version.unwrap_or(0).saturating_add(1), page_limit(limit)?);
    let page = app.store.read_stream(&StreamName::Audit, from, limit.get()).await?;
    let text: String = page.iter().map(|event| EventLine::from(event).text()).collect();
    Ok(([(header::CONTENT_TYPE, NDJSON)], text).into_response())
}
