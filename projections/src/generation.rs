//! One generation of the read models: a schema, and connections that look into it.

use std::time::Duration;

use deadpool_postgres::{
    BuildError, Manager, ManagerConfig, Pool, PoolError, QueueMode, RecyclingMethod, Runtime,
};
use tokio_postgres::{Config, NoTls};

use crate::CONVERSATION;

/// How long one waits for a connection before the answer is "unavailable": by then hundreds wait.
const CONNECTION_WAIT: Duration = Duration::from_secs(5);
/// No statement of a read model works longer, and no transaction stays idle longer: an old snapshot stalls vacuum.
const STATEMENT_TIMEOUT_S: u32 = 5;

/// A generation and its pool. Cheap to clone; clones share the pool.
#[derive(Clone)]
pub struct Generation {
    number: i32,
    pool: Pool,
}

/// Why a generation cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The pool's settings are wrong.
    #[error("make a connection pool for the read models")]
    Build(#[from] BuildError),
    /// The database is away.
    #[error("connect to the read models")]
    Connect(#[from] PoolError),
    /// The tables are not there, or do not answer.
    #[error("ask which generation of the read models serves")]
    Ask(#[from] tokio_postgres::Error),
}

impl Generation {
    /// Opens the generation of conversations that serves, with a pool of `connections` of its own. Projector and
    /// queries each want one, so that neither waits for the other.
    pub async fn serving(config: &Config, connections: usize) -> Result<Self, OpenError> {
        Self::serving_of(CONVERSATION, config, connections).await
    }

    /// The same of another group of read models, by its name.
    pub async fn serving_of(
        projection: &str,
        config: &Config,
        connections: usize,
    ) -> Result<Self, OpenError> {
        let client = pool(config, "", 1)?.get().await?;
        let row = client.query_one(include_str!("serving.sql"), &[&projection]).await?;
        Self::numbered(projection, config, row.try_get(0)?, connections)
    }

    /// Opens a generation by its number.
    pub(crate) fn numbered(
        projection: &str,
        config: &Config,
        number: i32,
        connections: usize,
    ) -> Result<Self, OpenError> {
        let path = format!("-c search_path={projection}_g{number},public");
        Ok(Self { number, pool: pool(config, &path, connections)? })
    }

    /// Its number, from 1.
    pub fn number(&self) -> i32 {
        self.number
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// Every statement here probes keys, so the planner is not asked: a plan made for an empty table, and kept for the
/// life of a connection, would scan what an import has filled since. Nor is it asked again: planning a page's
/// statements took five times as long as running them.
pub const PLANS: &str = "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c enable_material=off \
                     -c jit=off -c plan_cache_mode=force_generic_plan";

pub(crate) fn pool(config: &Config, path: &str, connections: usize) -> Result<Pool, BuildError> {
    let mut config = config.clone();
    let given = config.get_options().unwrap_or_default().to_owned();
    let limits = format!(
        "-c statement_timeout={STATEMENT_TIMEOUT_S}s -c idle_in_transaction_session_timeout={STATEMENT_TIMEOUT_S}s"
    );
    config.options(format!("{given} {path} {limits} {PLANS}"));
    if config.get_application_name().is_none() {
        config.application_name("quipu");
    }
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    Pool::builder(Manager::from_config(config, NoTls, recycling))
        .max_size(connections)
        // The connection that was used last has what it needs in memory, and so has its process in Postgres.
        .queue_mode(QueueMode::Lifo)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(CONNECTION_WAIT))
        .create_timeout(Some(CONNECTION_WAIT))
        .build()
}
