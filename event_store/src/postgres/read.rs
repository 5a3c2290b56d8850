//! Reads events of one stream, on whichever connection asks.

use deadpool_postgres::Client;

use super::{conversations::Conversations, failure::unavailable, rows};
use crate::{
    port::StoreError,
    recorded::{Recorded, StreamName},
};

pub(super) const DOING: &str = "read a stream";

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
