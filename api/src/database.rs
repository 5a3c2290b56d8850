//! The database: one that was named, or a PostgreSQL of our own in the data directory.

use std::path::Path;

use crate::{
    config::Config,
    postgres_server::{PostgresServer, PostgresServerError, Settings},
};

/// A database that may be used until it is closed.
pub struct Database {
    config: tokio_postgres::Config,
    own: Option<PostgresServer>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// Not shown in full: it may hold a password.
    #[error("read the database's URL: it is not like postgres://user:password@host:5432/name")]
    Url(#[source] tokio_postgres::Error),
    /// Ours does not start or stop.
    #[error("run a PostgreSQL in {data}")]
    Own {
        /// The data directory.
        data: String,
        /// What went wrong.
        source: Box<PostgresServerError>,
    },
}

impl Database {
    /// The named one, or our own, started and kept running.
    pub async fn open(config: &Config) -> Result<Self, DatabaseError> {
        if let Some(url) = &config.database {
            let config = url.parse().map_err(DatabaseError::Url)?;
            return Ok(Self { config, own: None });
        }
        let started = PostgresServer::start(&config.data, Settings::default()).await;
        let mut own = started.map_err(|source| failed(&config.data, source))?;
        own.supervise();
        Ok(Self { config: own.config().clone(), own: Some(own) })
    }

    /// How to connect.
    pub fn config(&self) -> &tokio_postgres::Config {
        &self.config
    }

    /// To be called when nobody is connected any more. Ours is stopped, unless another process uses it.
    pub async fn close(self, data: &Path) -> Result<(), DatabaseError> {
        match self.own {
            Some(own) => own.stop().await.map_err(|source| failed(data, source)),
            None => Ok(()),
        }
    }
}

fn failed(data: &Path, source: PostgresServerError) -> DatabaseError {
    DatabaseError::Own { data: data.display().to_string(), source: Box::new(source) }
}
