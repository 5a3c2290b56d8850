//! Stopwatch, medians, percentiles, and what the database says of itself.

use std::time::{Duration, Instant};

use tests::{Cluster, TestDatabase};
use tokio_postgres::Client;

/// How long something took.
#[expect(clippy::disallowed_methods, reason = "measures durations")]
pub async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let done = work.await;
    (done, start.elapsed())
}

/// The middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Of sorted durations, in milliseconds.
pub fn percentile(sorted: &[Duration], of_hundred: usize) -> f64 {
    let at = (sorted.len() * of_hundred / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(f64::NAN, |duration| duration.as_secs_f64() * 1000.0)
}

/// The machine and its Postgres, so that a figure can be placed.
pub async fn fingerprint(cluster: &Cluster) -> String {
    let database = cluster.database();
    let version: String =
        database.connect().await.query_one("show server_version", &[]).await.unwrap().get(0);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown CPU");
    format!(
        "{cores} cores of {model}; PostgreSQL {version}, synchronous_commit=on, fsync on; all on this machine\n"
    )
}

/// Bytes of WAL written and of disk used so far.
pub async fn bytes(client: &Client) -> (f64, f64) {
    let sql =
        "select (pg_current_wal_insert_lsn() - '0/0')::float8, pg_database_size(current_database())::float8";
    let row = client.query_one(sql, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

/// Bytes on disk of a schema's tables, with their indexes.
pub async fn schema_bytes(client: &Client, schema: &str) -> f64 {
    let sql = "select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 from pg_class c
                where c.relnamespace = $1::text::regnamespace and c.relkind = 'r'";
    client.query_one(sql, &[&schema]).await.unwrap().get(0)
}

/// Vacuums, so that what is measured on disk is what stays.
pub async fn settle(database: &TestDatabase) -> Client {
    let client = database.connect().await;
    // Two calls: several statements in one are a transaction, where nothing is vacuumed.
    client.batch_execute("vacuum analyze").await.unwrap();
    client.batch_execute("checkpoint").await.unwrap();
    client
}
