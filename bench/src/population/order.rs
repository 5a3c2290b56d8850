//! The order of pushes on one connection: ascending and dense in each conversation, each once, and no body after its
//! recall. Knows nothing of other connections.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::fault::Kind;
use crate::client::wire::{Item, State};

/// What one connection has been told.
#[derive(Debug, Default)]
pub struct Order {
    convs: HashMap<String, Line>,
    recalled: HashSet<(String, u64)>,
    deleted: HashSet<(String, u64)>,
    reads: HashMap<(String, u64), u64>,
}

#[derive(Debug, Default)]
struct Line {
    /// The last message that was pushed.
    last: u64,
    /// Must the next one follow on it? Not after a resync or a coming in.
    dense: bool,
    /// Seqs that were passed over.
    missing: BTreeSet<u64>,
}

/// A promise that was not kept, in words.
pub type Complaint = (Kind, String);

impl Order {
    /// A message was pushed. `due` is the highest seq that may come first on this connection: one more than the device
    /// holds; none while it is still catching up by other ways.
    pub fn message(&mut self, conv: &str, item: &Item, due: Option<u64>) -> Option<Complaint> {
        let seq = item.seq;
        let known = self.convs.contains_key(conv);
        let line = self.convs.entry(conv.to_owned()).or_default();
        let first_due = due.filter(|_| !known);
        let expected =
            if known && line.dense { Some(line.last + 1) } else { first_due.filter(|due| *due < seq) };
        let last = line.last;
        line.dense = true;
        if seq <= last {
            return Some(if line.missing.remove(&seq) {
                (Kind::Disorder, format!("{conv}: {seq} was pushed after {last}"))
            } else {
                (Kind::Duplicate, format!("{conv}: {seq} was pushed twice on one connection"))
            });
        }
        line.last = seq;
        if let Some(expected) = expected.filter(|expected| *expected != seq) {
            line.missing.extend(expected..seq);
            return Some((Kind::Disorder, format!("{conv}: {seq} was pushed where {expected} was due")));
        }
        let key = (conv.to_owned(), seq);
        let told = match item.state {
            State::Normal if self.recalled.contains(&key) => "recalled",
            State::Normal | State::Recalled if self.deleted.contains(&key) => "deleted",
            _ => return None,
        };
        Some((Kind::Forbidden, format!("{conv}: {seq} was pushed after it was told to be {told}")))
    }

    /// A recall was pushed.
    pub fn recalled(&mut self, conv: &str, seq: u64) -> Option<Complaint> {
        let new = self.recalled.insert((conv.to_owned(), seq));
        (!new).then(|| (Kind::Duplicate, format!("{conv}: the recall of {seq} was pushed twice")))
    }

    /// Deletions were pushed.
    pub fn deleted(&mut self, conv: &str, seqs: &[u64]) {
        self.deleted.extend(seqs.iter().map(|seq| (conv.to_owned(), *seq)));
    }

    /// A read position was pushed.
    pub fn read(&mut self, conv: &str, uid: u64, seq: u64) -> Option<Complaint> {
        let before = self.reads.insert((conv.to_owned(), uid), seq)?;
        match before {
            _ if before < seq => None,
            _ if before == seq => {
                Some((Kind::Duplicate, format!("{conv}: {uid}'s read position {seq} was pushed twice")))
            }
            _ => Some((Kind::Disorder, format!("{conv}: {uid}'s read position went from {before} to {seq}"))),
        }
    }

    /// The person came into a group: the next message may be any.
    pub fn joined(&mut self, conv: &str) {
        let line = self.convs.entry(conv.to_owned()).or_default();
        line.dense = false;
    }

    /// The device has learnt by asking that the person is out of a group. What was pushed before that may still be on its
    /// way, and of a group that was come into before this connection the device may have known nothing.
    pub fn left(&mut self, conv: &str) {
        self.joined(conv);
    }

    /// The server said that pushes are missing: the device fetches them, and the next ones may be any above the last.
    pub fn resync(&mut self) {
        for line in self.convs.values_mut() {
            line.dense = false;
            line.missing.clear();
        }
        // Of those that were told of nothing yet the first push may be any as well; `due` sees to that.
    }

    /// The connection ends: what was passed over and never came.
    pub fn end(&self) -> impl Iterator<Item = Complaint> + '_ {
        self.convs.iter().flat_map(|(conv, line)| {
            line.missing.iter().map(move |seq| (Kind::Loss, format!("{conv}: {seq} was never pushed")))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item(seq: u64) -> Item {
        serde_json::from_value(json!({"seq": seq, "state": "normal"})).unwrap()
    }

    /// The kinds of complaint about these pushes, and at the end.
    fn complaints(due: Option<u64>, seqs: &[u64]) -> Vec<Kind> {
        let mut order = Order::default();
        let mut kinds: Vec<Kind> =
            seqs.iter().filter_map(|seq| Some(order.message("c", &item(*seq), due)?.0)).collect();
        kinds.extend(order.end().map(|(kind, _)| kind));
        kinds
    }

    #[test]
    fn ascending_and_dense_is_well() {
        assert_eq!(complaints(None, &[4, 5, 6]), []);
        assert_eq!(complaints(Some(7), &[4, 5, 6]), [], "what is known may come once more");
    }

    #[test]
    fn a_dropped_a_repeated_and_a_swapped_push_are_found() {
        assert_eq!(complaints(None, &[4, 6]), [Kind::Disorder, Kind::Loss]);
        assert_eq!(complaints(Some(4), &[5]), [Kind::Disorder, Kind::Loss]);
        assert_eq!(complaints(None, &[4, 5, 5]), [Kind::Duplicate]);
        assert_eq!(complaints(None, &[4, 6, 5, 7]), [Kind::Disorder, Kind::Disorder]);
    }

    #[test]
    fn after_a_resync_there_may_be_a_gap_but_no_way_back() {
        let mut order = Order::default();
        assert!(order.message("c", &item(4), None).is_none());
        order.resync();
        assert!(order.message("c", &item(9), None).is_none());
        assert_eq!(order.message("c", &item(8), None).unwrap().0, Kind::Duplicate);
    }

    #[test]
    fn who_has_learnt_that_they_are_out_may_still_hear_what_was_on_its_way() {
        let mut order = Order::default();
        order.left("c");
        assert!(order.message("c", &item(3), Some(1)).is_none());
        assert_eq!(order.message("c", &item(3), Some(1)).unwrap().0, Kind::Duplicate);
        assert_eq!(order.message("other", &item(3), Some(1)).unwrap().0, Kind::Disorder);
    }

    #[test]
    fn who_came_in_hears_from_there_on() {
        let mut order = Order::default();
        assert!(order.message("c", &item(4), None).is_none());
        order.joined("c");
        assert!(order.message("c", &item(9), Some(1)).is_none());
        assert_eq!(order.message("c", &item(11), Some(1)).unwrap().0, Kind::Disorder);
    }

    #[test]
    fn a_body_after_its_recall_or_deletion_and_a_recall_told_twice_are_found() {
        let mut order = Order::default();
        assert!(order.recalled("c", 4).is_none());
        order.deleted("c", &[5]);
        assert_eq!(order.message("c", &item(4), None).unwrap().0, Kind::Forbidden);
        assert_eq!(order.message("c", &item(5), None).unwrap().0, Kind::Forbidden);
        assert_eq!(order.recalled("c", 4).unwrap().0, Kind::Duplicate);
    }

    #[test]
    fn read_positions_only_go_up() {
        let mut order = Order::default();
        assert!(order.read("c", 1, 4).is_none());
        assert!(order.read("c", 2, 3).is_none());
        assert_eq!(order.read("c", 1, 4).unwrap().0, Kind::Duplicate);
        assert_eq!(order.read("c", 1, 3).unwrap().0, Kind::Disorder);
    }
}
