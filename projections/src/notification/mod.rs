//! System notifications: what was told, to whom, and how far each has read.
//!
//! A read model of its own with a checkpoint of its own, in the one shard of the log's own streams. What is for
//! everybody is one row; what is unread follows from one watermark. [`NotificationProjector`] writes, [`Inboxes`]
//! answers.

mod effects;
mod projector;
mod query;

pub use projector::NotificationProjector;
pub use query::{Bounds, Inbox, InboxItem, InboxStanding, Inboxes};

/// The name of the read model and of its checkpoint.
pub const NOTIFICATION: &str = "notification";
