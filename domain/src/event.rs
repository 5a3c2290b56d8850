//! The facts of a conversation. What is not here has not happened.

use crate::{
    content::{Content, Flags},
    ids::{ClientMsgId, Ms, Sender, Seq, Uid},
    keeping::Reason,
    snowflake::MsgId,
};

/// The three streams of a conversation. Their events share a shard and one order of decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamKind {
    /// `message-<conv_id>`: sends, nothing else, so that its version is the seq.
    Message,
    /// `mark-<conv_id>`: every later fact about messages.
    Mark,
    /// `group-<conv_id>`: who is in it.
    Group,
}

impl StreamKind {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Message, Self::Mark, Self::Group];
}

/// From which message on a member of a group sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// Everything.
    All,
    /// From the message after joining.
    Joined,
}

/// What a member of a group may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Send, leave; bring people in, where the group lets its members.
    Member,
    /// Also add, remove and recall.
    Admin,
    /// Everything.
    Owner,
}

/// Who may bring people into a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Invite {
    /// The owner and the admins.
    #[default]
    Admins,
    /// Every member.
    Members,
}

/// How one person wants a conversation in their list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Stands ahead of the others.
    pub pinned: bool,
    /// Makes no noise.
    pub muted: bool,
}

/// A fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The n-th of its stream is message n.
    MessageSent {
        /// Its id; never an order.
        msg_id: MsgId,
        /// Who said it.
        sender: Sender,
        /// What was said.
        content: Content,
        /// at_all, where it was set.
        flags: Flags,
        /// Whom it names, ascending, each once.
        mentions: Vec<Uid>,
        /// Which message it answers.
        reply_to: Option<Seq>,
        /// The client's name for it; imported ones have none of their own.
        client_msg_id: ClientMsgId,
        /// When it was said: for imports the original time.
        create_at: Ms,
    },
    /// A message was taken back, for all.
    MessageRecalled {
        /// Which one.
        seq: Seq,
        /// By whom.
        by: Uid,
        /// When.
        at: Ms,
    },
    /// Messages were deleted by one person for that person.
    MessagesDeletedFor {
        /// The person.
        uid: Uid,
        /// Which ones, ascending, none of them deleted before.
        seqs: Vec<Seq>,
    },
    /// The opposite.
    MessagesRestoredFor {
        /// The person.
        uid: Uid,
        /// Which ones, ascending, all of them deleted before.
        seqs: Vec<Seq>,
    },
    /// A person has read up to here.
    ReadAdvanced {
        /// The person.
        uid: Uid,
        /// Up to and with this message.
        read_seq: Seq,
        /// When.
        at: Ms,
    },
    /// A person has cleared the history up to here.
    HistoryCleared {
        /// The person.
        uid: Uid,
        /// Up to and with this message; never above the head of that moment.
        up_to_seq: Seq,
    },
    /// A person has cleared the history up to here, and taken the conversation out of their list until the next
    /// message.
    ConversationHidden {
        /// The person.
        uid: Uid,
        /// Up to and with this message; never above the head of that moment.
        up_to_seq: Seq,
    },
    /// A person wants a conversation otherwise in their list.
    SettingsChanged {
        /// The person.
        uid: Uid,
        /// All of them, as they are now.
        settings: Settings,
    },
    /// Retention has taken everything up to here, for everybody: the bodies go, the numbers stay taken.
    HistoryExpired {
        /// Up to and with this message; never above the head of that moment.
        up_to_seq: Seq,
    },
    /// What one person said is gone, for everybody, because the law asks for it.
    BodiesErased {
        /// Whose messages.
        uid: Uid,
        /// Which ones, ascending, all of them sent by this person; at most
        /// [`ERASED_PER_EVENT`](crate::keeping::ERASED_PER_EVENT).
        seqs: Vec<Seq>,
    },
    /// Nothing that was said here is taken from now on.
    HoldPlaced {
        /// By whom; the system is an operator at the command line.
        by: Sender,
        /// Why.
        reason: Reason,
        /// When.
        at: Ms,
    },
    /// The hold is over.
    HoldLifted {
        /// By whom; the system is an operator at the command line.
        by: Sender,
        /// Why.
        reason: Reason,
        /// When.
        at: Ms,
    },
    /// A group exists. Its creator is its owner and first member.
    GroupCreated {
        /// What it is called.
        name: String,
        /// Its owner.
        owner: Uid,
        /// What new members see.
        history: History,
        /// Does a message of the system tell of it?
        announced: bool,
        /// Where an import took it from.
        source: Option<crate::Source>,
    },
    /// People came in.
    MembersJoined {
        /// Who, ascending, none of them a member before; at most [`MEMBERS_PER_EVENT`].
        uids: Vec<Uid>,
        /// The head at that moment: they see from the next message on.
        joined_seq: Seq,
        /// Who added them (oneself in an import).
        by: Uid,
        /// Does a message of the system tell of it? It comes right after `joined_seq`.
        announced: bool,
        /// Where an import took it from.
        source: Option<crate::Source>,
    },
    /// Somebody left or was removed.
    MemberLeft {
        /// Who.
        uid: Uid,
        /// Who removed them, or the same.
        by: Uid,
        /// Does a message of the system tell of it?
        announced: bool,
        /// Where an import took it from.
        source: Option<crate::Source>,
    },
    /// A member has another role. A hand-over is two of these: first the new owner, then the old one.
    RoleChanged {
        /// Who.
        uid: Uid,
        /// As what.
        role: Role,
        /// By whom.
        by: Uid,
    },
    /// A group is not any more what it was. A new name is told by a message of the system.
    GroupChanged {
        /// What changes, and nothing else.
        change: GroupChange,
        /// By whom.
        by: Uid,
    },
    /// A group is over: it can be read, but nothing is sent and nobody joins. A message of the system tells of it.
    GroupDissolved {
        /// By whom.
        by: Uid,
    },
}

/// New values of a group's own facts; none for those that stay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupChange {
    /// What it is called.
    pub name: Option<String>,
    /// What members see, backwards too.
    pub history: Option<History>,
    /// May only the owner and the admins send?
    pub mute_all: Option<bool>,
    /// Who may bring people in.
    pub invite: Option<Invite>,
}

/// People in one MembersJoined: keeps a body below 20 KiB.
pub const MEMBERS_PER_EVENT: usize = 1000;

impl Event {
    /// The stream that this fact belongs to.
    pub fn stream(&self) -> StreamKind {
        match self {
            Self::MessageSent { .. } => StreamKind::Message,
            Self::MessageRecalled { .. }
            | Self::MessagesDeletedFor { .. }
            | Self::MessagesRestoredFor { .. }
            | Self::ReadAdvanced { .. }
            | Self::HistoryCleared { .. }
            | Self::ConversationHidden { .. }
            | Self::SettingsChanged { .. }
            | Self::HistoryExpired { .. }
            | Self::BodiesErased { .. }
            | Self::HoldPlaced { .. }
            | Self::HoldLifted { .. } => StreamKind::Mark,
            Self::GroupCreated { .. }
            | Self::MembersJoined { .. }
            | Self::MemberLeft { .. }
            | Self::RoleChanged { .. }
            | Self::GroupChanged { .. }
            | Self::GroupDissolved { .. } => StreamKind::Group,
        }
    }
}

impl Role {
    /// `owner`, `admin` or `member`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Member => "member",
        }
    }

    /// The inverse of [`Role::name`].
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Owner, Self::Admin, Self::Member].into_iter().find(|role| role.name() == name)
    }
}

impl Invite {
    /// `admins` or `members`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admins => "admins",
            Self::Members => "members",
        }
    }

    /// The inverse of [`Invite::name`].
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Admins, Self::Members].into_iter().find(|invite| invite.name() == name)
    }
}

impl History {
    /// `all` or `joined`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Joined => "joined",
        }
    }

    /// The inverse of [`History::name`].
    pub fn parse(name: &str) -> Option<Self> {
        [Self::All, Self::Joined].into_iter().find(|history| history.name() == name)
    }
}
