//! What one device knows: built only from what it was told, and counted by the contract's definitions. No I/O.

use std::collections::{BTreeMap, BTreeSet};

use crate::client::wire::{Changes, Conversation, Item, SYSTEM, State};

/// A device's copy of everything.
#[derive(Debug, Clone, Default)]
pub struct Replica {
    pub uid: u64,
    pub kept: BTreeMap<String, Kept>,
    /// Seqs of messages that the device was ever told, groups included that the person has left since.
    pub told: BTreeMap<String, BTreeSet<u64>>,
}

/// A conversation on a device.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    held: BTreeMap<u64, Held>,
    recalled: BTreeSet<u64>,
    deleted: BTreeSet<u64>,
    pub min_seq: u64,
    pub read_seq: u64,
    peer_read_seq: u64,
    /// The highest seq that the device has heard of.
    pub max_seq: u64,
    /// Does the device know the conversation's numbers, or only that it is there?
    pub known: bool,
}

/// A message on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    /// None where only a deleted one was told.
    sender: Option<u64>,
    system: bool,
    names_me: bool,
}

/// The numbers of a conversation, by the server or by the device's own count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers {
    pub max_seq: u64,
    pub min_seq: u64,
    pub read_seq: u64,
    pub peer_read_seq: Option<u64>,
    pub unread: u64,
    pub mention_seq: Option<u64>,
    pub last_message: Option<(u64, State)>,
}

impl From<&Conversation> for Numbers {
    fn from(it: &Conversation) -> Self {
        Self {
            max_seq: it.max_seq,
            min_seq: it.min_seq,
            read_seq: it.read_seq,
            peer_read_seq: it.peer_read_seq,
            unread: it.unread,
            mention_seq: it.mention_seq,
            last_message: it.last_message.as_ref().map(|item| (item.seq, item.state)),
        }
    }
}

impl Numbers {
    /// Do the two stand at the same messages and positions, so that their counts must be equal?
    pub fn stands_with(&self, other: &Self) -> bool {
        let place = |it: &Self| (it.max_seq, it.min_seq, it.read_seq);
        place(self) == place(other)
    }
}

impl Replica {
    /// An empty one.
    pub fn new(uid: u64) -> Self {
        Self { uid, ..Self::default() }
    }

    /// A conversation, held from now on.
    fn at(&mut self, conv: &str) -> &mut Kept {
        if !self.kept.contains_key(conv) {
            self.kept.insert(conv.to_owned(), Kept { min_seq: 1, ..Kept::default() });
        }
        // Just put there.
        self.kept.entry(conv.to_owned()).or_default()
    }

    /// Takes a conversation's numbers in.
    pub fn take_numbers(&mut self, it: &Conversation) {
        let kept = self.at(&it.conv_id);
        kept.known = true;
        kept.max_seq = kept.max_seq.max(it.max_seq);
        kept.read_seq = kept.read_seq.max(it.read_seq);
        kept.peer_read_seq = kept.peer_read_seq.max(it.peer_read_seq.unwrap_or(0));
        kept.raise_min(it.min_seq);
    }

    /// Takes in what a sync says beside the numbers.
    pub fn take_changes(&mut self, conv: &str, changes: &Changes) {
        let kept = self.at(conv);
        if changes.truncated {
            // What it shows is fetched anew, with all marks on it.
            kept.held.clear();
            kept.recalled.clear();
            kept.deleted.clear();
        }
        kept.recalled.extend(&changes.recalled);
        kept.deleted.extend(&changes.deleted);
    }

    /// Takes a message in.
    pub fn take_item(&mut self, conv: &str, item: &Item) {
        let me = self.uid;
        self.told.entry(conv.to_owned()).or_default().insert(item.seq);
        let single = conv.starts_with("p2p-");
        let kept = self.at(conv);
        kept.max_seq = kept.max_seq.max(item.seq);
        match item.state {
            State::Recalled => drop(kept.recalled.insert(item.seq)),
            State::Deleted => drop(kept.deleted.insert(item.seq)),
            State::Normal | State::Expired => {}
        }
        // Who says something has read up to it.
        match item.sender_id {
            Some(sender) if sender == me => kept.read_seq = kept.read_seq.max(item.seq),
            Some(sender) if single && sender != 0 => kept.peer_read_seq = kept.peer_read_seq.max(item.seq),
            _ => {}
        }
        let names_me = item.flags & crate::client::wire::AT_ALL != 0 || item.mentions.contains(&me);
        let system = item.msg_type == Some(SYSTEM);
        let held = Held { sender: item.sender_id, system, names_me };
        let before = kept.held.entry(item.seq).or_insert(held);
        if held.sender.is_some() {
            *before = held;
        }
    }

    /// A message was taken back.
    pub fn recall(&mut self, conv: &str, seq: u64) {
        self.at(conv).recalled.insert(seq);
    }

    /// The person has deleted messages.
    pub fn delete(&mut self, conv: &str, seqs: &[u64]) {
        self.at(conv).deleted.extend(seqs);
    }

    /// Somebody has read.
    pub fn read(&mut self, conv: &str, uid: u64, seq: u64) {
        let (me, single) = (self.uid, conv.starts_with("p2p-"));
        let kept = self.at(conv);
        if uid == me {
            kept.read_seq = kept.read_seq.max(seq);
        } else if single {
            kept.peer_read_seq = kept.peer_read_seq.max(seq);
        }
    }

    /// The person has come into a group: what the device had of an earlier stay is not to be seen any more, or is
    /// fetched anew.
    pub fn join(&mut self, conv: &str) {
        self.kept.insert(conv.to_owned(), Kept { min_seq: 1, ..Kept::default() });
    }

    /// The person is out.
    pub fn leave(&mut self, conv: &str) {
        self.kept.remove(conv);
    }

    /// Conversations of which only the existence is known.
    pub fn unknown(&self) -> Vec<String> {
        self.kept.iter().filter(|(_, kept)| !kept.known).map(|(conv, _)| conv.clone()).collect()
    }

    /// Conversations of which something is missing.
    pub fn incomplete(&self) -> BTreeSet<String> {
        let holes = self.holes(usize::MAX).into_iter().map(|(conv, ..)| conv);
        holes.chain(self.unknown()).collect()
    }

    /// Ranges that are missing, as bounds of pages: above, below.
    pub fn holes(&self, most: usize) -> Vec<(String, u64, Option<u64>)> {
        let hole = |(conv, kept): (&String, &Kept)| {
            let (after, before) = kept.hole()?;
            Some((conv.clone(), after, before))
        };
        self.kept.iter().filter(|(_, kept)| kept.known).filter_map(hole).take(most).collect()
    }
}

impl Kept {
    fn raise_min(&mut self, min_seq: u64) {
        if min_seq > self.min_seq {
            self.min_seq = min_seq;
            self.held = self.held.split_off(&min_seq);
            self.recalled = self.recalled.split_off(&min_seq);
            self.deleted = self.deleted.split_off(&min_seq);
        }
    }

    /// A page that was asked for has said where the conversation begins.
    pub fn begins(&mut self, min_seq: u64) {
        self.raise_min(min_seq);
    }

    /// The seq that follows on what the device holds; none where it has only heard that it has come in.
    pub fn next(&self) -> Option<u64> {
        match self.held.last_key_value() {
            Some((seq, _)) => Some(self.min_seq.max(seq + 1)),
            None => self.known.then_some(self.min_seq),
        }
    }

    fn hole(&self) -> Option<(u64, Option<u64>)> {
        let mut next = self.min_seq;
        for seq in self.held.range(self.min_seq..).map(|(seq, _)| *seq) {
            if seq > next {
                return Some((next - 1, Some(seq)));
            }
            next = seq + 1;
        }
        (next <= self.max_seq).then_some((next - 1, None))
    }

    /// Which of the seqs that it must have up to this one the device lacks, if any.
    pub fn lacks(&self, up_to: u64) -> Option<u64> {
        (self.min_seq..=up_to).find(|seq| !self.held.contains_key(seq))
    }

    /// How a message looks on the device.
    pub fn state(&self, seq: u64) -> Option<State> {
        let _held = self.held.get(&seq)?;
        Some(match () {
            () if self.deleted.contains(&seq) => State::Deleted,
            () if self.recalled.contains(&seq) => State::Recalled,
            () => State::Normal,
        })
    }

    /// All messages on the device, ascending.
    pub fn seqs(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.held.keys().copied()
    }

    /// The newest message of this sender that is still to be read.
    pub fn newest_of(&self, sender: u64) -> Option<u64> {
        let of_sender = self.held.iter().rev().filter(|(_, held)| held.sender == Some(sender));
        of_sender.map(|(seq, _)| *seq).find(|seq| self.state(*seq) == Some(State::Normal))
    }

    /// The numbers by the device's own count.
    pub fn numbers(&self, me: u64, single: bool) -> Numbers {
        let from = self.read_seq.max(self.min_seq.saturating_sub(1)) + 1;
        let counts = |seq: &u64, held: &Held| {
            held.sender != Some(me) && !held.system && self.state(*seq) == Some(State::Normal)
        };
        let unread = self.held.range(from..).filter(|(seq, held)| counts(seq, held));
        let mention_seq = unread.clone().find(|(_, held)| held.names_me).map(|(seq, _)| *seq);
        let shown = |seq: u64| {
            let state = self.state(seq)?;
            matches!(state, State::Normal | State::Recalled).then_some((seq, state))
        };
        Numbers {
            max_seq: self.max_seq,
            min_seq: self.min_seq,
            read_seq: self.read_seq,
            peer_read_seq: single.then_some(self.peer_read_seq),
            unread: unread.count() as u64,
            mention_seq,
            last_message: self.seqs().rev().find_map(shown),
        }
    }
}
