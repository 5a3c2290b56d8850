//! `quipu serve`: the order in which things start, and the other way round in which they stop.

use std::{io, sync::Arc};

use tokio::{net::TcpListener, sync::watch};

use crate::{
    audit::{
        checkpointer,
        key::{self, AuditKeyError},
    },
    clock::SystemClock,
    config::Config,
    database::{Database, DatabaseError},
    durability,
    keys::{self, KeysError},
    migrate::{MigrateError, migrate},
    node::{Node, NodeError, NodeSettings},
    routes::router,
    server::{serve, signals, told},
};

/// Why the server did not start, or not stop cleanly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, or not ours.
    #[error("listen on {address}")]
    Listen {
        /// host:port.
        address: String,
        /// What went wrong.
        source: io::Error,
    },
    /// No signals.
    #[error("listen for signals")]
    Signals(#[source] io::Error),
    /// The keys.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The key that signs checkpoints.
    #[error(transparent)]
    AuditKey(#[from] AuditKeyError),
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The schema.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    /// What it acknowledges.
    #[error("ask the database whether it keeps what it acknowledges")]
    Durability(#[source] tokio_postgres::Error),
    /// The node.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The listener broke.
    #[error("serve")]
    Serve(#[source] io::Error),
}

/// Starts, serves until a signal, stops.
pub async fn run(config: Config) -> Result<(), ServeError> {
    // First of all, so that whoever is told to stop while starting stops in order, too.
    let stopped = signals().map_err(ServeError::Signals)?;
    let clock = Arc::new(SystemClock);
    let tokens = keys::tokens(&config, clock.clone())?;
    // Before the database, so that a taken port is told at once.
    let listener = listen(&config.listen).await?;
    let database = Database::open(&config).await?;
    let checkpoints =
        checkpointer::Settings { key: key::signing_key(&config)?, every: config.checkpoint_every };
    let settings = NodeSettings {
        tokens,
        limits: config.limits,
        instance: config.instance,
        clock,
        checkpoints,
        retention: config.retention,
    };
    let served = serve_on(listener, database.config(), settings, stopped).await;
    database.close(&config.data).await?;
    served
}

async fn serve_on(
    listener: TcpListener,
    database: &tokio_postgres::Config,
    settings: NodeSettings,
    stopped: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    let start = async {
        migrate(database).await?;
        durability::warn_of_what_is_off(database).await.map_err(ServeError::Durability)?;
        Ok::<_, ServeError>(Node::start(database, settings).await?)
    };
    let node = tokio::select! {
        node = start => node?,
        () = told(stopped.clone()) => return Ok(()),
    };
    if let Ok(address) = listener.local_addr() {
        tracing::info!("listening on http://{address}");
    }
    let served = serve(listener, router(node.app()), told(stopped)).await;
    node.stop().await;
    served.map_err(ServeError::Serve)
}

async fn listen(address: &str) -> Result<TcpListener, ServeError> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|source| ServeError::Listen { address: address.to_owned(), source })
}
