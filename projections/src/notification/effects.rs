//! What a batch of events of notifications comes to.

use std::collections::BTreeMap;

use domain::{Ms, Notification, NotificationEvent, NotificationId, Recipients, Uid};
use event_store::{Recorded, StreamName, codec};

use crate::{
    effects::chain_of,
    write::{Write, column, int},
};

/// Rows to be written.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Effects {
    told: Vec<(NotificationId, String, String, Ms)>,
    broadcast: Vec<NotificationId>,
    addressed: Vec<(Uid, NotificationId)>,
    read: BTreeMap<Uid, (NotificationId, Ms)>,
    /// Events that say nothing to this binary, and why.
    pub skipped: Vec<(Recorded, String)>,
}

/// Folds events, in order.
pub(super) fn fold(events: &[Recorded]) -> Effects {
    let mut effects = Effects::default();
    for recorded in events.iter().filter(|it| is_followed(&it.header.stream)) {
        match codec::decode_notification(recorded) {
            Ok(NotificationEvent::Sent { notification, at, .. }) => {
                effects.tell(NotificationId::new(recorded.header.version), notification, at);
            }
            Ok(NotificationEvent::Read { uid, read_id, at }) => effects.raise(uid, read_id, at),
            // Its id stays taken; there is nothing to show.
            Err(codec::DecodeError::Erased) => {}
            Err(error) => effects.skipped.push((recorded.clone(), chain_of(&error))),
        }
    }
    effects
}

/// The log's other streams of no conversation lie in the same shard, and are for others.
fn is_followed(stream: &StreamName) -> bool {
    match stream {
        StreamName::Notification | StreamName::Inbox(_) => true,
        StreamName::Conversation { .. }
        | StreamName::Person(_)
        | StreamName::Audit
        | StreamName::Checkpoint => false,
    }
}

impl Effects {
    /// Nothing but that this event is passed over.
    pub fn skip(event: &Recorded, reason: String) -> Self {
        Self { skipped: vec![(event.clone(), reason)], ..Self::default() }
    }

    fn tell(&mut self, id: NotificationId, notification: Notification, at: Ms) {
        let Notification { to, category, content } = notification;
        self.told.push((id, category.as_str().to_owned(), content.json().to_owned(), at));
        match to {
            Recipients::All => self.broadcast.push(id),
            Recipients::People(uids) => self.addressed.extend(uids.into_iter().map(|uid| (uid, id))),
        }
    }

    fn raise(&mut self, uid: Uid, read_id: NotificationId, at: Ms) {
        let stands = self.read.entry(uid).or_insert((read_id, at));
        if read_id > stands.0 {
            *stands = (read_id, at);
        }
    }

    pub fn writes(&self) -> impl Iterator<Item = Write> {
        let told = [
            column(self.told.iter().map(|(id, ..)| int(id.get()))),
            column(self.told.iter().map(|(_, category, ..)| category.clone())),
            column(self.told.iter().map(|(_, _, content, _)| content.clone())),
            column(self.told.iter().map(|(.., at)| *at)),
        ];
        let broadcast = [column(self.broadcast.iter().map(|id| int(id.get())))];
        let addressed = [
            column(self.addressed.iter().map(|(uid, _)| int(uid.get()))),
            column(self.addressed.iter().map(|(_, id)| int(id.get()))),
        ];
        let read = [
            column(self.read.keys().map(|uid| int(uid.get()))),
            column(self.read.values().map(|(read_id, _)| int(read_id.get()))),
            column(self.read.values().map(|(_, at)| *at)),
        ];
        [
            Write::unless_empty(self.told.len(), "keep notifications", include_str!("append.sql"), told),
            Write::unless_empty(
                self.broadcast.len(),
                "note what is for everybody",
                include_str!("broadcast.sql"),
                broadcast,
            ),
            Write::unless_empty(
                self.addressed.len(),
                "note what is for whom",
                include_str!("address.sql"),
                addressed,
            ),
            Write::unless_empty(self.read.len(), "raise watermarks", include_str!("read.sql"), read),
        ]
        .into_iter()
        .flatten()
    }
}

#[cfg(test)]
mod tests {
    use domain::{EventId, Uid};
    use event_store::{
        Origin, Shard,
        chain::{Unsealed, seal},
        codec::Encoded,
        port::{ShardHead, StreamHead},
    };
    use uuid::Uuid;

    use super::*;

    #[test]
    fn other_streams_of_the_shard_are_nobodys_notification() {
        let uid = Uid::new(1).unwrap();
        for stream in [StreamName::Person(uid), StreamName::Audit, StreamName::Checkpoint] {
            let body = b"{}".to_vec();
            let encoded = Encoded { event_type: 43, schema_version: 1, body, message: None };
            let unsealed = Unsealed {
                event_id: EventId::new(Uuid::nil()),
                encoded,
                actor: 0,
                device: None,
                origin: Origin::Live,
                correlation_id: Uuid::nil(),
            };
            let (mut shard, mut head) = (ShardHead::default(), StreamHead::default());
            let event = seal(unsealed, Shard::OWN, stream, &mut shard, &mut head, 0, [0; 16]);
            assert_eq!(fold(&[event]), Effects::default());
        }
    }
}
