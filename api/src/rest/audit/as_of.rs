//! What one person saw in a conversation at a moment.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{ConvId, Ms, Seq, Uid};
use event_store::Action;
use projections::{
    past::{PastError, Seen, as_of as seen_as_of},
    query::Range,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    audit::as_of::{asked, moment},
    auth::Caller,
    door::{Params, Path, page_limit},
    openapi::AsOfProblems,
    problem::{Code, Problem},
    rest::answers::{ConversationAnswer, PageAnswer},
};

/// Whose view, of when, and which part of the history.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AsOfParams {
    /// Through whose eyes.
    viewer: u64,
    /// At this moment, in unix ms. Either this or `position`.
    at: Option<Ms>,
    /// After the event at this position of the conversation's shard, as `events` gives it.
    position: Option<u64>,
    /// Only messages below this one.
    before_seq: Option<u64>,
    /// Only messages above this one.
    after_seq: Option<u64>,
    /// 1..=200, 50 by default.
    limit: Option<u32>,
}

/// What was seen.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeenAnswer {
    conv_id: String,
    /// Through whose eyes.
    viewer: u64,
    /// The moment, as a position of the conversation's shard.
    position: u64,
    /// Was the viewer in it then? If not, there was nothing to be seen, and the rest is left out.
    member: bool,
    /// As it stood in the viewer's list.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<ConversationAnswer>,
    /// As history showed it. A message whose body has been erased since is `expired`.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<PageAnswer>,
}

impl SeenAnswer {
    /// Of what the log says.
    pub fn new(conv: &ConvId, viewer: Uid, seen: Seen) -> Self {
        let (conversation, page) = seen.view.unzip();
        Self {
            conv_id: conv.to_string(),
            viewer: viewer.get(),
            position: seen.position.get(),
            member: page.is_some(),
            conversation: conversation.map(|summary| ConversationAnswer::new(summary, viewer)),
            page: page.map(PageAnswer::from),
        }
    }
}

impl From<PastError> for Problem {
    fn from(error: PastError) -> Self {
        match error {
            PastError::NoSuchConversation(_) => {
                Self::new(Code::ConversationNotFound, "nothing has happened in it")
            }
            PastError::BeyondHead { head } => Self::new(
                Code::InvalidParameter,
                format!("the conversation's shard stands at position {head}"),
            ),
            PastError::Log(error) => error.into(),
            PastError::Event { .. } => {
                tracing::error!(%error, "a conversation cannot be told from the log");
                Self::new(Code::Unavailable, "an event of this conversation cannot be read")
            }
        }
    }
}

/// What this person could see at that moment: the conversation and a page of its history, as they would have got them
/// then. Read from the log alone.
#[utoipa::path(
    get, path = "/v1/audit/conversations/{conv_id}/as-of", tag = "compliance",
    params(("conv_id" = String, Path), AsOfParams),
    responses((status = 200, description = "What was seen", body = SeenAnswer), AsOfProblems),
)]
pub async fn as_of(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Params(params): Params<AsOfParams>,
) -> Result<Json<SeenAnswer>, Problem> {
    let AsOfParams { viewer, at, position, before_seq, after_seq, limit } = params;
    let range = Range { before_seq: before_seq.map(Seq::new), after_seq: after_seq.map(Seq::new) };
    app.record_access(&caller, Action::AsOf, asked(&conv, viewer, at, position, range)).await?;
    let (viewer, limit) = (Uid::new(viewer)?, page_limit(limit)?);
    let either = || Problem::new(Code::InvalidParameter, "either at or position is due");
    let moment = moment(at, position).ok_or_else(either)?;
    let seen = seen_as_of(&*app.store, &conv, viewer, moment, range, limit).await?;
    Ok(Json(SeenAnswer::new(&conv, viewer, seen)))
}
