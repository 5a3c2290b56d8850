//! Which shard a conversation belongs to. Fixed when a log is created.

use domain::ConvId;

/// Shards of a new log. Sixteen group commits at a time keep any one Postgres busy, and sixteen numbers keep a
/// cursor small.
pub const SHARDS: u16 = 16;

/// The name under which the hash function is stored with the log.
pub const SHARD_FUNCTION: &str = "blake3-64-mod";

/// One order of positions. All streams of a conversation share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u16);

impl Shard {
    /// Of the streams that are of no conversation: beyond any number of shards that a log may have.
    pub const OWN: Self = Self(i16::MAX as u16);

    /// By its number, from 0.
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The first eight bytes of BLAKE3 over the canonical conv_id, little-endian, modulo the number of shards.
    pub fn of(conv: &ConvId, shards: u16) -> Self {
        Self::of_text(conv.as_str(), shards)
    }

    fn of_text(text: &str, shards: u16) -> Self {
        let hash = blake3::hash(text.as_bytes());
        let first = hash.as_bytes().first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Self((first % u64::from(shards.max(1))) as u16)
    }

    /// The number itself.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Its place where each has one by its number, and the log's own streams have the last.
    pub(crate) fn place(self, places: usize) -> usize {
        if self == Self::OWN { places.saturating_sub(1) } else { usize::from(self.0) }
    }

    /// Every shard of a log.
    pub fn all(shards: u16) -> impl Iterator<Item = Self> {
        (0..shards).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every log rests on these. Computed with another BLAKE3 (Python's `blake3`).
    #[test]
    fn golden_shards() {
        let shards =
            ["p2p-1001-1002", "p2p-1-1", "grp-team", "grp-irc-ubuntu-2018", "p2p-1-9007199254740991"]
                .map(|conv| Shard::of_text(conv, 16).get());
        assert_eq!(shards, GOLDEN);
    }

    const GOLDEN: [u16; 5] = [7, 3, 10, 1, 0];
}
