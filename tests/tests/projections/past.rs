//! Screenshots of the past: what everybody sees is recorded while a history grows, and asked for again at the end.

use std::sync::Arc;

use domain::{ConvId, Event, Seq, Uid};
use event_store::{EventStore, Position, Shard};
use projections::{
    ReadModels,
    past::{self, Moment, PastError, Seen},
    query::{GroupRow, MemberRow, Page, PageLimit, QueryError, Range, ReadPosition, Summary},
};

use crate::{
    chance::{CONVS, Chance, PEOPLE, conv, history, says, seq, uid},
    log::Log,
    world::{World, caught_up},
};

/// Events between two screenshots.
const EVERY: usize = 60;

/// What one person saw of one conversation, and when.
struct Screenshot {
    conv: ConvId,
    viewer: Uid,
    position: Position,
    range: Range,
    limit: PageLimit,
    /// None: not a member.
    seen: Option<(Summary, Page)>,
    members: Vec<MemberRow>,
    positions: Vec<ReadPosition>,
    group: Option<GroupRow>,
}

async fn screenshot(
    models: &ReadModels,
    conv: &ConvId,
    viewer: Uid,
    position: Position,
    chance: &mut Chance,
) -> Screenshot {
    let bound = |chance: &mut Chance| (chance.below(3) == 0).then(|| seq(chance.below(200)));
    let range = Range { before_seq: bound(chance), after_seq: bound(chance) };
    let limit = PageLimit::new(1 + chance.below(200) as u32).unwrap();
    let all = PageLimit::new(PageLimit::MAX).unwrap();
    let (conv, empty) = (conv.clone(), vec![]);
    let mut shot = Screenshot {
        conv,
        viewer,
        position,
        range,
        limit,
        seen: None,
        members: empty,
        positions: vec![],
        group: None,
    };
    let conv = &shot.conv;
    let page = match models.page(conv, viewer, range, limit).await {
        Err(QueryError::NotAMember) => return shot,
        page => page.unwrap(),
    };
    shot.seen = Some((models.summary(conv, viewer).await.unwrap(), page));
    shot.members = models.members(conv, viewer, None, all).await.unwrap();
    shot.positions = models.read_positions(conv, viewer, None, all).await.unwrap();
    if conv.is_group() {
        shot.group = Some(models.group(conv, viewer).await.unwrap());
    }
    shot
}

#[tokio::test(flavor = "multi_thread")]
async fn what_everybody_saw_is_seen_again_as_of_then() {
    for seed in [31, 32] {
        let (log, world) = (Log::new(), World::new().await);
        let projector = world.projector(log.store.clone()).await;
        let models = world.read_models(log.store.clone(), Some(&projector)).await;
        let mut chance = Chance(seed);
        let mut shots = Vec::new();
        let mut events = history(seed, 1200);
        // Retention takes something of one conversation on the way.
        let later = events.len() / 2;
        let head = events[..later].iter().filter(|(of, event)| is_sent(of, event, "grp-all")).count() as u64;
        assert!(head > 10, "the history is long enough to lose something");
        events.insert(later, (conv("grp-all"), Event::HistoryExpired { up_to_seq: seq(head / 2) }));
        erase_some(&mut events, later + 100);
        for (n, (of, event)) in (1..).zip(&events) {
            log.append(of, event).await;
            if n % EVERY != 0 {
                continue;
            }
            caught_up(&projector, &*log.store).await;
            for name in CONVS {
                let shard = Shard::of(&conv(name), log.store.info().shards);
                let position = log.store.shard_head(shard).await.unwrap().position;
                for viewer in (1..=PEOPLE).map(uid) {
                    shots.push(screenshot(&models, &conv(name), viewer, position, &mut chance).await);
                }
            }
        }
        projector.shutdown().await;
        let seen = shots.iter().filter(|shot| shot.seen.is_some()).count();
        assert!(seen > 100 && seen < shots.len(), "{seen} of {}", shots.len());
        for shot in shots {
            check(&log, shot).await;
        }
    }
}

fn is_sent(of: &ConvId, event: &Event, name: &str) -> bool {
    of.as_str() == name && matches!(event, Event::MessageSent { .. })
}

async fn check(log: &Log, shot: Screenshot) {
    let Screenshot { conv, viewer, position, range, limit, seen, members, positions, group } = shot;
    let store = &*log.store;
    if store.conversation_position(&conv).await.unwrap() == Position::START {
        return;
    }
    let at = format!("{conv} seen by {viewer} at {position:?}, {range:?}");
    let again = past::as_of(store, &conv, viewer, Moment::Position(position), range, limit).await.unwrap();
    assert_eq!(again.view, seen, "{at}");
    // The test's log writes an event a millisecond.
    let time = 1_764_000_000_000 - 1 + position.get() as i64;
    if position > Position::START {
        let by_time = past::as_of(store, &conv, viewer, Moment::At(time), range, limit).await.unwrap();
        assert_eq!(by_time, again, "{at}, by its time");
    }
    if again.view.is_some() {
        let replay = past::retell(store, &conv, position).await.unwrap();
        assert_eq!(past::members_of(&replay), members, "{at}");
        assert_eq!(past::read_positions_of(&replay), positions, "{at}");
        assert_eq!(past::group_of(&replay, viewer), group, "{at}");
    }
}

#[tokio::test]
async fn a_body_that_is_gone_since_shows_as_expired_and_nothing_else_changes() {
    let (log, chat) = (Log::new(), conv("p2p-1-2"));
    for text in ["one", "two", "three"] {
        log.append(&chat, &says(1, text)).await;
    }
    let then = log.append_changed(&chat, &says(1, "four"), gone).await;
    log.append(&chat, &Event::BodiesErased { uid: uid(1), seqs: vec![seq(3), seq(4)] }).await;
    let store = log.store as Arc<dyn EventStore>;
    let ask = |moment| past::as_of(&*store, &chat, uid(2), moment, Range::default(), PageLimit::default());
    let texts = |seen: &Seen| -> Vec<&'static str> {
        use projections::query::ItemState::*;
        let items = &seen.view.as_ref().unwrap().1.items;
        let state = |item: &projections::query::Item| match item.state {
            Normal(_) => "normal",
            Recalled(..) => "recalled",
            Deleted => "deleted",
            Expired => "expired",
        };
        items.iter().map(state).collect()
    };
    let before = ask(Moment::Position(then)).await.unwrap();
    assert_eq!(texts(&before), ["normal", "normal", "normal", "expired"], "only the fourth is really gone");
    let summary = |seen: &Seen| seen.view.as_ref().map(|(summary, _)| summary.clone()).unwrap();
    assert_eq!((summary(&before).unread, summary(&before).last_message.unwrap().seq), (4, seq(4)));
    let after = ask(Moment::At(i64::MAX)).await.unwrap();
    assert_eq!(texts(&after), ["normal", "normal", "expired", "expired"]);
    assert_eq!((summary(&after).unread, summary(&after).last_message.unwrap().seq), (2, seq(2)));
}

fn gone(recorded: &mut event_store::Recorded) {
    recorded.body = event_store::Body::Erased { digest: [0; 32] };
}

#[tokio::test]
async fn who_was_not_in_it_saw_nothing_and_what_has_not_been_is_refused() {
    let (log, chat) = (Log::new(), conv("p2p-1-2"));
    let first = log.append(&chat, &says(1, "one")).await;
    let store = &*log.store;
    let ask = |conv: ConvId, viewer, moment| async move {
        past::as_of(store, &conv, viewer, moment, Range::default(), PageLimit::default()).await
    };
    let outside = ask(chat.clone(), uid(3), Moment::Position(first)).await.unwrap();
    assert_eq!(outside.view, None);
    let early = ask(chat.clone(), uid(1), Moment::At(0)).await.unwrap();
    assert_eq!(early.position, Position::START);
    assert_eq!(early.view.unwrap().1.max_seq, Seq::ZERO, "a single chat is there before its first message");
    let none = ask(conv("grp-none"), uid(1), Moment::At(0)).await;
    assert!(matches!(none, Err(PastError::NoSuchConversation(_))), "{none:?}");
    let beyond = ask(chat, uid(1), Moment::Position(Position::new(first.get() + 1))).await;
    assert!(matches!(beyond, Err(PastError::BeyondHead { head }) if head == first.get()), "{beyond:?}");
}

/// Half of what person 2 has said so far is erased, conversation by conversation.
pub fn erase_some(events: &mut Vec<(ConvId, Event)>, at: usize) {
    for name in CONVS {
        let mut seqs = Vec::new();
        let mut max = 0;
        for (of, event) in &events[..at] {
            if let Event::MessageSent { sender, .. } = event
                && of.as_str() == name
            {
                max += 1;
                if sender.is(uid(2)) && max % 2 == 0 {
                    seqs.push(seq(max));
                }
            }
        }
        if !seqs.is_empty() {
            events.insert(at, (conv(name), Event::BodiesErased { uid: uid(2), seqs }));
        }
    }
}
