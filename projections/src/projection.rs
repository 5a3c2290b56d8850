//! Which groups of read models there are: each is built, switched and dropped as a whole.

use event_store::Shard;

use crate::{CONVERSATION, notification::NOTIFICATION};

/// A group of read models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Projection {
    /// Histories, marks, positions, members, heads: all that meets in one answer about a conversation.
    Conversation,
    /// System notifications.
    Notification,
}

impl Projection {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::Conversation, Self::Notification];

    /// Its name, for people and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conversation => CONVERSATION,
            Self::Notification => NOTIFICATION,
        }
    }

    /// The inverse of [`Projection::name`].
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|projection| projection.name() == name)
    }

    /// What it follows of a log with so many shards.
    pub fn shards(self, shards: u16) -> Vec<Shard> {
        match self {
            Self::Conversation => Shard::all(shards).collect(),
            Self::Notification => vec![Shard::OWN],
        }
    }
}
