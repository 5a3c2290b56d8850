//! System notifications: what the operator tells one person, many, or everybody, apart from conversations.
//!
//! They stand in one stream whose version is the notification's id; how far a person has read is a watermark, in a
//! stream of that person's own. Decides here as conversations do in [`decide`](crate::decide()): facts or a reason.

use serde_json::Value;
use uuid::Uuid;

use crate::{
    content::has_nul,
    event_id::EventId,
    ids::{Ms, Uid},
    rejection::Rejection,
};

/// A notification's number, from 1; [`NotificationId::ZERO`] stands for "before the first".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NotificationId(u64);

impl NotificationId {
    /// Before the first: where one stands who has read nothing.
    pub const ZERO: Self = Self(0);
    /// The largest that a JavaScript number holds exactly: ids are numbers on the wire.
    pub const MAX: u64 = (1 << 53) - 1;

    /// Any count from 0; larger than [`NotificationId::MAX`] is clamped, far beyond any head.
    pub const fn new(value: u64) -> Self {
        if value > Self::MAX { Self(Self::MAX) } else { Self(value) }
    }

    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Whom a notification is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipients {
    /// Everybody, also those who come later.
    All,
    /// These people, ascending, each once.
    People(Vec<Uid>),
}

/// Why something is not a notification.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotificationError {
    /// Nobody, or too many for one event.
    #[error("to is \"all\" or 1 to {max} uids", max = Recipients::PEOPLE_MAX)]
    Recipients,
    /// Not a category's name.
    #[error("category is 1 to {max} of a-z, 0-9, _, - and .", max = Category::LEN_MAX)]
    Category,
    /// Neither a string nor an object.
    #[error("content is a string or an object, and not empty")]
    Shape,
    /// Past the limit.
    #[error("content has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// What it has.
        bytes: usize,
        /// What it may have.
        limit: usize,
    },
    /// U+0000 somewhere in it.
    #[error("content has a NUL character")]
    Nul,
}

impl Recipients {
    /// People in one notification: keeps an event's list below 200 KB.
    pub const PEOPLE_MAX: usize = 10_000;

    /// Sorts them, drops repeats and checks how many there are.
    pub fn people(mut uids: Vec<Uid>) -> Result<Self, NotificationError> {
        uids.sort_unstable();
        uids.dedup();
        if (1..=Self::PEOPLE_MAX).contains(&uids.len()) {
            Ok(Self::People(uids))
        } else {
            Err(NotificationError::Recipients)
        }
    }

    /// Is it for this person, too?
    pub fn include(&self, uid: Uid) -> bool {
        match self {
            Self::All => true,
            Self::People(uids) => uids.binary_search(&uid).is_ok(),
        }
    }
}

/// What a notification is about, for the app: it may draw, group or silence by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category(String);

impl Category {
    /// The longest, in bytes.
    pub const LEN_MAX: usize = 64;

    /// Checks length and alphabet.
    pub fn parse(text: &str) -> Result<Self, NotificationError> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-.".contains(&b);
        if (1..=Self::LEN_MAX).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotificationError::Category)
        }
    }

    /// As it was written; trusted.
    pub fn from_log(text: String) -> Self {
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a notification says: a JSON string or object, kept as the compact text that is stored, hashed and sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationContent(String);

impl NotificationContent {
    /// Checks shape and size. `limit` is in bytes, of a string's UTF-8 or of an object's JSON.
    pub fn parse(value: &Value, limit: usize) -> Result<Self, NotificationError> {
        let json = value.to_string();
        let bytes = match value {
            Value::String(text) => text.len(),
            Value::Object(_) => json.len(),
            _ => return Err(NotificationError::Shape),
        };
        if bytes == 0 || value.as_object().is_some_and(|fields| fields.is_empty()) {
            return Err(NotificationError::Shape);
        }
        if bytes > limit {
            return Err(NotificationError::TooLarge { bytes, limit });
        }
        if has_nul(value) {
            return Err(NotificationError::Nul);
        }
        Ok(Self(json))
    }

    /// As it was written; trusted.
    pub fn from_log(json: String) -> Self {
        Self(json)
    }

    /// The JSON text.
    pub fn json(&self) -> &str {
        &self.0
    }
}

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// To whom.
    pub to: Recipients,
    /// About what.
    pub category: Category,
    /// What it says.
    pub content: NotificationContent,
}

/// What may be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotificationCommand {
    /// Tell something.
    Post {
        /// What, and to whom.
        notification: Notification,
        /// By whom; the right was checked at the door.
        by: Uid,
        /// Now.
        at: Ms,
        /// By this a repeat finds its first answer; the door makes one up where the client has none.
        key: Uuid,
    },
    /// Have read.
    Read {
        /// Who.
        uid: Uid,
        /// Up to and with this one.
        read_id: NotificationId,
        /// Now.
        at: Ms,
    },
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotificationEvent {
    /// In the stream `notification`.
    Sent {
        /// What, and to whom.
        notification: Notification,
        /// By whom.
        by: Uid,
        /// When.
        at: Ms,
    },
    /// In the person's own stream `inbox-<uid>`.
    Read {
        /// Who.
        uid: Uid,
        /// Up to and with this one; only ever raised.
        read_id: NotificationId,
        /// When.
        at: Ms,
    },
}

/// What is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationReply {
    /// To Post.
    Posted {
        /// Its number.
        id: NotificationId,
        /// When it was told.
        at: Ms,
        /// Is it a repeat?
        duplicate: bool,
    },
    /// To Read: the watermark that stands.
    Read(NotificationId),
}

/// The first time of a Post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// Its number.
    pub id: NotificationId,
    /// When it was told.
    pub at: Ms,
    /// What it said; none once its body is erased, and then it is not compared.
    pub notification: Option<Notification>,
    /// Is who asks now another request, and not the same one after its first outcome got lost?
    pub duplicate: bool,
}

/// What a decision needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notifications {
    /// The newest notification.
    pub head: NotificationId,
    /// The first time of a Post with this key, if there was one.
    pub earlier: Option<Posted>,
    /// How far the person of a Read has read.
    pub read_id: NotificationId,
}

/// A fact with its id, if there is a new one, and the answer.
pub type NotificationDecision = (Option<(EventId, NotificationEvent)>, NotificationReply);

impl Notifications {
    /// Gives a fact or a reason.
    pub fn decide(&self, command: &NotificationCommand) -> Result<NotificationDecision, Rejection> {
        match command {
            NotificationCommand::Post { notification, by, at, key } => {
                self.post(notification, *by, *at, *key)
            }
            NotificationCommand::Read { uid, read_id, at } => self.read(*uid, *read_id, *at),
        }
    }

    fn post(
        &self,
        notification: &Notification,
        by: Uid,
        at: Ms,
        key: Uuid,
    ) -> Result<NotificationDecision, Rejection> {
        if let Some(Posted { id, at, notification: said, duplicate }) = &self.earlier {
            return match said {
                Some(said) if said != notification => Err(Rejection::IdempotencyConflict),
                _ => Ok((None, NotificationReply::Posted { id: *id, at: *at, duplicate: *duplicate })),
            };
        }
        let fact = NotificationEvent::Sent { notification: notification.clone(), by, at };
        let id = NotificationId::new(self.head.get() + 1);
        Ok((Some((EventId::notified(by, key), fact)), NotificationReply::Posted { id, at, duplicate: false }))
    }

    fn read(&self, uid: Uid, read_id: NotificationId, at: Ms) -> Result<NotificationDecision, Rejection> {
        if read_id <= self.read_id {
            return Ok((None, NotificationReply::Read(self.read_id)));
        }
        if read_id > self.head {
            return Err(Rejection::NotificationBeyondHead { head: self.head });
        }
        let fact = NotificationEvent::Read { uid, read_id, at };
        Ok((Some((EventId::notifications_read(uid, read_id), fact)), NotificationReply::Read(read_id)))
    }
}

#[cfg(test)]
mod tests;
