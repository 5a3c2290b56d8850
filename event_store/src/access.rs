//! Who has looked at what other people said: each access by compliance, also each that was refused, is an event in
//! the `audit` stream before its answer goes out.
//!
//! One worker a node appends what waits in one turn of the log's own shard. What cannot be recorded is not given: there
//! is no second attempt here, whoever asks may ask again.

use std::sync::{Arc, Mutex, PoisonError};

use domain::{EventId, Sender};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use uuid::Uuid;

use crate::{
    chain::{self, Unsealed},
    codec::{self, DecodeError, Encoded},
    port::{Batch, EventStore, StoreError},
    recorded::{Origin, Recorded, StreamName},
    shard::Shard,
    surroundings::Surroundings,
};

/// The number of AccessRecorded among the event types of the log.
pub const ACCESS_RECORDED: i16 = 42;
/// The form in which it is written.
const SCHEMA_VERSION: i16 = 1;
/// Accesses that may wait; a full queue refuses.
const WAITING_MAX: usize = 1024;
/// Accesses in one group commit.
const BATCH_MAX: usize = 256;

/// What is done. Names are part of the data: never renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Reads all events of a conversation.
    Replay,
    /// Reads one message.
    Message,
    /// Reads what somebody could see at a moment.
    AsOf,
    /// Recomputes chains.
    Verify,
    /// Reads the record of accesses.
    Accesses,
    /// Reads holds.
    ShowHold,
    /// Places a hold.
    PlaceHold,
    /// Lifts a hold.
    LiftHold,
    /// Asks for a person's erasure.
    Erase,
    /// Reads how an erasure goes.
    ShowErasure,
    /// Takes out a conversation's events.
    ExportConversation,
    /// Takes out what a person may see.
    ExportPerson,
}

impl Action {
    /// As it stands in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Message => "message",
            Self::AsOf => "as_of",
            Self::Verify => "verify",
            Self::Accesses => "accesses",
            Self::ShowHold => "show_hold",
            Self::PlaceHold => "place_hold",
            Self::LiftHold => "lift_hold",
            Self::Erase => "erase",
            Self::ShowErasure => "show_erasure",
            Self::ExportConversation => "export_conversation",
            Self::ExportPerson => "export_person",
        }
    }
}

/// An access, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// An [`Action`]'s name.
    pub action: String,
    /// At what: a conv_id, a uid, a msg_id, or nothing for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What else was asked: bounds, viewer, reason.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub detail: Map<String, Value>,
    /// Was it given?
    pub allowed: bool,
}

/// Who accesses, and how.
#[derive(Debug, Clone)]
pub struct Accessor {
    /// The person; the system is an operator at the command line.
    pub by: Sender,
    /// With which device; at most 64 bytes.
    pub device: Option<String>,
    /// The request.
    pub correlation_id: Uuid,
}

/// Why an access was not recorded, and is therefore not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// Too many wait.
    #[error("too many accesses wait to be recorded")]
    Busy,
    /// The log does not answer.
    #[error("the access cannot be recorded at present")]
    Unavailable,
}

struct Waiting {
    accessor: Accessor,
    access: Access,
    answer: oneshot::Sender<Result<(), AccessError>>,
}

/// Records accesses. Cheap to clone.
#[derive(Clone)]
pub struct AccessLog {
    shared: Arc<Shared>,
}

struct Shared {
    /// None once nothing more is taken.
    queue: Mutex<Option<mpsc::Sender<Waiting>>>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

impl AccessLog {
    /// Starts the worker. It ends after [`AccessLog::drain`], or when the last one is dropped.
    pub fn start(store: &Arc<dyn EventStore>, surroundings: &Surroundings) -> Self {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let worker = tokio::spawn(run(Arc::clone(store), surroundings.clone(), waiting));
        let shared = Shared { queue: Mutex::new(Some(queue)), worker: Mutex::new(Some(worker)) };
        Self { shared: Arc::new(shared) }
    }

    /// Waits until it is durable.
    pub async fn record(&self, accessor: Accessor, access: Access) -> Result<(), AccessError> {
        let (answer, answered) = oneshot::channel();
        let queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let queue = queue.ok_or(AccessError::Unavailable)?;
        queue.try_send(Waiting { accessor, access, answer }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => AccessError::Busy,
            mpsc::error::TrySendError::Closed(_) => AccessError::Unavailable,
        })?;
        // What waits here must not keep the queue open.
        drop(queue);
        answered.await.unwrap_or(Err(AccessError::Unavailable))
    }

    /// Takes no more and waits until all that were taken are recorded.
    pub async fn drain(&self) {
        drop(self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let worker = self.shared.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(worker) = worker {
            // A worker that has panicked has said so.
            let _ = worker.await;
        }
    }
}

/// Runs until the queue is closed and empty.
async fn run(store: Arc<dyn EventStore>, surroundings: Surroundings, mut queue: mpsc::Receiver<Waiting>) {
    let mut waiting = Vec::new();
    while queue.recv_many(&mut waiting, BATCH_MAX).await > 0 {
        let recorded = append(&*store, &surroundings, &waiting).await;
        if let Err(error) = &recorded {
            tracing::warn!(%error, accesses = waiting.len(), "accesses were not recorded, and are refused");
        }
        for Waiting { answer, .. } in waiting.drain(..) {
            // Who asked may have gone; the record stays.
            let _ = answer.send(recorded.as_ref().copied().map_err(|_| AccessError::Unavailable));
        }
    }
}

async fn append(
    store: &dyn EventStore,
    surroundings: &Surroundings,
    waiting: &[Waiting],
) -> Result<(), StoreError> {
    let mut turn = store.turn(Shard::OWN).await?;
    let mut shard = turn.head();
    let looked = turn.look(&[StreamName::Audit], &[]).await?;
    let mut head = looked.heads.first().copied().unwrap_or_default();
    let now = surroundings.clock.now();
    let mut batch = Batch::default();
    for Waiting { accessor, access, .. } in waiting {
        let unsealed = Unsealed {
            event_id: EventId::accessed(head.version),
            encoded: encode(access),
            actor: accessor.by.get(),
            device: accessor.device.clone(),
            origin: Origin::Live,
            correlation_id: accessor.correlation_id,
        };
        let salt = surroundings.entropy.salt();
        let stream = StreamName::Audit;
        batch.events.push(chain::seal(unsealed, Shard::OWN, stream, &mut shard, &mut head, now, salt));
    }
    turn.append(batch).await
}

/// Texts and JSON: serialising these into memory cannot fail.
fn encode(access: &Access) -> Encoded {
    let body = serde_json::to_vec(access).unwrap_or_default();
    Encoded { event_type: ACCESS_RECORDED, schema_version: SCHEMA_VERSION, body, message: None }
}

/// The access that an event of the `audit` stream records.
pub fn decode(recorded: &Recorded) -> Result<Access, DecodeError> {
    Ok(serde_json::from_slice(codec::own_body(recorded, &[ACCESS_RECORDED], SCHEMA_VERSION)?)?)
}

#[cfg(test)]
mod tests {
    use domain::{Ms, Uid};

    use super::*;
    use crate::{
        memory::MemoryEventStore,
        surroundings::{Clock, Entropy},
    };

    struct Still;

    impl Clock for Still {
        fn now(&self) -> Ms {
            7
        }
    }

    impl Entropy for Still {
        fn salt(&self) -> [u8; 16] {
            [3; 16]
        }
    }

    fn access(allowed: bool) -> Access {
        let detail = Map::from_iter([("viewer".to_owned(), Value::from(7))]);
        Access { action: Action::AsOf.name().into(), subject: Some("p2p-1-2".into()), detail, allowed }
    }

    fn accessor(n: u64) -> Accessor {
        let by = Sender::Person(Uid::new(n).unwrap());
        Accessor { by, device: None, correlation_id: Uuid::from_u128(n.into()) }
    }

    #[tokio::test]
    async fn each_is_recorded_in_one_chain_and_the_refused_too() {
        let store: Arc<dyn EventStore> = Arc::new(MemoryEventStore::new(Uuid::nil()));
        let surroundings = Surroundings { clock: Arc::new(Still), entropy: Arc::new(Still) };
        let log = AccessLog::start(&store, &surroundings);
        let both =
            tokio::join!(log.record(accessor(1), access(true)), log.record(accessor(2), access(false)));
        assert_eq!(both, (Ok(()), Ok(())));
        log.record(accessor(3), access(true)).await.unwrap();
        log.drain().await;
        assert_eq!(log.record(accessor(4), access(true)).await, Err(AccessError::Unavailable));
        let events = store.read_stream(&StreamName::Audit, 1, 10).await.unwrap();
        let told: Vec<_> = events.iter().map(|it| (it.header.actor, decode(it).unwrap())).collect();
        assert_eq!(told, [(1, access(true)), (2, access(false)), (3, access(true))]);
        let mut previous = [0; 32];
        for event in &events {
            assert_eq!(
                chain::link(&previous, &event.header, &chain::body_digest(&event.body)),
                event.header.chain
            );
            previous = event.header.chain;
        }
    }

    #[test]
    fn the_golden_file_is_written_and_read() {
        let golden = include_str!("../golden/access_recorded.v1.json").trim_end();
        assert_eq!(String::from_utf8(encode(&access(true)).body).unwrap(), golden);
        assert_eq!(serde_json::from_str::<Access>(golden).unwrap(), access(true));
    }
}
