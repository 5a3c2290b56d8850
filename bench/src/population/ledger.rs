//! What the server has promised, and how it has told every message: one book for all devices. Whatever a device is
//! told is compared with what others were told and with what was acknowledged before it asked.
//!
//! A question that starts after an acknowledgement must know of it; one that starts before may or may not. So the book
//! has a clock of its own that ticks with each of its entries, and a question remembers when it started.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use uuid::Uuid;

use super::{
    fact::Fact,
    fault::{Faults, Kind},
    plan::{self, Plan},
};
use crate::client::wire::{Item, Sent, State};

/// A moment of the book's clock.
pub type Tick = u64;

/// The book.
pub struct Ledger {
    pages: Mutex<Pages>,
    faults: Arc<Faults>,
}

struct Pages {
    now: Tick,
    truths: BTreeMap<String, Truth>,
    /// Conversations in which somebody is, or was once.
    of_person: HashMap<u64, BTreeSet<String>>,
}

/// All that is known of one conversation.
pub struct Truth {
    pub kind: plan::Kind,
    /// Who was in it from the beginning.
    pub founders: Vec<u64>,
    /// By seq, as first told.
    pub facts: BTreeMap<u64, Fact>,
    /// By sender and client_msg_id, since that is what names a message.
    said: HashMap<(u64, Uuid), Said>,
    seqs: HashMap<(u64, Uuid), u64>,
    /// The highest seq of an acknowledged send.
    pub acked_head: u64,
    /// When its recall was acknowledged.
    pub recalled: HashMap<u64, Tick>,
    /// By person and seq: when the deletion was acknowledged.
    pub deleted: HashMap<(u64, u64), Tick>,
    /// Acknowledged read positions.
    pub read: HashMap<u64, u64>,
    members: BTreeMap<u64, Membership>,
}

#[derive(Debug, Clone)]
struct Said {
    digest: u64,
    /// Whether the sender was in for certain when they said it, and in which stay.
    stay: Option<u64>,
    answer: Option<Sent>,
    refused: bool,
}

/// Where somebody stands with a conversation.
#[derive(Debug, Clone, Copy, Default)]
struct Membership {
    inside: bool,
    /// A change has been asked for and not been answered.
    moving: bool,
    since: Tick,
    /// Counts the changes.
    version: u64,
}

/// What a device must know after a question that starts now.
#[derive(Debug, Clone)]
pub struct Due {
    pub conv: String,
    pub head: u64,
    version: u64,
}

impl Ledger {
    /// With the plan's conversations, in which nothing has been said.
    pub fn new(plan: &Plan, faults: Arc<Faults>) -> Self {
        let (mut truths, mut of_person) = (BTreeMap::new(), HashMap::<u64, BTreeSet<String>>::new());
        for planned in &plan.conversations {
            let inside = Membership { inside: true, ..Membership::default() };
            for uid in &planned.members {
                of_person.entry(*uid).or_default().insert(planned.conv.clone());
            }
            let members = planned.members.iter().map(|uid| (*uid, inside)).collect();
            truths.insert(planned.conv.clone(), Truth::new(planned, members));
        }
        Self { pages: Mutex::new(Pages { now: 1, truths, of_person }), faults }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs on the truth of one conversation and the clock, which has ticked.
    fn with<T>(&self, conv: &str, run: impl FnOnce(&mut Truth, Tick) -> T) -> Option<T> {
        let mut pages = self.pages();
        pages.now += 1;
        let now = pages.now;
        let known = pages.truths.get_mut(conv).map(|truth| run(truth, now));
        if known.is_none() {
            self.faults.note(Kind::Contradiction, format!("{conv}: there is no such conversation"));
        }
        known
    }

    /// Looks at everything.
    pub fn read<T>(&self, look: impl FnOnce(&BTreeMap<String, Truth>) -> T) -> T {
        look(&self.pages().truths)
    }

    /// A question starts.
    pub fn tick(&self) -> Tick {
        let mut pages = self.pages();
        pages.now += 1;
        pages.now
    }

    /// A send is about to be handed to the server for the first time.
    pub fn say(&self, conv: &str, sender: u64, id: Uuid, digest: u64) {
        self.with(conv, |truth, _| {
            let member = truth.members.get(&sender).filter(|it| it.inside && !it.moving);
            let stay = member.map(|it| it.version);
            truth.said.insert((sender, id), Said { digest, stay, answer: None, refused: false });
        });
    }

    /// A send was answered.
    pub fn acknowledged(&self, conv: &str, sender: u64, id: Uuid, sent: &Sent) {
        self.with(conv, |truth, _| {
            truth.acked_head = truth.acked_head.max(sent.seq);
            let fact = truth.facts.get(&sent.seq);
            if fact.is_some_and(|fact| (fact.sender, fact.client_msg_id) != (sender, id)) {
                let what = format!("{conv}: seq {} was given to {sender}'s {id} and is another's", sent.seq);
                self.faults.note(Kind::Duplicate, what);
            }
            let Some(said) = truth.said.get_mut(&(sender, id)) else { return };
            let first = said.answer.get_or_insert_with(|| sent.clone());
            let same = |it: &Sent| (it.seq, it.msg_id.clone(), it.create_at);
            if same(first) != same(sent) {
                let what = format!("{conv}: {sender}'s {id} was answered with {first:?}, then with {sent:?}");
                self.faults.note(Kind::Duplicate, what);
            }
        });
    }

    /// A send was refused since the sender is not in. Was that so?
    pub fn refused(&self, conv: &str, sender: u64, id: Uuid) {
        self.with(conv, |truth, _| {
            let now = truth.members.get(&sender).filter(|it| it.inside && !it.moving).map(|it| it.version);
            let there = truth.seqs.contains_key(&(sender, id));
            let Some(said) = truth.said.get_mut(&(sender, id)) else { return };
            said.refused = true;
            if now.is_some() && now == said.stay {
                let what = format!("{conv}: {sender} is a member and was refused");
                self.faults.note(Kind::Answer, what);
            }
            if there || said.answer.is_some() {
                let what = format!("{conv}: {sender}'s {id} was refused, and is there");
                self.faults.note(Kind::Contradiction, what);
            }
        });
    }

    /// A recall was answered.
    pub fn recalled(&self, conv: &str, seq: u64) {
        self.with(conv, |truth, now| *truth.recalled.entry(seq).or_insert(now));
    }

    /// A deletion was answered.
    pub fn deleted(&self, conv: &str, uid: u64, seq: u64) {
        self.with(conv, |truth, now| *truth.deleted.entry((uid, seq)).or_insert(now));
    }

    /// A read position was answered.
    pub fn has_read(&self, conv: &str, uid: u64, seq: u64) {
        self.with(conv, |truth, _| {
            let read = truth.read.entry(uid).or_default();
            *read = (*read).max(seq);
        });
    }

    /// Somebody's coming or going is about to be asked for.
    pub fn moving(&self, conv: &str, uid: u64) {
        self.with(conv, |truth, _| truth.members.entry(uid).or_default().moving = true);
    }

    /// It was answered.
    pub fn moved(&self, conv: &str, uid: u64, inside: bool) {
        let moved = self.with(conv, |truth, now| {
            let member = truth.members.entry(uid).or_default();
            *member = Membership { inside, moving: false, since: now, version: member.version + 1 };
        });
        if moved.is_some() && inside {
            self.pages().of_person.entry(uid).or_default().insert(conv.to_owned());
        }
    }

    /// Who is in a conversation and stays for the moment, as the book knows it.
    pub fn members(&self, conv: &str) -> Vec<u64> {
        let pages = self.pages();
        let inside = pages.truths.get(conv).into_iter().flat_map(|truth| &truth.members);
        inside.filter(|(_, it)| it.inside && !it.moving).map(|(uid, _)| *uid).collect()
    }

    /// What a person's devices must know after a question that starts now.
    pub fn due(&self, uid: u64) -> Vec<Due> {
        let pages = self.pages();
        let convs = pages.of_person.get(&uid).into_iter().flatten();
        let due = convs.filter_map(|conv| {
            let truth = pages.truths.get(conv)?;
            let member = truth.members.get(&uid).filter(|it| it.inside && !it.moving)?;
            // A group that nobody has talked in is there all the same.
            let exists = truth.acked_head > 0 || truth.kind != plan::Kind::Single;
            exists.then(|| Due { conv: conv.clone(), head: truth.acked_head, version: member.version })
        });
        due.collect()
    }

    /// Is the person still in, in the same stay as then?
    pub fn stands(&self, uid: u64, due: &Due) -> bool {
        let pages = self.pages();
        let member = pages.truths.get(&due.conv).and_then(|truth| truth.members.get(&uid));
        member.is_some_and(|it| it.inside && !it.moving && it.version == due.version)
    }

    /// Has the person been out since before that moment, and is nobody bringing them in?
    pub fn is_out_since(&self, conv: &str, uid: u64, asked: Tick) -> bool {
        self.pages().truths.get(conv).is_some_and(|truth| truth.is_out_since(uid, asked))
    }

    /// A device was told of something in a conversation, in answer to something asked at that moment.
    pub fn heard_of(&self, conv: &str, viewer: u64, asked: Tick, what: &str) {
        if self.is_out_since(conv, viewer, asked) {
            self.faults.note(Kind::Forbidden, format!("{conv}: {viewer} is out and was told of {what}"));
        }
    }

    /// A device was told a message, in answer to something asked at that moment.
    pub fn told(&self, conv: &str, viewer: u64, item: &Item, asked: Tick) {
        self.heard_of(conv, viewer, asked, "a message");
        self.with(conv, |truth, _| {
            for (kind, what) in truth.learn(item).into_iter().chain(truth.forbids(viewer, item, asked)) {
                self.faults.note(kind, format!("{conv}, seq {}, told to {viewer}: {what}", item.seq));
            }
        });
    }
}

impl Truth {
    fn new(planned: &plan::Planned, members: BTreeMap<u64, Membership>) -> Self {
        Self {
            kind: planned.kind,
            founders: planned.members.clone(),
            facts: BTreeMap::new(),
            said: HashMap::new(),
            seqs: HashMap::new(),
            acked_head: 0,
            recalled: HashMap::new(),
            deleted: HashMap::new(),
            read: HashMap::new(),
            members,
        }
    }

    /// Is this person in it?
    pub fn has(&self, uid: u64) -> bool {
        self.members.get(&uid).is_some_and(|it| it.inside)
    }

    fn is_out_since(&self, uid: u64, asked: Tick) -> bool {
        let member = self.members.get(&uid).copied().unwrap_or_default();
        !member.inside && !member.moving && member.since < asked
    }

    /// Compares with what is known and what was said; keeps what is new.
    fn learn(&mut self, item: &Item) -> Option<(Kind, String)> {
        let contradiction = |what: String| Some((Kind::Contradiction, what));
        match item.state {
            State::Deleted => return None,
            State::Expired => return contradiction("nobody has erased anything".into()),
            State::Recalled if !is_empty(&item.content) || !item.mentions.is_empty() => {
                return Some((Kind::Forbidden, "a recalled message still says something".into()));
            }
            State::Normal | State::Recalled => {}
        }
        let Some(fact) = Fact::of(item) else {
            return Some((Kind::Answer, "a field is missing".into()));
        };
        let name = (fact.sender, fact.client_msg_id);
        if let Some(known) = self.facts.get_mut(&item.seq) {
            let agrees = known.agrees_with(&fact);
            if agrees && known.digest.is_none() {
                *known = fact;
            } else if !agrees {
                return contradiction(format!("{known:?} for one and {fact:?} for another"));
            }
        } else {
            self.facts.insert(item.seq, fact.clone());
            if let Some(first) = self.seqs.insert(name, item.seq) {
                return Some((Kind::Duplicate, format!("{}'s {} is at seq {first}, too", name.0, name.1)));
            }
        }
        self.compare_with_said(item.seq, name)
    }

    fn compare_with_said(&self, seq: u64, name: (u64, Uuid)) -> Option<(Kind, String)> {
        let fact = self.facts.get(&seq).filter(|fact| fact.sender != 0)?;
        let Some(said) = self.said.get(&name) else {
            return Some((Kind::Contradiction, format!("{} has not said {}", name.0, name.1)));
        };
        let promised = said.answer.as_ref();
        let kept = |it: &Sent| (it.seq, &it.msg_id, it.create_at) == (seq, &fact.msg_id, fact.create_at);
        let what = match () {
            () if said.refused => "was refused, and is there",
            () if fact.digest.is_some_and(|digest| digest != said.digest) => "said something else",
            () if !promised.is_none_or(kept) => "was acknowledged otherwise",
            () => return None,
        };
        Some((Kind::Contradiction, format!("{}'s {} {what}", name.0, name.1)))
    }

    /// What this viewer must not be told in answer to something asked then.
    fn forbids(&self, viewer: u64, item: &Item, asked: Tick) -> Option<(Kind, String)> {
        let before = |done: Option<&Tick>| done.is_some_and(|done| *done < asked);
        let quotes_recalled =
            |it: &crate::client::wire::Quote| !it.excerpt.is_empty() && before(self.recalled.get(&it.seq));
        let what = match item.state {
            State::Normal if before(self.recalled.get(&item.seq)) => "its body, after its recall",
            State::Normal if item.reply_to.as_ref().is_some_and(quotes_recalled) => {
                "the body of a quoted message, after its recall"
            }
            State::Normal | State::Recalled if before(self.deleted.get(&(viewer, item.seq))) => {
                "a message that they have deleted"
            }
            _ => return None,
        };
        Some((Kind::Forbidden, what.into()))
    }

    /// The stays of a person in a group, by what the system said in it: from the seq that told of their coming to
    /// below the one that told of their going.
    pub fn stays(&self, uid: u64) -> Vec<(u64, Option<u64>)> {
        let mut stays = Vec::new();
        if self.founders.contains(&uid) {
            stays.push((1, None));
        }
        for (seq, fact) in &self.facts {
            let Some(moved) = fact.moved.as_ref().filter(|moved| moved.uids.contains(&uid)) else { continue };
            match (moved.inside, stays.last_mut()) {
                (true, _) => stays.push((*seq, None)),
                (false, Some((_, end))) => *end = Some(*seq),
                (false, None) => {}
            }
        }
        stays
    }
}

fn is_empty(content: &Value) -> bool {
    content.as_str() == Some("") || content.as_object().is_some_and(|it| it.is_empty())
}

#[cfg(test)]
mod tests;
