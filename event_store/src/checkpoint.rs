//! A signed checkpoint: what stood at the ends of all streams at a moment, in one hash that its maker signs.
//!
//! Each checkpoint covers, shard by shard, the events after the previous one: the streams that they changed, sorted
//! by name, are the leaves of the shard's Merkle tree, and the shards' roots those of the checkpoint's. Which streams
//! those are follows from the log alone, so anybody who has the log can compute every root again. What is signed is a
//! short text ([`Checkpoint::statement`]). Layout: docs/decisions/0019.

use std::fmt::Write as _;

use domain::{EventId, Ms};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use uuid::Uuid;

use crate::{
    hex,
    merkle::{self, Hash},
    port::{LogInfo, StreamHead},
    recorded::Position,
    shard::Shard,
};

/// Events of one shard that one checkpoint covers at most. It bounds what making and checking one needs: about
/// 200 bytes for each stream that they changed, one shard at a time, so at most 40 MB.
pub const SHARD_EVENTS_MAX: u64 = 200_000;

/// Domain separation of the leaves, see [`merkle`]. Never to be changed.
const STREAM_LEAF: &str = "quipu 2026-11-30 checkpoint stream";
const SHARD_LEAF: &str = "quipu 2026-11-30 checkpoint shard";
/// Names a key by its hash.
const KEY_NAME: &str = "quipu 2026-11-30 checkpoint key";
/// In which an event id is made of (log, epoch, number, root).
const NAMESPACE: Uuid = Uuid::from_u128(0x6ea7_9d4c_26c1_5f38_9c55_0b1e_7d0a_4f61);

/// The leaf of one stream.
pub fn stream_leaf(stream: &str, head: &StreamHead) -> Hash {
    merkle::leaf(STREAM_LEAF, &[stream.as_bytes(), &head.version.to_le_bytes(), &head.chain])
}

/// What a checkpoint says of one shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardRoot {
    /// Which one.
    pub shard: Shard,
    /// Where the previous checkpoint left off.
    pub after: Position,
    /// Up to where this one goes.
    pub position: Position,
    /// How many streams changed between the two.
    pub streams: u64,
    /// Over their heads, sorted by name.
    pub root: Hash,
}

impl ShardRoot {
    /// Does it cover no more events than it may?
    pub fn is_bounded(&self) -> bool {
        self.position >= self.after && self.position.get() - self.after.get() <= SHARD_EVENTS_MAX
    }

    fn leaf(&self) -> Hash {
        let number = u64::from(self.shard.get()).to_le_bytes();
        let [after, position] = [self.after, self.position].map(|it| it.get().to_le_bytes());
        merkle::leaf(SHARD_LEAF, &[&number, &after, &position, &self.streams.to_le_bytes(), &self.root])
    }
}

/// What is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsigned {
    /// The version of its event: the first one is 1.
    pub number: u64,
    /// Of which log.
    pub log_id: Uuid,
    /// In which of its epochs.
    pub epoch: u32,
    /// When it was made.
    pub at: Ms,
    /// The root of the previous one; zeros in the first.
    pub previous: Hash,
    /// Every shard of the log by number, and last that of the streams of no conversation.
    pub shards: Vec<ShardRoot>,
}

impl Unsigned {
    /// Over the shards.
    pub fn root(&self) -> Hash {
        merkle::root(self.shards.iter().map(ShardRoot::leaf))
    }

    /// Signs it.
    pub fn sign(self, key: &SigningKey) -> Checkpoint {
        let signature = key.sign(statement(&self).as_bytes()).to_bytes();
        Checkpoint { root: self.root(), key: key_name(&key.verifying_key()), signature, unsigned: self }
    }

    /// Nothing changed since the previous one but that it was appended itself.
    pub fn says_nothing_new(&self) -> bool {
        let changed = |it: &&ShardRoot| it.streams > 0;
        self.shards
            .iter()
            .filter(changed)
            .all(|it| it.shard == Shard::OWN && it.streams == 1 && self.number > 1)
            && self.shards.iter().filter(changed).all(|it| it.position.get() - it.after.get() == 1)
    }
}

/// A checkpoint with its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// What it says.
    pub unsigned: Unsigned,
    /// Over all of it; follows from the shards.
    pub root: Hash,
    /// The name of the key that signed it.
    pub key: String,
    /// Ed25519 over the statement.
    pub signature: [u8; 64],
}

impl Checkpoint {
    /// The text that is signed: `openssl pkeyutl -verify -pubin -rawin` takes it as it is.
    pub fn statement(&self) -> String {
        statement(&self.unsigned)
    }

    /// Did this key sign it, and does its root follow from its shards?
    pub fn is_signed_by(&self, key: &VerifyingKey) -> bool {
        let signature = Signature::from_bytes(&self.signature);
        self.root == self.unsigned.root()
            && key.verify_strict(self.statement().as_bytes(), &signature).is_ok()
    }

    /// Names its event: a repeat of the same append is the same.
    pub fn event_id(&self) -> EventId {
        let Unsigned { log_id, epoch, number, .. } = &self.unsigned;
        let text = format!("checkpoint/{log_id}/{epoch}/{number}/{}", hex::encode(&self.root));
        EventId::new(Uuid::new_v5(&NAMESPACE, text.as_bytes()))
    }

    /// What it says of a shard.
    pub fn shard(&self, shard: Shard) -> Option<&ShardRoot> {
        self.unsigned.shards.iter().find(|it| it.shard == shard)
    }

    /// What is wrong with it as the one with this number in this log, after `previous`; none where nothing is.
    pub fn contradicts(&self, number: u64, log: &LogInfo, previous: Option<&Self>) -> Option<String> {
        let Unsigned { shards, .. } = &self.unsigned;
        let expected = previous.map_or([0; 32], |it| it.root);
        let after = |shard| previous.and_then(|it| it.shard(shard)).map_or(Position::START, |it| it.position);
        let in_order = all_shards(log.shards).eq(shards.iter().map(|it| it.shard));
        Some(match () {
            () if self.unsigned.log_id != log.log_id => format!("it is of log {}", self.unsigned.log_id),
            () if self.unsigned.epoch > log.epoch => format!("it is of epoch {}", self.unsigned.epoch),
            () if self.unsigned.number != number => {
                format!("it says that it is number {}", self.unsigned.number)
            }
            () if self.unsigned.previous != expected => {
                "it does not follow the checkpoint before it".to_owned()
            }
            () if !in_order => "it does not speak of every shard".to_owned(),
            () if self.root != self.unsigned.root() => "its root does not follow from its shards".to_owned(),
            () => {
                let odd = shards.iter().find(|it| it.after != after(it.shard) || !it.is_bounded())?;
                format!("it does not go on in shard {} where the one before it left off", odd.shard.get())
            }
        })
    }
}

/// Every shard that a checkpoint of a log speaks of, in its order.
pub fn all_shards(shards: u16) -> impl Iterator<Item = Shard> {
    Shard::all(shards).chain([Shard::OWN])
}

/// The name of a key: the beginning of its hash.
pub fn key_name(key: &VerifyingKey) -> String {
    hex::encode(&merkle::leaf(KEY_NAME, &[key.as_bytes()])[..8])
}

fn statement(it: &Unsigned) -> String {
    let mut text = format!(
        "quipu checkpoint v1\nlog {} epoch {}\nnumber {}\nat {}\nprevious {}\nroot {}\n",
        it.log_id.hyphenated(),
        it.epoch,
        it.number,
        it.at,
        hex::encode(&it.previous),
        hex::encode(&it.root())
    );
    for ShardRoot { shard, after, position, streams, root } in &it.shards {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "shard {} after {} position {} streams {streams} root {}",
            shard.get(),
            after.get(),
            position.get(),
            hex::encode(root)
        );
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn key() -> SigningKey {
        SigningKey::from_bytes(&[7; 32])
    }

    pub(crate) fn log() -> LogInfo {
        LogInfo { log_id: Uuid::from_u128(1), epoch: 1, shards: 1 }
    }

    pub(crate) fn checkpoint(number: u64, previous: Option<&Checkpoint>) -> Checkpoint {
        let after = Position::new((number - 1) * 10);
        let shard = |shard| ShardRoot {
            shard,
            after,
            position: Position::new(number * 10),
            streams: 1,
            root: merkle::root([stream_leaf("message-p2p-1-2", &StreamHead { version: 1, chain: [3; 32] })]),
        };
        let unsigned = Unsigned {
            number,
            log_id: log().log_id,
            epoch: 1,
            at: 1_764_000_000_000,
            previous: previous.map_or([0; 32], |it| it.root),
            shards: all_shards(1).map(shard).collect(),
        };
        unsigned.sign(&key())
    }

    /// Every signature rests on this text. Made with another BLAKE3 (Python's) and, its signature in
    /// checkpoint_made.v1.json, with OpenSSL.
    #[test]
    fn golden_statement() {
        assert_eq!(checkpoint(1, None).statement(), include_str!("../golden/checkpoint.v1.statement.txt"));
    }

    #[test]
    fn only_the_key_that_signed_it_verifies_and_only_what_was_signed() {
        let good = checkpoint(1, None);
        assert!(good.is_signed_by(&key().verifying_key()));
        assert!(!good.is_signed_by(&SigningKey::from_bytes(&[8; 32]).verifying_key()));
        type Change = fn(&mut Checkpoint);
        let changes: [Change; 8] = [
            |it| it.unsigned.at += 1,
            |it| it.unsigned.number += 1,
            |it| it.unsigned.epoch += 1,
            |it| it.unsigned.previous[0] ^= 1,
            |it| it.unsigned.shards[0].root[0] ^= 1,
            |it| it.unsigned.shards[1].streams += 1,
            |it| it.root[0] ^= 1,
            |it| it.signature[0] ^= 1,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = good.clone();
            change(&mut changed);
            assert!(!changed.is_signed_by(&key().verifying_key()), "change {number}");
        }
    }

    #[test]
    fn a_checkpoint_follows_the_one_before_it_and_no_other() {
        let first = checkpoint(1, None);
        let second = checkpoint(2, Some(&first));
        assert_eq!(first.contradicts(1, &log(), None), None);
        assert_eq!(second.contradicts(2, &log(), Some(&first)), None);
        assert!(second.contradicts(1, &log(), None).is_some());
        assert!(second.contradicts(3, &log(), Some(&first)).is_some());
        let third = checkpoint(3, Some(&second));
        assert!(third.contradicts(3, &log(), Some(&first)).is_some());
        assert!(first.contradicts(1, &LogInfo { log_id: Uuid::nil(), ..log() }, None).is_some());
        assert!(first.contradicts(1, &LogInfo { shards: 2, ..log() }, None).is_some());
    }

    #[test]
    fn a_checkpoint_that_only_its_predecessor_has_changed_says_nothing_new() {
        let mut idle = checkpoint(2, Some(&checkpoint(1, None))).unsigned;
        assert!(!idle.says_nothing_new());
        (idle.shards[0].streams, idle.shards[0].position) = (0, idle.shards[0].after);
        assert!(!idle.says_nothing_new(), "ten events");
        idle.shards[1].position = Position::new(11);
        assert!(idle.says_nothing_new());
        idle.number = 1;
        assert!(!idle.says_nothing_new(), "the first one has no predecessor");
    }
}
