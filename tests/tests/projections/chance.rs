//! Repeatable chance, and random histories that keep the domain's rules.

use std::collections::BTreeSet;

use domain::{
    Bits, Bucket, ClientMsgId, Content, ConvId, Event, Flags, GroupChange, History, Invite, MsgId, Role,
    Sender, Seq, Settings, Uid,
};
use uuid::Uuid;

/// SplitMix64: small, and the same everywhere.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

pub fn uid(n: u64) -> Uid {
    Uid::new(n).unwrap()
}

pub fn seq(n: u64) -> Seq {
    Seq::new(n)
}

pub fn conv(text: &str) -> ConvId {
    ConvId::parse(text).unwrap()
}

/// A text message.
pub fn says(sender: u64, text: &str) -> Event {
    Event::MessageSent {
        msg_id: MsgId::new(1000 + text.len() as u64),
        sender: Sender::new(sender).unwrap(),
        content: Content::text(text, 1 << 20).unwrap(),
        flags: Flags::NONE,
        mentions: vec![],
        reply_to: None,
        client_msg_id: ClientMsgId::new(Uuid::from_u128(7)),
        create_at: 1_764_000_000_000,
    }
}

/// People of a random world.
pub const PEOPLE: u64 = 4;
/// Says nothing in groups and seldom reads, so that much stays unread.
const LURKER: u64 = PEOPLE;
/// Their conversations: two groups, single chats, notes.
pub const CONVS: [&str; 5] = ["grp-all", "grp-joined", "p2p-1-2", "p2p-2-3", "p2p-4-4"];

/// One conversation while its history is made up.
struct Making {
    id: ConvId,
    max_seq: u64,
    members: BTreeSet<u64>,
    founded: bool,
    recalled: BTreeSet<u64>,
    /// Who sent what, 0 for the system; the first is message 1.
    senders: Vec<u64>,
    expired: u64,
    deleted: Vec<(u64, u64, Bits)>,
}

/// `count` events over all conversations; long enough for several buckets.
pub fn history(seed: u64, count: usize) -> Vec<(ConvId, Event)> {
    let chance = &mut Chance(seed);
    let mut all: Vec<Making> = CONVS.iter().map(|id| Making::new(conv(id))).collect();
    let mut events = Vec::new();
    while events.len() < count {
        let making = &mut all[chance.below(CONVS.len() as u64) as usize];
        if let Some(event) = making.event(chance) {
            events.push((making.id.clone(), event));
        }
    }
    events
}

impl Making {
    fn new(id: ConvId) -> Self {
        let members = (1..=PEOPLE).filter(|n| id.has_party(uid(*n))).collect();
        let founded = !id.is_group();
        Self {
            id,
            max_seq: 0,
            members,
            founded,
            recalled: BTreeSet::new(),
            senders: vec![],
            expired: 0,
            deleted: vec![],
        }
    }

    fn event(&mut self, chance: &mut Chance) -> Option<Event> {
        if !self.founded {
            self.founded = true;
            self.members.insert(1);
            let history = if self.id.as_str() == "grp-all" { History::All } else { History::Joined };
            let name = "群".into();
            return Some(Event::GroupCreated {
                name,
                owner: uid(1),
                history,
                announced: false,
                source: None,
            });
        }
        let who = *self.members.iter().nth(chance.below(self.members.len() as u64) as usize)?;
        let at = 1_764_000_000_000 + chance.below(1_000_000) as i64;
        // A seq that is there, more often a late one.
        let some_seq = |making: &Self, chance: &mut Chance| {
            let back = chance.below(making.max_seq.max(1)).min(chance.below(making.max_seq.max(1)));
            (making.max_seq > 0).then(|| seq(making.max_seq - back))
        };
        match chance.below(20) {
            0 => {
                let seq = some_seq(self, chance).filter(|seq| seq.get() > self.expired)?;
                self.recalled.insert(seq.get()).then(|| Event::MessageRecalled { seq, by: uid(who), at })
            }
            1..=3 => self.delete(chance, who),
            4..=5 if who != LURKER || chance.one_in(20) => {
                let read_seq = some_seq(self, chance)?;
                Some(Event::ReadAdvanced { uid: uid(who), read_seq, at })
            }
            6 if chance.one_in(10) => {
                let up_to_seq = some_seq(self, chance)?;
                Some(Event::HistoryCleared { uid: uid(who), up_to_seq })
            }
            7 if self.id.is_group() => {
                let new: Vec<u64> = (1..=PEOPLE).filter(|n| !self.members.contains(n)).collect();
                let new = *new.get(chance.below(PEOPLE) as usize)?;
                self.members.insert(new);
                let joined_seq = seq(self.max_seq);
                let (uids, by, announced) = (vec![uid(new)], uid(who), false);
                Some(Event::MembersJoined { uids, joined_seq, by, announced, source: None })
            }
            8 if self.id.is_group() && who != 1 && chance.one_in(8) => {
                self.members.remove(&who);
                Some(Event::MemberLeft { uid: uid(who), by: uid(who), announced: false, source: None })
            }
            9 if self.id.is_group() && who != 1 && chance.one_in(4) => {
                let role = if chance.one_in(2) { Role::Admin } else { Role::Member };
                Some(Event::RoleChanged { uid: uid(who), role, by: uid(1) })
            }
            10 if self.id.is_group() && chance.one_in(8) => {
                let mut some = |value: bool| chance.one_in(2).then_some(value);
                let (name, history) = (some(true).map(|_| format!("群 {}", self.max_seq)), some(true));
                let change = GroupChange {
                    name,
                    history: history.map(|_| if who == 1 { History::All } else { History::Joined }),
                    mute_all: some(who == 2),
                    invite: some(true).map(|_| if who == 1 { Invite::Members } else { Invite::Admins }),
                };
                Some(Event::GroupChanged { change, by: uid(1) })
            }
            11 if self.id.is_group() && chance.one_in(100) => Some(Event::GroupDissolved { by: uid(1) }),
            12 if chance.one_in(6) => {
                let settings = Settings { pinned: chance.one_in(2), muted: chance.one_in(2) };
                Some(Event::SettingsChanged { uid: uid(who), settings })
            }
            13 if chance.one_in(12) => {
                // Up to the head now and then, so that it is out of the list.
                let up_to_seq = if chance.one_in(2) { seq(self.max_seq) } else { some_seq(self, chance)? };
                Some(Event::ConversationHidden { uid: uid(who), up_to_seq })
            }
            14 if chance.one_in(40) => {
                let up_to_seq = some_seq(self, chance).filter(|seq| seq.get() > self.expired)?;
                self.expired = up_to_seq.get();
                Some(Event::HistoryExpired { up_to_seq })
            }
            15 if chance.one_in(6) => self.erase(chance, who),
            _ => Some(self.message(chance, if self.id.is_group() && who == LURKER { 1 } else { who })),
        }
    }

    fn message(&mut self, chance: &mut Chance, who: u64) -> Event {
        let system = chance.one_in(30);
        let reply_to = (self.max_seq > 0 && chance.one_in(4)).then(|| seq(1 + chance.below(self.max_seq)));
        let reply_to = reply_to.filter(|seq| seq.get() > self.expired);
        self.max_seq += 1;
        let mentions = (1..=PEOPLE).filter(|_| chance.one_in(20)).map(uid).collect();
        let text = format!("{} of {}", self.max_seq, self.id);
        let Event::MessageSent { msg_id, content, client_msg_id, create_at, .. } = says(1, &text) else {
            unreachable!()
        };
        self.senders.push(if system { 0 } else { who });
        let sender = if system { Sender::System } else { Sender::Person(uid(who)) };
        let flags = if chance.one_in(25) { Flags::AT_ALL } else { Flags::NONE };
        let create_at = create_at + self.max_seq as i64;
        Event::MessageSent { msg_id, sender, content, flags, mentions, reply_to, client_msg_id, create_at }
    }

    /// Some of one person's messages, all of them now and then.
    fn erase(&mut self, chance: &mut Chance, who: u64) -> Option<Event> {
        let odds = if chance.one_in(10) { 1 } else { 30 };
        let own = (1..).zip(&self.senders).filter(|(_, sender)| **sender == who).map(|(n, _)| seq(n));
        let seqs: Vec<Seq> = own.filter(|_| chance.one_in(odds)).take(1000).collect();
        (!seqs.is_empty()).then(|| Event::BodiesErased { uid: uid(who), seqs })
    }

    /// Deletes or restores a run of messages, the whole tail now and then.
    fn delete(&mut self, chance: &mut Chance, who: u64) -> Option<Event> {
        let length = if chance.one_in(20) { 150 } else { 1 + chance.below(3) };
        let first = if length == 150 {
            self.max_seq.saturating_sub(149).max(1)
        } else {
            1 + chance.below(self.max_seq.max(1))
        };
        let on = !chance.one_in(3);
        let mut seqs = Vec::new();
        for n in first..=(first + length - 1).min(self.max_seq) {
            let bucket = Bucket::of(seq(n)).get();
            let place = self.deleted.iter().position(|(uid, b, _)| (*uid, *b) == (who, bucket));
            let place = place.unwrap_or_else(|| {
                self.deleted.push((who, bucket, Bits::EMPTY));
                self.deleted.len() - 1
            });
            let bits = &mut self.deleted[place].2;
            if n > self.expired && bits.has(Bucket::slot(seq(n))) != on {
                bits.set(Bucket::slot(seq(n)), on);
                seqs.push(seq(n));
            }
        }
        let uid = uid(who);
        let event = if on {
            Event::MessagesDeletedFor { uid, seqs }
        } else {
            Event::MessagesRestoredFor { uid, seqs }
        };
        match &event {
            Event::MessagesDeletedFor { seqs, .. } | Event::MessagesRestoredFor { seqs, .. }
                if seqs.is_empty() =>
            {
                None
            }
            _ => Some(event),
        }
    }
}
