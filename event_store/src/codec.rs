//! Between facts and bytes. Bodies are compact JSON: an auditor can read them, and the bytes stay as they are.
//!
//! A type's number and every schema version that was ever written stay readable for ever: `upcast` lifts an
//! older body to the newest form, and golden files hold one of each.

mod body;
mod checkpoint;
mod notification;
mod person;

use std::borrow::Cow;

use domain::{Event, MsgId, Seq};
use uuid::Uuid;

pub use self::checkpoint::{CHECKPOINT_MADE, decode_checkpoint, encode_checkpoint, read_checkpoint};
pub use self::notification::{
    NOTIFICATION_SENT, NOTIFICATIONS_READ, decode_notification, encode_notification,
};
pub use self::person::{
    ERASURE_ASKED, ERASURE_DONE, PERSON_HOLD_LIFTED, PERSON_HOLD_PLACED, decode_person, encode_person,
};
use crate::recorded::{Body, Recorded};

/// An event's bytes, and what of it goes into the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// See [`EventType`].
    pub event_type: i16,
    /// The form of the body.
    pub schema_version: i16,
    /// The body.
    pub body: Vec<u8>,
    /// Of a message.
    pub message: Option<MessageHeader>,
}

/// What the header says of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageHeader {
    /// Its id.
    pub msg_id: MsgId,
    /// Its type.
    pub msg_type: u8,
    /// Its flags.
    pub flags: u16,
    /// When it was said.
    pub create_at: i64,
    /// The client's name for it.
    pub client_msg_id: Uuid,
}

/// The numbers of the event types of conversations, as they stand in the log. Never to be used again for something
/// else; 40 and up are of other streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i16)]
pub enum EventType {
    /// MessageSent
    MessageSent = 1,
    /// MessageRecalled
    MessageRecalled = 2,
    /// MessagesDeletedFor
    MessagesDeletedFor = 3,
    /// MessagesRestoredFor
    MessagesRestoredFor = 4,
    /// ReadAdvanced
    ReadAdvanced = 5,
    /// HistoryCleared
    HistoryCleared = 6,
    /// ConversationHidden
    ConversationHidden = 7,
    /// SettingsChanged
    SettingsChanged = 8,
    /// HistoryExpired
    HistoryExpired = 9,
    /// BodiesErased
    BodiesErased = 10,
    /// HoldPlaced
    HoldPlaced = 11,
    /// HoldLifted
    HoldLifted = 12,
    /// GroupCreated
    GroupCreated = 20,
    /// MembersJoined
    MembersJoined = 21,
    /// MemberLeft
    MemberLeft = 22,
    /// RoleChanged
    RoleChanged = 23,
    /// GroupChanged
    GroupChanged = 24,
    /// GroupDissolved
    GroupDissolved = 25,
}

impl EventType {
    const ALL: [Self; 18] = [
        Self::MessageSent,
        Self::MessageRecalled,
        Self::MessagesDeletedFor,
        Self::MessagesRestoredFor,
        Self::ReadAdvanced,
        Self::HistoryCleared,
        Self::ConversationHidden,
        Self::SettingsChanged,
        Self::HistoryExpired,
        Self::BodiesErased,
        Self::HoldPlaced,
        Self::HoldLifted,
        Self::GroupCreated,
        Self::MembersJoined,
        Self::MemberLeft,
        Self::RoleChanged,
        Self::GroupChanged,
        Self::GroupDissolved,
    ];

    /// The type with this number, if this binary knows it.
    pub fn new(number: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|known| *known as i16 == number)
    }

    /// As auditors read it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MessageSent => "MessageSent",
            Self::MessageRecalled => "MessageRecalled",
            Self::MessagesDeletedFor => "MessagesDeletedFor",
            Self::MessagesRestoredFor => "MessagesRestoredFor",
            Self::ReadAdvanced => "ReadAdvanced",
            Self::HistoryCleared => "HistoryCleared",
            Self::ConversationHidden => "ConversationHidden",
            Self::SettingsChanged => "SettingsChanged",
            Self::HistoryExpired => "HistoryExpired",
            Self::BodiesErased => "BodiesErased",
            Self::HoldPlaced => "HoldPlaced",
            Self::HoldLifted => "HoldLifted",
            Self::GroupCreated => "GroupCreated",
            Self::MembersJoined => "MembersJoined",
            Self::MemberLeft => "MemberLeft",
            Self::RoleChanged => "RoleChanged",
            Self::GroupChanged => "GroupChanged",
            Self::GroupDissolved => "GroupDissolved",
        }
    }

    /// The form in which new bodies are written.
    pub const fn schema_version(self) -> i16 {
        match self {
            Self::MessageSent
            | Self::MessageRecalled
            | Self::MessagesDeletedFor
            | Self::MessagesRestoredFor
            | Self::ReadAdvanced
            | Self::HistoryCleared
            | Self::ConversationHidden
            | Self::SettingsChanged
            | Self::HistoryExpired
            | Self::BodiesErased
            | Self::HoldPlaced
            | Self::HoldLifted
            | Self::RoleChanged
            | Self::GroupChanged
            | Self::GroupDissolved => 1,
            Self::GroupCreated | Self::MembersJoined | Self::MemberLeft => 2,
        }
    }

    fn of(event: &Event) -> Self {
        match event {
            Event::MessageSent { .. } => Self::MessageSent,
            Event::MessageRecalled { .. } => Self::MessageRecalled,
            Event::MessagesDeletedFor { .. } => Self::MessagesDeletedFor,
            Event::MessagesRestoredFor { .. } => Self::MessagesRestoredFor,
            Event::ReadAdvanced { .. } => Self::ReadAdvanced,
            Event::HistoryCleared { .. } => Self::HistoryCleared,
            Event::ConversationHidden { .. } => Self::ConversationHidden,
            Event::SettingsChanged { .. } => Self::SettingsChanged,
            Event::HistoryExpired { .. } => Self::HistoryExpired,
            Event::BodiesErased { .. } => Self::BodiesErased,
            Event::HoldPlaced { .. } => Self::HoldPlaced,
            Event::HoldLifted { .. } => Self::HoldLifted,
            Event::GroupCreated { .. } => Self::GroupCreated,
            Event::MembersJoined { .. } => Self::MembersJoined,
            Event::MemberLeft { .. } => Self::MemberLeft,
            Event::RoleChanged { .. } => Self::RoleChanged,
            Event::GroupChanged { .. } => Self::GroupChanged,
            Event::GroupDissolved { .. } => Self::GroupDissolved,
        }
    }
}

/// Why an event's bytes say nothing to this binary.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Written by a newer quipu.
    #[error("event type {0} is not known")]
    UnknownType(i16),
    /// Written by a newer quipu.
    #[error("schema version {version} of event type {event_type} is not known")]
    UnknownVersion {
        /// The type.
        event_type: i16,
        /// The form.
        version: i16,
    },
    /// The law has taken it.
    #[error("the body is erased")]
    Erased,
    /// Damaged.
    #[error("the body does not fit its type")]
    Body(#[from] serde_json::Error),
    /// Damaged.
    #[error("the event has an invalid {0}")]
    Field(&'static str),
}

/// A fact's bytes in the newest form.
pub fn encode(event: &Event) -> Encoded {
    let event_type = EventType::of(event);
    let message = match event {
        Event::MessageSent { msg_id, content, flags, create_at, client_msg_id, .. } => Some(MessageHeader {
            msg_id: *msg_id,
            msg_type: content.msg_type().get(),
            flags: flags.get(),
            create_at: *create_at,
            client_msg_id: client_msg_id.get(),
        }),
        _ => None,
    };
    let (event_type, schema_version) = (event_type as i16, event_type.schema_version());
    Encoded { event_type, schema_version, body: body::write(event), message }
}

/// The fact that an event states, whichever form it was written in.
pub fn decode(recorded: &Recorded) -> Result<Event, DecodeError> {
    let header = &recorded.header;
    let event_type = EventType::new(header.event_type).ok_or(DecodeError::UnknownType(header.event_type))?;
    let Body::Present { bytes, .. } = &recorded.body else {
        return Err(DecodeError::Erased);
    };
    let bytes = upcast(event_type, header.schema_version, bytes)?;
    body::read(event_type, header, &bytes)
}

/// Lifts a body of an older form to the newest one, step by step. A change of a form adds its step below and keeps
/// a golden file of the old one.
fn upcast(event_type: EventType, version: i16, body: &[u8]) -> Result<Cow<'_, [u8]>, DecodeError> {
    let mut body = Cow::Borrowed(body);
    let newest = event_type.schema_version();
    if !(1..=newest).contains(&version) {
        return Err(DecodeError::UnknownVersion { event_type: event_type as i16, version });
    }
    for version in version..newest {
        body = Cow::Owned(match (event_type, version) {
            // Before version 2 no message of the system told of memberships.
            (EventType::GroupCreated | EventType::MembersJoined | EventType::MemberLeft, 1) => {
                body::with(&body, "announced", false)?
            }
            _ => return Err(DecodeError::UnknownVersion { event_type: event_type as i16, version }),
        });
    }
    Ok(body)
}

/// What an event type is called, also those that are of no conversation; one of a newer quipu is unknown.
pub fn name(event_type: i16) -> &'static str {
    match EventType::new(event_type) {
        Some(known) => known.name(),
        None => match event_type {
            NOTIFICATION_SENT => "NotificationSent",
            NOTIFICATIONS_READ => "NotificationsRead",
            crate::access::ACCESS_RECORDED => "AccessRecorded",
            PERSON_HOLD_PLACED => "PersonHoldPlaced",
            PERSON_HOLD_LIFTED => "PersonHoldLifted",
            ERASURE_ASKED => "ErasureAsked",
            ERASURE_DONE => "ErasureDone",
            _ => "unknown",
        },
    }
}

/// Does this event take bodies of messages away?
pub fn takes_bodies(event: &Recorded) -> bool {
    let removals = [EventType::HistoryExpired as i16, EventType::BodiesErased as i16];
    removals.contains(&event.header.event_type)
}

/// The body of an event of a stream that is of no conversation, if it is one of these types in this form.
pub(crate) fn own_body<'a>(
    recorded: &'a Recorded,
    types: &[i16],
    form: i16,
) -> Result<&'a [u8], DecodeError> {
    let (event_type, version) = (recorded.header.event_type, recorded.header.schema_version);
    if !types.contains(&event_type) {
        return Err(DecodeError::UnknownType(event_type));
    }
    if version != form {
        return Err(DecodeError::UnknownVersion { event_type, version });
    }
    match &recorded.body {
        Body::Present { bytes, .. } => Ok(bytes),
        Body::Erased { .. } => Err(DecodeError::Erased),
    }
}

/// A message's sender and time from its header, without its body.
pub fn message_fact(recorded: &Recorded) -> Option<(Seq, u64, i64)> {
    let header = &recorded.header;
    Some((Seq::new(header.version), header.actor, header.create_at?))
}

#[cfg(test)]
mod tests;
