//! Writes the files anew in which bodies of messages lie, after some of them were taken out: a row that is updated or
//! deleted stays in its file, also after vacuum, until something is written over it.

use std::time::Duration;

use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tokio_postgres::{Config, NoTls, error::SqlState};

use crate::{
    generations::{GenerationError, Generations, State, failed},
    projection::Projection,
    rebuild::Rebuild,
};

/// How long it waits for a table, since everybody waits behind it.
const LOCK_TIME_MAX: Duration = Duration::from_millis(500);
/// The pause between two tries: those who waited behind are let through.
const PAUSE: Duration = Duration::from_millis(200);
/// After so long it gives up on a table.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long it waits for the projectors to pass what the log has, and between two looks.
const BEHIND_MAX: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A table whose files were written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// With its schema.
    pub table: String,
    /// Bytes on disk before, with indices.
    pub bytes_before: u64,
    /// And afterwards.
    pub bytes_after: u64,
}

/// Why it was not done, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// Of Postgres.
    #[error("{doing}")]
    Database {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: tokio_postgres::Error,
    },
}

/// Builds a generation from the log, which has those bodies no more, has it serve, and drops the one before with its
/// files: nobody waits. None where a generation is kept for a rollback, or somebody else is building one.
pub async fn build_anew(generations: &Generations) -> Result<Option<Vec<Rewritten>>, GenerationError> {
    const OF: Projection = Projection::Conversation;
    match generations.two(OF).await?.1.map(|other| other.state) {
        None => {}
        // What it holds already may be from before.
        Some(State::Interrupted) => drop(generations.drop(OF).await?),
        Some(State::Kept | State::Building | State::Serving) => return Ok(None),
    }
    let before = sizes(generations).await?;
    let rebuild = match Rebuild::begin(generations, OF).await {
        Ok(rebuild) => rebuild,
        Err(GenerationError::Left(_) | GenerationError::Running(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let never = watch::Sender::new(false);
    if let Err(error) = rebuild.run(false, &mut |_| {}, &never.subscribe()).await {
        // It is of no use to anybody, and in the way of the next one.
        drop(generations.drop(OF).await);
        return Err(error);
    }
    generations.drop(OF).await?;
    let after = sizes(generations).await?;
    // Of each two tables, the same in both, in the same order.
    let rewritten =
        |((_, bytes_before), (table, bytes_after))| Rewritten { table, bytes_before, bytes_after };
    Ok(Some(before.into_iter().zip(after).map(rewritten).collect()))
}

/// The tables of bodies with their bytes on disk.
async fn sizes(generations: &Generations) -> Result<Vec<(String, u64)>, GenerationError> {
    let client = generations.pool().get().await?;
    let rows = client.query(include_str!("tables_of_bodies.sql"), &[]).await;
    let rows = rows.map_err(failed(Projection::Conversation, "measure the read models"))?;
    Ok(rows.iter().map(|row| (row.get(0), row.get::<_, i64>(1) as u64)).collect())
}

/// How the files are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Written anew: nothing is left, and each table stands still meanwhile.
    Anew,
    /// Vacuumed: room is made for what comes, and nobody waits.
    Vacuumed,
}

/// What became of the files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cleaned {
    /// By table.
    pub tables: Vec<Rewritten>,
    /// A generation that did not pass the log's heads in time: what it takes out later stays in its files.
    pub behind: Option<i32>,
}

/// Every generation's tables of bodies, once each generation has passed what the log has now.
pub async fn clean(config: &Config, how: How) -> Result<Cleaned, FilesError> {
    let failed = |doing| move |source| FilesError::Database { doing, source };
    let doing = "connect to the read models";
    let (client, connection) = config.connect(NoTls).await.map_err(failed(doing))?;
    let connection = tokio::spawn(connection);
    let cleaned = clean_with(&client, how).await;
    drop(client);
    // It ends with its client; whatever it says is said by the statements, too.
    let _ = connection.await;
    cleaned
}

async fn clean_with(client: &tokio_postgres::Client, how: How) -> Result<Cleaned, FilesError> {
    let failed = |doing| move |source| FilesError::Database { doing, source };
    let doing = "write the files of the read models anew";
    let settings = format!("set lock_timeout = {}; set statement_timeout = 0", LOCK_TIME_MAX.as_millis());
    client.batch_execute(&settings).await.map_err(failed(doing))?;
    let behind = wait(client).await?;
    let tables = client.query(include_str!("tables_of_bodies.sql"), &[]).await.map_err(failed(doing))?;
    let mut cleaned = Cleaned { behind, ..Cleaned::default() };
    for row in tables {
        let (table, before): (String, i64) = (row.get(0), row.get(1));
        let sql = match how {
            How::Anew => format!("vacuum (full) {table}"),
            How::Vacuumed => format!("vacuum {table}"),
        };
        let until = Instant::now() + PATIENCE;
        while let Err(error) = client.batch_execute(&sql).await {
            match error.code() {
                // Dropped meanwhile, by somebody who has no use for its generation any more.
                Some(state) if *state == SqlState::UNDEFINED_TABLE => break,
                Some(state) if *state == SqlState::LOCK_NOT_AVAILABLE && Instant::now() < until => {
                    sleep(PAUSE).await;
                }
                _ => return Err(failed(doing)(error)),
            }
        }
        let after = client.query_one("select pg_total_relation_size(to_regclass($1))", &[&table]).await;
        let after = after.map_err(failed(doing))?.get::<_, Option<i64>>(0).unwrap_or(0);
        cleaned.tables.push(Rewritten { table, bytes_before: before as u64, bytes_after: after as u64 });
    }
    Ok(cleaned)
}

/// Until every generation has passed the heads of this moment; answers one that has not in time.
async fn wait(client: &tokio_postgres::Client) -> Result<Option<i32>, FilesError> {
    let doing = "wait for the read models";
    let failed = |source| FilesError::Database { doing, source };
    let heads = client.query(include_str!("heads.sql"), &[]).await.map_err(failed)?;
    let (shards, heads): (Vec<i32>, Vec<i64>) =
        heads.iter().map(|row| (row.get::<_, i32>(0), row.get::<_, i64>(1))).unzip();
    let until = Instant::now() + BEHIND_MAX;
    loop {
        let behind =
            client.query_opt(include_str!("behind.sql"), &[&shards, &heads]).await.map_err(failed)?;
        match behind {
            None => return Ok(None),
            Some(row) if Instant::now() >= until => return Ok(Some(row.get(0))),
            Some(_) => sleep(LOOK_EVERY).await,
        }
    }
}
