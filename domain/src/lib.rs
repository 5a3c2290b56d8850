//! What a chat is: ids, events, commands and the rules between them.
//!
//! Knows nothing of async, I/O, clocks, randomness, SQL or how events are stored. Time and ids come in as
//! arguments, so every rule here can be tested as history, action, outcome.

pub mod bucket;
pub mod command;
pub mod content;
pub mod conv_id;
pub mod conversation;
pub mod decide;
pub mod event;
pub mod event_id;
pub mod group;
pub mod ids;
pub mod keeping;
pub mod notice;
pub mod notification;
pub mod person;
pub mod rejection;
pub mod replay;
pub mod snowflake;
pub mod unread;
pub mod view;

pub use bucket::{Bits, Bucket};
pub use command::{Caller, Command, Import, Reply, Send, Sent, Source, Stamp};
pub use content::{Content, ContentError, Flags, MsgType};
pub use conv_id::{ConvId, ConvIdError, ConvKind, GroupSlug};
pub use conversation::{Conversation, Earlier, Key, MessageFact, Need, Person, Recall, Said};
pub use decide::{Decision, decide, needs};
pub use event::{Event, GroupChange, History, Invite, Role, Settings, StreamKind};
pub use event_id::EventId;
pub use group::{Group, GroupName, Member};
pub use ids::{ClientMsgId, IdError, Ms, Sender, Seq, Uid};
pub use keeping::{Hold, Keeping, Reason, ReasonError};
pub use notice::Notice;
pub use notification::{
    Category, Notification, NotificationCommand, NotificationContent, NotificationError, NotificationEvent,
    NotificationId, NotificationReply, Notifications, Posted, Recipients,
};
pub use person::{Erasure, PersonCommand, PersonEvent, PersonReply, PersonState};
pub use rejection::Rejection;
pub use replay::Replay;
pub use snowflake::{MsgId, Snowflake};
pub use view::{Fact, Labels, View, Viewer, view};
