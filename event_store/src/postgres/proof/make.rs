//! Makes the next checkpoint and appends it.

use ed25519_dalek::SigningKey;
use uuid::Uuid;

use super::{checkpoints, leaves::Leaves, reader::LogReader};
use crate::{
    chain::Unsealed,
    checkpoint::{Checkpoint, SHARD_EVENTS_MAX, ShardRoot, Unsigned, all_shards},
    codec,
    port::{Append, AppendError, EventStore, StoreError},
    recorded::{Origin, Position, StreamName},
    shard::Shard,
    surroundings::Surroundings,
};

/// What came of it.
#[derive(Debug)]
pub enum Made {
    /// It is in the log.
    Checkpoint {
        /// It.
        checkpoint: Box<Checkpoint>,
        /// Is there more than one checkpoint may cover? Then the next one should follow at once.
        more: bool,
    },
    /// Nothing has changed since the previous one.
    NothingNew,
    /// Another node was faster; its checkpoint does as well.
    AnotherNode,
}

/// Covers what came after the previous checkpoint, at most [`SHARD_EVENTS_MAX`] events of each shard.
pub async fn make_checkpoint(
    reader: &LogReader,
    store: &dyn EventStore,
    key: &SigningKey,
    surroundings: &Surroundings,
) -> Result<Made, StoreError> {
    let info = reader.info();
    let last = checkpoints::head(reader).await?;
    let previous = if last == 0 {
        None
    } else {
        let unreadable = || StoreError::Corrupt {
            doing: "make a checkpoint",
            what: format!("the previous one, number {last}, cannot be read"),
        };
        Some(checkpoints::one(reader, last).await?.ok_or_else(unreadable)?)
    };
    let mut shards = Vec::with_capacity(usize::from(info.shards) + 1);
    let mut more = false;
    for shard in all_shards(info.shards) {
        let after =
            previous.as_ref().and_then(|it| it.shard(shard)).map_or(Position::START, |it| it.position);
        let head = reader.shard_position(shard).await?;
        // A log that is shorter than its checkpoint is for `verify` to tell.
        let position = head.min(Position::new(after.get() + SHARD_EVENTS_MAX)).max(after);
        more |= position < head;
        let leaves = Leaves::read(reader, shard, after, position, &mut |_| {}).await?;
        let (streams, root) = (leaves.0.len() as u64, leaves.root());
        if streams > 0 {
            reader.save_heads(shard, &root, &leaves.to_bytes()).await?;
        }
        shards.push(ShardRoot { shard, after, position, streams, root });
    }
    let unsigned = Unsigned {
        number: last + 1,
        log_id: info.log_id,
        epoch: info.epoch,
        at: surroundings.clock.now(),
        previous: previous.map_or([0; 32], |it| it.root),
        shards,
    };
    if unsigned.says_nothing_new() {
        return Ok(Made::NothingNew);
    }
    let checkpoint = unsigned.sign(key);
    let event = Unsealed {
        event_id: checkpoint.event_id(),
        encoded: codec::encode_checkpoint(&checkpoint),
        actor: 0,
        device: None,
        origin: Origin::Live,
        correlation_id: Uuid::from_bytes(surroundings.entropy.salt()),
    };
    let append =
        Append { stream: StreamName::Checkpoint, expected: last, guards: vec![], events: vec![event] };
    match store.append(Shard::OWN, vec![append], surroundings).await?.pop() {
        Some(Ok(_)) => Ok(Made::Checkpoint { checkpoint: Box::new(checkpoint), more }),
        Some(Err(AppendError::Conflict { .. })) => Ok(Made::AnotherNode),
        Some(Err(AppendError::Refused(what))) => {
            Err(StoreError::Corrupt { doing: "append a checkpoint", what })
        }
        None => Err(StoreError::Corrupt { doing: "append a checkpoint", what: "there is no answer".into() }),
    }
}
