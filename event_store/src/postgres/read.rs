//! Reads events of one stream or one conversation, on whichever connection asks.

use deadpool_postgres::Client;
use domain::{ConvId, MsgId};

use super::{conversations::Conversations, failure::unavailable, rows};
use crate::{
    port::StoreError,
    recorded::{Position, Recorded, StreamName},
};

pub(super) const DOING: &str = "read a stream";
pub(super) const DOING_CONVERSATION: &str = "read a conversation";
pub(super) const DOING_MESSAGE: &str = "look for a message";

pub(super) async fn stream(
    client: &Client,
    conversations: &Conversations,
    stream: &StreamName,
    from: u64,
    limit: u32,
) -> Result<Vec<Recorded>, StoreError> {
    let cord = stream.cord();
    let numbers = conversations.numbers(client, &[&cord]).await?;
    let Some(number) = numbers.get(&*cord) else { return Ok(vec![]) };
    let statement = client
        .prepare_cached(include_str!("read_stream.sql"))
        .await
        .map_err(|error| unavailable(DOING, error))?;
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    let rows = client
        .query(&statement, &[&rows::stream_id(*number, stream.kind()), &from, &i64::from(limit)])
        .await
        .map_err(|error| unavailable(DOING, error))?;
    rows.iter().map(rows::recorded).collect()
}

pub(super) async fn conversation(
    client: &Client,
    conv: &ConvId,
    after: Position,
    limit: u32,
) -> Result<Vec<Recorded>, StoreError> {
    let failed = |error| unavailable(DOING_CONVERSATION, error);
    let statement = client.prepare_cached(include_str!("conversation_events.sql")).await.map_err(failed)?;
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
        [&conv.as_str(), &rows::position(after), &i64::from(limit)];
    let rows = client.query(&statement, &params).await.map_err(failed)?;
    rows.iter().map(rows::recorded).collect()
}

/// The index of ranges can only be read by a bitmap, which the log's other statements do without.
const BY_RANGES: &str = "set local enable_bitmapscan = on";

pub(super) async fn message(client: &mut Client, id: MsgId) -> Result<Option<Recorded>, StoreError> {
    let failed = |error| unavailable(DOING_MESSAGE, error);
    let transaction = client.transaction().await.map_err(failed)?;
    transaction.batch_execute(BY_RANGES).await.map_err(failed)?;
    let statement = transaction.prepare_cached(include_str!("message_by_id.sql")).await.map_err(failed)?;
    let id = i64::try_from(id.get()).unwrap_or(i64::MAX);
    let row = transaction.query_opt(&statement, &[&id]).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    row.as_ref().map(rows::recorded).transpose()
}
