//! Brings a database's schema up to this binary's. One process at a time; a newer schema is refused.

use std::time::Duration;

pub use refinery::Report;
use tokio_postgres::{Client, Config, NoTls, error::SqlState};

mod embedded {
    refinery::embed_migrations!("../migrations");
}

/// Names the lock that a migrating process holds: "quipu" in ASCII.
const LOCK: i64 = 0x71_7569_7075;

/// How long another process may migrate before we give up.
const LOCK_TIME_MAX: Duration = Duration::from_secs(60);

/// Why the schema is not this binary's.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// Made by a later quipu.
    #[error(
        "migrate the database: its schema is version {found}, newer than version {known} that this quipu knows; \
         use the quipu that made it, or a newer one"
    )]
    Newer {
        /// The database's.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// Somebody else is at it.
    #[error("migrate the database: another process has been migrating it for {} s", LOCK_TIME_MAX.as_secs())]
    Locked,
    /// The database says no.
    #[error("{doing}")]
    Database {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: tokio_postgres::Error,
    },
    /// A migration failed, or one that was applied differs from ours.
    #[error("apply the migrations")]
    Apply(#[source] Box<refinery::Error>),
}

/// Where a database's schema stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schema {
    /// The database's; none before the first migration.
    pub found: Option<i64>,
    /// The newest that this binary knows.
    pub known: i64,
}

/// Applies what is missing. Returns what was applied.
pub async fn migrate(config: &Config) -> Result<Report, MigrateError> {
    let failed = |doing| move |source| MigrateError::Database { doing, source };
    let (mut client, connection) = config.connect(NoTls).await.map_err(failed("connect to the database"))?;
    let connection = tokio::spawn(connection);
    // Released when this connection closes.
    let timeout = LOCK_TIME_MAX.as_millis();
    // refinery makes its table if it is not there, and Postgres would remark on it each time that it is.
    let lock = format!(
        "set client_min_messages = warning; set lock_timeout = {timeout}; select pg_advisory_lock({LOCK}); \
         set lock_timeout = 0"
    );
    client.batch_execute(&lock).await.map_err(|source| match source.code() {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => MigrateError::Locked,
        _ => failed("wait for other processes that migrate")(source),
    })?;
    let Schema { found, known } = schema(&client).await.map_err(failed("read the schema's version"))?;
    if let Some(found) = found.filter(|found| *found > known) {
        return Err(MigrateError::Newer { found, known });
    }
    let applied = embedded::migrations::runner().run_async(&mut client).await;
    let report = applied.map_err(|error| MigrateError::Apply(Box::new(error)))?;
    for migration in report.applied_migrations() {
        tracing::info!(%migration, "migrated");
    }
    drop(client);
    // The lock goes with the connection, so wait for its end. How it ended does not matter any more.
    let _ = connection.await;
    Ok(report)
}

/// Asks where the schema stands.
pub async fn schema(client: &Client) -> Result<Schema, tokio_postgres::Error> {
    let known =
        embedded::migrations::runner().get_migrations().iter().map(|it| i64::from(it.version())).max();
    let known = known.unwrap_or(0);
    let history =
        "select from pg_tables where schemaname = current_schema() and tablename = 'refinery_schema_history'";
    if client.query_opt(history, &[]).await?.is_none() {
        return Ok(Schema { found: None, known });
    }
    let row = client.query_one("select max(version)::bigint from refinery_schema_history", &[]).await?;
    Ok(Schema { found: row.get(0), known })
}
