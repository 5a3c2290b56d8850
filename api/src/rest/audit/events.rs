//! Every event of a conversation, as it stands in the log.

use std::{io, sync::Arc};

use axum::{
    body::Body,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use domain::ConvId;
use event_store::{Action, Position, Recorded};
use futures_util::{Stream, stream};
use serde::Deserialize;

use crate::{
    app::App,
    audit::{Asked, line::EventLine, replay::Replay},
    auth::Caller,
    door::{Params, Path},
    openapi::AuditProblems,
    problem::{Code, Problem},
};

/// The media type of one JSON object a line.
pub const NDJSON: &str = "application/x-ndjson";

/// Where to begin, and how much.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsParams {
    /// Only events after this position: that of the last line of an answer that was cut short.
    after_position: Option<u64>,
    /// At most so many events, from 1; all of them without it.
    limit: Option<u64>,
}

/// Every event of a conversation's streams in order: recalled, deleted and cleared ones with their full content. The
/// answer is streamed; one that breaks off goes on with `after_position`.
#[utoipa::path(
    get, path = "/v1/audit/conversations/{conv_id}/events", tag = "compliance",
    params(("conv_id" = String, Path), EventsParams),
    responses(
        (status = 200, description = "One event a line", body = EventLine, content_type = "application/x-ndjson"),
        AuditProblems
    ),
)]
pub async fn events(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Params(EventsParams { after_position, limit }): Params<EventsParams>,
) -> Result<Response, Problem> {
    let asked = Asked::about(&conv).with("after_position", after_position).with("limit", limit);
    app.record_access(&caller, Action::Replay, asked).await?;
    if limit == Some(0) {
        return Err(Problem::new(Code::InvalidParameter, "limit is 1 or more"));
    }
    let after = Position::new(after_position.unwrap_or(0));
    let replay = Replay::new(Arc::clone(&app.store), conv, after, limit);
    if !replay.exists().await? {
        return Err(Problem::new(Code::ConversationNotFound, "nothing has happened in it"));
    }
    Ok(([(header::CONTENT_TYPE, NDJSON)], Body::from_stream(lines(replay))).into_response())
}

/// A page of events at a time; where the log does not answer any more, the answer breaks off, and its reader sees that.
fn lines(replay: Replay) -> impl Stream<Item = io::Result<String>> + Send + 'static {
    stream::try_unfold(replay, |mut replay| async move {
        let page = replay.next().await.map_err(|error| {
            tracing::warn!(%error, "a replay breaks off");
            io::Error::other(error)
        })?;
        let text = |page: Vec<Recorded>| page.iter().map(|event| EventLine::from(event).text()).collect();
        Ok(page.map(|page| (text(page), replay)))
    })
}
