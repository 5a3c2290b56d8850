//! Names the streams in which a log is no longer what a checkpoint has seen.

use std::collections::HashMap;

use super::{
    leaves::{Leaf, Leaves},
    reader::LogReader,
};
use crate::{
    checkpoint::ShardRoot,
    port::StoreError,
    verify::{Fault, What},
};

/// Of checkpoint `number`, whose root the leaves of this shard do not give.
pub(super) async fn name(
    reader: &LogReader,
    number: u64,
    seen: &ShardRoot,
    found: Leaves,
    faults: &mut Vec<Fault>,
) -> Result<(), StoreError> {
    let Some(kept) = Leaves::kept(reader, seen.shard, &seen.root).await? else {
        let (after, to) = (seen.after.get() + 1, seen.position.get());
        let detail = format!(
            "checkpoint {number} has seen other events at the positions {after} to {to}; which streams' is not kept"
        );
        faults.push(Fault::in_shard(seen.shard, seen.position, What::Rewritten, detail));
        return Ok(());
    };
    let mut found: HashMap<i64, Leaf> = found.0.into_iter().map(|leaf| (leaf.stream_id, leaf)).collect();
    for Leaf { name, stream_id, head, .. } in kept.0 {
        let leaf = found.remove(&stream_id);
        if leaf.as_ref().is_some_and(|leaf| leaf.head == head) {
            continue;
        }
        let stands = reader.head(stream_id).await?.version;
        let version = head.version;
        let (at, what, detail) = match leaf {
            _ if stands < version => {
                let detail =
                    format!("it ends at version {stands}; checkpoint {number} has seen version {version}");
                (stands + 1, What::Truncated, detail)
            }
            Some(leaf) if leaf.head.version > version => {
                let detail = format!("checkpoint {number} has seen no event after version {version}");
                (version + 1, What::Rewritten, detail)
            }
            Some(leaf) if leaf.first < version => {
                let detail = format!(
                    "checkpoint {number} has seen other events of the versions {} to {version}",
                    leaf.first
                );
                (leaf.first, What::Rewritten, detail)
            }
            Some(_) | None => {
                (version, What::Rewritten, format!("checkpoint {number} has seen another event here"))
            }
        };
        faults.push(Fault::in_stream(name, at, what, detail));
    }
    let mut added: Vec<Leaf> = found.into_values().collect();
    added.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    for Leaf { name, first, .. } in added {
        let detail = format!("checkpoint {number} has not seen it");
        faults.push(Fault::in_stream(name, first, What::Rewritten, detail));
    }
    Ok(())
}
