//! What a compliance command at the command line works with: the database, the log, and the record of accesses.

use std::{error::Error, path::PathBuf, sync::Arc};

use domain::Sender;
use event_store::{
    AccessLog, Accessor, Action, Clock, Entropy, EventStore,
    postgres::{NewLog, PostgresEventStore, pool},
    surroundings::Surroundings,
};
use uuid::Uuid;

use super::Asked;
use crate::{
    clock::SystemClock,
    config::Config,
    database::Database,
    entropy::{SeededEntropy, uuid_v7},
    migrate::migrate,
};

/// Readers at a time, the record of accesses, and one that waits for wake-ups.
const CONNECTIONS: usize = 6;

/// The longest name of an account that stands in the record, in bytes, as of every device.
const ACCOUNT_BYTES_MAX: usize = 60;

/// Opened by one command and closed at its end.
pub struct Session {
    /// The log.
    pub store: Arc<dyn EventStore>,
    /// Tells the time and draws salts.
    pub surroundings: Surroundings,
    /// The record of accesses.
    pub accesses: AccessLog,
    database: Database,
    data: PathBuf,
    correlation_id: Uuid,
}

impl Session {
    /// Opens the database that the configuration names, or shares that of a running `serve`.
    pub async fn open(config: &Config) -> Result<Self, Box<dyn Error>> {
        let database = Database::open(config).await?;
        match Self::on(&database, config).await {
            Ok((store, surroundings, correlation_id)) => {
                let accesses = AccessLog::start(&store, &surroundings);
                let data = config.data.clone();
                Ok(Self { store, surroundings, accesses, database, data, correlation_id })
            }
            Err(error) => {
                database.close(&config.data).await?;
                Err(error)
            }
        }
    }

    async fn on(
        database: &Database,
        _config: &Config,
    ) -> Result<(Arc<dyn EventStore>, Surroundings, Uuid), Box<dyn Error>> {
        migrate(database.config()).await?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let entropy: Arc<dyn Entropy> = Arc::new(SeededEntropy::from_system()?);
        let id = || uuid_v7(clock.now(), &*entropy);
        let (new, correlation_id) = (NewLog { log_id: id(), at: clock.now() }, id());
        let pool = pool(database.config(), CONNECTIONS)?;
        let store = PostgresEventStore::open(pool, database.config(), new).await?;
        Ok((Arc::new(store), Surroundings { clock, entropy }, correlation_id))
    }

    /// How to connect.
    pub fn database(&self) -> &tokio_postgres::Config {
        self.database.config()
    }

    /// Who is recorded: the system, with the name of the account that runs this.
    pub fn accessor(&self) -> Accessor {
        Accessor { by: Sender::System, device: Some(device()), correlation_id: self.correlation_id }
    }

    /// Records what this command does, before it does it.
    pub async fn record(&self, action: Action, asked: Asked) -> Result<(), Box<dyn Error>> {
        Ok(self.accesses.record(self.accessor(), asked.access(action, true)).await?)
    }

    /// To be called at the end, whatever came of it.
    pub async fn close(self) -> Result<(), Box<dyn Error>> {
        let Self { store, accesses, database, data, .. } = self;
        accesses.drain().await;
        drop((accesses, store));
        Ok(database.close(&data).await?)
    }
}

/// `cli:<account>`, or its number; the environment is all that there is to ask, and whoever has the machine can change it.
fn device() -> String {
    let account = ["SUDO_USER", "USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let account = account.unwrap_or_else(|| format!("#{}", rustix::process::getuid().as_raw()));
    let account: String = account.chars().filter(|c| !c.is_control()).collect();
    let fits = (0..=account.len().min(ACCOUNT_BYTES_MAX)).rev().find(|end| account.is_char_boundary(*end));
    format!("cli:{}", &account[..fits.unwrap_or(0)])
}
