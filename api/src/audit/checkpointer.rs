//! Makes signed checkpoints while a node serves. Several nodes on one log make them in turn: each looks when the newest
//! one was made, and where two are at it at once, one wins and the other is content.

use std::{sync::Arc, time::Duration};

use ed25519_dalek::SigningKey;
use event_store::{
    EventStore, StoreError,
    postgres::proof::{LogReader, Made, make_checkpoint, newest},
    surroundings::Surroundings,
};
use tokio::{task::JoinHandle, time::sleep};

/// At least between two looks, where they are not to be made more often.
const PAUSE: Duration = Duration::from_secs(5);
/// After a failure. One that lasts, such as a previous checkpoint that cannot be read, is said again and again.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(60);

/// Who signs, and how often.
#[derive(Clone)]
pub struct Settings {
    /// Signs them.
    pub key: SigningKey,
    /// The time between two; none for never.
    pub every: Option<Duration>,
}

/// Works until it is stopped.
pub struct Checkpointer(JoinHandle<()>);

impl Checkpointer {
    /// None where none are to be made.
    pub fn start(
        reader: &LogReader,
        store: &Arc<dyn EventStore>,
        surroundings: Surroundings,
        Settings { key, every }: Settings,
    ) -> Option<Self> {
        let (reader, store) = (reader.clone(), Arc::clone(store));
        every.map(|every| Self(tokio::spawn(run(reader, store, surroundings, key, every))))
    }

    /// An append under way is done or not done, never half.
    pub async fn stop(self) {
        self.0.abort();
        // Aborted, or panicked and has said so.
        let _ = self.0.await;
    }
}

async fn run(
    reader: LogReader,
    store: Arc<dyn EventStore>,
    surroundings: Surroundings,
    key: SigningKey,
    every: Duration,
) {
    // A node that starts often must not put it off for ever, so what counts is the newest one in the log.
    let mut wait = Duration::ZERO;
    loop {
        sleep(wait).await;
        wait = match look(&reader, &*store, &surroundings, &key, every).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "no checkpoint was made");
                PAUSE_AFTER_FAILURE.min(every)
            }
        };
    }
}

/// Makes one if it is time, and says when to look again.
async fn look(
    reader: &LogReader,
    store: &dyn EventStore,
    surroundings: &Surroundings,
    key: &SigningKey,
    every: Duration,
) -> Result<Duration, StoreError> {
    let now = surroundings.clock.now();
    let age = newest(reader).await?.map(|it| now.saturating_sub(it.unsigned.at).max(0) as u64);
    let left = age.map_or(Duration::ZERO, |age| every.saturating_sub(Duration::from_millis(age)));
    if !left.is_zero() {
        return Ok(left.max(PAUSE.min(every)));
    }
    loop {
        match make_checkpoint(reader, store, key, surroundings).await? {
            Made::Checkpoint { checkpoint, more } => {
                tracing::info!(number = checkpoint.unsigned.number, more, "a checkpoint was made");
                if !more {
                    return Ok(every);
                }
            }
            Made::NothingNew => return Ok(every),
            Made::AnotherNode => return Ok(PAUSE.min(every)),
        }
    }
}
