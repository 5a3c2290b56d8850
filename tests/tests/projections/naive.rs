//! What a person sees, read from the log in the plainest way: every event, from the first, message by message.

use std::collections::{BTreeMap, BTreeSet};

use domain::{ConvId, Event, Fact, GroupChange, History, Ms, Recall, Role, Sender, Seq, Settings, Uid};

use crate::chance::uid;

/// One conversation, event by event.
pub struct Naive {
    pub conv: ConvId,
    pub facts: Vec<Fact>,
    recalls: BTreeMap<Seq, Recall>,
    deleted: BTreeSet<(Uid, Seq)>,
    read: BTreeMap<Uid, (Seq, Ms)>,
    cleared: BTreeMap<Uid, Seq>,
    pub members: BTreeMap<Uid, (Role, Seq)>,
    history: Option<History>,
    pub group: GroupChange,
    pub dissolved: bool,
    expired: Seq,
    erased: BTreeSet<Seq>,
    hidden: BTreeMap<Uid, u64>,
    settings: BTreeMap<Uid, Settings>,
}

/// A message in short: its seq, its state, its text if that is to be seen.
pub type Seen = (u64, &'static str, Option<String>);

impl Naive {
    pub fn of(conv: &ConvId, events: &[(ConvId, Event)]) -> Self {
        let mut naive = Self {
            conv: conv.clone(),
            facts: vec![],
            recalls: BTreeMap::new(),
            deleted: BTreeSet::new(),
            read: BTreeMap::new(),
            cleared: BTreeMap::new(),
            members: BTreeMap::new(),
            history: None,
            group: GroupChange::default(),
            dissolved: false,
            expired: Seq::ZERO,
            erased: BTreeSet::new(),
            hidden: BTreeMap::new(),
            settings: BTreeMap::new(),
        };
        let parties = (1..=9).map(uid).filter(|uid| conv.has_party(*uid));
        naive.members = parties.map(|uid| (uid, (Role::Member, Seq::ZERO))).collect();
        events.iter().filter(|(of, _)| of == conv).for_each(|(_, event)| naive.learn(event.clone()));
        naive
    }

    fn learn(&mut self, event: Event) {
        match event {
            Event::MessageSent {
                msg_id,
                sender,
                content,
                flags,
                mentions,
                reply_to,
                client_msg_id,
                create_at,
            } => {
                let seq = Seq::new(self.facts.len() as u64 + 1);
                self.facts.push(Fact {
                    seq,
                    msg_id,
                    sender,
                    content,
                    flags,
                    mentions,
                    reply_to,
                    client_msg_id,
                    create_at,
                });
                if let Sender::Person(uid) = sender {
                    self.raise(uid, seq, create_at);
                }
            }
            Event::MessageRecalled { seq, by, at } => drop(self.recalls.insert(seq, Recall { by, at })),
            Event::MessagesDeletedFor { uid, seqs } => {
                self.deleted.extend(seqs.into_iter().map(|seq| (uid, seq)))
            }
            Event::MessagesRestoredFor { uid, seqs } => {
                self.deleted.retain(|(of, seq)| *of != uid || !seqs.contains(seq));
            }
            Event::ReadAdvanced { uid, read_seq, at } => self.raise(uid, read_seq, at),
            Event::SettingsChanged { uid, settings } => drop(self.settings.insert(uid, settings)),
            Event::HistoryCleared { uid, up_to_seq } => {
                let stands = self.cleared.entry(uid).or_default();
                *stands = up_to_seq.max(*stands);
            }
            Event::ConversationHidden { uid, up_to_seq } => {
                self.learn(Event::HistoryCleared { uid, up_to_seq });
                let stands = self.hidden.entry(uid).or_default();
                *stands = up_to_seq.get().max(*stands);
            }
            Event::RoleChanged { uid, role, .. } => {
                if let Some(member) = self.members.get_mut(&uid) {
                    member.0 = role;
                }
            }
            Event::GroupChanged { change, .. } => {
                self.history = change.history.or(self.history);
                let GroupChange { name, history, mute_all, invite } = &mut self.group;
                *name = change.name.or(name.take());
                *history = change.history.or(*history);
                *mute_all = change.mute_all.or(*mute_all);
                *invite = change.invite.or(*invite);
            }
            Event::GroupDissolved { .. } => self.dissolved = true,
            Event::HistoryExpired { up_to_seq } => self.expired = up_to_seq.max(self.expired),
            Event::BodiesErased { seqs, .. } => self.erased.extend(seqs),
            Event::HoldPlaced { .. } | Event::HoldLifted { .. } => {}
            Event::GroupCreated { owner, history, .. } => {
                self.history = Some(history);
                self.members.insert(owner, (Role::Owner, Seq::ZERO));
            }
            Event::MembersJoined { uids, joined_seq, .. } => {
                for uid in uids {
                    self.members.insert(uid, (Role::Member, joined_seq));
                    self.raise(uid, joined_seq, 0);
                }
            }
            Event::MemberLeft { uid, .. } => drop(self.members.remove(&uid)),
        }
    }

    fn raise(&mut self, uid: Uid, seq: Seq, at: Ms) {
        let stands = self.read.entry(uid).or_default();
        if seq > stands.0 {
            *stands = (seq, at);
        }
    }

    pub fn read(&self, uid: Uid) -> (Seq, Ms) {
        self.read.get(&uid).copied().unwrap_or_default()
    }

    /// Is it in this member's list?
    pub fn is_listed(&self, uid: Uid) -> bool {
        self.members.contains_key(&uid) && self.hidden.get(&uid).is_none_or(|hidden| self.max_seq() > *hidden)
    }

    pub fn settings(&self, uid: Uid) -> Settings {
        self.settings.get(&uid).copied().unwrap_or_default()
    }

    /// The messages of which nothing is left.
    pub fn gone(&self) -> BTreeSet<Seq> {
        let gone = |fact: &&Fact| fact.seq <= self.expired || self.erased.contains(&fact.seq);
        self.facts.iter().filter(gone).map(|fact| fact.seq).collect()
    }

    pub fn max_seq(&self) -> u64 {
        self.facts.len() as u64
    }

    pub fn min_seq(&self, viewer: Uid) -> u64 {
        let joined = match self.history {
            Some(History::Joined) => self.members[&viewer].1,
            _ => Seq::ZERO,
        };
        let cleared = self.cleared.get(&viewer).copied().unwrap_or_default();
        cleared.max(joined).max(self.expired).get() + 1
    }

    fn state(&self, viewer: Uid, fact: &Fact) -> &'static str {
        match () {
            () if fact.seq.get() < self.min_seq(viewer) => "hidden",
            () if self.deleted.contains(&(viewer, fact.seq)) => "deleted",
            () if self.erased.contains(&fact.seq) => "expired",
            () if self.recalls.contains_key(&fact.seq) => "recalled",
            () => "normal",
        }
    }

    /// All that this viewer may see, ascending.
    pub fn seen(&self, viewer: Uid) -> Vec<Seen> {
        let seen = |fact: &Fact| {
            let state = self.state(viewer, fact);
            let text = (state == "normal").then(|| fact.content.json().to_owned());
            (fact.seq.get(), state, text)
        };
        self.facts.iter().map(seen).filter(|(_, state, _)| *state != "hidden").collect()
    }

    /// The state of the message that this one quotes, and its excerpt.
    pub fn quote(&self, viewer: Uid, seq: u64) -> Option<(&'static str, String)> {
        let quoted = &self.facts[self.facts[seq as usize - 1].reply_to?.get() as usize - 1];
        let state = self.state(viewer, quoted);
        Some((state, if state == "normal" { quoted.content.excerpt() } else { String::new() }))
    }

    pub fn last_message(&self, viewer: Uid) -> Option<Seen> {
        self.seen(viewer).into_iter().rfind(|(_, state, _)| !["deleted", "expired"].contains(state))
    }

    fn unread_facts(&self, viewer: Uid) -> impl Iterator<Item = &Fact> {
        let read = self.read(viewer).0;
        self.facts.iter().filter(move |fact| {
            let others = fact.sender != Sender::Person(viewer);
            fact.seq > read && others && self.state(viewer, fact) == "normal"
        })
    }

    pub fn unread(&self, viewer: Uid) -> u64 {
        self.unread_facts(viewer).filter(|fact| fact.sender != Sender::System).count() as u64
    }

    pub fn mention(&self, viewer: Uid) -> Option<Seq> {
        let names = |fact: &&Fact| fact.mentions.contains(&viewer) || fact.flags.get() & 2 != 0;
        self.unread_facts(viewer).find(names).map(|fact| fact.seq)
    }

    /// Who may see the message now, has read it, did not send it; then who has not.
    pub fn readers(&self, seq: Seq) -> (Vec<Uid>, Vec<Uid>) {
        let sender = self.facts[seq.get() as usize - 1].sender;
        let may = |uid: &Uid| self.min_seq(*uid) <= seq.get() && sender != Sender::Person(*uid);
        self.members.keys().copied().filter(may).partition(|uid| self.read(*uid).0 >= seq)
    }
}
