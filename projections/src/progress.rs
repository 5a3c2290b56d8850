//! How far the projector of this process has come: what waiters wait for and /readyz looks at.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use event_store::{Position, Shard};
use tokio::{
    sync::{Notify, watch},
    time::timeout,
};

/// Per shard where the read models and the log stand. Positions only go up.
#[derive(Debug)]
pub struct Progress {
    shards: Vec<ShardProgress>,
    /// Will it never go on?
    ended: watch::Sender<bool>,
}

#[derive(Debug)]
pub(crate) struct ShardProgress {
    position: watch::Sender<Position>,
    head: AtomicU64,
    parked: AtomicU64,
    failing: AtomicBool,
    nudged: Notify,
}

impl Progress {
    pub(crate) fn new(shards: u16) -> Self {
        let shard = |_| ShardProgress {
            position: watch::Sender::new(Position::START),
            head: AtomicU64::new(0),
            parked: AtomicU64::new(0),
            failing: AtomicBool::new(false),
            nudged: Notify::new(),
        };
        Self { shards: (0..shards).map(shard).collect(), ended: watch::Sender::new(false) }
    }

    pub(crate) fn shard(&self, shard: Shard) -> Option<&ShardProgress> {
        self.shards.get(usize::from(shard.get()))
    }

    /// Follows one shard's position; none for a shard that this log does not have.
    pub fn watch(&self, shard: Shard) -> Option<watch::Receiver<Position>> {
        self.shard(shard).map(|shard| shard.position.subscribe())
    }

    /// Nobody waits any longer: its generation is gone.
    pub(crate) fn end(&self) {
        self.ended.send_replace(true);
    }

    pub(crate) fn has_ended(&self) -> bool {
        *self.ended.borrow()
    }

    /// Has the projector look at once where it has not passed `position`.
    pub(crate) fn nudge(&self, shard: Shard, position: Position) {
        if let Some(progress) = self.shard(shard).filter(|progress| progress.position() < position) {
            progress.nudged.notify_one();
        }
    }

    /// Waits until the read models have passed `position`, and has the projector look at once. False after
    /// `patience`, and where they never will.
    pub async fn reached(&self, shard: Shard, position: Position, patience: Duration) -> bool {
        let Some(progress) = self.shard(shard) else { return false };
        let mut follower = progress.position.subscribe();
        let mut ended = self.ended.subscribe();
        let passed = async {
            while *follower.borrow_and_update() < position {
                // After each batch that did not come so far, too: somebody still waits.
                progress.nudged.notify_one();
                tokio::select! {
                    Ok(()) = follower.changed() => {}
                    _ = ended.wait_for(|ended| *ended) => return false,
                    else => return false,
                }
            }
            true
        };
        timeout(patience, passed).await.unwrap_or(false)
    }
}

impl ShardProgress {
    /// Positions only go up, whatever arrives.
    pub(crate) fn moved_to(&self, position: Position) {
        self.position.send_if_modified(|stands| {
            let higher = position > *stands;
            *stands = position.max(*stands);
            higher
        });
        self.head_is_at_least(position);
    }

    pub(crate) fn head_is_at_least(&self, head: Position) {
        self.head.fetch_max(head.get(), Ordering::Relaxed);
    }

    pub(crate) fn set_parked(&self, parked: usize) {
        self.parked.store(parked as u64, Ordering::Relaxed);
    }

    /// Answers what it was before.
    pub(crate) fn set_failing(&self, failing: bool) -> bool {
        self.failing.swap(failing, Ordering::Relaxed)
    }

    pub(crate) async fn nudged(&self) {
        self.nudged.notified().await;
    }

    pub(crate) fn position(&self) -> Position {
        *self.position.borrow()
    }

    pub(crate) fn head(&self) -> Position {
        Position::new(self.head.load(Ordering::Relaxed))
    }

    pub(crate) fn parked(&self) -> u64 {
        self.parked.load(Ordering::Relaxed)
    }

    pub(crate) fn failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }
}
