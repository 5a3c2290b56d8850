//! Event ids: UUIDv5 over a fixed text, so that the same fact always has the same id.
//!
//! What becomes true only once is named by what it says; what can happen again by its place in the stream; what
//! a client named with a key, by the key; an imported line, by the line. docs/decisions/0004 has the texts.

use uuid::Uuid;

use crate::{
    command::Source,
    conv_id::ConvId,
    event::StreamKind,
    ids::{ClientMsgId, Seq, Uid},
    notification::NotificationId,
};

/// An event's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Uuid);

/// UUIDv5 of the DNS namespace over "quipu.events". Never to be changed: ids in every log rest on it.
const NAMESPACE: Uuid = Uuid::from_u128(0xdb46_6235_aa76_50cd_addc_9861_6e65_a269);

impl EventId {
    /// From the log.
    pub const fn new(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// The UUID itself.
    pub const fn get(self) -> Uuid {
        self.0
    }

    pub(crate) fn named(text: &str) -> Self {
        Self(Uuid::new_v5(&NAMESPACE, text.as_bytes()))
    }

    /// A message, by the sender's own name for it.
    pub fn sent(conv: &ConvId, sender: Uid, client_msg_id: ClientMsgId) -> Self {
        Self::named(&format!("sent/{conv}/{sender}/{}", client_msg_id.get().hyphenated()))
    }

    /// A recall: a message is recalled once.
    pub fn recalled(conv: &ConvId, seq: Seq) -> Self {
        Self::named(&format!("recalled/{conv}/{seq}"))
    }

    /// A read position: it is reached once.
    pub fn read(conv: &ConvId, uid: Uid, read_seq: Seq) -> Self {
        Self::named(&format!("read/{conv}/{uid}/{read_seq}"))
    }

    /// A watermark: it is reached once.
    pub fn cleared(conv: &ConvId, uid: Uid, up_to_seq: Seq) -> Self {
        Self::named(&format!("cleared/{conv}/{uid}/{up_to_seq}"))
    }

    /// A conversation hidden up to a message: it is done once.
    pub fn hidden(conv: &ConvId, uid: Uid, up_to_seq: Seq) -> Self {
        Self::named(&format!("hidden/{conv}/{uid}/{up_to_seq}"))
    }

    /// Retention has taken everything up to here: a watermark is reached once.
    pub fn expired(conv: &ConvId, up_to_seq: Seq) -> Self {
        Self::named(&format!("expired/{conv}/{up_to_seq}"))
    }

    /// The system's message about a change of a group, by the version of the first event that it tells of.
    pub fn system(conv: &ConvId, group_version: u64) -> Self {
        Self::named(&format!("system/{conv}/{group_version}"))
    }

    /// What can happen again: the `index`-th event of a command decided when the stream stood at `version`.
    pub fn placed(conv: &ConvId, stream: StreamKind, version: u64, index: usize) -> Self {
        Self::named(&format!("placed/{}-{conv}/{version}/{index}", stream.name()))
    }

    /// The `index`-th event of a command that its sender named with an idempotency key.
    pub fn keyed(conv: &ConvId, stream: StreamKind, actor: Uid, key: Uuid, index: usize) -> Self {
        Self::named(&format!("keyed/{}-{conv}/{actor}/{}/{index}", stream.name(), key.hyphenated()))
    }

    /// A notification: its sender, or the door, has named it with an idempotency key.
    pub fn notified(actor: Uid, key: Uuid) -> Self {
        Self::named(&format!("keyed/notification/{actor}/{}/0", key.hyphenated()))
    }

    /// A watermark over notifications: it is reached once.
    pub fn notifications_read(uid: Uid, read_id: NotificationId) -> Self {
        Self::named(&format!("read/inbox-{uid}/{}", read_id.get()))
    }

    /// An access by compliance, by the version of the `audit` stream that it came after.
    pub fn accessed(version: u64) -> Self {
        Self::named(&format!("placed/audit/{version}/0"))
    }

    /// An imported message: the line's fields and which of its equals it is. Free text stands last, so that no
    /// two lines share a name.
    pub fn imported(source: &Source, sender: Uid, line_type: &str, occurrence: u64, text: &str) -> Self {
        let Source { conv, at, .. } = source;
        let (conv_len, type_len): (usize, usize) = (conv.len(), line_type.len());
        Self::named(&format!(
            "imported/{conv_len}:{conv}/{sender}/{at}/{type_len}:{line_type}/{occurrence}/{text}"
        ))
    }
}

/// The group's id for a creation that named a key but no id: the same key finds the same group.
pub fn group_of_key(creator: Uid, key: Uuid) -> Uuid {
    EventId::named(&format!("group/{creator}/{}", key.hyphenated())).get()
}

/// The client_msg_id of a message that no client has named, as imported ones and the system's: its event id's UUID.
pub fn unnamed_client_msg_id(id: EventId) -> ClientMsgId {
    ClientMsgId::new(id.get())
}

impl StreamKind {
    /// The first part of a stream's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Mark => "mark",
            Self::Group => "group",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These ids are in logs. A change here is a change of history: it must never happen.
    #[test]
    fn golden_ids() {
        let uid = |n| Uid::new(n).unwrap();
        let chat = ConvId::single(uid(1001), uid(1002));
        let key = Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        let source = Source { conv: "edge".into(), at: 1_600_000_000_000, nth: 3 };
        let ids = [
            EventId::sent(&chat, uid(1001), ClientMsgId::new(key)),
            EventId::recalled(&chat, Seq::new(7)),
            EventId::read(&chat, uid(1002), Seq::new(7)),
            EventId::cleared(&chat, uid(1002), Seq::new(7)),
            EventId::placed(&chat, StreamKind::Mark, 41, 0),
            EventId::keyed(&chat, StreamKind::Mark, uid(1002), key, 0),
            EventId::imported(&source, uid(550_001), "text", 1, "hi/there"),
            EventId::new(group_of_key(uid(1001), key)),
            EventId::hidden(&chat, uid(1002), Seq::new(7)),
            EventId::expired(&chat, Seq::new(7)),
            EventId::system(&ConvId::parse("grp-team").unwrap(), 3),
            EventId::notified(uid(1001), key),
            EventId::notifications_read(uid(1002), NotificationId::new(7)),
        ]
        .map(|id| id.get().to_string());
        assert_eq!(ids, GOLDEN);
    }

    /// Computed with another implementation of UUIDv5 (Python's).
    const GOLDEN: [&str; 13] = [
        "75559500-e942-5118-9c01-df86c443ed3f",
        "120b8e56-89ee-5392-900d-b4d63300ea95",
        "3c47995c-5ee8-5325-a7a8-c830ac8c67d5",
        "1f3ad126-e42a-5f83-b509-4abfbce21ad5",
        "852b3a8e-8f66-5d81-a667-bc69b5e8e743",
        "161a2ed6-0f24-521b-95b8-49921eeaa542",
        "32fc58bc-92f7-5494-ad01-d31e601aa5be",
        "1a1ffaf6-b827-55b2-a1b7-c91c6457624a",
        "161700d4-a1af-5e0b-9b5f-64d633e63a12",
        "87de7c3a-3931-5027-8ad9-673d0a6bdb78",
        "767d4ef6-937a-512b-9466-151c4c59abf5",
        "614273f6-b0bb-5f50-bcd1-e1c5f5facbfd",
        "21a4b64d-b432-5df1-8b8e-193e5a0efa1b",
    ];

    #[test]
    fn no_field_can_pose_as_another() {
        let uid = Uid::new(1).unwrap();
        let line = |conv: &str, kind: &str, text: &str| {
            EventId::imported(&Source { conv: conv.into(), at: 5, nth: 0 }, uid, kind, 1, text)
        };
        assert_ne!(line("a/1", "text", "b"), line("a", "1/text", "b"));
        assert_ne!(line("a", "text", "1/b"), line("a", "text/1", "b"));
    }
}
