//! Bodies of notifications, and of the watermarks over them. Field names are part of the data, as in `body.rs`.

use domain::{
    Category, Ms, Notification, NotificationContent, NotificationEvent, NotificationId, Recipients, Uid,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{DecodeError, Encoded, own_body};
use crate::recorded::Recorded;

/// The number of NotificationSent. Never to be used again for something else, as all in [`super::EventType`].
pub const NOTIFICATION_SENT: i16 = 40;
/// The number of NotificationsRead.
pub const NOTIFICATIONS_READ: i16 = 41;
/// The form in which both are written.
const SCHEMA_VERSION: i16 = 1;

/// `to` is left out where it is everybody.
#[derive(Serialize, Deserialize)]
struct Sent<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<Vec<u64>>,
    category: String,
    #[serde(borrow)]
    content: &'a RawValue,
    by: u64,
    at: Ms,
}

#[derive(Serialize, Deserialize)]
struct Read {
    uid: u64,
    read_id: u64,
    at: Ms,
}

/// A fact's bytes in the newest form.
pub fn encode_notification(event: &NotificationEvent) -> Encoded {
    let (event_type, body) = match event {
        NotificationEvent::Sent { notification, by, at } => {
            (NOTIFICATION_SENT, sent(notification, *by, *at).unwrap_or_default())
        }
        NotificationEvent::Read { uid, read_id, at } => {
            let read = Read { uid: uid.get(), read_id: read_id.get(), at: *at };
            (NOTIFICATIONS_READ, serde_json::to_vec(&read).unwrap_or_default())
        }
    };
    Encoded { event_type, schema_version: SCHEMA_VERSION, body, message: None }
}

/// The content was parsed at the door or comes from a log: it is JSON, so this cannot fail.
fn sent(
    Notification { to, category, content }: &Notification,
    by: Uid,
    at: Ms,
) -> serde_json::Result<Vec<u8>> {
    let to = match to {
        Recipients::All => None,
        Recipients::People(uids) => Some(uids.iter().map(|uid| uid.get()).collect()),
    };
    let content: &RawValue = serde_json::from_str(content.json())?;
    serde_json::to_vec(&Sent { to, category: category.as_str().into(), content, by: by.get(), at })
}

/// The fact that an event of these streams states.
pub fn decode_notification(recorded: &Recorded) -> Result<NotificationEvent, DecodeError> {
    let header = &recorded.header;
    let bytes = own_body(recorded, &[NOTIFICATION_SENT, NOTIFICATIONS_READ], SCHEMA_VERSION)?;
    let uid = |uid| Uid::new(uid).map_err(|_| DecodeError::Field("uid"));
    if header.event_type == NOTIFICATIONS_READ {
        let Read { uid: who, read_id, at } = serde_json::from_slice(bytes)?;
        return Ok(NotificationEvent::Read { uid: uid(who)?, read_id: NotificationId::new(read_id), at });
    }
    let Sent { to, category, content, by, at } = serde_json::from_slice(bytes)?;
    let to = match to {
        None => Recipients::All,
        Some(uids) => Recipients::People(uids.into_iter().map(uid).collect::<Result<_, _>>()?),
    };
    let category = Category::from_log(category);
    let content = NotificationContent::from_log(content.get().to_owned());
    let notification = Notification { to, category, content };
    Ok(NotificationEvent::Sent { notification, by: uid(by)?, at })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use domain::EventId;
    use uuid::Uuid;

    use super::*;
    use crate::{
        chain::{Unsealed, seal},
        port::{ShardHead, StreamHead},
        recorded::{Body, Origin, StreamName},
        shard::Shard,
    };

    fn uid(n: u64) -> Uid {
        Uid::new(n).unwrap()
    }

    fn recorded(event: &NotificationEvent, body: &str) -> Recorded {
        let unsealed = Unsealed {
            event_id: EventId::new(Uuid::nil()),
            encoded: Encoded { body: body.trim_end().into(), ..encode_notification(event) },
            actor: 1,
            device: None,
            origin: Origin::Live,
            correlation_id: Uuid::nil(),
        };
        let (mut shard, mut head) = (ShardHead::default(), StreamHead::default());
        seal(unsealed, Shard::OWN, StreamName::Notification, &mut shard, &mut head, 0, [0; 16])
    }

    /// Every golden file with the fact that it holds.
    fn golden() -> Vec<(&'static str, NotificationEvent)> {
        let sent = |to, content: serde_json::Value| {
            let content = NotificationContent::parse(&content, 100).unwrap();
            let notification = Notification { to, category: Category::parse("news").unwrap(), content };
            NotificationEvent::Sent { notification, by: uid(1), at: 1_764_000_000_000 }
        };
        let people = Recipients::people(vec![uid(3), uid(2)]).unwrap();
        let read_id = NotificationId::new(41);
        vec![
            (
                include_str!("../../golden/notification_sent.v1.json"),
                sent(Recipients::All, serde_json::json!("\u{7fa4} \"hi\"")),
            ),
            (
                include_str!("../../golden/notification_sent_to.v1.json"),
                sent(people, serde_json::json!({"b": 1.5, "a": ["x"]})),
            ),
            (
                include_str!("../../golden/notifications_read.v1.json"),
                NotificationEvent::Read { uid: uid(2), read_id, at: 5 },
            ),
        ]
    }

    #[test]
    fn every_form_ever_written_is_still_read_and_the_newest_is_written() {
        for (body, event) in golden() {
            assert_eq!(decode_notification(&recorded(&event, body)).unwrap(), event);
            assert_eq!(String::from_utf8(encode_notification(&event).body).unwrap(), body.trim_end());
        }
    }

    #[test]
    fn damage_and_what_a_newer_quipu_wrote_are_errors() {
        let (body, event) = golden().remove(1);
        let good = recorded(&event, body);
        let mut newer = good.clone();
        newer.header.schema_version = 2;
        let unknown = DecodeError::UnknownVersion { event_type: 40, version: 2 };
        assert_eq!(decode_notification(&newer).unwrap_err().to_string(), unknown.to_string());
        newer.header.event_type = 1;
        assert!(matches!(decode_notification(&newer), Err(DecodeError::UnknownType(1))));
        for damaged in ["", "{}", "null", r#"{"to":[0],"category":"a","content":1,"by":1,"at":1}"#] {
            let body = Body::Present { salt: [0; 16], bytes: Bytes::from(damaged) };
            assert!(decode_notification(&Recorded { body, ..good.clone() }).is_err(), "{damaged}");
        }
        let body = Body::Erased { digest: [0; 32] };
        let erased = decode_notification(&Recorded { body, ..good });
        assert!(matches!(erased, Err(DecodeError::Erased)));
    }
}
