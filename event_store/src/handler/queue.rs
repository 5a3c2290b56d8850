//! What waits in one shard: a bounded queue for each conversation, served in turn, so that a hot group takes no
//! more than its turn.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use domain::{ConvId, Reply};
use tokio::sync::{Notify, futures::Notified, oneshot};

use super::{CommandError, Request, sequence::Sequence};

/// Commands that may wait in one conversation; at 10,000 sends/s in one group this is a tenth of a second.
const WAITING_PER_CONVERSATION_MAX: usize = 1024;
/// Commands that may wait in one shard; sixteen shards of these hold at most a few hundred MiB of texts.
const WAITING_PER_SHARD_MAX: usize = 8192;

/// A command and who waits for its answer.
pub(super) struct Waiting {
    pub request: Request,
    pub answer: oneshot::Sender<Result<Reply, CommandError>>,
    /// Those before it, if it rests on them.
    pub sequence: Option<Sequence>,
}

/// Why a command was not taken.
pub(super) enum Refused {
    /// No room; here it is again.
    Full(Box<Waiting>),
    /// The server is going down.
    Closed,
}

pub(super) struct Queue {
    lines: Mutex<Lines>,
    arrived: Notify,
    room: Notify,
    closed: AtomicBool,
}

#[derive(Default)]
struct Lines {
    by_conversation: HashMap<ConvId, VecDeque<Waiting>>,
    /// Conversations with something waiting, in the order of their turns.
    turns: VecDeque<ConvId>,
    waiting: usize,
}

impl Queue {
    pub fn new() -> Self {
        Self {
            lines: Mutex::default(),
            arrived: Notify::new(),
            room: Notify::new(),
            closed: AtomicBool::new(false),
        }
    }

    /// Gives the command back when its conversation's line, or the shard, is full.
    pub fn push(&self, conv: ConvId, waiting: Waiting) -> Result<(), Refused> {
        let mut lines = self.lines();
        // Under the lock: after `close` nothing comes in behind the worker's back.
        if self.closed.load(Ordering::Acquire) {
            return Err(Refused::Closed);
        }
        if lines.waiting >= WAITING_PER_SHARD_MAX {
            return Err(Refused::Full(Box::new(waiting)));
        }
        match lines.by_conversation.get_mut(&conv) {
            Some(line) if line.len() >= WAITING_PER_CONVERSATION_MAX => {
                return Err(Refused::Full(Box::new(waiting)));
            }
            Some(line) => line.push_back(waiting),
            None => {
                lines.turns.push_back(conv.clone());
                lines.by_conversation.insert(conv, VecDeque::from([waiting]));
            }
        }
        lines.waiting += 1;
        drop(lines);
        self.arrived.notify_one();
        Ok(())
    }

    /// Resolves when room has been made since this call.
    pub fn room(&self) -> Notified<'_> {
        self.room.notified()
    }

    /// Waits until something waits. False when the queue is closed and empty.
    pub async fn filled(&self) -> bool {
        loop {
            let arrived = self.arrived.notified();
            // Before the look, so that a close in between is seen after the next one.
            let closed = self.closed.load(Ordering::Acquire);
            if self.lines().waiting > 0 {
                return true;
            }
            if closed {
                return false;
            }
            arrived.await;
        }
    }

    /// At most `limit` of what waits: one of each conversation, round after round.
    pub fn take(&self, limit: usize) -> Vec<(ConvId, Waiting)> {
        let batch = self.lines().take(limit);
        self.room.notify_waiters();
        batch
    }

    /// After this the worker ends once nothing waits.
    pub fn close(&self) {
        let lines = self.lines();
        self.closed.store(true, Ordering::Release);
        drop(lines);
        self.arrived.notify_one();
        self.room.notify_waiters();
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        // Nothing in here can panic half-way; a poisoned lock holds good lines.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn take(&mut self, limit: usize) -> Vec<(ConvId, Waiting)> {
        let mut batch = Vec::with_capacity(limit.min(self.waiting));
        while batch.len() < limit
            && let Some(conv) = self.turns.pop_front()
        {
            let Some(line) = self.by_conversation.get_mut(&conv) else { continue };
            if let Some(waiting) = line.pop_front() {
                batch.push((conv.clone(), waiting));
            }
            if line.is_empty() {
                self.by_conversation.remove(&conv);
            } else {
                self.turns.push_back(conv);
            }
        }
        self.waiting -= batch.len();
        batch
    }
}

#[cfg(test)]
mod tests {
    use domain::{Command, Seq, Uid};
    use uuid::Uuid;

    use super::*;

    fn waiting(n: u64) -> Waiting {
        let command = Command::Read { uid: Uid::new(1).unwrap(), read_seq: Seq::new(n), at: 0 };
        let request = Request { command, device: None, correlation_id: Uuid::nil(), over_limit: None };
        Waiting { request, answer: oneshot::channel().0, sequence: None }
    }

    fn conv(name: &str) -> ConvId {
        ConvId::parse(&format!("grp-{name}")).unwrap()
    }

    fn number(waiting: &Waiting) -> u64 {
        match waiting.request.command {
            Command::Read { read_seq, .. } => read_seq.get(),
            _ => 0,
        }
    }

    #[tokio::test]
    async fn a_hot_group_takes_no_more_than_its_turn_and_keeps_its_order() {
        let queue = Queue::new();
        for n in 0..10 {
            assert!(queue.push(conv("hot"), waiting(n)).is_ok());
        }
        assert!(queue.push(conv("calm"), waiting(100)).is_ok());
        let order = |batch: Vec<(ConvId, Waiting)>| -> Vec<u64> {
            batch.iter().map(|(_, waiting)| number(waiting)).collect()
        };
        assert_eq!(order(queue.take(4)), [0, 100, 1, 2]);
        assert_eq!(order(queue.take(100)), [3, 4, 5, 6, 7, 8, 9]);
    }

    #[tokio::test]
    async fn a_full_line_gives_the_command_back_and_others_go_on() {
        let queue = Queue::new();
        for n in 0..WAITING_PER_CONVERSATION_MAX as u64 {
            assert!(queue.push(conv("hot"), waiting(n)).is_ok());
        }
        assert!(
            matches!(queue.push(conv("hot"), waiting(7)), Err(Refused::Full(back)) if number(&back) == 7)
        );
        assert!(queue.push(conv("calm"), waiting(0)).is_ok());
        queue.take(10);
        assert!(queue.push(conv("hot"), waiting(7)).is_ok());
    }

    #[tokio::test]
    async fn a_closed_queue_is_emptied_first() {
        let queue = Queue::new();
        assert!(queue.push(conv("a"), waiting(1)).is_ok());
        queue.close();
        assert!(matches!(queue.push(conv("a"), waiting(2)), Err(Refused::Closed)));
        assert!(queue.filled().await);
        assert_eq!(queue.take(10).len(), 1);
        assert!(!queue.filled().await);
    }
}
