//! Why a command was refused. Each reason is final for the state it was decided on.

use crate::{ids::Seq, notification::NotificationId};

/// A reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Also where there is no such conversation: outsiders cannot tell.
    #[error("you are not a member of this conversation")]
    NotAMember,
    /// A member, but not with this right.
    #[error("only the group's owner and admins may do this")]
    NotAllowed,
    /// Nothing has this seq, or nothing that the caller may see.
    #[error("there is no message {0} here that you may see")]
    MessageNotFound(Seq),
    /// Recalling somebody else's message.
    #[error("only the sender, or the group's owner or admins, may recall a message")]
    NotSender,
    /// Too late.
    #[error("a message can be recalled within {seconds} seconds")]
    RecallWindowPassed {
        /// The window.
        seconds: i64,
    },
    /// A position where there is no message yet.
    #[error("read_seq is beyond the head, which is {max_seq}")]
    ReadBeyondHead {
        /// The head.
        max_seq: Seq,
    },
    /// A watermark where there is no message yet.
    #[error("up_to_seq is beyond the head, which is {max_seq}")]
    ClearBeyondHead {
        /// The head.
        max_seq: Seq,
    },
    /// A watermark where there is no notification yet.
    #[error("read_id is beyond the newest notification, which is {}", head.get())]
    NotificationBeyondHead {
        /// The newest.
        head: NotificationId,
    },
    /// The same client_msg_id with another payload, or the same group id with other facts.
    #[error("this id was used before for something else")]
    IdempotencyConflict,
    /// The group's id is taken.
    #[error("there is a group with this id already")]
    GroupExists,
    /// Past the size limit.
    #[error("a group has at most {limit} members")]
    GroupFull {
        /// The limit.
        limit: u32,
    },
    /// Removing somebody who never was in.
    #[error("this person is not a member")]
    MemberNotFound,
    /// The owner cannot be removed, and hands over before leaving or being something else.
    #[error("the owner hands over before leaving or taking another role, and cannot be removed")]
    OwnerStays,
    /// Only the owner and the admins send at present.
    #[error("only the group's owner and admins may send at present")]
    Muted,
    /// Nothing is sent here any more, and nobody joins.
    #[error("this group was dissolved")]
    GroupDissolved,
    /// A legal hold beats retention and erasure.
    #[error("a legal hold stands since {since} (unix ms)")]
    Held {
        /// When it was placed.
        since: crate::ids::Ms,
    },
    /// A hold on what does not exist.
    #[error("there is no such conversation")]
    NoConversation,
    /// A watermark of retention where there is no message yet.
    #[error("up_to_seq is beyond the head, which is {max_seq}")]
    ExpireBeyondHead {
        /// The head.
        max_seq: Seq,
    },
}
