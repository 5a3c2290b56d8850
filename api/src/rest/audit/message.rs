//! The message that a report, a moderation case or a trace names.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{Key, MsgId, Need, Seq};
use event_store::{Action, Shard, handler::recall_of, port::Wanted};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    audit::{Asked, line::EventLine},
    auth::Caller,
    door::{InPath, Path},
    openapi::AuditMessageProblems,
    problem::{Code, Problem},
};

impl InPath for MsgId {
    const NAME: &'static str = "msg_id";

    fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = || Problem::new(Code::MessageNotFound, "a message id is a decimal number below 2^63");
        Self::parse(text).ok_or_else(wrong)
    }
}

/// A message as the log has it.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditedMessage {
    /// Where it was sent.
    conv_id: String,
    /// Its number there.
    seq: u64,
    /// Its event, with what it said even where it was recalled.
    event: EventLine,
    /// Who took it back and when, if somebody has.
    recalled: Option<RecalledBy>,
}

/// A recall.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecalledBy {
    /// The person.
    by: u64,
    /// When, in unix ms.
    at: i64,
}

/// One message by its id, whatever has become of it. For the roles compliance and admin.
#[utoipa::path(
    get, path = "/v1/audit/messages/{msg_id}", tag = "compliance",
    params(("msg_id" = String, Path, description = "In decimal")),
    responses((status = 200, description = "The message", body = AuditedMessage), AuditMessageProblems),
)]
pub async fn message(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(id): Path<MsgId>,
) -> Result<Json<AuditedMessage>, Problem> {
    let allowed = caller.roles.compliance || caller.roles.admin;
    app.record_access_of(&caller, allowed, Action::Message, Asked::about(id)).await?;
    let none = || Problem::new(Code::MessageNotFound, "there is no message with this id");
    let found = app.store.message(id).await?.ok_or_else(none)?;
    let (conv, seq) = (found.header.stream.conv().ok_or_else(none)?, Seq::new(found.header.version));
    let wanted = Wanted { conv: conv.clone(), heads: false, needs: vec![Need::Piece(Key::Recall(seq))] };
    let pieces = app.store.load(Shard::of(conv, app.store.info().shards), &[wanted]).await?;
    let recall = pieces.iter().flat_map(|found| &found.pieces).find_map(|(_, value)| recall_of(value));
    Ok(Json(AuditedMessage {
        conv_id: conv.to_string(),
        seq: seq.get(),
        event: EventLine::from(&found),
        recalled: recall.map(|recall| RecalledBy { by: recall.by.get(), at: recall.at }),
    }))
}
