//! A set of messages, by bucket: one bit for each, and nothing where there is none.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    bucket::{Bits, Bucket},
    ids::Seq,
};

/// Some messages of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seqs(BTreeMap<Bucket, Bits>);

impl Seqs {
    /// Takes a message in, or out.
    pub fn set(&mut self, seq: Seq, on: bool) {
        let bucket = Bucket::of(seq);
        let bits = self.0.entry(bucket).or_default();
        bits.set(Bucket::slot(seq), on);
        if *bits == Bits::EMPTY {
            self.0.remove(&bucket);
        }
    }

    /// Is it one of them?
    pub fn has(&self, seq: Seq) -> bool {
        self.bits(Bucket::of(seq)).has(Bucket::slot(seq))
    }

    /// Those of one bucket.
    pub fn bits(&self, bucket: Bucket) -> Bits {
        self.0.get(&bucket).copied().unwrap_or_default()
    }

    /// The buckets that have some, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        self.0.keys().copied()
    }

    /// All, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Seq> {
        self.0.iter().flat_map(|(bucket, bits)| bits.slots().map(|slot| bucket.seq_at(slot)))
    }

    /// How many messages above `above` are in at least one of these sets.
    pub fn count_above(sets: &[&Self], above: Seq) -> u64 {
        let count = |bucket: Bucket| u64::from(joined(sets, bucket, above).count());
        buckets(sets, above).into_iter().map(count).sum()
    }

    /// The first message above `above` that is in one of `these` and in none of `those`.
    pub fn first_above(these: &[&Self], those: &[&Self], above: Seq) -> Option<Seq> {
        buckets(these, above).into_iter().find_map(|bucket| {
            let out = joined(those, bucket, above).get();
            let left = Bits::new(joined(these, bucket, above).get() & !out);
            left.slots().next().map(|slot| bucket.seq_at(slot))
        })
    }

    /// The last message of `least..=most` that is in none of these sets.
    pub fn last_outside(sets: &[&Self], least: Seq, most: Seq) -> Option<Seq> {
        let range = least.get().max(1)..=most.get();
        range.rev().map(Seq::new).find(|seq| !sets.iter().any(|set| set.has(*seq)))
    }
}

fn buckets(sets: &[&Seqs], above: Seq) -> BTreeSet<Bucket> {
    sets.iter().flat_map(|set| set.0.range(Bucket::of(above.next())..).map(|(bucket, _)| *bucket)).collect()
}

/// Of one bucket, those above `above` that are in one of these sets.
fn joined(sets: &[&Seqs], bucket: Bucket, above: Seq) -> Bits {
    let all = sets.iter().fold(0, |all, set| all | set.bits(bucket).get());
    let below = above.get().saturating_sub(bucket.seq_at(0).get().saturating_sub(1)).min(127);
    Bits::new(all >> below << below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(seqs: &[u64]) -> Seqs {
        let mut set = Seqs::default();
        seqs.iter().for_each(|seq| set.set(Seq::new(*seq), true));
        set
    }

    proptest::proptest! {
        #[test]
        fn bits_answer_as_a_plain_set_does(
            one in proptest::collection::btree_set(1u64..450, 0..60),
            other in proptest::collection::btree_set(1u64..450, 0..60),
            above in 0u64..450,
            most in 0u64..450,
        ) {
            let sets = [one.iter().copied().collect::<Vec<_>>(), other.iter().copied().collect()];
            let [a, b] = [set(&sets[0]), set(&sets[1])];
            let at = Seq::new(above);
            let both = one.union(&other).filter(|seq| **seq > above).count() as u64;
            proptest::prop_assert_eq!(Seqs::count_above(&[&a, &b], at), both);
            let first = one.difference(&other).find(|seq| **seq > above).copied();
            proptest::prop_assert_eq!(Seqs::first_above(&[&a], &[&b], at).map(Seq::get), first);
            let last = (above.max(1)..=most).rev().find(|seq| !one.contains(seq) && !other.contains(seq));
            proptest::prop_assert_eq!(Seqs::last_outside(&[&a, &b], at, Seq::new(most)).map(Seq::get), last);
        }
    }

    #[test]
    fn what_is_taken_out_leaves_nothing_behind() {
        let mut seqs = set(&[7, 107]);
        seqs.set(Seq::new(7), false);
        seqs.set(Seq::new(107), false);
        assert_eq!(seqs, Seqs::default());
    }
}
