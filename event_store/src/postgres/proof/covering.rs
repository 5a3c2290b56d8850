//! Which checkpoint speaks of a stream, and the proof that it does.

use super::{checkpoints, leaves::Leaves, reader::LogReader};
use crate::{
    checkpoint::Checkpoint,
    merkle::{self, Hash, Side},
    port::{StoreError, StreamHead},
    recorded::StreamName,
    shard::Shard,
};

/// The newest checkpoint that speaks of a stream.
#[derive(Debug, Clone)]
pub struct Covering {
    /// Of which stream.
    pub stream: StreamName,
    /// Where the stream stood then, by the log.
    pub head: StreamHead,
    /// It.
    pub checkpoint: Checkpoint,
    /// In which of its shards.
    pub shard: Shard,
    /// From the stream's leaf to the root of the shard, by the log.
    pub path: Vec<(Side, Hash)>,
    /// Is that the root that the checkpoint has seen?
    pub agrees: bool,
}

/// Finds it by bisection and computes the shard's leaves again: bounded by what one checkpoint covers.
pub async fn covering(reader: &LogReader, stream: &StreamName) -> Result<Option<Covering>, StoreError> {
    let last = checkpoints::head(reader).await?;
    let Some(stream_id) = reader.stream_id(stream).await? else { return Ok(None) };
    let Some(newest) = checkpoints::one(reader, last).await? else { return Ok(None) };
    let shard = stream.shard(reader.info().shards);
    let Some(seen) = newest.shard(shard) else { return Ok(None) };
    let Some((head, position)) = reader.head_at(stream_id, seen.position).await? else { return Ok(None) };
    // The first checkpoint that goes as far as that event.
    let (mut low, mut high) = (1, last);
    while low < high {
        let middle = low + (high - low) / 2;
        let Some(checkpoint) = checkpoints::one(reader, middle).await? else { return Ok(None) };
        if checkpoint.shard(shard).is_some_and(|it| it.position >= position) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let Some(checkpoint) = checkpoints::one(reader, low).await? else { return Ok(None) };
    let Some(seen) = checkpoint.shard(shard).copied().filter(|it| it.is_bounded()) else { return Ok(None) };
    let leaves = Leaves::read(reader, shard, seen.after, seen.position, &mut |_| {}).await?;
    let name = stream.to_string();
    let index = leaves.0.iter().position(|leaf| leaf.name == name);
    let hashes: Vec<Hash> = leaves.hashes().collect();
    let path = index.and_then(|index| merkle::path(&hashes, index));
    let agrees = path.is_some() && merkle::root(hashes) == seen.root;
    let stream = stream.clone();
    Ok(Some(Covering { stream, head, checkpoint, shard, path: path.unwrap_or_default(), agrees }))
}
