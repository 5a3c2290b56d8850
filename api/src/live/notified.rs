//! Follows the log's own streams, from now on, and pushes notifications to the connections of those they are for.
//!
//! What a device misses it finds by id in its inbox; nothing here waits for anybody, and a consumer that is too slow
//! gets a `resync` as for every other push.

use std::{sync::Arc, time::Duration};

use domain::{NotificationEvent, Recipients, Seq};
use event_store::{EventStore, Position, Recorded, Shard, StoreError, codec::decode_notification};
use serde_json::value::RawValue;
use tokio::time::sleep;

use super::{
    hub::Hub,
    push::{Push, What, unsealed},
};
use crate::sync_cursor::SyncCursors;

/// Events read at once; one may name ten thousand people.
const BATCH_EVENTS: u32 = 100;
/// A wake-up may be lost; then this is how late a push comes.
const OWN_LOOK: Duration = Duration::from_secs(1);

/// The follower of the log's own streams.
pub(super) struct NotificationFollower {
    pub store: Arc<dyn EventStore>,
    pub cursors: Arc<SyncCursors>,
    pub hub: Arc<Hub>,
}

impl NotificationFollower {
    /// Runs until it is aborted.
    pub async fn run(self, from: Position) {
        let mut wake = self.store.wake(Shard::OWN);
        let mut at = from;
        loop {
            // Marked as seen before reading, so that no wake-up falls between the two.
            wake.borrow_and_update();
            match self.look(&mut at).await {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "the live feed of notifications waits"),
            }
            tokio::select! {
                // A store that has gone gives no more wake-ups; the own look goes on.
                Ok(()) = wake.changed() => {}
                () = sleep(OWN_LOOK) => {}
            }
        }
    }

    /// One batch. True where there may be more at once.
    async fn look(&self, at: &mut Position) -> Result<bool, StoreError> {
        if self.hub.is_empty() {
            *at = self.store.shard_head(Shard::OWN).await?.position.max(*at);
            return Ok(false);
        }
        let mut events = self.store.read_shard(Shard::OWN, *at, BATCH_EVENTS).await?;
        let full = events.len() == BATCH_EVENTS as usize;
        // Stores deliver at least once: what has been pushed is not pushed again.
        events.retain(|event| event.header.position > *at);
        events.sort_by_key(|event| event.header.position);
        for event in &events {
            self.push(event);
            *at = event.header.position;
        }
        Ok(full)
    }

    fn push(&self, recorded: &Recorded) {
        // What says nothing to this binary is told by the projector, which passes it over.
        let Ok(event) = decode_notification(recorded) else { return };
        // Their streams are not in the vector: it stands where the conversations do.
        let cursor = unsealed(&self.cursors, &self.hub.done());
        let place = (recorded.header.shard, recorded.header.position);
        let (what, targets) = match &event {
            NotificationEvent::Sent { notification, at, .. } => {
                let Ok(content) = RawValue::from_string(notification.content.json().to_owned()) else {
                    return;
                };
                let what = What::Notification {
                    id: recorded.header.version,
                    category: notification.category.as_str(),
                    content,
                    create_at: *at,
                };
                let targets = match &notification.to {
                    Recipients::All => self.hub.everybody(),
                    Recipients::People(uids) => self.hub.of(uids.iter().map(|uid| (*uid, Seq::ZERO))),
                };
                (what, targets)
            }
            NotificationEvent::Read { uid, read_id, .. } => {
                (What::NotificationsRead { read_id: read_id.get() }, self.hub.of([(*uid, Seq::ZERO)]))
            }
        };
        let (push, resync) = (Push::new(&what, &cursor), Push::resync(&cursor));
        targets.iter().for_each(|target| target.outbox.push(place, &push, &resync));
    }
}
