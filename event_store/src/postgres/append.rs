//! Appends a batch: BEGIN, the lock, the rows, COMMIT, all on their way before the first answer comes.

use std::{borrow::Cow, time::Duration};

use deadpool_postgres::{Client, Object};
use tokio_postgres::{Statement, types::ToSql};
use uuid::Uuid;

use super::{
    Inner,
    conversations::Numbers,
    failure::{of_append, unavailable},
    rows, turn,
};
use crate::{
    port::{Batch, ShardHead, StoreError},
    recorded::{Body, Origin, Recorded, StreamName},
    shard::Shard,
};

pub(super) const DOING: &str = "append a batch";

/// Longer than any lock wait and any fsync: past it the connection is taken for dead.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Appends if the shard still stands at `seen`. False: it does not, and nothing was done.
pub(super) async fn append_at(
    inner: &Inner,
    shard: Shard,
    seen: ShardHead,
    batch: &Batch,
) -> Result<bool, StoreError> {
    let client = inner.client(DOING).await?;
    if batch.events.is_empty() {
        return Ok(turn::shard_head(&client, shard).await?.position == seen.position);
    }
    ensure_month(inner, &client, &batch.events).await?;
    let numbers = inner.conversations.numbers_or_new(&client, shard, &cords(batch)).await?;
    inner.conversations.remember(&numbers);
    let statements = Statements::prepare(&client).await?;
    let columns = Columns::of(batch, &numbers);
    let (shard_no, seen) = (shard.get() as i16, rows::position(seen.position));
    let lock_no = i32::from(shard_no);
    let lock_params: [&(dyn ToSql + Sync); 1] = [&lock_no];
    let transaction = async {
        tokio::join!(
            client.batch_execute("begin"),
            client.query(&statements.lock, &lock_params),
            columns.insert_bodies(&client, &statements, &shard_no, &seen),
            columns.upsert_pieces(&client, &statements, &shard_no, &seen),
            columns.insert_events(&client, &statements, &shard_no, &seen),
            client.batch_execute("commit"),
        )
    };
    let answers = match tokio::time::timeout(ANSWER_TIMEOUT, transaction).await {
        Ok((begun, locked, bodies, pieces, events, committed)) => {
            // The first failure is the cause; those after it only say that the transaction is aborted.
            begun
                .and(locked.map(drop))
                .and(bodies.map(drop))
                .and(pieces.map(drop))
                .and(events)
                .and_then(|inserted| committed.map(|()| inserted))
        }
        Err(elapsed) => {
            // Whatever this connection does, nobody listens any more.
            drop(Object::take(client));
            return Err(StoreError::Unknown { doing: DOING, source: elapsed.into() });
        }
    };
    match answers {
        Ok(inserted) => Ok(inserted > 0),
        Err(error) => Err(of_append(DOING, error)),
    }
}

/// What has a short key in a batch, each once.
pub(super) fn cords(batch: &Batch) -> Vec<Cow<'_, str>> {
    let of_events = batch.events.iter().map(|event| event.header.stream.cord());
    let mut all: Vec<_> = of_events.chain(batch.pieces.iter().map(|piece| piece.stream.cord())).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Sees to it that the bodies' month has its partition. In a transaction that is rolled back later, what is
/// remembered has to be forgotten.
pub(super) async fn ensure_month(
    inner: &Inner,
    client: &Client,
    events: &[Recorded],
) -> Result<(), StoreError> {
    let Some(at) = missing_month(inner, events) else { return Ok(()) };
    let row = client
        .query_one("select from_ms, to_ms from log.ensure_body_month($1)", &[&at])
        .await
        .map_err(|error| unavailable("make room for a month's bodies", error))?;
    *inner.month() = row.get("from_ms")..row.get("to_ms");
    Ok(())
}

/// The moment whose month may have no partition yet. The events of a batch share one moment.
fn missing_month(inner: &Inner, events: &[Recorded]) -> Option<i64> {
    let at = events.last()?.header.recorded_at;
    (!inner.month().contains(&at)).then_some(at)
}

pub(super) struct Statements {
    pub lock: Statement,
    bodies: Statement,
    pieces: Statement,
    events: Statement,
}

impl Statements {
    pub async fn prepare(client: &Client) -> Result<Self, StoreError> {
        let prepare = async |sql| client.prepare_cached(sql).await.map_err(|error| unavailable(DOING, error));
        Ok(Self {
            lock: prepare(include_str!("lock_shard.sql")).await?,
            bodies: prepare(include_str!("insert_bodies.sql")).await?,
            pieces: prepare(include_str!("upsert_pieces.sql")).await?,
            events: prepare(include_str!("insert_events.sql")).await?,
        })
    }
}

/// A batch as the columns that `unnest` takes.
#[derive(Default)]
pub(super) struct Columns<'a> {
    stream_id: Vec<i64>,
    version: Vec<i64>,
    position: Vec<i64>,
    recorded_at: Vec<i64>,
    actor: Vec<i64>,
    msg_id: Vec<Option<i64>>,
    create_at: Vec<Option<i64>>,
    event_id: Vec<Uuid>,
    correlation_id: Vec<Uuid>,
    client_msg_id: Vec<Option<Uuid>>,
    event_type: Vec<i16>,
    schema_version: Vec<i16>,
    origin: Vec<i16>,
    msg_type: Vec<Option<i16>>,
    flags: Vec<Option<i16>>,
    device: Vec<Option<&'a str>>,
    chain: Vec<&'a [u8]>,
    salt: Vec<&'a [u8]>,
    bytes: Vec<&'a [u8]>,
    piece_stream: Vec<i64>,
    piece_key: Vec<&'a str>,
    piece_value: Vec<&'a str>,
}

type Inserted = Result<u64, tokio_postgres::Error>;

impl<'a> Columns<'a> {
    pub fn of(batch: &'a Batch, numbers: &Numbers) -> Self {
        let mut columns = Self::default();
        let id = |stream: &StreamName| {
            let number = numbers.get(&*stream.cord()).copied().unwrap_or_default();
            rows::stream_id(number, stream.kind())
        };
        for event in &batch.events {
            columns.push(id(&event.header.stream), event);
        }
        for piece in &batch.pieces {
            columns.piece_stream.push(id(&piece.stream));
            columns.piece_key.push(&piece.key);
            columns.piece_value.push(&piece.value);
        }
        columns
    }

    fn push(&mut self, stream_id: i64, Recorded { header, body }: &'a Recorded) {
        self.stream_id.push(stream_id);
        self.version.push(header.version as i64);
        self.position.push(rows::position(header.position));
        self.recorded_at.push(header.recorded_at);
        self.actor.push(header.actor as i64);
        self.msg_id.push(header.msg_id.map(|id| id.get() as i64));
        self.create_at.push(header.create_at);
        self.event_id.push(header.event_id.get());
        self.correlation_id.push(header.correlation_id);
        self.client_msg_id.push(header.client_msg_id);
        self.event_type.push(header.event_type);
        self.schema_version.push(header.schema_version);
        self.origin.push(match header.origin {
            Origin::Live => 0,
            Origin::Import => 1,
        });
        self.msg_type.push(header.msg_type.map(i16::from));
        self.flags.push(header.flags.map(|flags| flags as i16));
        self.device.push(header.device.as_deref());
        self.chain.push(&header.chain);
        // What is appended has its body; only erasure takes it.
        if let Body::Present { salt, bytes } = body {
            self.salt.push(salt);
            self.bytes.push(bytes);
        }
    }

    pub async fn insert_bodies(
        &self,
        client: &Client,
        statements: &Statements,
        shard: &i16,
        seen: &i64,
    ) -> Inserted {
        let params: [&(dyn ToSql + Sync); 6] =
            [shard, seen, &self.position, &self.recorded_at, &self.salt, &self.bytes];
        client.execute(&statements.bodies, &params).await
    }

    pub async fn upsert_pieces(
        &self,
        client: &Client,
        statements: &Statements,
        shard: &i16,
        seen: &i64,
    ) -> Inserted {
        if self.piece_key.is_empty() {
            return Ok(0);
        }
        let params: [&(dyn ToSql + Sync); 5] =
            [shard, seen, &self.piece_stream, &self.piece_key, &self.piece_value];
        client.execute(&statements.pieces, &params).await
    }

    pub async fn insert_events(
        &self,
        client: &Client,
        statements: &Statements,
        shard: &i16,
        seen: &i64,
    ) -> Inserted {
        let params: [&(dyn ToSql + Sync); 19] = [
            shard,
            seen,
            &self.stream_id,
            &self.version,
            &self.position,
            &self.recorded_at,
            &self.actor,
            &self.msg_id,
            &self.create_at,
            &self.event_id,
            &self.correlation_id,
            &self.client_msg_id,
            &self.event_type,
            &self.schema_version,
            &self.origin,
            &self.msg_type,
            &self.flags,
            &self.device,
            &self.chain,
        ];
        client.execute(&statements.events, &params).await
    }
}
