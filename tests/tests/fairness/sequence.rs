//! Commands over a limit, at the handler: what is answered all the same, and what becomes of those behind.

use domain::{Rejection, Reply};
use event_store::memory::MemoryEventStore;
use event_store::{CommandError, EventStore, Limit, OverLimit, Request, Sequence};
use tests::log::{chat, group, node, read, say};
use uuid::Uuid;

const OVER: OverLimit = OverLimit { limit: Limit::Person, retry_after_s: 7 };

fn over(request: Request) -> Request {
    Request { over_limit: Some(OVER), ..request }
}

fn seq(reply: Result<Reply, CommandError>) -> u64 {
    match reply {
        Ok(Reply::Sent(sent)) => sent.seq.get(),
        other => panic!("not sent: {other:?}"),
    }
}

fn is_refused(reply: Result<Reply, CommandError>) -> bool {
    matches!(reply, Err(CommandError::OverLimit(OVER)))
}

#[tokio::test]
async fn over_a_limit_only_that_is_answered_for_which_nothing_is_appended() {
    let (store, handler) = node(MemoryEventStore::new(Uuid::from_u128(1)));
    let conv = chat(1, 2);
    assert_eq!(seq(handler.handle(conv.clone(), say(1, 1, "one")).await), 1);
    assert!(is_refused(handler.handle(conv.clone(), over(say(1, 2, "two"))).await));
    assert_eq!(seq(handler.handle(conv.clone(), over(say(1, 1, "one"))).await), 1);
    let conflict = handler.handle(conv.clone(), over(say(1, 1, "another"))).await;
    assert!(matches!(conflict, Err(CommandError::Rejected(Rejection::IdempotencyConflict))), "{conflict:?}");
    assert!(is_refused(handler.handle(conv.clone(), over(read(2, 1))).await));
    assert!(matches!(handler.handle(conv.clone(), read(2, 1)).await, Ok(Reply::Read(_))));
    assert!(
        matches!(handler.handle(conv, over(read(2, 1))).await, Ok(Reply::Read(_))),
        "it stands there already"
    );
    let stranger = handler.handle(group("none"), over(say(1, 3, "x"))).await;
    assert!(matches!(stranger, Err(CommandError::Rejected(Rejection::NotAMember))), "{stranger:?}");
    assert_eq!(events(&*store).await, 2);
}

#[tokio::test]
async fn behind_a_refused_command_of_a_sequence_nothing_is_appended_in_whichever_batch() {
    let (store, handler) = node(MemoryEventStore::new(Uuid::from_u128(1)));
    let (conv, sequence) = (chat(1, 2), Sequence::default());
    let submit = async |n, is_over: bool| {
        let request = say(1, n, "x");
        let request = if is_over { over(request) } else { request };
        handler.submit_when_free(&sequence, conv.clone(), request).await
    };
    assert_eq!(seq(submit(1, false).await.answer().await), 1);
    // In one batch, where the worker has not come to them before all are there, or in several.
    let together =
        [submit(2, false).await, submit(3, true).await, submit(4, false).await, submit(1, false).await];
    let [two, three, four, one] = together;
    assert_eq!(seq(two.answer().await), 2);
    assert!(is_refused(three.answer().await) && is_refused(four.answer().await));
    assert_eq!(seq(one.answer().await), 1, "a repeat overtakes nobody");
    // In a batch of its own.
    assert!(is_refused(submit(5, false).await.answer().await));
    // Another sequence, or none, is not concerned.
    let other = Sequence::default();
    let fresh = handler.submit_when_free(&other, conv.clone(), say(1, 6, "x")).await;
    assert_eq!(seq(fresh.answer().await), 3);
    assert_eq!(seq(handler.handle(conv, say(1, 7, "x")).await), 4);
    assert_eq!(events(&*store).await, 4);
}

async fn events(store: &dyn EventStore) -> u64 {
    store.shard_heads().await.unwrap().iter().map(|head| head.position.get()).sum()
}
