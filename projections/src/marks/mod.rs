//! Labels of messages: taken back for all, deleted for one. Each touches one small row, never a body.

pub(crate) mod bits;

use std::collections::BTreeMap;

use domain::{Bits, Bucket, ConvId, Ms, Seq, Uid};

use crate::write::{Write, column, convs, int};
use bits::SqlBits;

/// What a batch does to one bitmap. No bit is in both.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Flip {
    set: Bits,
    unset: Bits,
}

/// The marks of a batch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects {
    recalls: Vec<(ConvId, Seq, Uid, Ms)>,
    flips: BTreeMap<(ConvId, Uid, Bucket), Flip>,
}

impl Effects {
    /// A message was taken back.
    pub(crate) fn recall(&mut self, conv: &ConvId, seq: Seq, by: Uid, at: Ms) {
        self.recalls.push((conv.clone(), seq, by, at));
    }

    /// Messages were deleted by one person, or restored.
    pub(crate) fn delete(&mut self, conv: &ConvId, uid: Uid, seqs: &[Seq], on: bool) {
        for seq in seqs {
            let flip = self.flips.entry((conv.clone(), uid, Bucket::of(*seq))).or_default();
            flip.set.set(Bucket::slot(*seq), on);
            flip.unset.set(Bucket::slot(*seq), !on);
        }
    }

    pub(crate) fn writes(self) -> impl Iterator<Item = Write> {
        let Self { recalls, flips } = self;
        let recall = [
            convs(recalls.iter().map(|(conv, ..)| conv)),
            column(recalls.iter().map(|(_, seq, ..)| int(seq.get()))),
            column(recalls.iter().map(|(_, _, by, _)| int(by.get()))),
            column(recalls.iter().map(|(.., at)| *at)),
        ];
        let bits = |flips: &[(&(ConvId, Uid, Bucket), Bits)]| {
            [
                convs(flips.iter().map(|((conv, ..), _)| conv)),
                column(flips.iter().map(|((_, uid, _), _)| int(uid.get()))),
                column(flips.iter().map(|((.., bucket), _)| int(bucket.get()))),
                column(flips.iter().map(|(_, bits)| SqlBits(*bits))),
            ]
        };
        // A bitmap has its row even where all of it was restored, so that the rows do not tell where batches ended.
        let set: Vec<_> = flips.iter().map(|(key, flip)| (key, flip.set)).collect();
        let unset: Vec<_> = flips
            .iter()
            .map(|(key, flip)| (key, flip.unset))
            .filter(|(_, bits)| *bits != Bits::EMPTY)
            .collect();
        let writes = [
            Write::unless_empty(recalls.len(), "mark recalls", include_str!("recall.sql"), recall),
            Write::unless_empty(unset.len(), "restore messages", include_str!("restore.sql"), bits(&unset)),
            Write::unless_empty(set.len(), "delete messages", include_str!("delete.sql"), bits(&set)),
        ];
        writes.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_on_a_bit_counts() {
        let (conv, ana) = (ConvId::parse("grp-a").unwrap(), Uid::new(1).unwrap());
        let seqs = [1, 2, 100, 101].map(Seq::new);
        let mut effects = Effects::default();
        effects.delete(&conv, ana, &seqs, true);
        effects.delete(&conv, ana, &seqs[1..2], false);
        let flips: Vec<_> = effects.flips.values().map(|f| (f.set.get(), f.unset.get())).collect();
        assert_eq!(flips, [(1 | 1 << 99, 1 << 1), (1, 0)]);
        effects.delete(&conv, ana, &seqs[1..2], true);
        assert_eq!(
            effects.flips.values().next().map(|f| (f.set.get(), f.unset.get())),
            Some((3 | 1 << 99, 0))
        );
    }
}
