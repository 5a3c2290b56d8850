//! What a person notes for themselves: read up to here, cleared up to here.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{Command, ConvId, Reply, Seq};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    auth::Caller,
    door::{Body, IdempotencyKey, OptionalBody, Path},
    openapi::{ClearProblems, ReadProblems},
    problem::Problem,
};

/// A read position.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadBody {
    /// Everything up to and with this one has been read.
    read_seq: u64,
}

/// To a read position.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReadState {
    /// The position that stands.
    read_seq: u64,
    /// What is unread now.
    unread: u64,
}

/// Moves the caller's read position up; a lower one is answered with the position that stands.
#[utoipa::path(
    put, path = "/v1/conversations/{conv_id}/read", tag = "marks",
    params(("conv_id" = String, Path)),
    request_body = ReadBody,
    responses((status = 200, description = "The position that stands", body = ReadState), ReadProblems),
)]
pub async fn read(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Body(body): Body<ReadBody>,
) -> Result<Json<ReadState>, Problem> {
    let command =
        Command::Read { uid: caller.uid, read_seq: Seq::of_message(body.read_seq)?, at: app.clock.now() };
    app.commands.handle(conv.clone(), caller.request(command)).await?;
    // From the read model, so that the caller's own sends count too.
    let summary = app.read_models.summary(&conv, caller.uid).await?;
    Ok(Json(ReadState { read_seq: summary.read_seq.get(), unread: summary.unread }))
}

/// A watermark.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClearBody {
    /// Nothing is seen any more up to and with this one; the head when handled where it is left out.
    pub(super) up_to_seq: Option<u64>,
}

/// To a clear.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClearedState {
    /// The lowest seq that the caller sees now; max_seq + 1 where they see none.
    min_seq: u64,
}

impl ClearedState {
    pub(super) fn new(min_seq: Seq) -> Self {
        Self { min_seq: min_seq.get() }
    }
}

/// Clears the history for the caller: one raised watermark, whatever its length.
#[utoipa::path(
    post, path = "/v1/conversations/{conv_id}/clear", tag = "marks",
    params(
        ("conv_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "A UUID; a repeat gets the first answer"),
    ),
    request_body = Option<ClearBody>,
    responses((status = 200, description = "The watermark that stands", body = ClearedState), ClearProblems),
)]
pub async fn clear(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    IdempotencyKey(key): IdempotencyKey,
    OptionalBody(body): OptionalBody<ClearBody>,
) -> Result<Json<ClearedState>, Problem> {
    let up_to_seq = body.up_to_seq.map(Seq::of_message).transpose()?;
    let command = Command::Clear { uid: caller.uid, up_to_seq, key };
    let Reply::Cleared { min_seq } = app.commands.handle(conv, caller.request(command)).await? else {
        return Err(Problem::bug("a clear was answered with something else"));
    };
    Ok(Json(ClearedState::new(min_seq)))
}
