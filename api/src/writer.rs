//! The part of a node that takes commands: the log, an instance number, a handler. `serve` has more around it,
//! `import` has nothing else.

use std::sync::Arc;

use event_store::{
    AccessLog, Clock, CommandHandler, Entropy, EventStore, NotificationHandler,
    postgres::{NewLog, PostgresEventStore, pool},
    surroundings::Surroundings,
};
use tokio_postgres::Config;
use uuid::Uuid;

use crate::{
    entropy::{EntropyError, SeededEntropy, uuid_v7},
    instance::{Instance, InstanceError, Keeper},
    msg_ids::MsgIds,
};

/// One connection for each shard's worker, which holds no second one, and a few for those who read the log: the
/// projector, the live feed, and questions about where a conversation stands.
const LOG_CONNECTIONS: usize = event_store::shard::SHARDS as usize + 12;

/// Why there is no writer.
#[derive(Debug, thiserror::Error)]
pub enum WriterError {
    /// No random bytes.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The log.
    #[error("open the log")]
    Log(#[from] event_store::StoreError),
    /// The instance number.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}

/// Takes commands until it is stopped.
pub struct Writer {
    /// The log.
    pub store: Arc<dyn EventStore>,
    /// Takes the commands.
    pub commands: CommandHandler,
    /// Takes those about notifications.
    pub notifications: NotificationHandler,
    /// Records accesses by compliance.
    pub accesses: AccessLog,
    /// Makes messages' ids.
    pub msg_ids: MsgIds,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Draws salts and ids.
    pub entropy: Arc<dyn Entropy>,
    /// The claimed number.
    pub instance: u16,
    keeper: Keeper,
}

impl Writer {
    /// Opens the log of a migrated database, claims an instance number (this one, or a free one), starts a worker
    /// for each shard.
    pub async fn start(
        database: &Config,
        clock: Arc<dyn Clock>,
        instance: Option<u16>,
    ) -> Result<Self, WriterError> {
        let entropy: Arc<dyn Entropy> = Arc::new(SeededEntropy::from_system()?);
        let id = || uuid_v7(clock.now(), &*entropy);
        let pool = pool(database, LOG_CONNECTIONS)?;
        let new = NewLog { log_id: id(), at: clock.now() };
        let store = PostgresEventStore::open(pool.clone(), database, new).await?;
        let store: Arc<dyn EventStore> = Arc::new(store);
        let instance = Instance::claim(pool, Arc::clone(&clock), id(), instance).await?;
        let (number, msg_ids) = (instance.number(), instance.ids());
        let keeper = instance.keep();
        let surroundings = Surroundings { clock: Arc::clone(&clock), entropy: Arc::clone(&entropy) };
        let commands = CommandHandler::start(&store, &surroundings);
        let notifications = NotificationHandler::start(&store, &surroundings);
        let accesses = AccessLog::start(&store, &surroundings);
        Ok(Self {
            store,
            commands,
            notifications,
            accesses,
            msg_ids,
            clock,
            entropy,
            instance: number,
            keeper,
        })
    }

    /// A fresh id, for a correlation.
    pub fn id(&self) -> Uuid {
        uuid_v7(self.clock.now(), &*self.entropy)
    }

    /// Answers what was taken, then gives the instance number back.
    pub async fn stop(self) {
        self.commands.drain().await;
        self.notifications.drain().await;
        self.accesses.drain().await;
        if let Err(error) = self.keeper.release().await {
            tracing::warn!(%error, "the instance number is free again in {} ms", crate::instance::WINDOW_MS);
        }
    }
}
