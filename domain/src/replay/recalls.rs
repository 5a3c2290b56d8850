//! By whom and when messages were recalled, of as many as are kept: the newest, or those of one range.

use std::collections::BTreeMap;

use crate::{conversation::Recall, ids::Seq};

/// Recalls kept at a time, about 8 MB: more than nearly any conversation has. Of the others it is known that they
/// are recalled; by whom is found by reading the marks once more.
pub const RECALLS_KEPT: usize = 200_000;

/// Recalls of the messages from a seq on, up to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recalls {
    from: Seq,
    to: Seq,
    most: usize,
    kept: BTreeMap<Seq, Recall>,
}

impl Recalls {
    /// Of the newest messages.
    pub(super) fn newest(most: usize) -> Self {
        Self { from: Seq::ZERO, to: Seq::new(Seq::MAX), most, kept: BTreeMap::new() }
    }

    /// Of the messages from this one on.
    pub(super) fn range(from: Seq, most: usize) -> Self {
        let to = Seq::new(from.get().saturating_add(most as u64 - 1));
        Self { from, to, most, kept: BTreeMap::new() }
    }

    pub(super) fn note(&mut self, seq: Seq, recall: Recall) {
        if !self.covers(seq) {
            return;
        }
        self.kept.insert(seq, recall);
        if self.kept.len() > self.most
            && let Some((lowest, _)) = self.kept.pop_first()
        {
            self.from = lowest.next();
        }
    }

    pub(super) fn covers(&self, seq: Seq) -> bool {
        (self.from..=self.to).contains(&seq)
    }

    pub(super) fn get(&self, seq: Seq) -> Option<Recall> {
        self.kept.get(&seq).copied()
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Uid;

    #[test]
    fn the_oldest_go_first_and_a_range_never_overflows() {
        let recall = Recall { by: Uid::new(1).unwrap(), at: 1 };
        let mut newest = Recalls::newest(3);
        [9, 2, 5, 7, 4].map(Seq::new).into_iter().for_each(|seq| newest.note(seq, recall));
        let kept = |recalls: &Recalls| recalls.kept.keys().map(|seq| seq.get()).collect::<Vec<_>>();
        assert_eq!(kept(&newest), [5, 7, 9]);
        assert!(newest.covers(Seq::new(5)) && !newest.covers(Seq::new(4)));
        let mut range = Recalls::range(Seq::new(2), 3);
        [9, 2, 3, 4, 5].map(Seq::new).into_iter().for_each(|seq| range.note(seq, recall));
        assert_eq!(kept(&range), [2, 3, 4]);
    }
}
