//! What a person notes for themselves: read up to here, cleared up to here.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{Command, ConvId, Reply, Seq};
use projections::query::QueryError;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::act::{Act, act};
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

impl Act for ReadBody {
    type Answer = ReadState;

    async fn command(self, app: &App, caller: &Caller, _: Option<Uuid>) -> Result<Command, Problem> {
        let read_seq = Seq::of_message(self.read_seq)?;
        Ok(Command::Read { uid: caller.uid, read_seq, at: app.clock.now() })
    }

    /// From the read model, so that the caller's own sends count too. One who has left since gets an answer all the
    /// same, whether this is a repeat or they were removed meanwhile: nothing is unread where one is not.
    async fn answer(app: &App, caller: &Caller, conv: &ConvId, reply: Reply) -> Result<ReadState, Problem> {
        let Reply::Read(stands) = reply else {
            return Err(Problem::bug("a read was answered with something else"));
        };
        match app.read_models.summary(conv, caller.uid).await {
            Ok(summary) => Ok(ReadState { read_seq: summary.read_seq.get(), unread: summary.unread }),
            Err(QueryError::NotAMember) => Ok(ReadState { read_seq: stands.get(), unread: 0 }),
            Err(error) => Err(error.into()),
        }
    }
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
    act(&app, &caller, &conv, None, body).await.map(Json)
}

/// A watermark.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClearBody {
    /// Nothing is seen any more up to and with this one; the head when handled where it is left out.
    pub(super) up_to_seq: Option<u64>,
}

impl Act for ClearBody {
    type Answer = ClearedState;

    async fn command(self, _: &App, caller: &Caller, key: Option<Uuid>) -> Result<Command, Problem> {
        let up_to_seq = self.up_to_seq.map(Seq::of_message).transpose()?;
        Ok(Command::Clear { uid: caller.uid, up_to_seq, key })
    }

    async fn answer(_: &App, _: &Caller, _: &ConvId, reply: Reply) -> Result<ClearedState, Problem> {
        let Reply::Cleared { min_seq } = reply else {
            return Err(Problem::bug("a clear was answered with something else"));
        };
        Ok(ClearedState::new(min_seq))
    }
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
    act(&app, &caller, &conv, key, body).await.map(Json)
}
