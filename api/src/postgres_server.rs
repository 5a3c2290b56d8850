//! The Postgres that `quipu serve` starts where no `--database` is given: one cluster in the data directory,
//! reached through a private socket, shared by all quipu processes on that directory, started again if it dies.
//! Knows nothing about what is stored in it.
//!
//! Below DATA: `postgres/` the cluster, `postgres.socket/` the socket (mode 0700), `postgres.log` what the
//! server prints, `postgres.start` and `postgres.users` the locks, `postgres.location` where the cluster is if
//! it had to go elsewhere.

mod account;
mod cluster;
mod error;
mod layout;
mod locks;
mod postmaster;
mod programs;
mod settings;
mod url;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::NoTls;

pub use error::PostgresServerError;
use layout::Layout;
use locks::{StartLock, UsersLock};
use programs::Programs;
pub use settings::Settings;
pub use url::url_of;

/// The database that quipu uses on its own server.
pub const DATABASE: &str = "quipu";

/// How often the supervisor looks for the server: reading two small files, so it may be often.
const WATCH_EVERY: Duration = Duration::from_millis(200);

/// The longest pause between two tries of the supervisor; it starts with `WATCH_EVERY` and doubles.
const REVIVE_RETRY_MAX: Duration = Duration::from_secs(30);

/// A running Postgres that this process uses, perhaps with others. Call [`PostgresServer::stop`] at the end;
/// merely dropped, the last user only asks the server to stop and does not wait for it.
#[derive(Debug)]
pub struct PostgresServer {
    parts: Arc<Parts>,
    config: tokio_postgres::Config,
    url: String,
    supervisor: Option<JoinHandle<()>>,
    users: Option<UsersLock>,
}

/// What it takes to start the server, and to start it again.
#[derive(Debug)]
struct Parts {
    layout: Layout,
    programs: Programs,
    settings: Settings,
}

impl PostgresServer {
    /// Starts the server of `data_dir`, or joins the one that runs there, and waits until it takes
    /// connections. Makes what is missing: the directory, the cluster, the database [`DATABASE`].
    ///
    /// A server that runs already keeps its settings.
    ///
    /// # Errors
    /// Where PostgreSQL is not installed, and where the system, initdb or the server say no.
    pub async fn start(data_dir: &Path, settings: Settings) -> Result<PostgresServer, PostgresServerError> {
        let layout = Layout::settle(data_dir)?;
        let programs = Programs::find(&layout.cluster)?;
        let turn = StartLock::acquire(&layout.start_lock).await?;
        let users = UsersLock::join(&layout.users_lock, &turn)?;
        cluster::ensure_made(&layout, &programs).await?;
        if users.is_last(&turn)? {
            postmaster::forget_stranger(&layout.cluster);
        }
        let config = postmaster::config(&layout, DATABASE);
        let url = url_of(&config);
        let parts = Arc::new(Parts { layout, programs, settings });
        parts.ensure_running(&turn).await?;
        ensure_database(&parts.layout).await?;
        Ok(PostgresServer { parts, config, url, supervisor: None, users: Some(users) })
    }

    /// Has a background task start the server again whenever it dies, with growing pauses and without end.
    /// Each death and each try is logged.
    pub fn supervise(&mut self) {
        if self.supervisor.is_none() {
            self.supervisor = Some(tokio::spawn(supervise(self.parts.clone())));
        }
    }

    /// How to connect to the database [`DATABASE`].
    pub fn config(&self) -> &tokio_postgres::Config {
        &self.config
    }

    /// The same as a URL, which psql understands too. The socket's directory is percent-encoded in it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The process id of the server, where it runs.
    pub fn pid(&self) -> Option<i32> {
        postmaster::running(&self.parts.layout.cluster).map(|pid| pid.as_raw_nonzero().get())
    }

    /// The directory of the cluster. In the data directory, unless its user cannot go there.
    pub fn cluster_dir(&self) -> &Path {
        &self.parts.layout.cluster
    }

    /// The directory of the socket.
    pub fn socket_dir(&self) -> &Path {
        &self.parts.layout.socket_dir
    }

    /// What the server prints.
    pub fn log(&self) -> &Path {
        &self.parts.layout.log
    }

    /// Starts the server if it is not running, as the supervisor would.
    ///
    /// # Errors
    /// As [`PostgresServer::start`].
    pub async fn revive(&self) -> Result<(), PostgresServerError> {
        self.parts.revive().await
    }

    /// Leaves the server, and stops it if nobody else uses it. Close all connections first: what they are
    /// doing is rolled back.
    ///
    /// # Errors
    /// Where the server outlives every signal.
    pub async fn stop(mut self) -> Result<(), PostgresServerError> {
        self.dismiss_supervisor();
        let Some(users) = self.users.take() else {
            return Ok(());
        };
        let turn = StartLock::acquire(&self.parts.layout.start_lock).await?;
        if users.is_last(&turn)? {
            postmaster::stop(&self.parts.layout.cluster).await?;
        }
        Ok(())
    }

    fn dismiss_supervisor(&mut self) {
        if let Some(supervisor) = self.supervisor.take() {
            supervisor.abort();
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.dismiss_supervisor();
        let Some(users) = self.users.take() else { return };
        let Some(turn) = StartLock::try_acquire(&self.parts.layout.start_lock) else {
            return;
        };
        if users.is_last(&turn).unwrap_or(false) {
            postmaster::ask_to_stop(&self.parts.layout.cluster);
        }
    }
}

impl Parts {
    async fn ensure_running(&self, _turn: &StartLock) -> Result<(), PostgresServerError> {
        postmaster::ensure_running(&self.layout, &self.programs, self.settings).await
    }

    async fn revive(&self) -> Result<(), PostgresServerError> {
        let turn = StartLock::acquire(&self.layout.start_lock).await?;
        self.ensure_running(&turn).await
    }
}

async fn supervise(parts: Arc<Parts>) {
    let mut retry = WATCH_EVERY;
    loop {
        tokio::time::sleep(retry).await;
        if postmaster::running(&parts.layout.cluster).is_some() {
            retry = WATCH_EVERY;
            continue;
        }
        tracing::error!("Postgres is gone: starting it again");
        match parts.revive().await {
            Ok(()) => {
                tracing::info!("Postgres takes connections again");
                retry = WATCH_EVERY;
            }
            Err(error) => {
                retry = (retry * 2).min(REVIVE_RETRY_MAX);
                tracing::error!(%error, retry_ms = retry.as_millis(), "Postgres does not start");
            }
        }
    }
}

async fn ensure_database(layout: &Layout) -> Result<(), PostgresServerError> {
    let failed = |source| PostgresServerError::Database { doing: "make our database", source };
    let (client, connection) = postmaster::config(layout, "postgres").connect(NoTls).await.map_err(failed)?;
    let work = async {
        let exists = "select from pg_database where datname = $1";
        if client.query_opt(exists, &[&DATABASE]).await?.is_none() {
            client.batch_execute(&format!("create database {DATABASE}")).await?;
        }
        Ok(())
    };
    // Dropping the connection with the client's work done closes it.
    tokio::select! {
        done = work => done.map_err(failed),
        ended = connection => ended.map_err(failed),
    }
}
