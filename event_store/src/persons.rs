//! Takes commands about persons: holds on what they said, and their erasure. Few and far between, so each takes the
//! turn at the shard of the log's own streams by itself.
//!
//! What stands is a piece of the person's stream, under the same key as of conversations, so that holds of both kinds
//! are found in one place.

use std::{sync::Arc, time::Duration};

use domain::{Erasure, EventId, Hold, Ms, PersonCommand, PersonReply, PersonState, Reason, Sender, Uid};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    access::Accessor,
    chain::{self, Unsealed},
    codec,
    handler::{CommandError, pieces::KEEPING},
    port::{Batch, EventStore, PieceWrite, StoreError},
    recorded::{Origin, StreamName},
    shard::Shard,
    surroundings::Surroundings,
};

/// How often a command is tried when the log is away or its answer got lost: a repeat changes nothing.
const ATTEMPTS_MAX: u32 = 4;
/// Before the second attempt; doubled each time.
const PAUSE: Duration = Duration::from_millis(100);

/// By whom, why, when: as in `handler/pieces.rs`.
type Said = (u64, String, Ms);

#[derive(Serialize, Deserialize, Default)]
struct Piece {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold: Option<Said>,
    /// Is there one that has not come to its end? Read by a trigger of the database.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    erasing: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    erasure: Option<(Said, Option<(Ms, String)>)>,
}

/// Takes commands. Cheap to clone.
#[derive(Clone)]
pub struct Persons {
    store: Arc<dyn EventStore>,
    surroundings: Surroundings,
}

impl Persons {
    /// Of this log.
    pub fn new(store: &Arc<dyn EventStore>, surroundings: &Surroundings) -> Self {
        Self { store: Arc::clone(store), surroundings: surroundings.clone() }
    }

    /// Answers once the fact is durable.
    pub async fn handle(
        &self,
        uid: Uid,
        accessor: &Accessor,
        command: &PersonCommand,
    ) -> Result<PersonReply, CommandError> {
        let mut pause = PAUSE;
        for attempt in 1..=ATTEMPTS_MAX {
            match self.in_a_turn(uid, accessor, command).await {
                Ok(decided) => return decided,
                Err(error @ (StoreError::Refused { .. } | StoreError::Corrupt { .. })) => {
                    tracing::error!(%uid, %error, "a command about a person cannot be done");
                    return Err(CommandError::Refused);
                }
                Err(error) => {
                    tracing::warn!(%uid, attempt, %error, "a command about a person is not done yet")
                }
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        Err(CommandError::Unavailable)
    }

    /// What stands.
    pub async fn state(&self, uid: Uid) -> Result<PersonState, StoreError> {
        let mut turn = self.store.turn(Shard::OWN).await?;
        let looked = turn.look(&[], &[(StreamName::Person(uid), KEEPING.to_owned())]).await?;
        turn.append(Batch::default()).await?;
        read(looked.pieces.into_iter().next().flatten().as_deref())
    }

    async fn in_a_turn(
        &self,
        uid: Uid,
        accessor: &Accessor,
        command: &PersonCommand,
    ) -> Result<Result<PersonReply, CommandError>, StoreError> {
        let stream = StreamName::Person(uid);
        let mut turn = self.store.turn(Shard::OWN).await?;
        let looked =
            turn.look(std::slice::from_ref(&stream), &[(stream.clone(), KEEPING.to_owned())]).await?;
        let mut head = looked.heads.first().copied().unwrap_or_default();
        let mut state = read(looked.pieces.into_iter().next().flatten().as_deref())?;
        let mut batch = Batch::default();
        let event = match state.decide(command) {
            Ok(event) => event,
            Err(rejection) => {
                turn.append(batch).await?;
                return Ok(Err(rejection.into()));
            }
        };
        let changed = event.is_some();
        if let Some(event) = event {
            let unsealed = Unsealed {
                event_id: EventId::of_person(uid, head.version),
                encoded: codec::encode_person(&event),
                actor: event.by().get(),
                device: accessor.device.clone(),
                origin: Origin::Live,
                correlation_id: accessor.correlation_id,
            };
            let (now, salt) = (self.surroundings.clock.now(), self.surroundings.entropy.salt());
            let mut shard = turn.head();
            batch.events.push(chain::seal(
                unsealed,
                Shard::OWN,
                stream.clone(),
                &mut shard,
                &mut head,
                now,
                salt,
            ));
            state.evolve(event);
            batch.pieces.push(PieceWrite { stream, key: KEEPING.to_owned(), value: write(&state) });
        }
        turn.append(batch).await?;
        Ok(Ok(state.reply(command, changed)))
    }
}

/// Of an operator at the command line, or of the server itself.
pub fn by_system(correlation_id: Uuid) -> Accessor {
    Accessor { by: Sender::System, device: None, correlation_id }
}

fn write(PersonState { hold, erasure }: &PersonState) -> String {
    let said = |Hold { by, reason, at }: &Hold| (by.get(), reason.as_str().to_owned(), *at);
    let piece = Piece {
        hold: hold.as_ref().map(said),
        erasing: erasure.as_ref().is_some_and(|erasure| erasure.done.is_none()),
        erasure: erasure.as_ref().map(|Erasure { asked, done }| (said(asked), done.clone())),
    };
    // Numbers and strings: serialising these into memory cannot fail.
    serde_json::to_string(&piece).unwrap_or_default()
}

fn read(piece: Option<&str>) -> Result<PersonState, StoreError> {
    let corrupt = |what: String| StoreError::Corrupt { doing: "read what stands about a person", what };
    let Some(piece) = piece else { return Ok(PersonState::default()) };
    let Piece { hold, erasing: _, erasure } =
        serde_json::from_str(piece).map_err(|error| corrupt(error.to_string()))?;
    let said = |(by, reason, at): Said| {
        let by = Sender::new(by).map_err(|error| corrupt(error.to_string()))?;
        Ok(Hold { by, reason: Reason::from_log(reason), at })
    };
    let erasure = match erasure {
        Some((asked, done)) => Some(Erasure { asked: said(asked)?, done }),
        None => None,
    };
    Ok(PersonState { hold: hold.map(said).transpose()?, erasure })
}

#[cfg(test)]
mod tests {
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

    #[tokio::test]
    async fn what_stands_follows_from_the_persons_stream() {
        let store: Arc<dyn EventStore> = Arc::new(MemoryEventStore::new(Uuid::nil()));
        let surroundings = Surroundings { clock: Arc::new(Still), entropy: Arc::new(Still) };
        let persons = Persons::new(&store, &surroundings);
        let (ana, by) = (Uid::new(1).unwrap(), by_system(Uuid::nil()));
        let it = |reason: &str| Hold { by: Sender::System, reason: Reason::parse(reason).unwrap(), at: 5 };
        let report = r#"{"messages":3}"#.to_owned();
        for command in [
            PersonCommand::Hold(it("a")),
            PersonCommand::Hold(it("again")),
            PersonCommand::Lift(it("over")),
            PersonCommand::Erase(it("they asked")),
            PersonCommand::Done { at: 9, report },
            PersonCommand::Hold(it("b")),
        ] {
            persons.handle(ana, &by, &command).await.unwrap();
        }
        let refused = persons.handle(ana, &by, &PersonCommand::Erase(it("more"))).await;
        assert!(matches!(refused, Err(CommandError::Rejected(_))));
        let events = store.read_stream(&StreamName::Person(ana), 1, 10).await.unwrap();
        let mut state = PersonState::default();
        for event in &events {
            state.evolve(codec::decode_person(event).unwrap());
        }
        assert_eq!((events.len(), &state), (5, &persons.state(ana).await.unwrap()));
        assert_eq!(state.hold, Some(it("b")));
        assert_eq!(persons.state(Uid::new(2).unwrap()).await.unwrap(), PersonState::default());
    }
}
