//! Claims an instance number in the database, so that no two processes make message ids under the same one.
//!
//! A claim reserves a window of time in which only its owner makes ids of its number. Windows of one number never
//! overlap, whatever the clocks do: a new one begins where the last one ended, or now if that is later. A process
//! that cannot renew makes no ids past its window.

use std::{error::Error, sync::Arc, time::Duration};

use deadpool_postgres::{Pool, PoolError};
use domain::{Ms, snowflake::INSTANCES};
use event_store::Clock;
use tokio::{sync::oneshot, task::JoinHandle};
use uuid::Uuid;

use crate::msg_ids::MsgIds;

const CLAIM: &str = include_str!("instance/claim.sql");
const RENEW: &str = include_str!("instance/renew.sql");
const RELEASE: &str = include_str!("instance/release.sql");

/// How far ahead a claim reserves, in ms: a restart of Postgres is survived, and the number of a process that
/// was killed is free again soon.
pub const WINDOW_MS: Ms = 10_000;

/// Three tries before a window ends.
const RENEW_EVERY: Duration = Duration::from_secs(3);

/// After a window has ended and somebody wants an id: no more often than this.
const RENEW_PAUSE: Duration = Duration::from_millis(100);

/// Another claim can be faster at each of these; so many at once are a mistake.
const CLAIM_ATTEMPTS_MAX: u32 = 64;

/// Why there is no instance number.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// The wished one is somebody else's.
    #[error(
        "claim instance number {number}: another process holds it; leave --instance out to get a free one, or wait \
         {WINDOW_MS} ms if that process is gone"
    )]
    Held {
        /// The wish.
        number: u16,
    },
    /// All 1024 are taken.
    #[error("claim an instance number: all {INSTANCES} are held")]
    AllHeld,
    /// No connection.
    #[error("{doing}: no connection to the database")]
    Pool {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: PoolError,
    },
    /// The database says no.
    #[error("{doing}")]
    Database {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: tokio_postgres::Error,
    },
}

/// A claimed number. Ids come as long as it is renewed, by hand or by [`Instance::keep`].
pub struct Instance {
    pool: Pool,
    clock: Arc<dyn Clock>,
    ids: MsgIds,
    owner: Uuid,
    wish: Option<u16>,
    number: u16,
}

impl Instance {
    /// Claims the lowest free number, or the wished one.
    pub async fn claim(
        pool: Pool,
        clock: Arc<dyn Clock>,
        owner: Uuid,
        wish: Option<u16>,
    ) -> Result<Self, InstanceError> {
        let ids = MsgIds::new(Arc::clone(&clock));
        let mut instance = Self { pool, clock, ids, owner, wish, number: 0 };
        instance.take().await?;
        Ok(instance)
    }

    /// The number, 0..=1023.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The ids of this number.
    pub fn ids(&self) -> MsgIds {
        self.ids.clone()
    }

    async fn take(&mut self) -> Result<(), InstanceError> {
        let doing = "claim an instance number";
        let (lowest, highest) = self.wish.map_or((0, INSTANCES - 1), |wish| (wish, wish));
        for _ in 0..CLAIM_ATTEMPTS_MAX {
            let client = self.pool.get().await.map_err(|source| InstanceError::Pool { doing, source })?;
            let row = client
                .query_opt(
                    CLAIM,
                    &[&self.owner, &self.clock.now(), &i32::from(lowest), &i32::from(highest), &WINDOW_MS],
                )
                .await
                .map_err(|source| InstanceError::Database { doing, source })?;
            match (row, self.wish) {
                (Some(row), _) => {
                    let (number, until): (i32, Ms) = (row.get(0), row.get(1));
                    self.number = u16::try_from(number).unwrap_or(0);
                    self.ids.open(self.number, until - WINDOW_MS, until);
                    return Ok(());
                }
                (None, Some(number)) => return Err(InstanceError::Held { number }),
                (None, None) => {}
            }
        }
        Err(InstanceError::AllHeld)
    }

    /// Moves the window's end on. If the number went to somebody else, claims another one, or the wished one again.
    pub async fn renew(&mut self) -> Result<(), InstanceError> {
        let doing = "renew the instance number";
        let client = self.pool.get().await.map_err(|source| InstanceError::Pool { doing, source })?;
        // Ids may have borrowed time ahead of the clock.
        let until = self.clock.now().max(self.ids.used_until()) + WINDOW_MS;
        let row = client
            .query_opt(RENEW, &[&i32::from(self.number), &self.owner, &until])
            .await
            .map_err(|source| InstanceError::Database { doing, source })?;
        drop(client);
        match row {
            Some(row) => {
                self.ids.extend(row.get(0));
                Ok(())
            }
            None => {
                tracing::warn!(
                    number = self.number,
                    "the instance number went to somebody else: claiming one again"
                );
                self.take().await
            }
        }
    }

    /// Gives the number back. No ids after this.
    pub async fn release(self) -> Result<(), InstanceError> {
        let doing = "give the instance number back";
        let used_until = self.ids.close();
        let client = self.pool.get().await.map_err(|source| InstanceError::Pool { doing, source })?;
        client
            .execute(RELEASE, &[&i32::from(self.number), &self.owner, &used_until])
            .await
            .map_err(|source| InstanceError::Database { doing, source })?;
        Ok(())
    }

    /// Renews in the background until it is told to release.
    pub fn keep(self) -> Keeper {
        let (stop, stopped) = oneshot::channel();
        Keeper { stop, task: tokio::spawn(keep(self, stopped)) }
    }
}

/// The background task that renews a claim.
pub struct Keeper {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Instance>,
}

impl Keeper {
    /// Stops renewing and gives the number back.
    pub async fn release(self) -> Result<(), InstanceError> {
        // If the task has ended, so has the claim.
        let _ = self.stop.send(());
        match self.task.await {
            Ok(instance) => instance.release().await,
            Err(_) => Ok(()),
        }
    }
}

async fn keep(mut instance: Instance, mut stopped: oneshot::Receiver<()>) -> Instance {
    let ids = instance.ids();
    loop {
        tokio::select! {
            _ = &mut stopped => return instance,
            () = tokio::time::sleep(RENEW_EVERY) => {}
            () = ids.wanted() => {}
        }
        if let Err(error) = instance.renew().await {
            let source = error.source().map(ToString::to_string);
            tracing::warn!(%error, source, "no message ids once the window ends");
        }
        tokio::time::sleep(RENEW_PAUSE).await;
    }
}
