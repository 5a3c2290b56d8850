//! Turns the write-ahead log over: what was written before is in no segment any more, also not in those that lie ready
//! for later use.

use deadpool_postgres::{Object, Pool};

use super::{is_forbidden, query};
use crate::{port::StoreError, postgres::failure::unavailable};

const DOING: &str = "turn the write-ahead log over";
/// Segments that are gone through at most: 8 GiB.
const SEGMENTS_MAX: usize = 512;

/// What became of the write-ahead log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnedOver {
    /// Segments before.
    pub before: u64,
    /// Segments afterwards.
    pub after: u64,
    /// What keeps older segments, or why nothing could be done; none where all is turned over.
    pub left: Option<String>,
}

/// Turns it over, as far as this account may.
pub async fn turn_over(pool: &Pool) -> Result<TurnedOver, StoreError> {
    let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
    match turned_over(&client).await {
        Ok(turned_over) => Ok(turned_over),
        Err(error) if is_forbidden(&error) => Ok(TurnedOver {
            left: Some("this account may not turn the write-ahead log over; the server's owner can".into()),
            ..TurnedOver::default()
        }),
        Err(error) => Err(unavailable(DOING, error)),
    }
}

async fn turned_over(client: &Object) -> Result<TurnedOver, tokio_postgres::Error> {
    let before = segments(client).await?;
    // Segments that are done with are to be removed, not to lie ready under a later name with what they hold.
    let row = client.query_one("select current_setting('wal_recycle')", &[]).await?;
    let recycles = row.get::<_, &str>(0) == "on";
    if recycles {
        client.batch_execute("alter system set wal_recycle = off").await?;
        client.batch_execute("select pg_reload_conf()").await?;
        wait_for_setting(client, "off").await?;
    }
    let gone_through = go_through(client, &before).await;
    if recycles {
        client.batch_execute("alter system reset wal_recycle").await?;
        client.batch_execute("select pg_reload_conf()").await?;
    }
    gone_through?;
    let after = segments(client).await?;
    let old = after.iter().filter(|name| before.contains(*name)).count();
    let left = (old > 0).then(|| {
        format!("{old} older segments of the write-ahead log stay: a replica, an archive or wal_keep_size wants them")
    });
    Ok(TurnedOver { before: before.len() as u64, after: after.len() as u64, left })
}

/// Writes over everything that lies ready, and removes what is done with.
async fn go_through(client: &Object, before: &[String]) -> Result<(), tokio_postgres::Error> {
    client.batch_execute("checkpoint").await?;
    for _ in 0..SEGMENTS_MAX {
        // A segment without a record is not left.
        client.batch_execute("select pg_logical_emit_message(false, 'quipu', 'turn over')").await?;
        client.batch_execute("select pg_switch_wal()").await?;
        let row = client.query_one("select pg_walfile_name(pg_current_wal_lsn())", &[]).await?;
        let current: &str = row.get(0);
        // A name begins with the timeline; what comes after it is in order.
        if before.iter().all(|name| name.get(8..) < current.get(8..)) {
            break;
        }
    }
    client.batch_execute("checkpoint").await?;
    // The one before the last checkpoint's is needed until the next one.
    client.batch_execute("select pg_logical_emit_message(false, 'quipu', 'turn over')").await?;
    client.batch_execute("select pg_switch_wal()").await?;
    client.batch_execute("checkpoint").await
}

/// The names of the segments, ascending.
async fn segments(client: &Object) -> Result<Vec<String>, tokio_postgres::Error> {
    let rows = client.query(include_str!("segments.sql"), &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// A reload is taken up by each process in its own time: by ours between two statements, by the checkpointer before
/// its next checkpoint.
async fn wait_for_setting(client: &Object, wanted: &str) -> Result<(), tokio_postgres::Error> {
    for _ in 0..100 {
        let row = client.query_one("select current_setting('wal_recycle')", &[]).await?;
        if row.get::<_, &str>(0) == wanted {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Waits until no transaction of this database is open that began before now, for at most so long: while one is, a table
/// that is written anew keeps what it can still see. Answers whether there is none.
pub async fn no_older_transaction(pool: &Pool, longest: std::time::Duration) -> Result<bool, StoreError> {
    let doing = "wait for older transactions";
    let client = pool.get().await.map_err(|error| unavailable(doing, error))?;
    let row = client.query_one("select pg_current_xact_id()::text", &[]).await;
    let xid: String = row.map_err(|error| unavailable(doing, error))?.get(0);
    let until = tokio::time::Instant::now() + longest;
    loop {
        let rows = query(&client, doing, include_str!("older_transactions.sql"), &[&xid]).await?;
        if rows.first().is_some_and(|row| row.get::<_, i64>(0) == 0) {
            return Ok(true);
        }
        if tokio::time::Instant::now() >= until {
            return Ok(false);
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}
