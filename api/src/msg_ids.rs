//! Gives messages their ids, inside the window of time that [`crate::instance`] has claimed.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{Ms, MsgId, Snowflake, snowflake::LeaseOver};
use event_store::Clock;
use tokio::sync::Notify;

/// How long a command waits for a window that is being moved on: a round trip to a database that is there. A window
/// ends unnoticed while the process or its machine is stopped.
const WINDOW_WAIT: Duration = Duration::from_secs(1);

/// The one source of message ids of a process. Cheap to clone.
#[derive(Clone)]
pub struct MsgIds {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    window: Mutex<Window>,
    wanted: Notify,
    moved: Notify,
}

#[derive(Default)]
struct Window {
    snowflake: Option<Snowflake>,
    /// Times below it may be in ids.
    used_until: Ms,
}

impl MsgIds {
    /// Without a window there are no ids.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let (wanted, moved) = (Notify::new(), Notify::new());
        Self { shared: Arc::new(Shared { clock, window: Mutex::default(), wanted, moved }) }
    }

    /// The next id. An error where the window has ended and was not moved on in time: the database is away, or the
    /// clock has jumped ahead.
    pub fn next(&self) -> Result<MsgId, LeaseOver> {
        let now = self.shared.clock.now();
        let mut window = self.window();
        let made = window.snowflake.as_mut().map_or(Err(LeaseOver), |snowflake| snowflake.next(now));
        match made {
            Ok(id) => {
                window.used_until = id.time() + 1;
                Ok(id)
            }
            Err(over) => {
                self.shared.wanted.notify_one();
                Err(over)
            }
        }
    }

    /// As [`MsgIds::next`], but where the window has ended, waits a moment for the next one.
    pub async fn next_in_time(&self) -> Result<MsgId, LeaseOver> {
        // Asked for before looking, so that a window that moves in between is not missed.
        let moved = self.shared.moved.notified();
        match self.next() {
            Ok(id) => Ok(id),
            Err(_) => {
                // Whether it moved or the time is over: the answer is in the window.
                let _ = tokio::time::timeout(WINDOW_WAIT, moved).await;
                self.next()
            }
        }
    }

    /// Ids of `instance` with times in `from..until`, from now on. No other process may have any of these.
    pub fn open(&self, instance: u16, from: Ms, until: Ms) {
        *self.window() = Window { snowflake: Some(Snowflake::new(instance, from, until)), used_until: from };
        self.shared.moved.notify_waiters();
    }

    /// Moves the window's end; it never goes back.
    pub fn extend(&self, until: Ms) {
        if let Some(snowflake) = &mut self.window().snowflake {
            snowflake.extend(until);
        }
        self.shared.moved.notify_waiters();
    }

    /// No more ids. All that were given have times below the answer.
    pub fn close(&self) -> Ms {
        let mut window = self.window();
        window.snowflake = None;
        window.used_until
    }

    /// All ids that were given so far have times below it.
    pub fn used_until(&self) -> Ms {
        self.window().used_until
    }

    /// Resolves when somebody wanted an id and did not get one.
    pub async fn wanted(&self) {
        self.shared.wanted.notified().await;
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        // Nothing in here can panic half-way; a poisoned lock holds a good window.
        self.shared.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
