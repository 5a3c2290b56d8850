//! Reads headers, digests and names as they are stored, whatever has been done to them.

use std::{collections::HashMap, pin::pin};

use deadpool_postgres::{Client, Pool};
use domain::Ms;
use futures_util::TryStreamExt as _;
use tokio_postgres::{Row, Statement, types::ToSql};

use super::super::{
    failure::unavailable,
    read,
    rows::{self, Stored},
};
use crate::{
    port::{LogInfo, StoreError, StreamHead},
    recorded::{Position, Recorded, StreamName},
    shard::Shard,
};

/// Events in one page of streams. They come one by one, so what counts is the time that the statement takes.
const STREAM_PAGE: i64 = 1000;
/// Events in one page of a shard, without their bodies.
pub(super) const SHARD_PAGE: i64 = 5000;
/// Names that are looked up at once.
const NAMES_AT_ONCE: usize = 2000;

/// What a shard's order and its checkpoints rest on.
pub(super) struct OrderRow {
    pub position: Position,
    pub recorded_at: Ms,
    pub stream_id: i64,
    pub head: StreamHead,
}

/// Reads a log as it is on disk. Cheap to clone.
#[derive(Clone)]
pub struct LogReader {
    pool: Pool,
    info: LogInfo,
}

impl LogReader {
    /// Over connections made by [`super::super::pool`].
    pub fn new(pool: Pool, info: LogInfo) -> Self {
        Self { pool, info }
    }

    /// Which log it is.
    pub fn info(&self) -> &LogInfo {
        &self.info
    }

    async fn client(&self, doing: &'static str) -> Result<Client, StoreError> {
        self.pool.get().await.map_err(|error| unavailable(doing, error))
    }

    async fn query(
        &self,
        doing: &'static str,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        let client = self.client(doing).await?;
        let statement = prepare(&client, doing, sql).await?;
        client.query(&statement, params).await.map_err(|error| unavailable(doing, error))
    }

    /// One page of events after (stream, version) in the streams below `below`. Returns the last one's place, if the
    /// page was full.
    pub(super) async fn streams(
        &self,
        after: (i64, u64),
        below: i64,
        each: &mut (dyn FnMut(i64, Stored) + Send),
    ) -> Result<Option<(i64, u64)>, StoreError> {
        let doing = "read streams to verify them";
        let client = self.client(doing).await?;
        let statement = prepare(&client, doing, include_str!("verify_streams.sql")).await?;
        let version = i64::try_from(after.1).unwrap_or(i64::MAX);
        let params: [&(dyn ToSql + Sync); 4] = [&after.0, &version, &below, &STREAM_PAGE];
        let rows = client.query_raw(&statement, params).await.map_err(|error| unavailable(doing, error))?;
        let mut rows = pin!(rows);
        let (mut count, mut last) = (0, after);
        while let Some(row) = rows.try_next().await.map_err(|error| unavailable(doing, error))? {
            let stream_id = row.get("stream_id");
            last = (stream_id, row.get::<_, i64>("version") as u64);
            count += 1;
            each(stream_id, rows::stored(&row));
        }
        Ok((count == STREAM_PAGE).then_some(last))
    }

    /// One page of a shard.
    pub(super) async fn shard(
        &self,
        shard: Shard,
        after: Position,
        up_to: Position,
    ) -> Result<Vec<OrderRow>, StoreError> {
        let doing = "read a shard to verify it";
        let params: [&(dyn ToSql + Sync); 4] =
            [&(shard.get() as i16), &rows::position(after), &rows::position(up_to), &SHARD_PAGE];
        let rows = self.query(doing, include_str!("verify_shard.sql"), &params).await?;
        let of = |row: &Row| OrderRow {
            position: Position::new(row.get::<_, i64>(0) as u64),
            recorded_at: row.get(1),
            stream_id: row.get(2),
            head: StreamHead { version: row.get::<_, i64>(3) as u64, chain: rows::lenient_hash(row.get(4)) },
        };
        Ok(rows.iter().map(of).collect())
    }

    /// The streams' names. One that the log has lost is called by its number.
    pub(super) async fn names(&self, stream_ids: &[i64]) -> Result<HashMap<i64, String>, StoreError> {
        let mut cords: HashMap<i64, String> = HashMap::new();
        let mut numbers: Vec<i64> = stream_ids.iter().map(|id| rows::parts(*id).0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for some in numbers.chunks(NAMES_AT_ONCE) {
            let doing = "read the names of streams";
            let rows = self.query(doing, include_str!("verify_names.sql"), &[&some]).await?;
            cords.extend(rows.iter().map(|row| (row.get(0), row.get(1))));
        }
        let name = |id: &i64| {
            let cord = cords.get(&rows::parts(*id).0);
            let stream = cord.and_then(|cord| rows::stream(cord, *id));
            (*id, stream.map_or_else(|| rows::lost_name(*id), |stream| stream.to_string()))
        };
        Ok(stream_ids.iter().map(name).collect())
    }

    /// The number of a stream, if it was ever appended to.
    pub(super) async fn stream_id(&self, stream: &StreamName) -> Result<Option<i64>, StoreError> {
        let doing = "look up a stream";
        let cords = [stream.cord()];
        let rows = self.query(doing, include_str!("../conversation_numbers.sql"), &[&&cords[..]]).await?;
        Ok(rows.first().map(|row| rows::stream_id(row.get(1), stream.kind())))
    }

    /// The highest number of a stream; none in an empty log.
    pub(super) async fn last_stream(&self) -> Result<Option<i64>, StoreError> {
        let rows = self.query("read the last stream", include_str!("last_stream.sql"), &[]).await?;
        Ok(rows.first().map(|row| row.get(0)))
    }

    /// The last event of a stream up to a version: where the stream stood then, and the event's position.
    async fn at_most(
        &self,
        stream_id: i64,
        version: u64,
    ) -> Result<Option<(StreamHead, Position)>, StoreError> {
        let doing = "read where a stream stood";
        let version = i64::try_from(version).unwrap_or(i64::MAX);
        let rows = self.query(doing, include_str!("version_at_most.sql"), &[&stream_id, &version]).await?;
        Ok(rows.first().map(|row| {
            let chain = rows::lenient_hash(row.get(2));
            let head = StreamHead { version: row.get::<_, i64>(0) as u64, chain };
            (head, Position::new(row.get::<_, i64>(1) as u64))
        }))
    }

    /// Where a stream stands, by its number.
    pub(super) async fn head(&self, stream_id: i64) -> Result<StreamHead, StoreError> {
        Ok(self.at_most(stream_id, u64::MAX).await?.map_or_else(StreamHead::default, |(head, _)| head))
    }

    /// Where a stream stood at a position of its shard, and at which position it had got there. By bisection, since
    /// positions go up along a stream.
    pub(super) async fn head_at(
        &self,
        stream_id: i64,
        at: Position,
    ) -> Result<Option<(StreamHead, Position)>, StoreError> {
        let mut below = match self.at_most(stream_id, u64::MAX).await? {
            Some((head, position)) if position > at => head.version,
            newest => return Ok(newest),
        };
        let (mut found, mut low) = (None, 0);
        while low + 1 < below {
            let middle = low + (below - low) / 2;
            match self.at_most(stream_id, middle).await? {
                Some((head, position)) if position <= at => {
                    (low, found) = (middle, Some((head, position)));
                }
                _ => below = middle,
            }
        }
        Ok(found)
    }

    /// Where a stream stands.
    pub async fn stream_head(&self, stream: &StreamName) -> Result<StreamHead, StoreError> {
        let Some(stream_id) = self.stream_id(stream).await? else { return Ok(StreamHead::default()) };
        self.head(stream_id).await
    }

    /// Where a shard stands.
    pub(super) async fn shard_position(&self, shard: Shard) -> Result<Position, StoreError> {
        let doing = "read where a shard stands";
        let rows = self.query(doing, include_str!("../shard_head.sql"), &[&(shard.get() as i16)]).await?;
        Ok(rows.first().map_or(Position::START, |row| Position::new(row.get::<_, i64>(0) as u64)))
    }

    /// At most `limit` events of a stream from a version on, as far as they can be read.
    pub async fn events(
        &self,
        stream: &StreamName,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        let Some(stream_id) = self.stream_id(stream).await? else { return Ok(vec![]) };
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let params: [&(dyn ToSql + Sync); 3] = [&stream_id, &from, &i64::from(limit)];
        let rows = self.query(read::DOING, include_str!("../read_stream.sql"), &params).await?;
        rows.iter().map(rows::recorded).collect()
    }

    pub(super) async fn save_heads(
        &self,
        shard: Shard,
        root: &[u8; 32],
        heads: &[u8],
    ) -> Result<(), StoreError> {
        let doing = "keep the heads of a checkpoint";
        let params: [&(dyn ToSql + Sync); 3] = [&(shard.get() as i16), &&root[..], &heads];
        self.query(doing, include_str!("save_heads.sql"), &params).await?;
        Ok(())
    }

    pub(super) async fn saved_heads(
        &self,
        shard: Shard,
        root: &[u8; 32],
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let doing = "read the heads of a checkpoint";
        let params: [&(dyn ToSql + Sync); 2] = [&(shard.get() as i16), &&root[..]];
        let rows = self.query(doing, include_str!("saved_heads.sql"), &params).await?;
        Ok(rows.first().map(|row| row.get(0)))
    }
}

async fn prepare(client: &Client, doing: &'static str, sql: &str) -> Result<Statement, StoreError> {
    client.prepare_cached(sql).await.map_err(|error| unavailable(doing, error))
}
