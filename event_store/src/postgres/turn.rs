//! The exclusive turn at a shard: a transaction that holds its lock.

use async_trait::async_trait;
use deadpool_postgres::{Client, Object};
use domain::ConvId;

use super::{
    Inner,
    append::{self, Columns, Statements},
    failure::{of_append, unavailable},
    load, read, rows,
};
use crate::{
    port::{Batch, Found, Looked, ShardHead, StoreError, Turn, Wanted},
    recorded::{Position, Recorded, StreamName},
    shard::Shard,
};

pub(super) const READ_HEAD: &str = "read where a shard stands";
const TAKE: &str = "wait for the turn at a shard";

pub(super) struct PostgresTurn<'a> {
    inner: &'a Inner,
    shard: Shard,
    head: ShardHead,
    statements: Statements,
    /// None once it has been used up. Dropping an open transaction closes its connection, which ends it.
    client: Option<Client>,
}

/// Where a shard stands, for whoever asks on this connection.
pub(super) async fn shard_head(client: &Client, shard: Shard) -> Result<ShardHead, StoreError> {
    let statement = client
        .prepare_cached(include_str!("shard_head.sql"))
        .await
        .map_err(|error| unavailable(READ_HEAD, error))?;
    let row = client
        .query_opt(&statement, &[&(shard.get() as i16)])
        .await
        .map_err(|error| unavailable(READ_HEAD, error))?;
    Ok(row.map_or_else(ShardHead::default, |row| rows::shard_head(row.get(0), row.get(1))))
}

impl<'a> PostgresTurn<'a> {
    pub async fn wait(inner: &'a Inner, shard: Shard) -> Result<Self, StoreError> {
        let client = inner.client(TAKE).await?;
        let statements = Statements::prepare(&client).await?;
        let mut turn = Self { inner, shard, head: ShardHead::default(), statements, client: Some(client) };
        let client = turn.client()?;
        client.batch_execute("begin").await.map_err(|error| unavailable(TAKE, error))?;
        // A statement of its own: what follows sees everything that was committed before the lock was given.
        client
            .query(&turn.statements.lock, &[&i32::from(shard.get())])
            .await
            .map_err(|error| unavailable(TAKE, error))?;
        turn.head = shard_head(client, shard).await?;
        Ok(turn)
    }

    fn client(&self) -> Result<&Client, StoreError> {
        self.client.as_ref().ok_or_else(|| unavailable(TAKE, "the turn has ended"))
    }
}

impl Drop for PostgresTurn<'_> {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

#[async_trait]
impl Turn for PostgresTurn<'_> {
    fn head(&self) -> ShardHead {
        self.head
    }

    async fn grown_since(&mut self, after: Position, limit: u32) -> Result<Option<Vec<ConvId>>, StoreError> {
        let doing = "look at what others appended";
        let client = self.client()?;
        let statement = client
            .prepare_cached(include_str!("grown_since.sql"))
            .await
            .map_err(|error| unavailable(doing, error))?;
        let rows = client
            .query(&statement, &[&(self.shard.get() as i16), &rows::position(after), &(i64::from(limit) + 1)])
            .await
            .map_err(|error| unavailable(doing, error))?;
        if rows.len() > limit as usize {
            return Ok(None);
        }
        Ok(Some(rows.iter().filter_map(|row| ConvId::parse(row.get(0)).ok()).collect()))
    }

    async fn load(&mut self, wanted: &[Wanted]) -> Result<Vec<Found>, StoreError> {
        load::load(self.client()?, &self.inner.conversations, &self.inner.loads, wanted).await
    }

    async fn look(
        &mut self,
        streams: &[StreamName],
        pieces: &[(StreamName, String)],
    ) -> Result<Looked, StoreError> {
        load::look(self.client()?, &self.inner.conversations, &self.inner.loads, streams, pieces).await
    }

    async fn read_stream(
        &mut self,
        stream: &StreamName,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        read::stream(self.client()?, &self.inner.conversations, stream, from, limit).await
    }

    async fn append(mut self: Box<Self>, batch: Batch) -> Result<(), StoreError> {
        let client = self.client()?;
        if batch.events.is_empty() {
            client.batch_execute("rollback").await.map_err(|error| unavailable(append::DOING, error))?;
            // Given back to the pool: there is nothing open on it.
            drop(self.client.take());
            return Ok(());
        }
        append::ensure_month(self.inner, client, &batch.events).await?;
        let cords = append::cords(&batch);
        let numbers = self.inner.conversations.numbers_or_new(client, self.shard, cords).await?;
        let columns = Columns::of([(self.shard, &batch, &numbers)]);
        let (inserted, committed) =
            tokio::join!(columns.insert(client, &self.statements), client.batch_execute("commit"));
        if let Err(error) = inserted.and(committed) {
            // What this transaction made is gone with it, a new month's partition too.
            *self.inner.month() = 0..0;
            self.inner.recent.forget_shard(self.shard);
            return Err(of_append(append::DOING, error));
        }
        drop(self.client.take());
        self.inner.conversations.remember(&numbers);
        self.inner.grown(self.shard, batch.events);
        Ok(())
    }
}
