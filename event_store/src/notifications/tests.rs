//! The handler of notifications on a store in memory.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::{Category, Ms, Notification, NotificationContent, Recipients, Rejection};

use super::*;
use crate::{
    memory::MemoryEventStore,
    surroundings::{Clock, Entropy},
};

struct Still;

impl Clock for Still {
    fn now(&self) -> Ms {
        7
    }
}

struct Counted(AtomicU64);

impl Entropy for Counted {
    fn salt(&self) -> [u8; 16] {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)).to_le_bytes()
    }
}

fn uid(n: u64) -> Uid {
    Uid::new(n).unwrap()
}

fn handler() -> (NotificationHandler, Arc<dyn EventStore>) {
    let store: Arc<dyn EventStore> = Arc::new(MemoryEventStore::new(Uuid::nil()));
    let surroundings = Surroundings { clock: Arc::new(Still), entropy: Arc::new(Counted(0.into())) };
    (NotificationHandler::start(&store, &surroundings), store)
}

fn request(command: NotificationCommand, correlation: u128) -> NotificationRequest {
    let correlation_id = Uuid::from_u128(correlation);
    NotificationRequest { command, device: None, correlation_id }
}

fn post(text: &str, key: u128, correlation: u128) -> NotificationRequest {
    let content = NotificationContent::parse(&text.into(), 100).unwrap();
    let category = Category::parse("news").unwrap();
    let notification = Notification { to: Recipients::All, category, content };
    let key = Uuid::from_u128(key);
    request(NotificationCommand::Post { notification, by: uid(1), at: 5, key }, correlation)
}

fn read(who: u64, read_id: u64) -> NotificationRequest {
    let (uid, read_id) = (uid(who), NotificationId::new(read_id));
    request(NotificationCommand::Read { uid, read_id, at: 9 }, 99)
}

fn posted(id: u64, duplicate: bool) -> NotificationReply {
    NotificationReply::Posted { id: NotificationId::new(id), at: 5, duplicate }
}

#[tokio::test]
async fn ids_are_dense_and_a_repeat_is_told_from_a_lost_outcome() {
    let (handler, store) = handler();
    assert_eq!(handler.handle(post("a", 1, 1)).await.unwrap(), posted(1, false));
    assert_eq!(handler.handle(post("b", 2, 2)).await.unwrap(), posted(2, false));
    assert_eq!(handler.handle(post("a", 1, 3)).await.unwrap(), posted(1, true));
    // The same request again: its first outcome got lost.
    assert_eq!(handler.handle(post("a", 1, 1)).await.unwrap(), posted(1, false));
    let conflict = handler.handle(post("other", 1, 4)).await;
    assert!(matches!(conflict, Err(CommandError::Rejected(Rejection::IdempotencyConflict))));
    assert_eq!(store.shard_head(Shard::OWN).await.unwrap().position.get(), 2);
}

#[tokio::test]
async fn repeats_within_one_batch_find_each_other_and_chains_verify() {
    let (handler, store) = handler();
    let all = (0..100_u128).map(|n| handler.handle(post("a", n % 10, n)));
    let mut ids: Vec<_> = futures_util::future::join_all(all).await.into_iter().map(Result::unwrap).collect();
    ids.sort_by_key(|reply| format!("{reply:?}"));
    assert_eq!(
        ids.iter().filter(|it| matches!(it, NotificationReply::Posted { duplicate: false, .. })).count(),
        10
    );
    let events = store.read_stream(&StreamName::Notification, 1, 100).await.unwrap();
    assert_eq!(events.len(), 10);
    let mut previous = [0; 32];
    for (event, version) in events.iter().zip(1..) {
        assert_eq!(event.header.version, version);
        let link = chain::link(&previous, &event.header, &chain::body_digest(&event.body));
        assert_eq!(link, event.header.chain);
        previous = link;
    }
}

#[tokio::test]
async fn each_has_a_watermark_of_their_own_in_a_stream_of_their_own() {
    let (handler, store) = handler();
    for n in 1..=3 {
        handler.handle(post("a", n, n)).await.unwrap();
    }
    let at = |id| NotificationReply::Read(NotificationId::new(id));
    assert_eq!(handler.handle(read(7, 2)).await.unwrap(), at(2));
    assert_eq!(handler.handle(read(7, 1)).await.unwrap(), at(2));
    assert_eq!(handler.handle(read(8, 1)).await.unwrap(), at(1));
    let beyond = handler.handle(read(8, 4)).await;
    assert!(matches!(beyond, Err(CommandError::Rejected(Rejection::NotificationBeyondHead { .. }))));
    assert_eq!(store.read_stream(&StreamName::Inbox(uid(7)), 1, 9).await.unwrap().len(), 1);
    assert_eq!(store.read_stream(&StreamName::Notification, 1, 9).await.unwrap().len(), 3);
}

#[tokio::test]
async fn after_the_end_nothing_is_taken() {
    let (handler, _) = handler();
    handler.handle(post("a", 1, 1)).await.unwrap();
    handler.drain().await;
    assert!(matches!(handler.handle(post("b", 2, 2)).await, Err(CommandError::Unavailable)));
}
