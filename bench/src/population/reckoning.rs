//! The end: nobody talks any more, so every device must show exactly what was promised, no more and no less. What that
//! is follows from the book alone: the acknowledgements, and the messages as all devices were told them.

use std::collections::BTreeMap;

use super::{
    fault::{Faults, Kind},
    ledger::{Ledger, Truth},
    plan,
    replica::{Kept, Replica},
};
use crate::client::wire::State;

/// Compares a device's copy with the book.
pub fn check(ledger: &Ledger, faults: &Faults, name: &str, replica: &Replica) {
    ledger.read(|truths| {
        for (conv, truth) in truths {
            let told = |kind, what: String| faults.note(kind, format!("{name}: {conv}: {what}"));
            truth.check_told(replica, conv, told);
            let expected =
                truth.has(replica.uid) && (truth.kind != plan::Kind::Single || !truth.facts.is_empty());
            match (expected, replica.kept.get(conv)) {
                (false, None) => {}
                (false, Some(_)) => told(Kind::Forbidden, "is shown to one who is out".into()),
                (true, None) => told(Kind::Loss, "is not shown".into()),
                (true, Some(kept)) => truth.check_kept(replica.uid, kept, told),
            }
        }
    });
}

/// Every acknowledged message was told to somebody, and there is no gap between them.
pub fn check_book(ledger: &Ledger, faults: &Faults) {
    ledger.read(|truths: &BTreeMap<String, Truth>| {
        for (conv, truth) in truths {
            let last = truth.facts.last_key_value().map_or(0, |(seq, _)| *seq);
            let told = |seq: &u64| truth.facts.contains_key(seq);
            for seq in (1..=last.max(truth.acked_head)).filter(|seq| !told(seq)) {
                faults.note(Kind::Loss, format!("{conv}: nobody was ever told {seq}"));
            }
        }
    });
}

impl Truth {
    fn min_seq(&self, uid: u64) -> u64 {
        match self.kind {
            plan::Kind::Single | plan::Kind::Group { shows_all: true } => 1,
            plan::Kind::Group { shows_all: false } => self.stays(uid).last().map_or(1, |stay| stay.0),
        }
    }

    /// Sends, acknowledged reads and comings, whichever is highest.
    fn read_seq(&self, uid: u64) -> u64 {
        let came = match self.kind {
            plan::Kind::Single => 0,
            plan::Kind::Group { .. } => self.stays(uid).last().map_or(0, |stay| stay.0),
        };
        let said = self.facts.iter().rev().find(|(_, fact)| fact.sender == uid).map_or(0, |(seq, _)| *seq);
        came.max(said).max(self.read.get(&uid).copied().unwrap_or(0))
    }

    fn state(&self, uid: u64, seq: u64) -> State {
        match () {
            () if self.deleted.contains_key(&(uid, seq)) => State::Deleted,
            () if self.recalled.contains_key(&seq) => State::Recalled,
            () => State::Normal,
        }
    }

    /// What is on the device is what was promised.
    fn check_kept(&self, uid: u64, kept: &Kept, fault: impl Fn(Kind, String)) {
        let (min_seq, head) = (self.min_seq(uid), self.facts.last_key_value().map_or(0, |(seq, _)| *seq));
        if (kept.min_seq, kept.max_seq) != (min_seq, head) {
            let has = format!("from {} to {}", kept.min_seq, kept.max_seq);
            fault(Kind::Loss, format!("is shown {has} and goes from {min_seq} to {head}"));
        }
        for seq in min_seq..=head {
            let (promised, shown) = (self.state(uid, seq), kept.state(seq));
            match shown {
                None => fault(Kind::Loss, format!("{seq} is not there")),
                Some(shown) if shown == promised => {}
                Some(State::Normal) => fault(Kind::Forbidden, format!("{seq} is shown and is {promised:?}")),
                Some(shown) => fault(Kind::Loss, format!("{seq} is {promised:?} and is shown as {shown:?}")),
            }
        }
        let single = self.kind == plan::Kind::Single;
        let ours = kept.numbers(uid, single);
        let read_seq = self.read_seq(uid);
        let from = read_seq.max(min_seq.saturating_sub(1)) + 1;
        let unread = self.facts.range(from..).filter(|(seq, fact)| {
            ![uid, 0].contains(&fact.sender) && self.state(uid, **seq) == State::Normal
        });
        let mention_seq = unread.clone().find(|(_, fact)| fact.names.has(uid)).map(|(seq, _)| *seq);
        let promised = (read_seq, unread.count() as u64, mention_seq);
        let counted = (ours.read_seq, ours.unread, ours.mention_seq);
        if promised != counted {
            let what = "(read_seq, unread, mention_seq)";
            fault(Kind::Count, format!("{what} is {counted:?} on the device and {promised:?} by the book"));
        }
    }

    /// The person was told no message from outside their stays.
    fn check_told(&self, replica: &Replica, conv: &str, fault: impl Fn(Kind, String)) {
        let plan::Kind::Group { shows_all } = self.kind else { return };
        let Some(told) = replica.told.get(conv) else { return };
        let stays = self.stays(replica.uid);
        let inside = |seq: u64| stays.iter().any(|(from, to)| *from <= seq && to.is_none_or(|to| seq < to));
        // Who may see everything that was said before they came may see all up to their last going.
        let last = stays.last().map(|(_, to)| to.unwrap_or(u64::MAX));
        let may_see = |seq: u64| if shows_all { last.is_some_and(|to| seq < to) } else { inside(seq) };
        for seq in told.iter().filter(|seq| !may_see(**seq)) {
            fault(Kind::Forbidden, format!("was told {seq} from outside the stays {stays:?}"));
        }
    }
}
