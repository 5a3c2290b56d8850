//! Conversations as one person has them.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{ConvId, Uid};
use serde::Serialize;
use utoipa::ToSchema;

use super::{answers::ConversationAnswer, lists::ListParams};
use crate::{
    app::App,
    auth::Caller,
    door::{Params, Path, page_limit},
    openapi::{ListProblems, QueryProblems, UidProblems},
    problem::Problem,
};

/// A page of conversations.
#[derive(Debug, Serialize, ToSchema)]
pub struct Conversations {
    /// Newest activity first.
    conversations: Vec<ConversationAnswer>,
    /// Asks for the next page, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The caller's conversations, newest activity first.
#[utoipa::path(
    get, path = "/v1/conversations", tag = "conversations",
    params(ListParams),
    responses((status = 200, description = "A page of them", body = Conversations), ListProblems),
)]
pub async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<ListParams>,
) -> Result<Json<Conversations>, Problem> {
    let after = app.cursors.conversation(caller.uid, params.cursor.as_deref())?;
    let page = app.read_models.summaries(caller.uid, page_limit(params.limit)?, after).await?;
    let cursor = page.next.map(|(at, conv)| app.cursors.after_conversation(caller.uid, (at, &conv)));
    let conversations = page.conversations.into_iter().map(|it| ConversationAnswer::new(it, caller.uid));
    Ok(Json(Conversations { conversations: conversations.collect(), cursor }))
}

/// One conversation. A single chat that nobody has used is there too, with max_seq 0.
#[utoipa::path(
    get, path = "/v1/conversations/{conv_id}", tag = "conversations",
    params(("conv_id" = String, Path)),
    responses((status = 200, description = "The conversation", body = ConversationAnswer), QueryProblems),
)]
pub async fn one(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
) -> Result<Json<ConversationAnswer>, Problem> {
    let summary = app.read_models.summary(&conv, caller.uid).await?;
    Ok(Json(ConversationAnswer::new(summary, caller.uid)))
}

/// The id of a single chat.
#[derive(Debug, Serialize, ToSchema)]
pub struct ConversationId {
    conv_id: String,
}

/// The id of the caller's single chat with somebody.
#[utoipa::path(
    get, path = "/v1/conversations/with/{uid}", tag = "conversations",
    params(("uid" = u64, Path)),
    responses((status = 200, description = "Its id", body = ConversationId), UidProblems),
)]
pub async fn with(caller: Caller, Path(peer): Path<Uid>) -> Json<ConversationId> {
    Json(ConversationId { conv_id: ConvId::single(caller.uid, peer).to_string() })
}
