//! A conversation as simply as it can be said: lists and sets in memory, no streams, no buckets, no tables.
//!
//! Shares no rule with the domain crate; where the two disagree, one of them is wrong.

use std::collections::{BTreeMap, BTreeSet};

/// A person in these tests.
pub type Person = u64;

#[derive(Debug, Clone)]
pub struct Message {
    pub sender: Person,
    pub text: String,
    pub recalled_by: Option<Person>,
    pub quotes: Option<usize>,
}

/// What is expected of a command.
#[derive(Debug, PartialEq, Eq, Clone)]
pub enum Expected {
    Sent(usize),
    Done(u64),
    NotAMember,
    NotAllowed,
    NotFound,
    NotSender,
    Beyond,
    OwnerStays,
    NoSuchMember,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    Normal { sender: Person, text: String, quote: Option<(usize, &'static str, String)> },
    Recalled { sender: Person, by: Person },
    Deleted,
}

/// One who has ever been in.
#[derive(Debug, Clone, Default)]
struct Standing {
    inside: bool,
    joined_at: usize,
    read: usize,
    /// The highest position that the person reported, which a repeat is compared with.
    reported: usize,
    cleared: usize,
    deleted: BTreeSet<usize>,
}

pub struct Model {
    /// A single chat has no owner and its two never leave.
    owner: Option<Person>,
    shows_all: bool,
    pub messages: Vec<Message>,
    people: BTreeMap<Person, Standing>,
}

impl Model {
    pub fn chat(two: [Person; 2]) -> Self {
        let inside = |person| (person, Standing { inside: true, ..Standing::default() });
        Self { owner: None, shows_all: true, messages: vec![], people: two.map(inside).into() }
    }

    pub fn group(owner: Person, members: &[Person], shows_all: bool) -> Self {
        let inside = |person: &Person| (*person, Standing { inside: true, ..Standing::default() });
        let people = members.iter().chain([&owner]).map(inside).collect();
        Self { owner: Some(owner), shows_all, messages: vec![], people }
    }

    fn of(&self, person: Person) -> Standing {
        self.people.get(&person).cloned().unwrap_or_default()
    }

    pub fn is_inside(&self, person: Person) -> bool {
        self.of(person).inside
    }

    /// The lowest message that a person sees.
    pub fn lowest(&self, person: Person) -> usize {
        let standing = self.of(person);
        let joined = if self.shows_all { 0 } else { standing.joined_at };
        standing.cleared.max(joined) + 1
    }

    pub fn send(&mut self, person: Person, text: &str, quotes: Option<usize>) -> Expected {
        if !self.is_inside(person) {
            return Expected::NotAMember;
        }
        if quotes.is_some_and(|seq| seq < self.lowest(person) || seq > self.messages.len()) {
            return Expected::NotFound;
        }
        self.messages.push(Message { sender: person, text: text.into(), recalled_by: None, quotes });
        let seq = self.messages.len();
        if let Some(standing) = self.people.get_mut(&person) {
            standing.read = standing.read.max(seq);
        }
        Expected::Sent(seq)
    }

    pub fn recall(&mut self, person: Person, seq: usize) -> Expected {
        let by = |model: &Self| model.messages.get(seq.wrapping_sub(1)).and_then(|m| m.recalled_by);
        if by(self) == Some(person) {
            return Expected::Done(person);
        }
        if !self.is_inside(person) {
            return Expected::NotAMember;
        }
        if seq < 1 || seq > self.messages.len() || seq < self.lowest(person) {
            return Expected::NotFound;
        }
        let message = &mut self.messages[seq - 1];
        if self.owner != Some(person) && message.sender != person {
            return Expected::NotSender;
        }
        Expected::Done(*message.recalled_by.get_or_insert(person))
    }

    pub fn delete(&mut self, person: Person, seqs: &BTreeSet<usize>) -> Expected {
        if seqs.iter().all(|seq| self.of(person).deleted.contains(seq)) {
            return Expected::Done(seqs.len() as u64);
        }
        if !self.is_inside(person) {
            return Expected::NotAMember;
        }
        if seqs.iter().any(|seq| *seq > self.messages.len()) {
            return Expected::NotFound;
        }
        let lowest = self.lowest(person);
        let deleted = &mut self.people.entry(person).or_default().deleted;
        deleted.extend(seqs.iter().filter(|seq| **seq >= lowest));
        Expected::Done(seqs.iter().filter(|seq| deleted.contains(seq)).count() as u64)
    }

    pub fn restore(&mut self, person: Person, seqs: &BTreeSet<usize>) -> Expected {
        if !self.is_inside(person) {
            return Expected::NotAMember;
        }
        if seqs.iter().any(|seq| *seq > self.messages.len()) {
            return Expected::NotFound;
        }
        self.people.entry(person).or_default().deleted.retain(|seq| !seqs.contains(seq));
        Expected::Done(seqs.len() as u64)
    }

    pub fn read(&mut self, person: Person, seq: usize) -> Expected {
        let reported = self.of(person).reported;
        if seq <= reported && reported > 0 {
            return Expected::Done(reported as u64);
        }
        if !self.is_inside(person) {
            return Expected::NotAMember;
        }
        if seq > self.messages.len() {
            return Expected::Beyond;
        }
        let standing = self.people.entry(person).or_default();
        standing.reported = standing.reported.max(seq);
        standing.read = standing.read.max(seq);
        Expected::Done(standing.reported as u64)
    }

    pub fn clear(&mut self, person: Person, up_to: Option<usize>) -> Expected {
        let cleared = self.of(person).cleared;
        if !(up_to.is_some_and(|seq| seq <= cleared) && cleared > 0) {
            if !self.is_inside(person) {
                return Expected::NotAMember;
            }
            let up_to = up_to.unwrap_or(self.messages.len());
            if up_to > self.messages.len() {
                return Expected::Beyond;
            }
            let standing = self.people.entry(person).or_default();
            standing.cleared = standing.cleared.max(up_to);
        }
        Expected::Done(self.lowest(person) as u64)
    }

    pub fn add(&mut self, by: Person, person: Person) -> Expected {
        if self.owner.is_none() {
            return Expected::NotAMember;
        }
        if self.is_inside(person) && self.people.contains_key(&by) {
            return Expected::Done(0);
        }
        if !self.is_inside(by) {
            return Expected::NotAMember;
        }
        if self.owner != Some(by) {
            return Expected::NotAllowed;
        }
        let head = self.messages.len();
        let standing = self.people.entry(person).or_default();
        (standing.inside, standing.joined_at) = (true, head);
        standing.read = standing.read.max(head);
        Expected::Done(1)
    }

    pub fn remove(&mut self, by: Person, person: Person) -> Expected {
        if self.owner.is_none() {
            return Expected::NotAMember;
        }
        let known = |p: &Person| self.people.contains_key(p);
        if known(&by) && known(&person) && !self.is_inside(person) {
            return Expected::Done(0);
        }
        if !self.is_inside(by) {
            return Expected::NotAMember;
        }
        if by != person && self.owner != Some(by) {
            return Expected::NotAllowed;
        }
        if !known(&person) {
            return Expected::NoSuchMember;
        }
        if self.owner == Some(person) && self.people.values().filter(|standing| standing.inside).count() > 1 {
            return Expected::OwnerStays;
        }
        if let Some(standing) = self.people.get_mut(&person) {
            standing.inside = false;
        }
        Expected::Done(0)
    }

    pub fn seen(&self, person: Person, seq: usize) -> Seen {
        let message = &self.messages[seq - 1];
        if self.of(person).deleted.contains(&seq) {
            Seen::Deleted
        } else if let Some(by) = message.recalled_by {
            Seen::Recalled { sender: message.sender, by }
        } else {
            let quote = message.quotes.map(|quoted| self.quoted(person, quoted));
            Seen::Normal { sender: message.sender, text: message.text.clone(), quote }
        }
    }

    fn quoted(&self, person: Person, seq: usize) -> (usize, &'static str, String) {
        if seq < self.lowest(person) {
            return (seq, "hidden", String::new());
        }
        match self.seen(person, seq) {
            Seen::Normal { text, .. } => (seq, "normal", text.chars().take(100).collect()),
            Seen::Recalled { .. } => (seq, "recalled", String::new()),
            Seen::Deleted => (seq, "deleted", String::new()),
        }
    }

    pub fn read_seq(&self, person: Person) -> usize {
        self.of(person).read
    }

    pub fn unread(&self, person: Person) -> u64 {
        let start = self.read_seq(person).max(self.lowest(person) - 1);
        let counts = |seq: &usize| {
            let message = &self.messages[seq - 1];
            message.sender != person
                && message.recalled_by.is_none()
                && !self.of(person).deleted.contains(seq)
        };
        (start + 1..=self.messages.len()).filter(counts).count() as u64
    }

    /// The newest message that is not deleted.
    pub fn last_message(&self, person: Person) -> Option<usize> {
        (self.lowest(person)..=self.messages.len()).rev().find(|seq| !self.of(person).deleted.contains(seq))
    }

    pub fn inside(&self) -> Vec<Person> {
        self.people.iter().filter(|(_, standing)| standing.inside).map(|(person, _)| *person).collect()
    }

    /// Who of those who may see a message has read it, and who has not.
    pub fn readers(&self, seq: usize) -> (Vec<Person>, Vec<Person>) {
        let sender = self.messages[seq - 1].sender;
        let may_see = |person: &Person| *person != sender && self.lowest(*person) <= seq;
        self.inside().into_iter().filter(may_see).partition(|person| self.read_seq(*person) >= seq)
    }
}
