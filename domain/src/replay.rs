//! What a conversation shows, told again from its events alone: an independent statement of what the read models
//! keep. Pure; who reads the log is elsewhere.
//!
//! The streams are folded apart, each in its own order; what comes from two of them (a read position) goes by the
//! order of the positions. Nothing is kept of a message but the bits of its labels: memory does not grow with the
//! length of the history, so whoever asks for a page brings its messages along.

mod recalls;
mod seqs;

use std::collections::{BTreeMap, BTreeSet};

pub use self::{recalls::RECALLS_KEPT, seqs::Seqs};
use crate::{
    bucket::{Bits, Bucket},
    content::Flags,
    conv_id::{ConvId, ConvKind},
    conversation::Recall,
    event::{Event, History, Role, Settings},
    group::Group,
    ids::{Ms, Sender, Seq, Uid},
    unread,
    view::{self, Labels, Viewer},
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

    /// Which conversation.
    pub fn conv(&self) -> &ConvId {
        &self.conv
    }

    /// The newest message.
    pub fn max_seq(&self) -> Seq {
        self.max_seq
    }

    /// Up to where retention has taken the history.
    pub fn expired_seq(&self) -> Seq {
        self.expired_seq
    }

    /// When the last message or the founding was appended; 0 where nothing ever happened.
    pub fn updated_at(&self) -> Ms {
        self.updated_at
    }

    /// A group's own facts; its `members` are not counted, see [`Self::members`].
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// Everybody of whom something is kept, ascending.
    pub fn people(&self) -> &BTreeMap<Uid, Person> {
        &self.people
    }

    /// What is kept of one person.
    pub fn person(&self, uid: Uid) -> Person {
        self.people.get(&uid).copied().unwrap_or_default()
    }

    /// Who is in it now, ascending. A single chat's two are, even before its first message.
    pub fn members(&self) -> Vec<Uid> {
        match self.conv.kind() {
            ConvKind::Single { lo, hi } => BTreeSet::from([lo, hi]).into_iter().collect(),
            ConvKind::Group => {
                self.people.iter().filter(|(_, it)| it.membership.is_some()).map(|(uid, _)| *uid).collect()
            }
        }
    }

    /// In it now?
    pub fn is_member(&self, uid: Uid) -> bool {
        if self.conv.is_group() { self.person(uid).membership.is_some() } else { self.conv.has_party(uid) }
    }

    /// The eyes of one person.
    pub fn viewer(&self, uid: Uid) -> Viewer {
        let person = self.person(uid);
        let hides_the_past = self.group.as_ref().is_some_and(|group| group.history == History::Joined);
        let joined = person.membership.filter(|_| hides_the_past).map(|it| it.joined_seq);
        let min_seq =
            view::min_seq(person.cleared.unwrap_or_default(), joined.unwrap_or_default(), self.expired_seq);
        Viewer { member: self.is_member(uid), min_seq }
    }

    /// Where one person stands.
    pub fn standing(&self, uid: Uid) -> Standing {
        let (person, viewer, max_seq) = (self.person(uid), self.viewer(uid), self.max_seq);
        // Who came in has read the message about it before it is there.
        let read_seq = person.read.seq.min(max_seq);
        let above = unread::unread_above(read_seq, viewer.min_seq);
        let (nothing, deleted) = (Seqs::default(), self.deleted_by(uid));
        let deleted = deleted.unwrap_or(&nothing);
        let out = [&self.recalled, &self.erased, deleted];
        let uncounted = Seqs::count_above(&[&self.system, out[0], out[1], out[2]], above);
        let names = [&self.at_all, self.named.get(&uid).unwrap_or(&nothing)];
        let joined_at = person.membership.map_or(0, |it| it.joined_at);
        Standing {
            viewer,
            max_seq,
            read_seq,
            peer_read_seq: self.conv.peer_of(uid).map(|peer| self.person(peer).read.seq),
            unread: unread::unread(max_seq, read_seq, viewer.min_seq, uncounted),
            mention_seq: Seqs::first_above(&names, &out, above),
            last_seq: Seqs::last_outside(&[&self.erased, deleted], viewer.min_seq, max_seq),
            updated_at: self.updated_at.max(joined_at),
            settings: person.settings.unwrap_or_default(),
            hidden: person.hidden.is_some_and(|hidden| max_seq <= hidden),
        }
    }

    /// What has become of a message for one person.
    pub fn labels(&self, uid: Uid, seq: Seq) -> Result<Labels, Forgotten> {
        Ok(Labels {
            recalled: self.recall(seq)?,
            deleted: self.deleted_by(uid).is_some_and(|seqs| seqs.has(seq)),
            expired: self.erased.has(seq),
        })
    }

    /// By whom and when a message was recalled, if it was.
    pub fn recall(&self, seq: Seq) -> Result<Option<Recall>, Forgotten> {
        match self.recalls.get(seq) {
            None if self.recalled.has(seq) => Err(Forgotten(seq)),
            known => Ok(known),
        }
    }

    /// Is this message's body gone by an erasure?
    pub fn is_erased(&self, seq: Seq) -> bool {
        self.erased.has(seq)
    }

    /// Is this message the server's own?
    pub fn is_system(&self, seq: Seq) -> bool {
        self.system.has(seq)
    }

    /// What one person has deleted of a bucket.
    pub fn deleted_in(&self, uid: Uid, bucket: Bucket) -> Bits {
        self.deleted_by(uid).map_or(Bits::EMPTY, |seqs| seqs.bits(bucket))
    }

    /// Who has deleted something of which buckets, ascending by person.
    pub fn deleted_buckets(&self) -> impl Iterator<Item = (Uid, Bucket)> {
        self.deleted.iter().flat_map(|(uid, seqs)| seqs.buckets().map(|bucket| (*uid, bucket)))
    }

    /// Which messages name whom; none is everybody. Of those who are watched.
    pub fn named(&self) -> impl Iterator<Item = (Option<Uid>, Seq)> {
        let all = self.at_all.iter().map(|seq| (None, seq));
        all.chain(self.named.iter().flat_map(|(uid, seqs)| seqs.iter().map(|seq| (Some(*uid), seq))))
    }

    fn deleted_by(&self, uid: Uid) -> Option<&Seqs> {
        self.deleted.get(&uid)
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
