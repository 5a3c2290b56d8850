//! What a decision needs to know of a conversation: heads, and small pieces of state by key.
//!
//! A conversation is never loaded whole. A command says what it [`needs`](crate::decide::needs); the pieces come
//! from the log's decision state and stay true by [`Conversation::evolve`]. A piece that was not loaded stays
//! unknown, and evolving it does nothing.

use std::collections::HashMap;

use crate::{
    bucket::{Bits, Bucket},
    command::Sent,
    content::{Content, Flags},
    conv_id::ConvId,
    event::{Event, History, Role, Settings, StreamKind},
    event_id::EventId,
    group::{Group, Member},
    ids::{Ms, Sender, Seq, Uid},
    keeping::{Hold, Keeping},
};

/// A piece of a conversation's state that is kept beside its streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The group's own facts.
    Group,
    /// One person's membership, past ones too.
    Member(Uid),
    /// One person's positions.
    Person(Uid),
    /// What one person has deleted in one bucket.
    Deleted(Uid, Bucket),
    /// The recall of one message.
    Recall(Seq),
    /// What retention has taken, and whether a hold stands.
    Keeping,
}

impl Key {
    /// The stream from whose events this piece follows.
    pub fn stream(self) -> StreamKind {
        match self {
            Self::Group | Self::Member(_) => StreamKind::Group,
            Self::Person(_) | Self::Deleted(..) | Self::Recall(_) | Self::Keeping => StreamKind::Mark,
        }
    }
}

/// What has to be loaded before a command can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A piece of state.
    Piece(Key),
    /// Who sent a message, and when: from the message stream.
    Message(Seq),
    /// Was this event appended before? From the log's index of event ids.
    Event(StreamKind, EventId),
}

/// One person's positions in a conversation, as far as they are events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Person {
    /// The highest position reported.
    pub read_seq: Seq,
    /// The clear-history watermark.
    pub cleared_seq: Seq,
    /// The head when the conversation was last taken out of the list, if it ever was.
    pub hidden_seq: Option<Seq>,
    /// What the person wants of it in the list, once they have said something.
    pub settings: Option<Settings>,
}

/// A recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recall {
    /// By whom.
    pub by: Uid,
    /// When.
    pub at: Ms,
}

/// What a recall must know of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageFact {
    /// From whom.
    pub sender: Sender,
    /// When.
    pub create_at: Ms,
}

/// What a repeat must know of the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earlier {
    /// A message.
    Sent {
        /// Its answer.
        sent: Sent,
        /// What it said; none once its body is erased, and then it is not compared.
        said: Option<Said>,
    },
    /// A keyed clear.
    Cleared {
        /// Its watermark.
        up_to_seq: Seq,
    },
    /// A keyed hiding.
    Hidden {
        /// Its watermark.
        up_to_seq: Seq,
    },
}

/// The payload of a message, as a repeat is compared with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The content.
    pub content: Content,
    /// at_all.
    pub flags: Flags,
    /// The names in it.
    pub mentions: Vec<Uid>,
    /// The message it answers.
    pub reply_to: Option<Seq>,
}

/// The state on which commands are decided.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Which one.
    pub id: ConvId,
    /// Versions of the message, mark and group stream.
    pub versions: [u64; 3],
    /// `Some(None)`: known not to exist.
    pub group: Option<Option<Group>>,
    /// What retention has taken, if that is known.
    pub keeping: Option<Keeping>,
    /// Known memberships; `None` is one who never was in.
    pub members: HashMap<Uid, Option<Member>>,
    /// Known positions.
    pub people: HashMap<Uid, Person>,
    /// Known bitmaps.
    pub deleted: HashMap<(Uid, Bucket), Bits>,
    /// Known recalls; `None` is a message that is not recalled.
    pub recalls: HashMap<Seq, Option<Recall>>,
    /// Known messages; `None` does not exist.
    pub messages: HashMap<Seq, Option<MessageFact>>,
    /// Known answers to "was this event appended before?".
    pub earlier: HashMap<EventId, Option<Earlier>>,
}

impl Conversation {
    /// Nothing known but the heads.
    pub fn at(id: ConvId, versions: [u64; 3]) -> Self {
        Self {
            id,
            versions,
            group: None,
            keeping: None,
            members: HashMap::new(),
            people: HashMap::new(),
            deleted: HashMap::new(),
            recalls: HashMap::new(),
            messages: HashMap::new(),
            earlier: HashMap::new(),
        }
    }

    /// The newest message's seq: the message stream's version.
    pub fn max_seq(&self) -> Seq {
        Seq::new(self.version(StreamKind::Message))
    }

    /// A stream's version.
    pub fn version(&self, stream: StreamKind) -> u64 {
        self.versions[stream as usize]
    }

    /// How many pieces are known: what a cache counts.
    pub fn len(&self) -> usize {
        self.members.len()
            + self.people.len()
            + self.deleted.len()
            + self.recalls.len()
            + self.messages.len()
            + self.earlier.len()
    }

    /// Nothing but heads?
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && self.group.is_none() && self.keeping.is_none()
    }

    /// Is this already known?
    pub fn knows(&self, need: &Need) -> bool {
        match need {
            Need::Piece(Key::Group) => self.group.is_some(),
            Need::Piece(Key::Member(uid)) => self.members.contains_key(uid),
            Need::Piece(Key::Person(uid)) => self.people.contains_key(uid),
            Need::Piece(Key::Deleted(uid, bucket)) => self.deleted.contains_key(&(*uid, *bucket)),
            Need::Piece(Key::Recall(seq)) => self.recalls.contains_key(seq),
            Need::Piece(Key::Keeping) => self.keeping.is_some(),
            Need::Message(seq) => self.messages.contains_key(seq),
            Need::Event(_, id) => self.earlier.contains_key(id),
        }
    }

    /// The group, if there is one.
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref().and_then(Option::as_ref)
    }

    /// This person's membership, past ones too.
    pub fn member(&self, uid: Uid) -> Option<&Member> {
        self.members.get(&uid).and_then(Option::as_ref)
    }

    /// This person's role in the group, if it is in it now.
    pub fn role(&self, uid: Uid) -> Option<Role> {
        self.member(uid).and_then(|member| member.role)
    }

    /// One of a single chat's two, or a member of the group now.
    pub fn is_member(&self, uid: Uid) -> bool {
        if self.id.is_group() { self.role(uid).is_some() } else { self.id.has_party(uid) }
    }

    /// As [`Conversation::is_member`], or a member of the group once.
    pub fn was_member(&self, uid: Uid) -> bool {
        if self.id.is_group() { self.member(uid).is_some() } else { self.id.has_party(uid) }
    }

    /// This person's positions.
    pub fn person(&self, uid: Uid) -> Person {
        self.people.get(&uid).copied().unwrap_or_default()
    }

    /// Everything up to here has been taken by retention.
    pub fn expired_seq(&self) -> Seq {
        self.keeping.as_ref().map_or(Seq::ZERO, |keeping| keeping.expired_seq)
    }

    /// The hold that stands, if one does.
    pub fn hold(&self) -> Option<&Hold> {
        self.keeping.as_ref().and_then(|keeping| keeping.hold.as_ref())
    }

    /// Has this person deleted this message?
    pub fn has_deleted(&self, uid: Uid, seq: Seq) -> bool {
        self.deleted.get(&(uid, Bucket::of(seq))).is_some_and(|bits| bits.has(Bucket::slot(seq)))
    }

    /// The lowest seq that this member sees.
    pub fn min_seq(&self, uid: Uid) -> Seq {
        let joined = match (self.group(), self.member(uid)) {
            (Some(Group { history: History::Joined, .. }), Some(member)) => member.joined_seq,
            _ => Seq::ZERO,
        };
        crate::view::min_seq(self.person(uid).cleared_seq, joined, self.expired_seq())
    }

    /// Makes a fact part of the state. `version` is the event's version in its stream. Returns the pieces that
    /// it touched.
    pub fn evolve(&mut self, event: &Event, version: u64, id: EventId) -> Vec<Key> {
        self.versions[event.stream() as usize] = version;
        match event {
            Event::MessageSent { msg_id, sender, content, flags, mentions, reply_to, create_at, .. } => {
                let seq = Seq::new(version);
                self.messages.insert(seq, Some(MessageFact { sender: *sender, create_at: *create_at }));
                // A message that has just come into being is not recalled: no need to look.
                self.recalls.insert(seq, None);
                let sent = Sent { seq, msg_id: *msg_id, create_at: *create_at, duplicate: true };
                let (content, mentions) = (content.clone(), mentions.clone());
                let said = Some(Said { content, flags: *flags, mentions, reply_to: *reply_to });
                self.earlier.insert(id, Some(Earlier::Sent { sent, said }));
                vec![]
            }
            Event::MessageRecalled { seq, by, at } => {
                self.recalls.insert(*seq, Some(Recall { by: *by, at: *at }));
                vec![Key::Recall(*seq)]
            }
            Event::MessagesDeletedFor { uid, seqs } => self.set_deleted(*uid, seqs, true),
            Event::MessagesRestoredFor { uid, seqs } => self.set_deleted(*uid, seqs, false),
            Event::ReadAdvanced { uid, read_seq, .. } => {
                if let Some(person) = self.people.get_mut(uid) {
                    person.read_seq = person.read_seq.max(*read_seq);
                }
                vec![Key::Person(*uid)]
            }
            Event::HistoryCleared { uid, up_to_seq } => {
                if let Some(person) = self.people.get_mut(uid) {
                    person.cleared_seq = person.cleared_seq.max(*up_to_seq);
                }
                self.earlier.insert(id, Some(Earlier::Cleared { up_to_seq: *up_to_seq }));
                vec![Key::Person(*uid)]
            }
            Event::ConversationHidden { uid, up_to_seq } => {
                if let Some(person) = self.people.get_mut(uid) {
                    person.cleared_seq = person.cleared_seq.max(*up_to_seq);
                    person.hidden_seq = person.hidden_seq.max(Some(*up_to_seq));
                }
                self.earlier.insert(id, Some(Earlier::Hidden { up_to_seq: *up_to_seq }));
                vec![Key::Person(*uid)]
            }
            Event::SettingsChanged { uid, settings } => {
                if let Some(person) = self.people.get_mut(uid) {
                    person.settings = Some(*settings);
                }
                vec![Key::Person(*uid)]
            }
            Event::HistoryExpired { up_to_seq } => {
                self.change_keeping(|keeping| keeping.expired_seq = keeping.expired_seq.max(*up_to_seq));
                vec![Key::Keeping]
            }
            // Nothing is decided on whether a body is still there.
            Event::BodiesErased { .. } => vec![],
            Event::HoldPlaced { by, reason, at } => {
                let hold = Hold { by: *by, reason: reason.clone(), at: *at };
                self.change_keeping(|keeping| keeping.hold = Some(hold));
                vec![Key::Keeping]
            }
            Event::HoldLifted { .. } => {
                self.change_keeping(|keeping| keeping.hold = None);
                vec![Key::Keeping]
            }
            Event::GroupCreated { name, owner, history, announced: _, source } => {
                self.group = Some(Some(Group::founded(name, *owner, *history)));
                let source = source.clone();
                let founder = Member { role: Some(Role::Owner), joined_seq: self.max_seq(), source };
                self.members.insert(*owner, Some(founder));
                vec![Key::Group, Key::Member(*owner)]
            }
            Event::MembersJoined { uids, joined_seq, source, .. } => {
                for uid in uids {
                    // Somebody who is added here still has the lines behind them that were imported before.
                    let earlier = || self.member(*uid).and_then(|member| member.source.clone());
                    let source = source.clone().or_else(earlier);
                    let (role, joined_seq) = (Some(Role::Member), *joined_seq);
                    self.members.insert(*uid, Some(Member { role, joined_seq, source }));
                }
                self.change_group(|group| group.members = group.members.saturating_add(uids.len() as u32));
                [Key::Group].into_iter().chain(uids.iter().copied().map(Key::Member)).collect()
            }
            Event::MemberLeft { uid, source, .. } => {
                if let Some(Some(member)) = self.members.get_mut(uid) {
                    member.role = None;
                    if source.is_some() {
                        member.source.clone_from(source);
                    }
                }
                self.change_group(|group| group.members = group.members.saturating_sub(1));
                vec![Key::Group, Key::Member(*uid)]
            }
            Event::RoleChanged { uid, role, .. } => {
                if let Some(Some(member)) = self.members.get_mut(uid) {
                    member.role = Some(*role);
                }
                vec![Key::Member(*uid)]
            }
            Event::GroupChanged { change, .. } => {
                self.change_group(|group| group.take(change));
                vec![Key::Group]
            }
            Event::GroupDissolved { .. } => {
                self.change_group(|group| group.dissolved = true);
                vec![Key::Group]
            }
        }
    }

    fn change_keeping(&mut self, change: impl FnOnce(&mut Keeping)) {
        if let Some(keeping) = &mut self.keeping {
            change(keeping);
        }
    }

    fn change_group(&mut self, change: impl FnOnce(&mut Group)) {
        if let Some(Some(group)) = &mut self.group {
            change(group);
        }
    }

    fn set_deleted(&mut self, uid: Uid, seqs: &[Seq], on: bool) -> Vec<Key> {
        let mut touched = Vec::new();
        for seq in seqs {
            let bucket = Bucket::of(*seq);
            if let Some(bits) = self.deleted.get_mut(&(uid, bucket)) {
                bits.set(Bucket::slot(*seq), on);
            }
            if touched.last() != Some(&Key::Deleted(uid, bucket)) {
                touched.push(Key::Deleted(uid, bucket));
            }
        }
        touched
    }
}
