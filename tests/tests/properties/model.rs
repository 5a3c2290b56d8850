//! A conversation as simply as it can be said: lists and sets in memory, no streams, no buckets, no tables.
//!
//! Shares no rule with the domain crate; where the two disagree, one of them is wrong. Long because every command has
//! its function here.

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

/// Who says that people came and went.
pub const SYSTEM: Person = 0;

/// What an owner changes.
#[derive(Debug, Clone)]
pub enum Change {
    Name(String),
    ShowsAll(bool),
    Mute(bool),
    MembersInvite(bool),
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
    Muted,
    Dissolved,
    Settled(bool, bool),
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
    /// Up to where it is out of the list.
    hidden: Option<usize>,
    /// Pinned and muted, once something was said of it.
    settings: Option<(bool, bool)>,
    deleted: BTreeSet<usize>,
}

pub struct Model {
    /// A single chat has no owner and its two never leave.
    owner: Option<Person>,
    admins: BTreeSet<Person>,
    pub name: String,
    shows_all: bool,
    pub muted: bool,
    members_invite: bool,
    pub dissolved: bool,
    pub messages: Vec<Message>,
    people: BTreeMap<Person, Standing>,
}

impl Model {
    fn of_people(owner: Option<Person>, inside: impl IntoIterator<Item = Person>, shows_all: bool) -> Self {
        let inside = inside.into_iter().map(|it| (it, Standing { inside: true, ..Standing::default() }));
        Self {
            owner,
            admins: BTreeSet::new(),
            name: "Case".into(),
            shows_all,
            muted: false,
            members_invite: false,
            dissolved: false,
            messages: vec![],
            people: inside.collect(),
        }
    }

    pub fn chat(two: [Person; 2]) -> Self {
        Self::of_people(None, two, true)
    }

    pub fn group(owner: Person, members: &[Person], shows_all: bool) -> Self {
        let mut model = Self::of_people(Some(owner), members.iter().copied().chain([owner]), shows_all);
        model.tell(owner, "founded");
        model.people.values_mut().for_each(|standing| standing.read = 1);
        model
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
        if self.dissolved {
            return Expected::Dissolved;
        }
        if self.muted && self.role(person) == "member" {
            return Expected::Muted;
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
        let leads = self.owner.is_some() && self.role(person) != "member";
        let message = &mut self.messages[seq - 1];
        if message.sender == SYSTEM || (!leads && message.sender != person) {
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
        let shown = |seq: &usize| *seq <= self.messages.len() && !self.of(person).deleted.contains(seq);
        if self.people.contains_key(&person) && seqs.iter().all(shown) {
            return Expected::Done(seqs.len() as u64);
        }
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

    pub fn hide(&mut self, person: Person, up_to: Option<usize>) -> Expected {
        let hidden = self.of(person).hidden;
        let is_repeat = up_to.is_some_and(|seq| hidden.is_some_and(|hidden| seq <= hidden));
        if !is_repeat {
            if !self.is_inside(person) {
                return Expected::NotAMember;
            }
            let up_to = up_to.unwrap_or(self.messages.len());
            if up_to > self.messages.len() {
                return Expected::Beyond;
            }
            let standing = self.people.entry(person).or_default();
            standing.hidden = standing.hidden.max(Some(up_to));
            standing.cleared = standing.cleared.max(up_to);
        }
        Expected::Done(self.lowest(person) as u64)
    }

    pub fn settle(&mut self, person: Person, pinned: Option<bool>, muted: Option<bool>) -> Expected {
        let said = self.of(person).settings;
        let stand = said.unwrap_or_default();
        let wanted = (pinned.unwrap_or(stand.0), muted.unwrap_or(stand.1));
        if said != Some(wanted) {
            if !self.is_inside(person) {
                return Expected::NotAMember;
            }
            if wanted != stand {
                self.people.entry(person).or_default().settings = Some(wanted);
            }
        }
        Expected::Settled(wanted.0, wanted.1)
    }

    /// What a member is in the group.
    pub fn role(&self, person: Person) -> &'static str {
        match () {
            () if self.owner == Some(person) => "owner",
            () if self.admins.contains(&person) => "admin",
            () => "member",
        }
    }

    /// Why somebody may change nothing in the group.
    fn is_barred(&self, by: Person) -> Option<Expected> {
        match () {
            () if self.owner.is_none() || !self.is_inside(by) => Some(Expected::NotAMember),
            () if self.dissolved => Some(Expected::Dissolved),
            () => None,
        }
    }

    fn tell(&mut self, by: Person, what: &str) {
        let text = format!("{what} by {by}");
        self.messages.push(Message { sender: SYSTEM, text, recalled_by: None, quotes: None });
    }

    pub fn add(&mut self, by: Person, person: Person) -> Expected {
        if self.is_inside(person) && self.people.contains_key(&by) && self.owner.is_some() {
            return Expected::Done(0);
        }
        if let Some(barred) = self.is_barred(by) {
            return barred;
        }
        if self.role(by) == "member" && !self.members_invite {
            return Expected::NotAllowed;
        }
        let head = self.messages.len();
        let standing = self.people.entry(person).or_default();
        (standing.inside, standing.joined_at) = (true, head);
        standing.read = standing.read.max(head + 1);
        self.tell(by, "joined");
        Expected::Done(1)
    }

    pub fn remove(&mut self, by: Person, person: Person) -> Expected {
        let known = |p: &Person| self.people.contains_key(p);
        if self.owner.is_some() && known(&by) && known(&person) && !self.is_inside(person) {
            return Expected::Done(0);
        }
        if by == person {
            return self.leave(by);
        }
        if let Some(barred) = self.is_barred(by) {
            return barred;
        }
        match (self.role(by), known(&person), self.role(person)) {
            ("member", ..) => return Expected::NotAllowed,
            (_, false, _) => return Expected::NoSuchMember,
            (_, _, "owner") => return Expected::OwnerStays,
            ("admin", _, "admin") => return Expected::NotAllowed,
            _ => {}
        }
        self.take_out(person);
        self.tell(by, "removed");
        Expected::Done(0)
    }

    fn leave(&mut self, person: Person) -> Expected {
        if self.owner.is_none() || !self.is_inside(person) {
            return Expected::NotAMember;
        }
        if self.owner == Some(person) && self.inside().len() > 1 && !self.dissolved {
            return Expected::OwnerStays;
        }
        self.take_out(person);
        if !self.dissolved {
            self.tell(person, "left");
        }
        Expected::Done(0)
    }

    fn take_out(&mut self, person: Person) {
        self.admins.remove(&person);
        if let Some(standing) = self.people.get_mut(&person) {
            standing.inside = false;
        }
    }

    pub fn set_role(&mut self, by: Person, person: Person, role: &str) -> Expected {
        let known = self.people.contains_key(&by) && self.owner.is_some();
        if known && self.is_inside(person) && self.role(person) == role {
            return Expected::Done(0);
        }
        if let Some(barred) = self.is_barred(by) {
            return barred;
        }
        if self.role(by) != "owner" {
            return Expected::NotAllowed;
        }
        if !self.is_inside(person) {
            return Expected::NoSuchMember;
        }
        if person == by {
            return Expected::OwnerStays;
        }
        self.admins.remove(&person);
        match role {
            "owner" => {
                self.owner = Some(person);
                self.admins.insert(by);
            }
            "admin" => drop(self.admins.insert(person)),
            _ => {}
        }
        Expected::Done(0)
    }

    pub fn change(&mut self, by: Person, change: &Change) -> Expected {
        let same = match change {
            Change::Name(name) => self.name == *name,
            Change::ShowsAll(on) => self.shows_all == *on,
            Change::Mute(on) => self.muted == *on,
            Change::MembersInvite(on) => self.members_invite == *on,
        };
        if same && self.people.contains_key(&by) && self.owner.is_some() {
            return Expected::Done(0);
        }
        if let Some(barred) = self.is_barred(by) {
            return barred;
        }
        if self.role(by) != "owner" {
            return Expected::NotAllowed;
        }
        match change {
            Change::Name(name) => {
                self.name.clone_from(name);
                self.tell(by, "renamed");
            }
            Change::ShowsAll(on) => self.shows_all = *on,
            Change::Mute(on) => self.muted = *on,
            Change::MembersInvite(on) => self.members_invite = *on,
        }
        Expected::Done(0)
    }

    pub fn dissolve(&mut self, by: Person) -> Expected {
        if self.dissolved && self.people.contains_key(&by) {
            return Expected::Done(0);
        }
        if let Some(barred) = self.is_barred(by) {
            return barred;
        }
        if self.role(by) != "owner" {
            return Expected::NotAllowed;
        }
        self.dissolved = true;
        self.tell(by, "dissolved");
        Expected::Done(0)
    }

    /// Pinned, muted.
    pub fn settings(&self, person: Person) -> (bool, bool) {
        self.of(person).settings.unwrap_or_default()
    }

    /// Is the conversation in this person's list?
    pub fn is_listed(&self, person: Person) -> bool {
        let used = self.owner.is_some() || !self.messages.is_empty();
        used && self.is_inside(person)
            && self.of(person).hidden.is_none_or(|hidden| self.messages.len() > hidden)
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
            Seen::Normal { sender: SYSTEM, .. } => (seq, "normal", String::new()),
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
            ![person, SYSTEM].contains(&message.sender)
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
