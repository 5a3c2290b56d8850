//! What a batch of commands comes to: sealed events, the pieces that follow from them, and an answer for each.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Command, ConvId, Event, Key, Reply, decide};

use super::{CommandError, Request, known::Known, pieces};
use crate::{
    chain::{self, Unsealed},
    codec,
    port::{Batch, ShardHead, StoreError},
    recorded::{Origin, StreamName},
    shard::Shard,
    surroundings::Surroundings,
};

pub(super) struct Plan {
    pub batch: Batch,
    /// One for each request, in order; true once the batch is durable at the position it was decided for.
    pub answers: Vec<Result<Reply, CommandError>>,
    /// Where the shard stands after it.
    pub head: ShardHead,
}

impl Plan {
    /// Decides one request after the other; each sees what those before it did. Everything that they need must
    /// be known. `known` moves on with them: if the batch is not appended, it has to be forgotten.
    pub fn decide(
        shard: Shard,
        mut head: ShardHead,
        known: &mut Known,
        requests: &[(ConvId, Request)],
        surroundings: &Surroundings,
    ) -> Result<Self, StoreError> {
        let now = surroundings.clock.now();
        let mut batch = Batch::default();
        let mut answers = Vec::with_capacity(requests.len());
        let mut touched: BTreeMap<&ConvId, BTreeSet<Key>> = BTreeMap::new();
        for (conv, request) in requests {
            let cord = known.get_mut(conv).ok_or_else(|| unknown(conv, "its heads"))?;
            let decision = match decide(&cord.state, &request.command) {
                Ok(decision) => decision,
                Err(rejection) => {
                    answers.push(Err(rejection.into()));
                    continue;
                }
            };
            for (event_id, event) in decision.events {
                let unsealed = Unsealed {
                    event_id,
                    encoded: codec::encode(&event),
                    actor: actor(&event, &request.command),
                    device: request.device.clone(),
                    origin: if request.command.is_import() { Origin::Import } else { Origin::Live },
                    correlation_id: request.correlation_id,
                };
                let kind = event.stream();
                let (stream, stream_head) = (StreamName::new(conv, kind), &mut cord.heads[kind as usize]);
                let salt = surroundings.entropy.salt();
                let recorded = chain::seal(unsealed, shard, stream, &mut head, stream_head, now, salt);
                let keys = cord.state.evolve(&event, recorded.header.version, event_id);
                if !keys.is_empty() {
                    touched.entry(conv).or_default().extend(keys);
                }
                batch.events.push(recorded);
            }
            answers.push(Ok(decision.reply));
        }
        for (conv, keys) in touched {
            let cord = known.get_mut(conv).ok_or_else(|| unknown(conv, "its heads"))?;
            for key in keys {
                let value =
                    pieces::write(&cord.state, key).ok_or_else(|| unknown(conv, &pieces::key_text(key)))?;
                batch.pieces.push(pieces::piece(conv, key, value));
            }
        }
        Ok(Self { batch, answers, head })
    }
}

/// Who stands in the header: of a message its sender, which may be the system; else who asked.
fn actor(event: &Event, command: &Command) -> u64 {
    match event {
        Event::MessageSent { sender, .. } => sender.get(),
        _ => command.actor().get(),
    }
}

fn unknown(conv: &ConvId, what: &str) -> StoreError {
    StoreError::Corrupt { doing: "decide a batch", what: format!("{what} of {conv} was not loaded") }
}
