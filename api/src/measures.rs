//! The recorder behind `/metrics`. Everybody records through the `metrics` crate; here it is collected.

use std::{sync::OnceLock, time::Duration};

use deadpool_postgres::Pool;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::time::timeout;

/// Bounds of duration histograms, in seconds: from a cached page to where patience ends.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// A scrape waits no longer for Postgres.
const SIZES_TIME_MAX: Duration = Duration::from_secs(1);

/// How often the histograms' samples are counted up, so that they do not pile up where nobody scrapes.
const UPKEEP_EVERY: Duration = Duration::from_secs(10);

/// Starts recording, once in a process; later calls get the same recorder.
pub fn recorder() -> Result<PrometheusHandle, BuildError> {
    static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();
    if let Some(handle) = RECORDER.get() {
        return Ok(handle.clone());
    }
    let builder =
        PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)?;
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    // If two came at once, one recorder is installed, and it is the one that is answered from here on.
    if metrics::set_global_recorder(recorder).is_ok() {
        return Ok(RECORDER.get_or_init(|| handle).clone());
    }
    Ok(RECORDER.get().cloned().unwrap_or(handle))
}

/// Sizes that only Postgres knows, asked for when somebody scrapes.
pub struct Sizes(Pool);

impl Sizes {
    /// Through a pool in which nobody else waits.
    pub fn new(pool: Pool) -> Self {
        Self(pool)
    }

    /// Asks, within a bounded time; where Postgres does not answer, what was known before stands.
    pub async fn measure(&self) {
        if let Ok(Err(error)) = timeout(SIZES_TIME_MAX, self.ask()).await {
            tracing::debug!(%error, "the sizes of the database were not measured");
        }
    }

    async fn ask(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let client = self.0.get().await?;
        let statement = client.prepare_cached(include_str!("measures/sizes.sql")).await?;
        let row = client.query_one(&statement, &[]).await?;
        metrics::gauge!("quipu_postgres_wal_bytes").set(row.try_get::<_, f64>(0)?);
        metrics::gauge!("quipu_postgres_database_bytes").set(row.try_get::<_, f64>(1)?);
        Ok(())
    }
}

/// Keeps the recorder small; never ends.
pub async fn upkeep(handle: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        handle.run_upkeep();
    }
}
