//! Takes commands, decides them in order, appends what they come to, and answers once it is durable.
//!
//! One worker a shard. Commands of one conversation are decided one after another in order of arrival; everything
//! that waits in a shard goes into one group commit.

pub(crate) mod checked;
pub(crate) mod pieces;
mod queue;
mod worker;

use std::sync::Arc;

use domain::{Command, ConvId, Rejection, Reply};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::{
    port::EventStore,
    shard::Shard,
    surroundings::Surroundings,
};
use queue::{Queue, Waiting};

/// A command and whose it is.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is asked.
    pub command: Command,
    /// With which device; at most 64 bytes, checked at the door.
    pub device: Option<String>,
    /// The request that brought it, for the event's header.
    pub correlation_id: Uuid,
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
    queues: Arc<Vec<Arc<Queue>>>,
}

impl CommandHandler {
    /// Starts one worker a shard. They end when the last handler is dropped and their queues are empty.
    pub fn start(store: Arc<dyn EventStore>, surroundings: Surroundings) -> Self {
        let shards = store.info().shards;
        let queues = Shard::all(shards).map(|shard| {
            let queue = Arc::new(Queue::new());
            tokio::spawn(worker::run(shard, Arc::clone(&store), surroundings.clone(), Arc::downgrade(&queue)));
            queue
        });
        Self { queues: Arc::new(queues.collect()) }
    }

    /// Waits for the answer, which comes once the facts are durable.
    pub async fn handle(&self, conv: ConvId, request: Request) -> Result<Reply, CommandError> {
        self.submit(conv, request)?.answer().await
    }

    /// Takes a command without waiting for its answer. Those of one conversation are decided in the order in
    /// which they were taken. A full queue is [`CommandError::Busy`].
    pub fn submit(&self, conv: ConvId, request: Request) -> Result<Pending, CommandError> {
        let (answer, pending) = oneshot::channel();
        let queue = &self.queues[self.shard(&conv)];
        queue.push(conv, Waiting { request, answer }).map_err(|_| CommandError::Busy)?;
        Ok(Pending(pending))
    }

    /// As [`CommandHandler::submit`], but waits while the queue is full: for imports.
    pub async fn submit_when_free(&self, conv: ConvId, request: Request) -> Pending {
        let (answer, pending) = oneshot::channel();
        let queue = &self.queues[self.shard(&conv)];
        let mut waiting = Waiting { request, answer };
        loop {
            // Ask for the wake-up before looking, so that room made in between is not missed.
            let room = queue.room();
            match queue.push(conv.clone(), waiting) {
                Ok(()) => return Pending(pending),
                Err(refused) => waiting = refused,
            }
            room.await;
        }
    }

    fn shard(&self, conv: &ConvId) -> usize {
        usize::from(Shard::of(conv, self.queues.len() as u16).get())
    }
}
