//! Takes commands about notifications: one worker for the shard of the log's own streams.
//!
//! Everything that waits goes into one group commit, decided one after the other in the shard's exclusive turn: there
//! are few of these, and no node has to remember anything. A repeat is found by a piece of the stream, named by
//! sender and key; a watermark is a piece of the person's own stream.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{
    NotificationCommand, NotificationEvent, NotificationId, NotificationReply, Notifications, Posted, Uid,
};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use uuid::Uuid;

use crate::{
    chain::{self, Unsealed},
    codec,
    handler::CommandError,
    port::{Batch, EventStore, PieceWrite, ShardHead, StoreError, StreamHead, Turn},
    recorded::{Origin, Recorded, StreamName},
    shard::Shard,
    surroundings::Surroundings,
};

/// Commands that may wait; at most a few hundred MiB of contents.
const WAITING_MAX: usize = 4096;
/// Commands in one group commit.
const BATCH_COMMANDS_MAX: usize = 512;
/// How often a batch is tried when the log is away or its answer got lost; with the pauses between, about 3 s.
const ATTEMPTS_MAX: u32 = 6;
/// The pause before the second attempt; it doubles each time.
const PAUSE: Duration = Duration::from_millis(100);
/// The piece of an inbox that says how far its person has read.
const READ: &str = "read";

/// A command and whose it is.
#[derive(Debug, Clone)]
pub struct NotificationRequest {
    /// What is asked.
    pub command: NotificationCommand,
    /// With which device; at most 64 bytes, checked at the door.
    pub device: Option<String>,
    /// The request that brought it. Tells a repeat from the same request after its first outcome got lost.
    pub correlation_id: Uuid,
}

type Answer = Result<NotificationReply, CommandError>;

struct Waiting {
    request: NotificationRequest,
    answer: oneshot::Sender<Answer>,
}

/// Takes commands. Cheap to clone.
#[derive(Clone)]
pub struct NotificationHandler {
    shared: Arc<Shared>,
}

struct Shared {
    /// None once nothing more is taken.
    queue: Mutex<Option<mpsc::Sender<Waiting>>>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

impl NotificationHandler {
    /// Starts the worker. It ends after [`NotificationHandler::drain`], or when the last handler is dropped.
    pub fn start(store: &Arc<dyn EventStore>, surroundings: &Surroundings) -> Self {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let worker = Worker { store: Arc::clone(store), surroundings: surroundings.clone() };
        let worker = Mutex::new(Some(tokio::spawn(worker.run(waiting))));
        Self { shared: Arc::new(Shared { queue: Mutex::new(Some(queue)), worker }) }
    }

    /// Waits for the answer, which comes once the fact is durable. A full queue is [`CommandError::Busy`].
    pub async fn handle(&self, request: NotificationRequest) -> Answer {
        let (answer, answered) = oneshot::channel();
        let queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let queue = queue.ok_or(CommandError::Unavailable)?;
        queue.try_send(Waiting { request, answer }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => CommandError::Busy,
            mpsc::error::TrySendError::Closed(_) => CommandError::Unavailable,
        })?;
        // What waits here must not keep the queue open.
        drop(queue);
        answered.await.unwrap_or(Err(CommandError::Unavailable))
    }

    /// Takes no more commands and waits until all that were taken are answered.
    pub async fn drain(&self) {
        drop(self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let worker = self.shared.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(worker) = worker {
            // A worker that has panicked has said so.
            let _ = worker.await;
        }
    }
}

struct Worker {
    store: Arc<dyn EventStore>,
    surroundings: Surroundings,
}

impl Worker {
    /// Runs until the queue is closed and empty.
    async fn run(self, mut queue: mpsc::Receiver<Waiting>) {
        let mut waiting = Vec::new();
        while queue.recv_many(&mut waiting, BATCH_COMMANDS_MAX).await > 0 {
            let (requests, answers): (Vec<_>, Vec<_>) =
                waiting.drain(..).map(|Waiting { request, answer }| (request, answer)).unzip();
            let replies = self.commit(&requests).await;
            for (answer, reply) in answers.into_iter().zip(replies) {
                // Who asked may have gone; the fact stays.
                let _ = answer.send(reply);
            }
        }
    }

    /// One answer for each request, in order.
    async fn commit(&self, requests: &[NotificationRequest]) -> Vec<Answer> {
        let mut pause = PAUSE;
        for attempt in 1..=ATTEMPTS_MAX {
            let error = match self.in_a_turn(requests).await {
                Ok(answers) => return answers,
                Err(error) => error,
            };
            match error {
                StoreError::Refused { ref source, .. } => {
                    if requests.len() <= 1 {
                        tracing::warn!(%error, source = %source, "the log refuses a notification");
                        return vec![Err(CommandError::Refused)];
                    }
                    // Each half on its own, until the one that is refused stands alone.
                    let (left, right) = requests.split_at(requests.len() / 2);
                    let mut answers = Box::pin(self.commit(left)).await;
                    answers.extend(Box::pin(self.commit(right)).await);
                    return answers;
                }
                StoreError::Corrupt { .. } => {
                    tracing::error!(%error, "the log of notifications makes no sense");
                    break;
                }
                StoreError::Unavailable { ref source, .. } | StoreError::Unknown { ref source, .. } => {
                    tracing::warn!(attempt, %error, source = %source, "notifications were not appended");
                    if attempt < ATTEMPTS_MAX {
                        tokio::time::sleep(pause).await;
                        pause *= 2;
                    }
                }
            }
        }
        requests.iter().map(|_| Err(CommandError::Unavailable)).collect()
    }

    async fn in_a_turn(&self, requests: &[NotificationRequest]) -> Result<Vec<Answer>, StoreError> {
        let mut turn = self.store.turn(Shard::OWN).await?;
        let mut plan = Plan::load(&mut *turn, requests).await?;
        let answers = requests.iter().map(|request| plan.decide(request, &self.surroundings)).collect();
        turn.append(plan.batch).await?;
        Ok(answers)
    }
}

/// What is known in a turn, and what the requests come to.
struct Plan {
    shard: ShardHead,
    heads: HashMap<StreamName, StreamHead>,
    earlier: HashMap<(Uid, Uuid), Posted>,
    /// The correlation ids of the first times.
    first: HashMap<(Uid, Uuid), Uuid>,
    read: HashMap<Uid, NotificationId>,
    batch: Batch,
}

impl Plan {
    async fn load(turn: &mut dyn Turn, requests: &[NotificationRequest]) -> Result<Self, StoreError> {
        let mut people = BTreeSet::new();
        let mut keys = BTreeSet::new();
        for request in requests {
            match &request.command {
                NotificationCommand::Post { by, key, .. } => drop(keys.insert((*by, *key))),
                NotificationCommand::Read { uid, .. } => drop(people.insert(*uid)),
            }
        }
        let inboxes = people.iter().map(|uid| StreamName::Inbox(*uid));
        let streams: Vec<StreamName> = inboxes.chain([StreamName::Notification]).collect();
        let reads = people.iter().map(|uid| (StreamName::Inbox(*uid), READ.to_owned()));
        let posts = keys.iter().map(|(by, key)| (StreamName::Notification, key_text(*by, *key)));
        let looked = turn.look(&streams, &reads.chain(posts).collect::<Vec<_>>()).await?;
        let (reads, posts) = looked.pieces.split_at(people.len());
        let mut plan = Self {
            shard: turn.head(),
            heads: streams.into_iter().zip(looked.heads).collect(),
            earlier: HashMap::new(),
            first: HashMap::new(),
            read: HashMap::new(),
            batch: Batch::default(),
        };
        for (uid, piece) in people.into_iter().zip(reads) {
            plan.read.insert(uid, NotificationId::new(number(piece.as_deref().unwrap_or("0"))?));
        }
        for (key, piece) in keys.into_iter().zip(posts) {
            if let Some(version) = piece {
                let first = turn.read_stream(&StreamName::Notification, number(version)?, 1).await?;
                let first = first.into_iter().next().ok_or_else(|| corrupt("a notification is missing"))?;
                plan.first.insert(key, first.header.correlation_id);
                plan.earlier.insert(key, posted(&first)?);
            }
        }
        Ok(plan)
    }

    fn decide(&mut self, request: &NotificationRequest, surroundings: &Surroundings) -> Answer {
        let mut state = Notifications { head: self.newest(), ..Notifications::default() };
        match &request.command {
            NotificationCommand::Post { by, key, .. } => {
                state.earlier = self.earlier.get(&(*by, *key)).cloned();
                let same = self.first.get(&(*by, *key)) == Some(&request.correlation_id);
                if let Some(earlier) = &mut state.earlier {
                    earlier.duplicate = !same;
                }
            }
            NotificationCommand::Read { uid, .. } => {
                state.read_id = self.read.get(uid).copied().unwrap_or_default();
            }
        }
        let (fact, reply) = state.decide(&request.command)?;
        if let Some((event_id, event)) = fact {
            let (actor, stream) = match &event {
                NotificationEvent::Sent { by, .. } => (*by, StreamName::Notification),
                NotificationEvent::Read { uid, .. } => (*uid, StreamName::Inbox(*uid)),
            };
            let unsealed = Unsealed {
                event_id,
                encoded: codec::encode_notification(&event),
                actor: actor.get(),
                device: request.device.clone(),
                origin: Origin::Live,
                correlation_id: request.correlation_id,
            };
            let head = self.heads.entry(stream.clone()).or_default();
            let (now, salt) = (surroundings.clock.now(), surroundings.entropy.salt());
            let recorded = chain::seal(unsealed, Shard::OWN, stream, &mut self.shard, head, now, salt);
            self.note(&request.command, &recorded, event);
            self.batch.events.push(recorded);
        }
        Ok(reply)
    }

    /// What later commands of the batch must know, and what is written with the event.
    fn note(&mut self, command: &NotificationCommand, recorded: &Recorded, event: NotificationEvent) {
        let stream = recorded.header.stream.clone();
        let (key, value) = match (command, event) {
            (NotificationCommand::Post { by, key, .. }, NotificationEvent::Sent { notification, at, .. }) => {
                let id = NotificationId::new(recorded.header.version);
                let posted = Posted { id, at, notification: Some(notification), duplicate: true };
                self.earlier.insert((*by, *key), posted);
                self.first.insert((*by, *key), recorded.header.correlation_id);
                (key_text(*by, *key), recorded.header.version)
            }
            (_, NotificationEvent::Read { uid, read_id, .. }) => {
                self.read.insert(uid, read_id);
                (READ.to_owned(), read_id.get())
            }
            (NotificationCommand::Read { .. }, NotificationEvent::Sent { .. }) => return,
        };
        // Of several values in one batch the last one stands.
        self.batch.pieces.retain(|piece| (&piece.stream, &piece.key) != (&stream, &key));
        self.batch.pieces.push(PieceWrite { stream, key, value: value.to_string() });
    }

    fn newest(&self) -> NotificationId {
        let head = self.heads.get(&StreamName::Notification).copied().unwrap_or_default();
        NotificationId::new(head.version)
    }
}

fn posted(recorded: &Recorded) -> Result<Posted, StoreError> {
    let id = NotificationId::new(recorded.header.version);
    match codec::decode_notification(recorded) {
        Ok(NotificationEvent::Sent { notification, at, .. }) => {
            Ok(Posted { id, at, notification: Some(notification), duplicate: true })
        }
        Err(codec::DecodeError::Erased) => {
            Ok(Posted { id, at: recorded.header.recorded_at, notification: None, duplicate: true })
        }
        Ok(NotificationEvent::Read { .. }) | Err(_) => Err(corrupt("a notification makes no sense")),
    }
}

fn key_text(by: Uid, key: Uuid) -> String {
    format!("key/{by}/{}", key.hyphenated())
}

fn number(piece: &str) -> Result<u64, StoreError> {
    piece.parse().map_err(|_| corrupt("a piece of the notifications is not a number"))
}

fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt { doing: "read what a command about notifications rests on", what: what.into() }
}

#[cfg(test)]
mod tests;
