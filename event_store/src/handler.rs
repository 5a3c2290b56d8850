//! Takes commands, decides them in order, appends what they come to, and answers once it is durable.
//!
//! One worker a shard. Commands of one conversation are decided one after another in order of arrival; everything
//! that waits in a shard goes into one group commit.

pub(crate) mod checked;
mod known;
mod limit;
pub(crate) mod pieces;
mod plan;
mod queue;
mod sequence;
mod worker;

use std::sync::{Arc, Mutex, PoisonError};

use domain::{Command, ConvId, Rejection, Reply};
use tokio::{sync::oneshot, task::JoinHandle};
use uuid::Uuid;

use crate::{port::EventStore, shard::Shard, surroundings::Surroundings};
pub use limit::{Limit, OverLimit};
pub use pieces::recall_of;
use queue::{Queue, Refused, Waiting};
pub use sequence::Sequence;

/// A command and whose it is.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is asked.
    pub command: Command,
    /// With which device; at most 64 bytes, checked at the door.
    pub device: Option<String>,
    /// The request that brought it, for the event's header.
    pub correlation_id: Uuid,
    /// It came too early: only a repeat, or what comes to no event, is answered.
    pub over_limit: Option<OverLimit>,
}

/// A request on its way through the worker.
struct Asked {
    conv: ConvId,
    request: Request,
    /// Those before it, if it rests on them.
    sequence: Option<Sequence>,
}

/// Why a command was not done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommandError {
    /// Refused, for a reason.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// Too many commands wait in this conversation or shard. Not done; try again.
    #[error("too many commands wait in this conversation")]
    Busy,
    /// This one came too early, or behind one that did. Not done; try again.
    #[error(transparent)]
    OverLimit(#[from] OverLimit),
    /// The log is away. Done or not, but never half: try again with the same ids.
    #[error("the log is unavailable")]
    Unavailable,
    /// The log will not take what is in it; nothing was done.
    #[error("the log refuses this command")]
    Refused,
}

/// The answer to a command that has been taken, when it comes.
pub struct Pending(oneshot::Receiver<Result<Reply, CommandError>>);

impl Pending {
    /// Waits for it. A worker that ends without an answer leaves the outcome open.
    pub async fn answer(self) -> Result<Reply, CommandError> {
        self.0.await.unwrap_or(Err(CommandError::Unavailable))
    }
}

/// Takes commands. Cheap to clone.
#[derive(Clone)]
pub struct CommandHandler {
    shards: Arc<Shards>,
}

struct Shards {
    queues: Vec<Arc<Queue>>,
    workers: Mutex<Vec<JoinHandle<()>>>,
}

impl Drop for Shards {
    fn drop(&mut self) {
        self.queues.iter().for_each(|queue| queue.close());
    }
}

impl CommandHandler {
    /// Starts one worker a shard. They end after [`CommandHandler::drain`], or when the last handler is dropped.
    pub fn start(store: &Arc<dyn EventStore>, surroundings: &Surroundings) -> Self {
        let mut queues = Vec::new();
        let mut workers = Vec::new();
        for shard in Shard::all(store.info().shards) {
            let queue = Arc::new(Queue::new());
            queues.push(Arc::clone(&queue));
            let (store, surroundings) = (Arc::clone(store), surroundings.clone());
            workers.push(tokio::spawn(supervise(shard, store, surroundings, queue)));
        }
        Self { shards: Arc::new(Shards { queues, workers: Mutex::new(workers) }) }
    }

    /// Takes no more commands and waits until all that were taken are answered.
    pub async fn drain(&self) {
        self.shards.queues.iter().for_each(|queue| queue.close());
        let workers =
            std::mem::take(&mut *self.shards.workers.lock().unwrap_or_else(PoisonError::into_inner));
        for worker in workers {
            // A worker that has panicked has said so.
            let _ = worker.await;
        }
    }

    /// Waits for the answer, which comes once the facts are durable.
    pub async fn handle(&self, conv: ConvId, request: Request) -> Result<Reply, CommandError> {
        self.submit(conv, request)?.answer().await
    }

    /// Takes a command without waiting for its answer. Those of one conversation are decided in the order in
    /// which they were taken. A full queue is [`CommandError::Busy`].
    pub fn submit(&self, conv: ConvId, request: Request) -> Result<Pending, CommandError> {
        let (answer, pending) = oneshot::channel();
        let queue = self.queue(&conv);
        match queue.push(conv, Waiting { request, answer, sequence: None }) {
            Ok(()) => Ok(Pending(pending)),
            Err(Refused::Full(_)) => Err(CommandError::Busy),
            Err(Refused::Closed) => Err(CommandError::Unavailable),
        }
    }

    /// As [`CommandHandler::submit`], but waits while the queue is full, and does nothing once the outcome of an
    /// earlier command of the sequence is unknown or one was over a limit.
    pub async fn submit_when_free(&self, sequence: &Sequence, conv: ConvId, request: Request) -> Pending {
        let (answer, pending) = oneshot::channel();
        let queue = self.queue(&conv);
        let mut waiting = Waiting { request, answer, sequence: Some(sequence.clone()) };
        loop {
            // Ask for the wake-up before looking, so that room made in between is not missed.
            let room = queue.room();
            match queue.push(conv.clone(), waiting) {
                Ok(()) | Err(Refused::Closed) => return Pending(pending),
                Err(Refused::Full(full)) => waiting = *full,
            }
            room.await;
        }
    }

    fn queue(&self, conv: &ConvId) -> &Queue {
        let queues = &self.shards.queues;
        &queues[usize::from(Shard::of(conv, queues.len() as u16).get())]
    }
}

/// A worker that panics loses its batch, whose callers hear that the outcome is unknown; the shard goes on.
async fn supervise(shard: Shard, store: Arc<dyn EventStore>, surroundings: Surroundings, queue: Arc<Queue>) {
    loop {
        let (store, queue) = (Arc::clone(&store), Arc::clone(&queue));
        let run = worker::run(shard, store, surroundings.clone(), queue);
        match tokio::spawn(run).await {
            Ok(()) => return,
            Err(error) => {
                tracing::error!(shard = shard.get(), %error, "a shard's worker died; starting it again")
            }
        }
    }
}
