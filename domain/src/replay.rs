//! What a conversation shows, told again from its events alone: an independent statement of what the read models
//! keep. Pure; who reads the log is elsewhere.
//!
//! The streams are folded apart, each in its own order; what comes from two of them (a read position) goes by the
//! order of the positions. Nothing is kept of a message but the bits of its labels: memory does not grow with the
//! length of the history, so whoever asks for a page brings its messages along.

mod answers;
mod recalls;
mod seqs;

use std::collections::{BTreeMap, BTreeSet};

pub use self::{recalls::RECALLS_KEPT, seqs::Seqs};
use crate::{
    content::Flags,
    conv_id::{ConvId, ConvKind},
    conversation::Recall,
    event::{Event, Role, Settings},
    group::Group,
    ids::{Ms, Sender, Seq, Uid},
    view::Viewer,
};
use recalls::Recalls;

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// In the order of everything that happened in the conversation.
    pub position: u64,
    /// In its stream; of a message, its seq.
    pub version: u64,
    /// When it was appended.
    pub recorded_at: Ms,
}

/// One person's being in a group now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Membership {
    /// As what.
    pub role: Role,
    /// The head at the last joining.
    pub joined_seq: Seq,
    /// When that was appended.
    pub joined_at: Ms,
}

/// How far one person has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// Up to and with this message.
    pub seq: Seq,
    /// When; 0 for one who never read.
    pub at: Ms,
    /// Where the event stands that says so.
    pub position: u64,
}

/// What a conversation keeps of one person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Person {
    /// Of a group, and of a single chat that has begun.
    pub membership: Option<Membership>,
    /// How far they have read.
    pub read: Read,
    /// Up to where they have cleared, if they ever have.
    pub cleared: Option<Seq>,
    /// The head when they last took it out of their list, if they ever have.
    pub hidden: Option<Seq>,
    /// How they want it in their list, once they have said so.
    pub settings: Option<Settings>,
    /// Where their last leaving stands.
    pub left: Option<u64>,
}

/// Where one person stands in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// In it, and from where on they see.
    pub viewer: Viewer,
    /// The newest message.
    pub max_seq: Seq,
    /// How far they have read of what there is.
    pub read_seq: Seq,
    /// Of a single chat: how far the other one has.
    pub peer_read_seq: Option<Seq>,
    /// What they have not read.
    pub unread: u64,
    /// The first unread message that names them or everybody.
    pub mention_seq: Option<Seq>,
    /// The newest message that they see and that is neither deleted nor expired.
    pub last_seq: Option<Seq>,
    /// The last message, the founding, or their joining.
    pub updated_at: Ms,
    /// How they want it in their list.
    pub settings: Settings,
    /// Out of their list until the next message?
    pub hidden: bool,
}

/// Of this message it is known that it was recalled, but not kept by whom: [`Replay::recollect`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forgotten(pub Seq);

/// Whose mentions are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Watched {
    Everybody,
    These(BTreeSet<Uid>),
}

/// A conversation as its events tell it, up to where they were told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    conv: ConvId,
    max_seq: Seq,
    expired_seq: Seq,
    updated_at: Ms,
    group: Option<Group>,
    people: BTreeMap<Uid, Person>,
    recalled: Seqs,
    erased: Seqs,
    system: Seqs,
    at_all: Seqs,
    recalls: Recalls,
    watched: Watched,
    named: BTreeMap<Uid, Seqs>,
    deleted: BTreeMap<Uid, Seqs>,
}

impl Replay {
    /// Before the first event.
    pub fn new(conv: &ConvId) -> Self {
        Self::keeping(conv, RECALLS_KEPT)
    }

    fn keeping(conv: &ConvId, recalls: usize) -> Self {
        Self {
            conv: conv.clone(),
            max_seq: Seq::ZERO,
            expired_seq: Seq::ZERO,
            updated_at: 0,
            group: None,
            people: BTreeMap::new(),
            recalled: Seqs::default(),
            erased: Seqs::default(),
            system: Seqs::default(),
            at_all: Seqs::default(),
            recalls: Recalls::newest(recalls),
            watched: Watched::These(BTreeSet::new()),
            named: BTreeMap::new(),
            deleted: BTreeMap::new(),
        }
    }

    /// Keeps from here on which messages name this person; without it their `mention_seq` is not known.
    pub fn watch(&mut self, uid: Uid) {
        if let Watched::These(people) = &mut self.watched {
            people.insert(uid);
        }
    }

    /// The same for everybody: a bit for each mention.
    pub fn watch_everybody(&mut self) {
        self.watched = Watched::Everybody;
    }

    /// An event, in the order of its stream. Of messages, lower ones may be left out: then nothing is known of
    /// them but what the other streams say.
    pub fn learn(&mut self, place: Place, event: &Event) {
        match event {
            Event::MessageSent { sender, create_at, flags, mentions, .. } => {
                let seq = Seq::new(place.version);
                if flags.has(Flags::AT_ALL) {
                    self.at_all.set(seq, true);
                }
                let watched = |uid: &Uid| match &self.watched {
                    Watched::Everybody => true,
                    Watched::These(people) => people.contains(uid),
                };
                for uid in mentions.iter().filter(|uid| watched(uid) && !sender.is(**uid)) {
                    self.named.entry(*uid).or_default().set(seq, true);
                }
                self.came(place, *sender, *create_at);
            }
            Event::MessageRecalled { seq, by, at } => {
                self.recalled.set(*seq, true);
                self.recalls.note(*seq, Recall { by: *by, at: *at });
            }
            Event::MessagesDeletedFor { uid, seqs } => self.set_deleted(*uid, seqs, true),
            Event::MessagesRestoredFor { uid, seqs } => self.set_deleted(*uid, seqs, false),
            Event::ReadAdvanced { uid, read_seq, at } => self.raise(*uid, *read_seq, *at, place),
            Event::HistoryCleared { uid, up_to_seq } => self.clear(*uid, *up_to_seq),
            Event::ConversationHidden { uid, up_to_seq } => {
                self.clear(*uid, *up_to_seq);
                let person = self.person_mut(*uid);
                person.hidden = person.hidden.max(Some(*up_to_seq));
            }
            Event::SettingsChanged { uid, settings } => self.person_mut(*uid).settings = Some(*settings),
            Event::HistoryExpired { up_to_seq } => self.expired_seq = self.expired_seq.max(*up_to_seq),
            Event::BodiesErased { uid: _, seqs } => {
                seqs.iter().for_each(|seq| self.erased.set(*seq, true));
            }
            // A hold keeps what is there; nobody sees it.
            Event::HoldPlaced { .. } | Event::HoldLifted { .. } => {}
            Event::GroupCreated { name, owner, history, announced, source: _ } => {
                self.group = Some(Group::founded(name, *owner, *history));
                self.updated_at = self.updated_at.max(place.recorded_at);
                self.join(*owner, Role::Owner, Seq::ZERO, place);
                if *announced {
                    self.raise(*owner, Seq::ZERO.next(), 0, place);
                }
            }
            Event::MembersJoined { uids, joined_seq, by: _, announced, source: _ } => {
                // Whoever comes in has read everything, the message about the coming, too.
                let read_seq = if *announced { joined_seq.next() } else { *joined_seq };
                for uid in uids {
                    self.join(*uid, Role::Member, *joined_seq, place);
                    self.raise(*uid, read_seq, 0, place);
                }
            }
            Event::MemberLeft { uid, by: _, announced: _, source: _ } => {
                let person = self.person_mut(*uid);
                (person.membership, person.left) = (None, Some(place.position));
            }
            Event::RoleChanged { uid, role, by: _ } => {
                if let Some(membership) = &mut self.person_mut(*uid).membership {
                    membership.role = *role;
                }
            }
            Event::GroupChanged { change, by: _ } => self.change_group(|group| group.take(change)),
            Event::GroupDissolved { by: _ } => self.change_group(|group| group.dissolved = true),
        }
    }

    /// A message whose body has gone from the log: who sent it and when is still known.
    pub fn came(&mut self, place: Place, sender: Sender, create_at: Ms) {
        let seq = Seq::new(place.version);
        self.max_seq = self.max_seq.max(seq);
        self.updated_at = self.updated_at.max(place.recorded_at);
        match sender {
            Sender::System => self.system.set(seq, true),
            Sender::Person(uid) => self.raise(uid, seq, create_at, place),
        }
        if let (ConvKind::Single { lo, hi }, true) = (self.conv.kind(), seq == Seq::ZERO.next()) {
            self.join(lo, Role::Member, Seq::ZERO, place);
            self.join(hi, Role::Member, Seq::ZERO, place);
        }
    }

    /// Forgets by whom messages were recalled, but for those from `seq` on. The marks are to be told once more with
    /// [`Self::recollect`], and only that.
    pub fn forget_recalls_below(&mut self, seq: Seq) {
        self.recalls = Recalls::range(seq, self.recalls.most());
    }

    /// By whom and when, of a mark that is known already.
    pub fn recollect(&mut self, event: &Event) {
        if let Event::MessageRecalled { seq, by, at } = event {
            self.recalls.note(*seq, Recall { by: *by, at: *at });
        }
    }

    fn person_mut(&mut self, uid: Uid) -> &mut Person {
        self.people.entry(uid).or_default()
    }

    fn join(&mut self, uid: Uid, role: Role, joined_seq: Seq, place: Place) {
        let joined_at = place.recorded_at;
        self.person_mut(uid).membership = Some(Membership { role, joined_seq, joined_at });
    }

    fn clear(&mut self, uid: Uid, up_to: Seq) {
        let person = self.person_mut(uid);
        person.cleared = person.cleared.max(Some(up_to));
    }

    /// A position only goes up; of two reports of the same one the earlier counts.
    fn raise(&mut self, uid: Uid, seq: Seq, at: Ms, Place { position, .. }: Place) {
        let read = &mut self.person_mut(uid).read;
        if seq > read.seq || (seq == read.seq && seq > Seq::ZERO && position < read.position) {
            *read = Read { seq, at, position };
        }
    }

    fn set_deleted(&mut self, uid: Uid, seqs: &[Seq], on: bool) {
        let deleted = self.deleted.entry(uid).or_default();
        seqs.iter().for_each(|seq| deleted.set(*seq, on));
    }

    fn change_group(&mut self, change: impl FnOnce(&mut Group)) {
        if let Some(group) = &mut self.group {
            change(group);
        }
    }
}

#[cfg(test)]
mod tests;
