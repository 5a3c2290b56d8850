//! The streams that changed in a shard between two positions, as leaves sorted by name.

use std::collections::HashMap;

use super::reader::{LogReader, OrderRow, SHARD_PAGE};
use crate::{
    checkpoint::stream_leaf,
    merkle::{self, Hash, Side},
    port::{StoreError, StreamHead},
    recorded::Position,
    shard::Shard,
};

/// Of one head, as it is kept.
const KEPT_BYTES: usize = 48;

/// One stream that changed.
pub(super) struct Leaf {
    pub name: String,
    pub stream_id: i64,
    /// The first version of the change; 0 where nobody knows.
    pub first: u64,
    /// Where it stood afterwards.
    pub head: StreamHead,
}

/// Ascending by name.
pub(super) struct Leaves(pub Vec<Leaf>);

impl Leaves {
    /// Reads them from the log. `each` sees every row that goes by.
    pub async fn read(
        reader: &LogReader,
        shard: Shard,
        after: Position,
        up_to: Position,
        each: &mut (dyn FnMut(&OrderRow) + Send),
    ) -> Result<Self, StoreError> {
        let mut changed: HashMap<i64, (u64, StreamHead)> = HashMap::new();
        scan(reader, shard, after, up_to, &mut |row| {
            each(row);
            changed
                .entry(row.stream_id)
                .and_modify(|(_, head)| *head = row.head)
                .or_insert((row.head.version, row.head));
        })
        .await?;
        Self::named(reader, changed).await
    }

    /// What is kept of a checkpoint; none where that does not give its root.
    pub async fn kept(reader: &LogReader, shard: Shard, root: &Hash) -> Result<Option<Self>, StoreError> {
        let Some(bytes) = reader.saved_heads(shard, root).await? else { return Ok(None) };
        let (heads, rest) = bytes.as_chunks::<KEPT_BYTES>();
        if !rest.is_empty() {
            return Ok(None);
        }
        let mut changed = HashMap::with_capacity(heads.len());
        for bytes in heads {
            let [stream_id, version] =
                [0, 8].map(|at| bytes[at..].first_chunk().copied().unwrap_or_default());
            let chain = bytes.last_chunk().copied().unwrap_or_default();
            let head = StreamHead { version: u64::from_le_bytes(version), chain };
            changed.insert(i64::from_le_bytes(stream_id), (0, head));
        }
        let leaves = Self::named(reader, changed).await?;
        Ok((leaves.root() == *root).then_some(leaves))
    }

    async fn named(reader: &LogReader, changed: HashMap<i64, (u64, StreamHead)>) -> Result<Self, StoreError> {
        let ids: Vec<i64> = changed.keys().copied().collect();
        let mut names = reader.names(&ids).await?;
        let leaf = |(stream_id, (first, head))| {
            let name = names.remove(&stream_id).unwrap_or_default();
            Leaf { name, stream_id, first, head }
        };
        let mut leaves: Vec<Leaf> = changed.into_iter().map(leaf).collect();
        leaves.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Self(leaves))
    }

    /// How they are kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * KEPT_BYTES);
        for Leaf { stream_id, head, .. } in &self.0 {
            bytes.extend(stream_id.to_le_bytes());
            bytes.extend(head.version.to_le_bytes());
            bytes.extend(head.chain);
        }
        bytes
    }

    pub fn hashes(&self) -> impl Iterator<Item = Hash> {
        self.0.iter().map(|leaf| stream_leaf(&leaf.name, &leaf.head))
    }

    /// From a stream's leaf to the root; none where the stream does not stand there.
    pub fn path_of(&self, name: &str, head: &StreamHead) -> Option<Vec<(Side, Hash)>> {
        let index = self.0.iter().position(|leaf| leaf.name == name && leaf.head == *head)?;
        merkle::path(&self.hashes().collect::<Vec<_>>(), index)
    }

    pub fn root(&self) -> Hash {
        merkle::root(self.hashes())
    }
}

/// Every row of a shard between two positions, page by page.
pub(super) async fn scan(
    reader: &LogReader,
    shard: Shard,
    after: Position,
    up_to: Position,
    each: &mut (dyn FnMut(&OrderRow) + Send),
) -> Result<(), StoreError> {
    let mut after = after;
    loop {
        let page = reader.shard(shard, after, up_to).await?;
        page.iter().for_each(&mut *each);
        match page.last() {
            Some(last) if page.len() as i64 == SHARD_PAGE => after = last.position,
            _ => return Ok(()),
        }
    }
}
