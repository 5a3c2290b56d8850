//! What may be asked of a conversation, and what is answered.

use uuid::Uuid;

use crate::{
    content::{Content, Flags},
    event::{GroupChange, History, Role, Settings},
    event_id::EventId,
    group::GroupName,
    ids::{ClientMsgId, Ms, Sender, Seq, Uid},
    keeping::Reason,
    snowflake::MsgId,
};

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The person.
    pub uid: Uid,
    /// Has the role `admin`: may recall anywhere.
    pub admin: bool,
}

/// What a message of the system's own gets, should a command make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its id.
    pub msg_id: MsgId,
    /// Now.
    pub at: Ms,
}

/// A message to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Send {
    /// The client's name for it: the same one again is the same message.
    pub client_msg_id: ClientMsgId,
    /// The id that it gets if it is new.
    pub msg_id: MsgId,
    /// From whom.
    pub sender: Uid,
    /// What it says.
    pub content: Content,
    /// at_all or nothing.
    pub flags: Flags,
    /// Whom it names, ascending, each once.
    pub mentions: Vec<Uid>,
    /// Which message it answers.
    pub reply_to: Option<Seq>,
    /// Now.
    pub at: Ms,
}

/// Where an imported line stands in its source: its conversation, its time, and which of the lines of that time
/// it is, from 0. The order of these is the order of the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// The conversation's name in the source.
    pub conv: String,
    /// The line's time there.
    pub at: Ms,
    /// Which of that conversation's lines of that time, from 0.
    pub nth: u64,
}

/// One line of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Import {
    /// A message with its original time, named by its line.
    Message {
        /// Its id, from the line.
        id: EventId,
        /// The id that it gets if it is new.
        msg_id: MsgId,
        /// From whom.
        sender: Uid,
        /// What it says.
        content: Content,
        /// When it was said.
        at: Ms,
    },
    /// Somebody is in the group from here on; the group comes into being with its first one.
    Join {
        /// Who.
        uid: Uid,
        /// What the group is called if it is new.
        group_name: GroupName,
        /// The line.
        source: Source,
        /// The message for whose sake its sender joins: where it is there already, nobody does.
        before: Option<EventId>,
    },
    /// Somebody is not in the group any more.
    Leave {
        /// Who.
        uid: Uid,
        /// The line.
        source: Source,
    },
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Say something.
    Send(Send),
    /// Take a message back, for all.
    Recall {
        /// Which one.
        seq: Seq,
        /// By whom.
        by: Caller,
        /// Now.
        at: Ms,
        /// How long after sending the sender may, in milliseconds; 0 means for ever.
        window: Ms,
    },
    /// Delete messages for oneself.
    Delete {
        /// Who.
        uid: Uid,
        /// Which ones, ascending, each once.
        seqs: Vec<Seq>,
    },
    /// Undo that.
    Restore {
        /// Who.
        uid: Uid,
        /// Which ones, ascending, each once.
        seqs: Vec<Seq>,
    },
    /// Have read.
    Read {
        /// Who.
        uid: Uid,
        /// Up to and with this one.
        read_seq: Seq,
        /// Now.
        at: Ms,
    },
    /// See nothing any more up to here.
    Clear {
        /// Who.
        uid: Uid,
        /// Up to and with this one; none means the head when handled.
        up_to_seq: Option<Seq>,
        /// By this a repeat finds its first answer.
        key: Option<Uuid>,
    },
    /// Clear the history and take the conversation out of one's list until the next message.
    Hide {
        /// Who.
        uid: Uid,
        /// Up to and with this one; none means the head when handled.
        up_to_seq: Option<Seq>,
        /// By this a repeat finds its first answer.
        key: Option<Uuid>,
    },
    /// Want a conversation otherwise in one's list.
    Settle {
        /// Who.
        uid: Uid,
        /// Ahead of the others? None leaves it.
        pinned: Option<bool>,
        /// Without noise? None leaves it.
        muted: Option<bool>,
    },
    /// Let retention take everything up to a message.
    Expire {
        /// Up to and with this one.
        up_to_seq: Seq,
    },
    /// Let the law take what one person said.
    Erase {
        /// Whose messages.
        uid: Uid,
        /// Which ones, ascending, each once; at most
        /// [`ERASED_PER_EVENT`](crate::keeping::ERASED_PER_EVENT).
        seqs: Vec<Seq>,
        /// Who asks for it; the system is an operator at the command line.
        by: Sender,
    },
    /// Let nothing be taken from here.
    Hold {
        /// By whom; the system is an operator at the command line.
        by: Sender,
        /// Why.
        reason: Reason,
        /// Now.
        at: Ms,
    },
    /// End that.
    Lift {
        /// By whom; the system is an operator at the command line.
        by: Sender,
        /// Why.
        reason: Reason,
        /// Now.
        at: Ms,
    },
    /// Found a group.
    CreateGroup {
        /// Its owner.
        owner: Uid,
        /// What it is called.
        name: GroupName,
        /// Who else is in it, ascending, each once, without the owner.
        members: Vec<Uid>,
        /// What new members see.
        history: History,
        /// Members that a group may have.
        limit: u32,
        /// For the message that tells of it.
        stamp: Stamp,
    },
    /// Bring people in.
    AddMembers {
        /// By whom.
        by: Uid,
        /// Whom, ascending, each once.
        uids: Vec<Uid>,
        /// Members that a group may have.
        limit: u32,
        /// For the message that tells of it.
        stamp: Stamp,
    },
    /// Remove somebody, or leave.
    RemoveMember {
        /// By whom.
        by: Uid,
        /// Whom.
        uid: Uid,
        /// For the message that tells of it.
        stamp: Stamp,
    },
    /// Give a member another role; the role of the owner is handed over.
    SetRole {
        /// By whom.
        by: Uid,
        /// To whom.
        uid: Uid,
        /// Which.
        role: Role,
    },
    /// Change a group's own facts.
    ChangeGroup {
        /// By whom.
        by: Uid,
        /// To what.
        change: GroupChange,
        /// For the message that tells of a new name.
        stamp: Stamp,
    },
    /// End a group.
    DissolveGroup {
        /// By whom.
        by: Uid,
        /// For the message that tells of it.
        stamp: Stamp,
    },
    /// A line of an import.
    Import(Import),
}

impl Command {
    /// Who acts, as it stands in the event's header.
    pub fn actor(&self) -> Sender {
        let uid = match self {
            Self::Expire { .. } => return Sender::System,
            Self::Erase { by, .. } | Self::Hold { by, .. } | Self::Lift { by, .. } => return *by,
            Self::Send(send) => send.sender,
            Self::Recall { by, .. } => by.uid,
            Self::Delete { uid, .. } | Self::Restore { uid, .. } => *uid,
            Self::Read { uid, .. }
            | Self::Clear { uid, .. }
            | Self::Hide { uid, .. }
            | Self::Settle { uid, .. } => *uid,
            Self::CreateGroup { owner, .. } => *owner,
            Self::AddMembers { by, .. }
            | Self::RemoveMember { by, .. }
            | Self::SetRole { by, .. }
            | Self::ChangeGroup { by, .. }
            | Self::DissolveGroup { by, .. } => *by,
            Self::Import(Import::Message { sender, .. }) => *sender,
            Self::Import(Import::Join { uid, .. } | Import::Leave { uid, .. }) => *uid,
        };
        Sender::Person(uid)
    }

    /// Did it happen elsewhere, earlier?
    pub fn is_import(&self) -> bool {
        matches!(self, Self::Import(_))
    }
}

/// A message's number and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Its number.
    pub seq: Seq,
    /// Its id.
    pub msg_id: MsgId,
    /// When it was said.
    pub create_at: Ms,
    /// Was it there already?
    pub duplicate: bool,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// To Send and to an imported message.
    Sent(Sent),
    /// To Recall: the first recall of it.
    Recalled {
        /// Which one.
        seq: Seq,
        /// By whom.
        by: Uid,
        /// When.
        at: Ms,
    },
    /// To Delete: how many of them are deleted now.
    Deleted(u64),
    /// To Restore: how many of them are not deleted now.
    Restored(u64),
    /// To Read: the position that stands by the reader's own reports.
    Read(Seq),
    /// To Clear and to Hide: the lowest seq that the person sees now.
    Cleared {
        /// It may be the head's next.
        min_seq: Seq,
    },
    /// To CreateGroup.
    Created {
        /// Is it a repeat?
        duplicate: bool,
    },
    /// To AddMembers: who of them came in just now.
    Added(Vec<Uid>),
    /// To RemoveMember.
    Removed,
    /// To SetRole, ChangeGroup and DissolveGroup: it is as asked.
    Done,
    /// To Settle: as they are now.
    Settled(Settings),
    /// To Expire: everything up to here is gone.
    Expired(Seq),
    /// To Erase: how many of them are to go.
    Erased(u64),
    /// To Hold: the one that stands, which may be an earlier one.
    Held(crate::keeping::Hold),
    /// To Lift: did one stand?
    Lifted(bool),
    /// To an import's join or leave: did it change anything?
    Imported {
        /// False for a repeated line.
        changed: bool,
    },
}
