//! Appends batches of several shards: BEGIN, the locks, the rows, COMMIT, all on their way before the first answer comes.

use std::{borrow::Cow, collections::HashSet, time::Duration};

use deadpool_postgres::{Client, Object};
use domain::EventId;
use tokio_postgres::{Error, Statement, types::ToSql};
use uuid::Uuid;

use super::{
    Inner,
    conversations::Numbers,
    failure::{of_append, unavailable},
    group_commit::Job,
    rows,
};
use crate::{
    port::{Batch, StoreError},
    recorded::{Body, Origin, Recorded, StreamName},
    shard::Shard,
};

pub(super) const DOING: &str = "append a batch";

/// Longer than any lock wait and any fsync: past it the connection is taken for dead.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Appends those of these batches, of different shards, whose shards stand where they were seen and have nothing of what
/// was taken for absent. Answers which those were.
pub(super) async fn append(inner: &Inner, jobs: &[Job]) -> Result<HashSet<Shard>, StoreError> {
    let client = inner.client(DOING).await?;
    for job in jobs {
        ensure_month(inner, &client, &job.batch.events).await?;
    }
    let statements = Statements::prepare(&client).await?;
    let (expected, columns) =
        (Expected::of(jobs), Columns::of(jobs.iter().map(|job| (job.shard, &job.batch, &job.numbers))));
    let transaction = async {
        tokio::join!(
            client.batch_execute("begin"),
            expected.lock(&client, &statements),
            expected.standing(&client, &statements),
            columns.insert(&client, &statements),
            client.batch_execute("commit"),
        )
    };
    let answered = match tokio::time::timeout(ANSWER_TIMEOUT, transaction).await {
        // The first failure is the cause; those after it only say that the transaction is aborted.
        Ok((begun, locked, standing, inserted, committed)) => {
            begun.and(locked).and(standing).and_then(|standing| inserted.and(committed).map(|()| standing))
        }
        Err(elapsed) => {
            // Whatever this connection does, nobody listens any more.
            drop(Object::take(client));
            return Err(StoreError::Unknown { doing: DOING, source: elapsed.into() });
        }
    };
    match answered {
        Ok(standing) => Ok(standing.into_iter().map(|shard| Shard::new(shard as u16)).collect()),
        // Where there are several, each is tried alone to find out whose it is.
        Err(error) if jobs.len() == 1 && is_repeat(&error) => Ok(HashSet::new()),
        Err(error) => Err(of_append(DOING, error)),
    }
}

/// Is one of the events that were taken for new there already?
fn is_repeat(error: &Error) -> bool {
    error.as_db_error().is_some_and(|error| error.constraint() == Some("event_by_id"))
}

/// What has a short key in a batch, if all of it is appended; some more than once.
pub(super) fn cords(batch: &Batch) -> impl Iterator<Item = Cow<'_, str>> {
    let of_events = batch.events.iter().map(|event| event.header.stream.cord());
    of_events.chain(batch.pieces.iter().map(|piece| piece.stream.cord()))
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
    lock_free: Statement,
    standing: Statement,
    bodies: Statement,
    pieces: Statement,
    events: Statement,
}

impl Statements {
    pub async fn prepare(client: &Client) -> Result<Self, StoreError> {
        let prepare = async |sql| client.prepare_cached(sql).await.map_err(|error| unavailable(DOING, error));
        Ok(Self {
            lock: prepare(include_str!("lock_shard.sql")).await?,
            lock_free: prepare(include_str!("lock_shards.sql")).await?,
            standing: prepare(include_str!("standing_shards.sql")).await?,
            bodies: prepare(include_str!("insert_bodies.sql")).await?,
            pieces: prepare(include_str!("upsert_pieces.sql")).await?,
            events: prepare(include_str!("insert_events.sql")).await?,
        })
    }
}

/// What the batches rest on, as columns. Of what is taken for absent and appended the index itself says whether it is
/// there; the rest (of commands that were refused) is looked up.
#[derive(Default)]
struct Expected {
    shard: Vec<i16>,
    seen: Vec<i64>,
    absent_shard: Vec<i16>,
    absent_stream: Vec<i64>,
    absent_id: Vec<Uuid>,
}

impl Expected {
    fn of(jobs: &[Job]) -> Self {
        let mut expected = Self::default();
        for Job { shard, seen, batch, numbers, .. } in jobs {
            let shard = shard.get() as i16;
            expected.shard.push(shard);
            expected.seen.push(rows::position(*seen));
            let appended: HashSet<EventId> = batch.events.iter().map(|event| event.header.event_id).collect();
            for (stream, id) in batch.absent.iter().filter(|(_, id)| !appended.contains(id)) {
                // One that has no number has no events either.
                let Some(number) = numbers.get(&*stream.cord()) else { continue };
                expected.absent_shard.push(shard);
                expected.absent_stream.push(rows::stream_id(*number, stream.kind()));
                expected.absent_id.push(id.get());
            }
        }
        expected
    }

    async fn lock(&self, client: &Client, statements: &Statements) -> Result<(), Error> {
        client.query_one(&statements.lock_free, &[&self.shard]).await.map(drop)
    }

    async fn standing(&self, client: &Client, statements: &Statements) -> Result<Vec<i16>, Error> {
        let Self { shard, seen, absent_shard, absent_stream, absent_id } = self;
        let params: [&(dyn ToSql + Sync); 5] = [shard, seen, absent_shard, absent_stream, absent_id];
        client.query_one(&statements.standing, &params).await?.try_get(0)
    }
}

/// Batches as the columns that `unnest` takes.
#[derive(Default)]
pub(super) struct Columns<'a> {
    shard: Vec<i16>,
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
    piece_shard: Vec<i16>,
    piece_stream: Vec<i64>,
    piece_key: Vec<&'a str>,
    piece_value: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    pub fn of(batches: impl IntoIterator<Item = (Shard, &'a Batch, &'a Numbers)>) -> Self {
        let mut columns = Self::default();
        for (shard, batch, numbers) in batches {
            let id = |stream: &StreamName| {
                let number = numbers.get(&*stream.cord()).copied().unwrap_or_default();
                rows::stream_id(number, stream.kind())
            };
            for event in &batch.events {
                columns.push(id(&event.header.stream), event);
            }
            for piece in &batch.pieces {
                columns.piece_shard.push(shard.get() as i16);
                columns.piece_stream.push(id(&piece.stream));
                columns.piece_key.push(&piece.key);
                columns.piece_value.push(&piece.value);
            }
        }
        columns
    }

    fn push(&mut self, stream_id: i64, Recorded { header, body }: &'a Recorded) {
        self.shard.push(header.shard.get() as i16);
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

    /// Sends all of it; to be followed by COMMIT.
    pub async fn insert(&self, client: &Client, statements: &Statements) -> Result<(), Error> {
        let bodies: [&(dyn ToSql + Sync); 5] =
            [&self.shard, &self.position, &self.recorded_at, &self.salt, &self.bytes];
        let pieces: [&(dyn ToSql + Sync); 4] =
            [&self.piece_shard, &self.piece_stream, &self.piece_key, &self.piece_value];
        let events: [&(dyn ToSql + Sync); 18] = [
            &self.shard,
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
        let rows = (self.shard.len(), self.piece_key.len());
        // Headers first: of a repeat, which ends the transaction there, no word is written to the disk. It may be one of a
        // message that was erased.
        let (events, pieces, bodies) = tokio::join!(
            execute(client, &statements.events, &events, rows.0),
            execute(client, &statements.pieces, &pieces, rows.1),
            execute(client, &statements.bodies, &bodies, rows.0),
        );
        events.and(pieces).and(bodies)
    }
}

/// Nothing where there are no rows.
async fn execute(
    client: &Client,
    statement: &Statement,
    params: &[&(dyn ToSql + Sync)],
    rows: usize,
) -> Result<(), Error> {
    if rows > 0 { client.execute(statement, params).await.map(drop) } else { Ok(()) }
}
