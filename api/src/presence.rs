//! Who is online, and when others were last seen: over all nodes, and over restarts.
//!
//! Each node writes whom it has into a table: what has changed after a moment, everybody at a beat, and a good-bye at
//! its end. Who may ask about whom is not decided here.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use deadpool_postgres::Pool;
use domain::{Ms, Uid};
use event_store::{StoreError, postgres::pool};
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{MissedTickBehavior, interval, sleep, timeout},
};
use tokio_postgres::Config;

use crate::live::Hub;

/// One to write, the others to ask.
const CONNECTIONS: usize = 4;
/// How often everybody who is connected is written.
const BEAT: Duration = Duration::from_secs(10);
/// A node that has not written for this long has lost its people: two beats and some.
const FRESH_MS: i64 = 25_000;
/// What changes within this time is written together.
const GATHER: Duration = Duration::from_millis(300);
/// People in one statement: some tens of milliseconds.
const PEOPLE_AT_ONCE: usize = 5_000;
/// The good-byes of a node that ends may take this long; after it they are found out by themselves.
const GOODBYE_TIME_MAX: Duration = Duration::from_secs(3);

const MARK: &str = include_str!("presence/mark.sql");
const SEEN: &str = include_str!("presence/seen.sql");

/// How it is with a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Connected, somewhere?
    pub online: bool,
    /// When they were last seen; none where they never were.
    pub last_seen: Option<Ms>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum PresenceError {
    /// No connection.
    #[error("{doing}: no connection to the database")]
    Pool {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: deadpool_postgres::PoolError,
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

/// Answers who is online. Cheap to clone.
#[derive(Clone)]
pub struct Presence {
    pool: Pool,
    instance: u16,
    hub: Arc<Hub>,
}

/// Writes whom this node has, until it is stopped.
pub struct Keeper {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Presence {
    /// Starts writing. `instance` is this node's number, which no other running node has.
    pub fn start(database: &Config, instance: u16, hub: &Arc<Hub>) -> Result<(Self, Keeper), StoreError> {
        let mut database = database.clone();
        // A crash may take the last beats: the next ones say the same.
        let options = database.get_options().unwrap_or_default().to_owned();
        database.options(format!("{options} -c synchronous_commit=off"));
        let pool = pool(&database, CONNECTIONS)?;
        let presence = Self { pool, instance, hub: Arc::clone(hub) };
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(presence.clone().keep(stopped));
        Ok((presence, Keeper { stop, task }))
    }

    /// How it is with each of these people.
    pub async fn of(&self, people: &[Uid]) -> Result<HashMap<Uid, Seen>, PresenceError> {
        let doing = "read who was last seen when";
        let database = |source| PresenceError::Database { doing, source };
        let client = self.pool.get().await.map_err(|source| PresenceError::Pool { doing, source })?;
        let statement = client.prepare_cached(SEEN).await.map_err(database)?;
        let instance = i32::from(self.instance);
        let rows =
            client.query(&statement, &[&numbers(people), &instance, &FRESH_MS]).await.map_err(database)?;
        let mut seen = HashMap::with_capacity(rows.len());
        for row in rows {
            let uid: i64 = row.try_get(0).map_err(database)?;
            // They were asked for, so they are good.
            let Some(uid) = u64::try_from(uid).ok().and_then(|uid| Uid::new(uid).ok()) else { continue };
            let now: Ms = row.try_get(1).map_err(database)?;
            let last_seen: Option<Ms> = row.try_get(2).map_err(database)?;
            // Of those who are here the table only says how it was a moment ago.
            let online = self.hub.has(uid) || row.try_get(3).map_err(database)?;
            seen.insert(uid, Seen { online, last_seen: if online { Some(now) } else { last_seen } });
        }
        Ok(seen)
    }

    async fn keep(self, mut stopped: oneshot::Receiver<()>) {
        let mut changes = self.hub.changes();
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut written = HashSet::new();
        loop {
            let everybody = tokio::select! {
                _ = &mut stopped => break,
                _ = beat.tick() => true,
                // The hub outlives this: it is in here.
                Ok(()) = changes.changed() => {
                    sleep(GATHER).await;
                    changes.borrow_and_update();
                    false
                }
            };
            self.write(&mut written, &self.hub.people(), everybody).await;
        }
        if timeout(GOODBYE_TIME_MAX, self.write(&mut written, &[], false)).await.is_err() {
            tracing::warn!("those who were connected here are online for others up to {FRESH_MS} ms longer");
        }
    }

    /// Writes who has come and who has gone since the last time; or everybody.
    async fn write(&self, written: &mut HashSet<Uid>, here: &[Uid], everybody: bool) {
        let now: HashSet<Uid> = here.iter().copied().collect();
        let gone: Vec<Uid> = written.difference(&now).copied().collect();
        let come: Vec<Uid> = here.iter().copied().filter(|uid| everybody || !written.contains(uid)).collect();
        for (people, is_gone) in [(come, false), (gone, true)] {
            for some in people.chunks(PEOPLE_AT_ONCE) {
                if let Err(error) = self.mark(some, is_gone).await {
                    // What is not written counts as not written, and is with the next beat.
                    tracing::warn!(%error, "who is online is not told for the moment");
                    return;
                }
                for uid in some {
                    if is_gone {
                        written.remove(uid)
                    } else {
                        written.insert(*uid)
                    };
                }
            }
        }
    }

    async fn mark(&self, people: &[Uid], gone: bool) -> Result<(), PresenceError> {
        let doing = "write who is seen";
        let database = |source| PresenceError::Database { doing, source };
        let client = self.pool.get().await.map_err(|source| PresenceError::Pool { doing, source })?;
        let statement = client.prepare_cached(MARK).await.map_err(database)?;
        let instance = i32::from(self.instance);
        client.execute(&statement, &[&numbers(people), &instance, &gone]).await.map_err(database)?;
        Ok(())
    }
}

impl Keeper {
    /// Says good-bye for all who were here.
    pub async fn stop(self) {
        // A keeper that has ended has nothing more to say.
        let _ = self.stop.send(());
        let _ = self.task.await;
    }
}

fn numbers(people: &[Uid]) -> Vec<i64> {
    // A uid has 53 bits.
    people.iter().map(|uid| uid.get() as i64).collect()
}
