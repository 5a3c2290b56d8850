//! What the port promises, asked of every adapter in the same words. Long because it is one list of promises.

use std::sync::Arc;

use domain::{ClientMsgId, Content, ConvId, Event, EventId, Flags, MsgId, Need, Seq, StreamKind};
use event_store::chain::{self, Unsealed};
use event_store::codec;
use event_store::memory::MemoryEventStore;
use event_store::port::{PieceWrite, Since, Wanted};
use event_store::{
    Append, AppendError, Appended, Batch, EventStore, Origin, Position, Shard, ShardHead, StreamName,
};
use tests::log::{HandClock, START, chat, group, migrated, postgres_log, surroundings, uid};
use uuid::Uuid;

/// Runs each rule against each adapter.
macro_rules! contract {
    ($($rule:ident),* $(,)?) => {
        mod memory {
            use super::*;
            $(#[tokio::test] async fn $rule() { super::$rule(Arc::new(MemoryEventStore::new(Uuid::nil()))).await; })*
        }
        mod postgres {
            use super::*;
            $(#[tokio::test] async fn $rule() {
                let database = migrated().await;
                super::$rule(Arc::new(postgres_log(&database.config).await)).await;
            })*
        }
    };
}

contract!(
    what_is_appended_is_read_back_as_it_was,
    versions_and_positions_are_dense,
    a_repeat_of_the_same_ids_answers_the_first_result,
    a_conflict_names_the_version_that_stands,
    a_guard_that_has_moved_is_a_conflict,
    each_append_of_several_is_on_its_own,
    a_shard_is_read_in_order_and_in_pieces,
    what_came_since_is_read_without_read_positions,
    a_conversation_is_read_in_order_and_in_pieces,
    a_message_is_found_by_its_id,
    conversations_are_named_in_order_and_in_pieces,
    the_first_message_after_a_position_is_found,
    nothing_is_appended_where_the_shard_has_moved,
    an_empty_batch_asks_where_the_shard_stands,
    a_turn_is_exclusive_and_can_be_given_back,
    who_follows_a_shard_never_skips_an_event,
    recorded_at_never_goes_down,
    chains_verify,
    what_was_never_written_is_not_found,
    pieces_follow_from_the_events,
    every_text_survives,
    streams_of_no_conversation_stand_apart,
);

type Store = Arc<dyn EventStore>;

const CHAT: (u64, u64) = (1001, 1002);

fn stream(kind: StreamKind) -> StreamName {
    StreamName::new(&chat(CHAT.0, CHAT.1), kind)
}

fn shard_of(store: &Store, stream: &StreamName) -> Shard {
    stream.shard(store.info().shards)
}

/// A read position: small, and any number of them can be made.
fn unsealed(n: u64) -> Unsealed {
    let event = Event::ReadAdvanced { uid: uid(CHAT.0), read_seq: Seq::new(n), at: 5 };
    Unsealed {
        event_id: EventId::new(Uuid::from_u128(u128::from(n))),
        encoded: codec::encode(&event),
        actor: CHAT.0,
        device: n.is_multiple_of(2).then(|| "phone".to_owned()),
        origin: if n.is_multiple_of(3) { Origin::Import } else { Origin::Live },
        correlation_id: Uuid::from_u128(9),
    }
}

fn append(expected: u64, numbers: impl IntoIterator<Item = u64>) -> Append {
    let events = numbers.into_iter().map(unsealed).collect();
    Append { stream: stream(StreamKind::Mark), expected, guards: vec![], events }
}

async fn appended(store: &Store, append: Append) -> Result<Appended, AppendError> {
    let shard = shard_of(store, &append.stream);
    store.append(shard, vec![append], &surroundings()).await.unwrap().remove(0)
}

async fn what_is_appended_is_read_back_as_it_was(store: Store) {
    appended(&store, append(0, 1..=3)).await.unwrap();
    let events = store.read_stream(&stream(StreamKind::Mark), 1, 10).await.unwrap();
    for (event, n) in events.iter().zip(1..) {
        let given = unsealed(n);
        assert_eq!(event.header.event_id, given.event_id);
        assert_eq!(event.header.device, given.device);
        assert_eq!(event.header.origin, given.origin);
        assert_eq!(event.header.correlation_id, given.correlation_id);
        assert_eq!(event.header.recorded_at, START);
        assert_eq!(
            event.event().unwrap(),
            Event::ReadAdvanced { uid: uid(CHAT.0), read_seq: Seq::new(n), at: 5 }
        );
    }
    assert_eq!(events.len(), 3);
    assert_eq!(store.read_shard(events[0].header.shard, Position::START, 10).await.unwrap(), events);
}

async fn versions_and_positions_are_dense(store: Store) {
    for n in 0..5 {
        let place = appended(&store, append(n, [n + 1])).await.unwrap();
        assert_eq!(place, Appended { version: n + 1, position: Position::new(n + 1) });
    }
    let from_three = store.read_stream(&stream(StreamKind::Mark), 3, 2).await.unwrap();
    assert_eq!(from_three.iter().map(|event| event.header.version).collect::<Vec<_>>(), [3, 4]);
}

async fn a_repeat_of_the_same_ids_answers_the_first_result(store: Store) {
    let first = appended(&store, append(0, 1..=2)).await.unwrap();
    appended(&store, append(2, [3])).await.unwrap();
    assert_eq!(appended(&store, append(0, 1..=2)).await, Ok(first));
    assert_eq!(store.read_stream(&stream(StreamKind::Mark), 1, 10).await.unwrap().len(), 3);
}

async fn a_conflict_names_the_version_that_stands(store: Store) {
    appended(&store, append(0, 1..=2)).await.unwrap();
    for (expected, numbers) in [(0, 8..=9), (1, 8..=8), (3, 8..=8)] {
        let conflict = AppendError::Conflict { stream: stream(StreamKind::Mark), expected, actual: 2 };
        assert_eq!(appended(&store, append(expected, numbers)).await, Err(conflict));
    }
    assert_eq!(store.read_stream(&stream(StreamKind::Mark), 1, 10).await.unwrap().len(), 2);
}

async fn a_guard_that_has_moved_is_a_conflict(store: Store) {
    let guarded = |version| Append { guards: vec![(StreamKind::Group, version)], ..append(0, [1]) };
    let conflict = AppendError::Conflict { stream: stream(StreamKind::Group), expected: 1, actual: 0 };
    assert_eq!(appended(&store, guarded(1)).await, Err(conflict));
    assert!(appended(&store, guarded(0)).await.is_ok());
}

async fn each_append_of_several_is_on_its_own(store: Store) {
    let several = vec![append(0, [1]), append(7, [8]), append(1, [2, 3]), append(0, [1])];
    let shard = shard_of(&store, &stream(StreamKind::Mark));
    let outcomes = store.append(shard, several, &surroundings()).await.unwrap();
    assert_eq!(outcomes[0], Ok(Appended { version: 1, position: Position::new(1) }));
    assert!(matches!(outcomes[1], Err(AppendError::Conflict { expected: 7, actual: 1, .. })), "{outcomes:?}");
    assert_eq!(outcomes[2], Ok(Appended { version: 3, position: Position::new(3) }));
    assert_eq!(outcomes[3], outcomes[0], "a repeat within one call");
}

async fn a_shard_is_read_in_order_and_in_pieces(store: Store) {
    appended(&store, append(0, 1..=10)).await.unwrap();
    let shard = shard_of(&store, &stream(StreamKind::Mark));
    let mut seen = vec![];
    let mut after = Position::START;
    loop {
        let events = store.read_shard(shard, after, 3).await.unwrap();
        let Some(last) = events.last() else { break };
        assert!(events.len() <= 3);
        after = last.header.position;
        seen.extend(events.iter().map(|event| event.header.version));
    }
    assert_eq!(seen, (1..=10).collect::<Vec<_>>());
    assert_eq!(store.shard_head(shard).await.unwrap().position, after);
    assert_eq!(store.shard_heads().await.unwrap()[usize::from(shard.get())].position, after);
    assert_eq!(store.conversation_position(&chat(CHAT.0, CHAT.1)).await.unwrap(), after);
}

/// A message of the chat.
fn said(n: u64) -> Unsealed {
    let event = Event::MessageSent {
        msg_id: MsgId::new(1000 + n),
        sender: uid(CHAT.0).into(),
        content: Content::text(&format!("said {n}"), 100).unwrap(),
        flags: Flags::NONE,
        mentions: vec![],
        reply_to: None,
        client_msg_id: ClientMsgId::new(Uuid::from_u128(u128::from(n))),
        create_at: 5,
    };
    Unsealed {
        event_id: EventId::new(Uuid::from_u128(u128::from(n))),
        encoded: codec::encode(&event),
        ..unsealed(n)
    }
}

/// Three messages, a mark after each, and another conversation's in between.
async fn two_conversations(store: &Store) {
    let (messages, marks) = (stream(StreamKind::Message), stream(StreamKind::Mark));
    let other = (1..200)
        .map(|n| StreamName::new(&chat(7, 1000 + n), StreamKind::Mark))
        .find(|other| shard_of(store, other) == shard_of(store, &marks))
        .unwrap();
    for n in 0..3 {
        let guards = vec![];
        let say =
            Append { stream: messages.clone(), expected: n, guards: guards.clone(), events: vec![said(n)] };
        appended(store, say).await.unwrap();
        let elsewhere = Append { stream: other.clone(), ..append(n, [100 + n]) };
        appended(store, elsewhere).await.unwrap();
        appended(store, Append { stream: marks.clone(), ..append(n, [200 + n]) }).await.unwrap();
    }
}

async fn a_conversation_is_read_in_order_and_in_pieces(store: Store) {
    two_conversations(&store).await;
    let conv = chat(CHAT.0, CHAT.1);
    let all = store.read_conversation(&conv, Position::START, 100).await.unwrap();
    let places: Vec<_> = all.iter().map(|it| (it.header.stream.to_string(), it.header.version)).collect();
    let expected = (1..=3).flat_map(|n| ["message", "mark"].map(|kind| (format!("{kind}-{conv}"), n)));
    assert_eq!(places, expected.collect::<Vec<_>>());
    for limit in 1..=7 {
        let (mut after, mut read) = (Position::START, vec![]);
        loop {
            let page = store.read_conversation(&conv, after, limit).await.unwrap();
            assert!(page.len() <= limit as usize);
            let Some(last) = page.last() else { break };
            after = last.header.position;
            read.extend(page);
        }
        assert_eq!(read, all, "{limit} at a time");
    }
    assert_eq!(store.read_conversation(&chat(8, 9), Position::START, 9).await.unwrap(), []);
}

async fn conversations_are_named_in_order_and_in_pieces(store: Store) {
    two_conversations(&store).await;
    let group = ConvId::parse("grp-irc-ubuntu").unwrap();
    let others =
        [StreamName::new(&group, StreamKind::Mark), StreamName::Notification, StreamName::Inbox(uid(7))];
    for (n, stream) in (0..).zip(others) {
        let events = vec![unsealed(300 + n)];
        appended(&store, Append { stream, expected: 0, guards: vec![], events }).await.unwrap();
    }
    let all = store.conversations(None, 100).await.unwrap();
    assert!(all.is_sorted() && all.len() == 3 && all[0] == group, "{all:?}");
    assert!(all.contains(&chat(CHAT.0, CHAT.1)));
    for limit in 1..=4 {
        let mut read: Vec<ConvId> = vec![];
        loop {
            let page = store.conversations(read.last(), limit).await.unwrap();
            assert!(page.len() <= limit as usize);
            if page.is_empty() {
                break;
            }
            read.extend(page);
        }
        assert_eq!(read, all, "{limit} at a time");
    }
}

async fn a_message_is_found_by_its_id(store: Store) {
    two_conversations(&store).await;
    let found = store.message(MsgId::new(1001)).await.unwrap().unwrap();
    assert_eq!((found.header.stream, found.header.version), (stream(StreamKind::Message), 2));
    assert_eq!(store.message(MsgId::new(7)).await.unwrap(), None);
}

async fn what_came_since_is_read_without_read_positions(store: Store) {
    let (busy, idle) = (group("busy"), chat(1, 2));
    let shard = Shard::of(&busy, store.info().shards);
    let unsealed = |event: &Event, n: u64| Unsealed {
        event_id: EventId::new(Uuid::from_u128(u128::from(n))),
        encoded: codec::encode(event),
        ..unsealed(1)
    };
    let mut versions = [0, 0, 0];
    let mut say = async |event: Event, n: u64| {
        let kind = event.stream();
        let expected = versions[kind as usize];
        versions[kind as usize] += 1;
        let stream = StreamName::new(&busy, kind);
        let append = Append { stream, expected, guards: vec![], events: vec![unsealed(&event, n)] };
        store.append(shard, vec![append], &surroundings()).await.unwrap().remove(0).unwrap().position
    };
    let seqs = |n| vec![Seq::new(n)];
    let deleted = say(Event::MessagesDeletedFor { uid: uid(1), seqs: seqs(1) }, 1).await;
    let left = say(Event::MemberLeft { uid: uid(1), by: uid(1), announced: false, source: None }, 2).await;
    say(Event::ReadAdvanced { uid: uid(1), read_seq: Seq::new(1), at: 1 }, 3).await;
    let restored = say(Event::MessagesRestoredFor { uid: uid(1), seqs: seqs(1) }, 4).await;
    let read = say(Event::ReadAdvanced { uid: uid(1), read_seq: Seq::new(2), at: 1 }, 5).await;

    let heads = store.stream_positions(&[idle.clone(), busy.clone(), busy.clone()]).await.unwrap();
    let of_busy = [Position::START, read, left];
    assert_eq!(heads, [[Position::START; 3], of_busy, of_busy]);

    let since = |conv: &ConvId, after, up_to| Since { conv: conv.clone(), after, up_to };
    let facts = async |asked: &[Since], each, limit| {
        let facts = store.facts_since(asked, each, limit).await.unwrap();
        assert!(facts.iter().all(|fact| fact.header.stream.conv() == Some(&busy) && fact.event().is_ok()));
        facts.into_iter().map(|fact| fact.header.position).collect::<Vec<_>>()
    };
    let all = since(&busy, Position::START, read);
    assert_eq!(
        facts(&[since(&idle, Position::START, read), all.clone()], 9, 9).await,
        [deleted, left, restored]
    );
    assert_eq!(facts(&[since(&busy, deleted, read)], 9, 9).await, [left, restored]);
    assert_eq!(facts(&[since(&busy, Position::START, left)], 9, 9).await, [deleted, left]);
    assert_eq!(facts(&[since(&busy, read, read)], 9, 9).await, []);
    assert_eq!(facts(std::slice::from_ref(&all), 2, 9).await, [deleted, left], "of each");
    assert_eq!(facts(&[all.clone(), all], 9, 4).await, [deleted, left, restored, deleted], "in all");
    assert_eq!(facts(&[], 9, 9).await, []);
}

async fn the_first_message_after_a_position_is_found(store: Store) {
    let conv = chat(CHAT.0, CHAT.1);
    let shard = shard_of(&store, &stream(StreamKind::Message));
    let mut positions = Vec::new();
    for n in 1..=9 {
        // Something else between the messages, so that seqs are not positions.
        for (kind, expected) in [(StreamKind::Mark, n - 1), (StreamKind::Message, n - 1)] {
            let stream = stream(kind);
            let id = n + 100 * kind as u64;
            let append = Append { stream, expected, guards: vec![], events: vec![unsealed(id)] };
            let appended = store.append(shard, vec![append], &surroundings()).await.unwrap().remove(0);
            if kind == StreamKind::Message {
                positions.push(appended.unwrap().position);
            }
        }
    }
    for (after, expected) in positions.iter().zip(2..).take(8) {
        let asked = [(conv.clone(), *after), (chat(8, 9), *after), (conv.clone(), Position::START)];
        let found = store.first_messages(&asked).await.unwrap();
        assert_eq!(found, [Some(Seq::new(expected)), None, Some(Seq::new(1))]);
    }
    assert_eq!(store.first_messages(&[(conv, positions[8])]).await.unwrap(), [None]);
}

/// One event, sealed after these heads.
fn batch_after(shard: Shard, mut head: ShardHead, n: u64) -> Batch {
    let mut stream_head = event_store::port::StreamHead { version: n - 1, chain: [0; 32] };
    let event = chain::seal(
        unsealed(n),
        shard,
        stream(StreamKind::Mark),
        &mut head,
        &mut stream_head,
        START,
        [0; 16],
    );
    Batch { events: vec![event], ..Batch::default() }
}

async fn nothing_is_appended_where_the_shard_has_moved(store: Store) {
    let shard = shard_of(&store, &stream(StreamKind::Mark));
    let empty = ShardHead::default();
    assert!(store.append_at(shard, empty, batch_after(shard, empty, 1)).await.unwrap());
    assert!(!store.append_at(shard, empty, batch_after(shard, empty, 1)).await.unwrap());
    assert_eq!(store.read_shard(shard, Position::START, 10).await.unwrap().len(), 1);
    let head = store.shard_head(shard).await.unwrap();
    assert!(store.append_at(shard, head, batch_after(shard, head, 2)).await.unwrap());
}

async fn an_empty_batch_asks_where_the_shard_stands(store: Store) {
    let shard = shard_of(&store, &stream(StreamKind::Mark));
    let empty = ShardHead::default();
    assert!(store.append_at(shard, empty, Batch::default()).await.unwrap());
    appended(&store, append(0, [1])).await.unwrap();
    assert!(!store.append_at(shard, empty, Batch::default()).await.unwrap());
}

async fn a_turn_is_exclusive_and_can_be_given_back(store: Store) {
    let shard = shard_of(&store, &stream(StreamKind::Mark));
    let turn = store.turn(shard).await.unwrap();
    let other = tokio::spawn({
        let store = Arc::clone(&store);
        async move { appended(&store, append(0, [2])).await }
    });
    tokio::task::yield_now().await;
    assert_eq!(turn.head(), ShardHead::default());
    turn.append(batch_after(shard, ShardHead::default(), 1)).await.unwrap();
    // The other one waited, and then saw what was done before it.
    assert!(matches!(other.await.unwrap(), Err(AppendError::Conflict { actual: 1, .. })));
    drop(store.turn(shard).await.unwrap());
    assert!(appended(&store, append(1, [2])).await.is_ok());
}

async fn who_follows_a_shard_never_skips_an_event(store: Store) {
    const WRITERS: u64 = 8;
    const EACH: u64 = 25;
    // Conversations that share a shard, so that commits race.
    let convs: Vec<_> = (1..)
        .map(|n| chat(1, n))
        .filter(|conv| Shard::of(conv, 16).get() == 3)
        .take(WRITERS as usize)
        .collect();
    let shard = Shard::new(3);
    let writers: Vec<_> = convs
        .into_iter()
        .map(|conv| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for n in 0..EACH {
                    let stream = StreamName::new(&conv, StreamKind::Mark);
                    let append =
                        Append { stream, expected: n, guards: vec![], events: vec![unsealed(n + 1)] };
                    appended(&store, append).await.unwrap();
                }
            })
        })
        .collect();
    let mut positions = vec![];
    while positions.len() < (WRITERS * EACH) as usize {
        let after = Position::new(positions.last().copied().unwrap_or(0));
        let events = store.read_shard(shard, after, 7).await.unwrap();
        positions.extend(events.iter().map(|event| event.header.position.get()));
        tokio::task::yield_now().await;
    }
    assert_eq!(positions, (1..=WRITERS * EACH).collect::<Vec<_>>());
    for writer in writers {
        writer.await.unwrap();
    }
}

async fn recorded_at_never_goes_down(store: Store) {
    let clock = HandClock::new();
    let surroundings = event_store::surroundings::Surroundings { clock: clock.clone(), ..surroundings() };
    let shard = shard_of(&store, &stream(StreamKind::Mark));
    // Into another month, back by two, and on.
    let times = [START, START + 40 * 86_400_000, START - 70 * 86_400_000, START + 41 * 86_400_000];
    for (n, now) in (0..).zip(times) {
        clock.put(now);
        store.append(shard, vec![append(n, [n + 1])], &surroundings).await.unwrap().remove(0).unwrap();
    }
    let events = store.read_shard(shard, Position::START, 10).await.unwrap();
    let recorded: Vec<_> = events.iter().map(|event| event.header.recorded_at).collect();
    assert_eq!(recorded, [times[0], times[1], times[1], times[3]]);
}

async fn chains_verify(store: Store) {
    appended(&store, append(0, 1..=5)).await.unwrap();
    appended(&store, append(5, 6..=9)).await.unwrap();
    let mut previous = [0; 32];
    for event in store.read_stream(&stream(StreamKind::Mark), 1, 100).await.unwrap() {
        let link = chain::link(&previous, &event.header, &chain::body_digest(&event.body));
        assert_eq!(link, event.header.chain, "version {}", event.header.version);
        previous = link;
    }
}

async fn what_was_never_written_is_not_found(store: Store) {
    let conv = chat(5, 6);
    let shard = Shard::of(&conv, store.info().shards);
    let needs = vec![
        Need::Piece(domain::Key::Group),
        Need::Message(Seq::new(1)),
        Need::Event(StreamKind::Message, EventId::new(Uuid::nil())),
    ];
    let found =
        store.load(shard, &[Wanted { conv: conv.clone(), heads: true, needs }]).await.unwrap().remove(0);
    assert_eq!(found.heads, Some(Default::default()));
    assert!(found.pieces.is_empty() && found.messages.is_empty() && found.events.is_empty());
    assert_eq!(store.conversation_position(&conv).await.unwrap(), Position::START);
    assert_eq!(store.read_stream(&StreamName::new(&conv, StreamKind::Mark), 1, 5).await.unwrap(), []);
}

async fn pieces_follow_from_the_events(store: Store) {
    appended(&store, append(0, [4, 9, 2])).await.unwrap();
    let conv = chat(CHAT.0, CHAT.1);
    let key = domain::Key::Person(uid(CHAT.0));
    let wanted = Wanted { conv: conv.clone(), heads: false, needs: vec![Need::Piece(key)] };
    let found = store.load(Shard::of(&conv, store.info().shards), &[wanted]).await.unwrap().remove(0);
    assert_eq!(found.pieces, [(key, r#"{"read_seq":9,"cleared_seq":0}"#.to_owned())]);
}

async fn every_text_survives(store: Store) {
    let texts = [
        "\u{0}",
        "\u{feff}\u{202e}",
        "👩‍👩‍👧",
        "𠮷",
        "e\u{301}",
        "'; drop table log.event; --",
        &"字".repeat(20_000),
    ];
    let name = |text: &str| Event::GroupCreated {
        name: text.to_owned(),
        owner: uid(1),
        history: domain::History::All,
        announced: false,
        source: None,
    };
    let events =
        texts.iter().map(|text| Unsealed { encoded: codec::encode(&name(text)), ..unsealed(1) }).collect();
    let stream = stream(StreamKind::Group);
    appended(&store, Append { stream: stream.clone(), expected: 0, guards: vec![], events }).await.unwrap();
    let events = store.read_stream(&stream, 1, 100).await.unwrap();
    let read: Vec<_> = events.iter().map(|event| event.event().unwrap()).collect();
    assert_eq!(read, texts.map(name));
}

async fn streams_of_no_conversation_stand_apart(store: Store) {
    appended(&store, append(0, 1..=3)).await.unwrap();
    let before = store.shard_heads().await.unwrap();
    let inbox = StreamName::Inbox(uid(7));
    let own = |stream: &StreamName, expected, numbers: std::ops::RangeInclusive<u64>| Append {
        stream: stream.clone(),
        events: numbers.map(unsealed).collect(),
        ..append(expected, [])
    };
    let told = appended(&store, own(&StreamName::Notification, 0, 1..=2)).await.unwrap();
    assert_eq!((told.version, told.position), (2, Position::new(2)));
    let read = appended(&store, own(&inbox, 0, 3..=3)).await.unwrap();
    assert_eq!(
        (read.version, read.position),
        (1, Position::new(3)),
        "one order of positions for all of them"
    );
    let conflict = appended(&store, own(&inbox, 0, 4..=4)).await;
    assert_eq!(conflict, Err(AppendError::Conflict { stream: inbox.clone(), expected: 0, actual: 1 }));
    let again = appended(&store, own(&StreamName::Notification, 0, 1..=2)).await;
    assert_eq!(again, Ok(told));

    let names: Vec<_> = [StreamName::Notification, inbox.clone()].map(|stream| stream.to_string()).into();
    assert_eq!(names, ["notification", "inbox-7"]);
    let events = store.read_shard(Shard::OWN, Position::START, 10).await.unwrap();
    let streams: Vec<String> = events.iter().map(|event| event.header.stream.to_string()).collect();
    assert_eq!(streams, ["notification", "notification", "inbox-7"]);
    assert_eq!(store.read_stream(&inbox, 1, 10).await.unwrap(), events[2..]);
    assert_eq!(store.read_stream(&StreamName::Inbox(uid(8)), 1, 10).await.unwrap(), []);
    assert_eq!(store.shard_head(Shard::OWN).await.unwrap().position, read.position);
    assert_eq!(store.shard_heads().await.unwrap(), before, "conversations' shards do not move");

    let mut turn = store.turn(Shard::OWN).await.unwrap();
    let pieces = [(inbox.clone(), "read".to_owned()), (inbox.clone(), "other".to_owned())];
    let looked = turn.look(&[StreamName::Inbox(uid(8)), inbox.clone()], &pieces).await.unwrap();
    assert_eq!(looked.heads.iter().map(|head| head.version).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(looked.heads[1].chain, events[2].header.chain);
    assert_eq!(looked.pieces, [None, None]);
    let (mut head, mut stream_head) = (turn.head(), looked.heads[1]);
    let sealed =
        chain::seal(unsealed(5), Shard::OWN, inbox.clone(), &mut head, &mut stream_head, START, [1; 16]);
    let piece = PieceWrite { stream: inbox.clone(), key: "read".to_owned(), value: "5".to_owned() };
    turn.append(Batch { events: vec![sealed], pieces: vec![piece], absent: vec![] }).await.unwrap();
    let mut turn = store.turn(Shard::OWN).await.unwrap();
    let looked = turn.look(&[], &pieces).await.unwrap();
    assert_eq!(looked.pieces, [Some("5".to_owned()), None]);
}
