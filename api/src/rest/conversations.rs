//! Conversations as one person has them, and wants to have them.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{Command, ConvId, Reply, Seq, Settings, Uid};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    answers::ConversationAnswer,
    lists::ListParams,
    marks::{ClearBody, ClearedState},
};
use crate::{
    app::App,
    auth::Caller,
    door::{Body, IdempotencyKey, OptionalBody, Params, Path, page_limit},
    openapi::{HideProblems, ListProblems, QueryProblems, SettingsProblems, UidProblems},
    problem::{Code, Problem},
};

/// A page of conversations.
#[derive(Debug, Serialize, ToSchema)]
pub struct Conversations {
    /// Pinned ones first, then the newest activity.
    conversations: Vec<ConversationAnswer>,
    /// Asks for the next page, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The caller's conversations: pinned ones first, then the newest activity. Hidden ones come back with their next
/// message.
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
    let cursor = page.next.map(|last| app.cursors.after_conversation(caller.uid, &last));
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

/// How the caller wants a conversation in their list; what is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingsBody {
    /// Ahead of the others?
    pinned: Option<bool>,
    /// Without noise?
    muted: Option<bool>,
}

/// How it is now.
#[derive(Debug, Serialize, ToSchema)]
pub struct SettingsAnswer {
    pinned: bool,
    muted: bool,
}

/// Pins or mutes a conversation for the caller.
#[utoipa::path(
    put, path = "/v1/conversations/{conv_id}/settings", tag = "conversations",
    params(("conv_id" = String, Path)),
    request_body = SettingsBody,
    responses((status = 200, description = "As it is now", body = SettingsAnswer), SettingsProblems),
)]
pub async fn settle(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Body(SettingsBody { pinned, muted }): Body<SettingsBody>,
) -> Result<Json<SettingsAnswer>, Problem> {
    let command = Command::Settle { uid: caller.uid, pinned, muted };
    let Reply::Settled(Settings { pinned, muted }) = app.command(&caller, &conv, command).await? else {
        return Err(Problem::bug("settings were answered with something else"));
    };
    Ok(Json(SettingsAnswer { pinned, muted }))
}

/// Up to where a conversation is hidden; may stand in the body instead.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HideParams {
    /// Nothing is seen any more up to and with this one; the head when handled where it is left out.
    up_to_seq: Option<u64>,
}

/// Clears a conversation for the caller and takes it out of their list until the next message.
#[utoipa::path(
    delete, path = "/v1/conversations/{conv_id}", tag = "conversations",
    params(
        ("conv_id" = String, Path),
        HideParams,
        ("Idempotency-Key" = Option<String>, Header, description = "A UUID; a repeat gets the first answer"),
    ),
    request_body = Option<ClearBody>,
    responses((status = 200, description = "The watermark that stands", body = ClearedState), HideProblems),
)]
pub async fn hide(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    IdempotencyKey(key): IdempotencyKey,
    Params(params): Params<HideParams>,
    OptionalBody(body): OptionalBody<ClearBody>,
) -> Result<Json<ClearedState>, Problem> {
    let up_to_seq = match (params.up_to_seq, body.up_to_seq) {
        (Some(one), Some(other)) if one != other => {
            return Err(Problem::new(Code::InvalidParameter, "up_to_seq is not the same in query and body"));
        }
        (one, other) => one.or(other).map(Seq::of_message).transpose()?,
    };
    let command = Command::Hide { uid: caller.uid, up_to_seq, key };
    let Reply::Cleared { min_seq } = app.command(&caller, &conv, command).await? else {
        return Err(Problem::bug("a hiding was answered with something else"));
    };
    Ok(Json(ClearedState::new(min_seq)))
}
