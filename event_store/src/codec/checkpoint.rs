//! Bodies of checkpoints. Field names are part of the data, as in `body.rs`.

use domain::Ms;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{DecodeError, Encoded, own_body};
use crate::{
    checkpoint::{Checkpoint, ShardRoot, Unsigned},
    hex,
    recorded::{Position, Recorded},
    shard::Shard,
};

/// The number of CheckpointMade. Never to be used again for something else, as all in [`super::EventType`].
pub const CHECKPOINT_MADE: i16 = 43;
/// The form in which it is written.
const SCHEMA_VERSION: i16 = 1;

/// Hashes, key and signature in hexadecimal.
#[derive(Serialize, Deserialize)]
struct Made {
    number: u64,
    log_id: Uuid,
    epoch: u32,
    at: Ms,
    previous: String,
    root: String,
    shards: Vec<OfShard>,
    key: String,
    signature: String,
}

#[derive(Serialize, Deserialize)]
struct OfShard {
    shard: u16,
    after: u64,
    position: u64,
    streams: u64,
    root: String,
}

/// A checkpoint's bytes in the newest form.
pub fn encode_checkpoint(checkpoint: &Checkpoint) -> Encoded {
    // Numbers, strings and lists of them: serialising these into memory cannot fail.
    let body = serde_json::to_vec(&Made::from(checkpoint)).unwrap_or_default();
    Encoded { event_type: CHECKPOINT_MADE, schema_version: SCHEMA_VERSION, body, message: None }
}

/// The checkpoint that an event states. Whether it is true is for others to say.
pub fn decode_checkpoint(recorded: &Recorded) -> Result<Checkpoint, DecodeError> {
    read_checkpoint(own_body(recorded, &[CHECKPOINT_MADE], SCHEMA_VERSION)?)
}

/// A checkpoint from the JSON of its event, as it stands in an export.
pub fn read_checkpoint(json: &[u8]) -> Result<Checkpoint, DecodeError> {
    let made: Made = serde_json::from_slice(json)?;
    let hash = |text: &str| hex::decode(text).ok_or(DecodeError::Field("hash"));
    let mut shards = Vec::with_capacity(made.shards.len());
    for OfShard { shard, after, position, streams, root } in &made.shards {
        let (after, position) = (Position::new(*after), Position::new(*position));
        let shard = Shard::new(*shard);
        shards.push(ShardRoot { shard, after, position, streams: *streams, root: hash(root)? });
    }
    let Made { number, log_id, epoch, at, .. } = made;
    let unsigned = Unsigned { number, log_id, epoch, at, previous: hash(&made.previous)?, shards };
    let signature = hex::decode(&made.signature).ok_or(DecodeError::Field("signature"))?;
    Ok(Checkpoint { unsigned, root: hash(&made.root)?, key: made.key, signature })
}

impl From<&Checkpoint> for Made {
    fn from(checkpoint: &Checkpoint) -> Self {
        let Unsigned { number, log_id, epoch, at, previous, shards } = &checkpoint.unsigned;
        let of_shard = |it: &ShardRoot| OfShard {
            shard: it.shard.get(),
            after: it.after.get(),
            position: it.position.get(),
            streams: it.streams,
            root: hex::encode(&it.root),
        };
        Self {
            number: *number,
            log_id: *log_id,
            epoch: *epoch,
            at: *at,
            previous: hex::encode(previous),
            root: hex::encode(&checkpoint.root),
            shards: shards.iter().map(of_shard).collect(),
            key: checkpoint.key.clone(),
            signature: hex::encode(&checkpoint.signature),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::tests::checkpoint;

    const GOLDEN: &str = include_str!("../../golden/checkpoint_made.v1.json");

    #[test]
    fn every_form_ever_written_is_still_read_and_the_newest_is_written() {
        let made = checkpoint(1, None);
        assert_eq!(read_checkpoint(GOLDEN.as_bytes()).unwrap(), made);
        assert_eq!(String::from_utf8(encode_checkpoint(&made).body).unwrap(), GOLDEN.trim_end());
    }

    #[test]
    fn damage_is_an_error() {
        for damaged in ["", "{}", "null", &GOLDEN.replace("\"root\":\"", "\"root\":\"x")] {
            assert!(read_checkpoint(damaged.as_bytes()).is_err(), "{damaged}");
        }
    }
}
