//! System notifications: what was told, to whom, and how far each has read.
//!
//! A read model of its own with a checkpoint of its own, in the one shard of the log's own streams. What is for
//! everybody is one row; what is unread follows from one watermark. [`NotificationProjector`] writes, [`Inboxes`]
//! answers.

pub(crate) mod applier;
mod effects;
mod inboxes;
mod projector;
mod query;

pub use inboxes::Inboxes;
pub use projector::NotificationProjector;
pub(crate) use query::InboxReader;
pub use query::{Bounds, Inbox, InboxItem, InboxStanding};

/// The name of the read model and of its checkpoint.
pub const NOTIFICATION: &str = "notification";
