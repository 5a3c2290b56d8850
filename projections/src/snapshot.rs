//! One answer, one moment: a REPEATABLE READ, READ ONLY transaction, begun in the round trip of its first questions.

use deadpool_postgres::{Object, Pool};
use futures_util::future::{join, join_all};
use tokio_postgres::{Row, Statement, types::ToSql};

use crate::query::QueryError;

const BEGIN: &str = "begin isolation level repeatable read read only";

/// A question: a statement and its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub sql: &'static str,
    pub params: &'a [&'a (dyn ToSql + Sync)],
}

/// The database at one moment. Ends when it is dropped, whoever loses interest.
pub(crate) struct Snapshot {
    /// None only while it is dropped.
    client: Option<Object>,
    doing: &'static str,
}

/// An error of Postgres or the pool, while we were doing this.
pub(crate) fn unavailable(
    doing: &'static str,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> QueryError {
    QueryError::Unavailable { doing, source: source.into() }
}

impl Snapshot {
    /// Opens one with its first questions, all in one round trip.
    pub(crate) async fn open<const N: usize>(
        pool: &Pool,
        doing: &'static str,
        asks: [Ask<'_>; N],
    ) -> Result<(Self, [Vec<Row>; N]), QueryError> {
        let client = pool.get().await.map_err(|error| unavailable(doing, error))?;
        let statements = prepare(&client, doing, &asks).await?;
        let snapshot = Self { client: Some(client), doing };
        let client = snapshot.client()?;
        let (begun, rows) = join(client.batch_execute(BEGIN), send(client, &statements, &asks)).await;
        begun.map_err(|error| unavailable(doing, error))?;
        let rows = answers(doing, rows)?;
        Ok((snapshot, rows))
    }

    /// Further questions of the same moment, all in one round trip.
    pub(crate) async fn ask<const N: usize>(&self, asks: [Ask<'_>; N]) -> Result<[Vec<Row>; N], QueryError> {
        let client = self.client()?;
        let statements = prepare(client, self.doing, &asks).await?;
        answers(self.doing, send(client, &statements, &asks).await)
    }

    /// An error of reading a row.
    pub(crate) fn failed(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> QueryError {
        unavailable(self.doing, source)
    }

    fn client(&self) -> Result<&Object, QueryError> {
        self.client.as_ref().ok_or_else(|| self.failed("the snapshot has ended"))
    }
}

async fn prepare(
    client: &Object,
    doing: &'static str,
    asks: &[Ask<'_>],
) -> Result<Vec<Statement>, QueryError> {
    let mut statements = Vec::with_capacity(asks.len());
    for ask in asks {
        let statement = client.prepare_cached(ask.sql).await;
        statements.push(statement.map_err(|error| unavailable(doing, error))?);
    }
    Ok(statements)
}

/// Sends all of them before it waits for the first answer.
async fn send(
    client: &Object,
    statements: &[Statement],
    asks: &[Ask<'_>],
) -> Vec<Result<Vec<Row>, tokio_postgres::Error>> {
    join_all(statements.iter().zip(asks).map(|(statement, ask)| client.query(statement, ask.params))).await
}

fn answers<const N: usize>(
    doing: &'static str,
    rows: Vec<Result<Vec<Row>, tokio_postgres::Error>>,
) -> Result<[Vec<Row>; N], QueryError> {
    let rows = rows.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| unavailable(doing, error))?;
    rows.try_into().map_err(|_| unavailable(doing, "an answer is missing"))
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let (Some(client), Ok(runtime)) = (self.client.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        // Nobody has to wait for it; whatever was sent before is answered before.
        runtime.spawn(async move {
            if client.batch_execute("commit").await.is_err() {
                drop(Object::take(client));
            }
        });
    }
}
