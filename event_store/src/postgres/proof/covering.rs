//! Which checkpoint speaks of a stream, and the proof that it does.

use super::{checkpoints, leaves::Leaves, reader::LogReader};
use crate::{
    checkpoint::{Checkpoint, stream_leaf},
    merkle::{Hash, Side, root_of},
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
    /// From the stream's leaf to the root of the shard.
    pub path: Vec<(Side, Hash)>,
    /// Does it lead to the root that was signed? If not, another event stands here than the checkpoint has seen, or
    /// another stream of the shard was rewritten and what was kept to tell them apart is gone.
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
    let mut leaves = Leaves::read(reader, shard, seen.after, seen.position, &mut |_| {}).await?;
    if leaves.root() != seen.root {
        // Perhaps another stream of the shard is to blame: what was kept still leads to the root that was signed.
        leaves = Leaves::kept(reader, shard, &seen.root).await?.unwrap_or(leaves);
    }
    let path = leaves.path_of(&stream.to_string(), &head);
    let agrees =
        path.as_ref().is_some_and(|path| root_of(stream_leaf(&stream.to_string(), &head), path) == seen.root);
    let (stream, path) = (stream.clone(), path.unwrap_or_default());
    Ok(Some(Covering { stream, head, checkpoint, shard, path, agrees }))
}
