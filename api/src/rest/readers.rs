//! Who has read what.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{ConvId, Seq, Uid};
use serde::Serialize;
use utoipa::ToSchema;

use super::{answers::ReadPositionAnswer, lists::ListParams};
use crate::{
    app::App,
    auth::Caller,
    cursor::List,
    door::{Params, Path, page_limit},
    openapi::{QueryProblems, ReadersProblems},
    problem::Problem,
};

/// How far the members have read.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReadPositions {
    /// Ascending by uid.
    items: Vec<ReadPositionAnswer>,
    /// Asks for the next page, where there may be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// How far each member has read.
#[utoipa::path(
    get, path = "/v1/conversations/{conv_id}/read-positions", tag = "readers",
    params(("conv_id" = String, Path), ListParams),
    responses((status = 200, description = "The positions", body = ReadPositions), QueryProblems),
)]
pub async fn read_positions(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Params(params): Params<ListParams>,
) -> Result<Json<ReadPositions>, Problem> {
    let (list, limit) = (List::ReadPositions(conv.clone()), page_limit(params.limit)?);
    let after = app.cursors.uid(&list, caller.uid, params.cursor.as_deref())?;
    let positions = app.read_models.read_positions(&conv, caller.uid, after, limit).await?;
    let full = positions.len() == limit.get() as usize;
    let last = positions.last().filter(|_| full).map(|it| it.uid);
    let cursor = last.map(|last| app.cursors.after_uid(&list, caller.uid, last));
    Ok(Json(ReadPositions { items: positions.into_iter().map(Into::into).collect(), cursor }))
}

/// Of the members now who may see the message, without its sender.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReadersAnswer {
    /// How many have read it.
    read_count: u64,
    /// How many have not.
    unread_count: u64,
    /// A page of those who have.
    read: Vec<u64>,
    /// A page of those who have not.
    unread: Vec<u64>,
    /// Asks for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// Who has read a message and who has not.
#[utoipa::path(
    get, path = "/v1/conversations/{conv_id}/messages/{seq}/readers", tag = "readers",
    params(("conv_id" = String, Path), ("seq" = u64, Path), ListParams),
    responses((status = 200, description = "The readers", body = ReadersAnswer), ReadersProblems),
)]
pub async fn readers(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Path(seq): Path<Seq>,
    Params(params): Params<ListParams>,
) -> Result<Json<ReadersAnswer>, Problem> {
    let list = List::Readers(conv.clone(), seq);
    let after = app.cursors.uid(&list, caller.uid, params.cursor.as_deref())?;
    let readers = app.read_models.readers(&conv, caller.uid, seq, after, page_limit(params.limit)?).await?;
    let numbers = |uids: Vec<Uid>| uids.into_iter().map(Uid::get).collect();
    Ok(Json(ReadersAnswer {
        read_count: readers.read_count,
        unread_count: readers.unread_count,
        read: numbers(readers.read),
        unread: numbers(readers.unread),
        cursor: readers.next.map(|last| app.cursors.after_uid(&list, caller.uid, last)),
    }))
}
