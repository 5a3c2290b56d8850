//! Every answer against the naive reading of the log.

use std::sync::Arc;

use domain::{ConvId, Event, GroupChange, History, Seq, Settings, Uid};
use projections::{
    ReadModels,
    query::{Item, ItemState, PageLimit, QueryError, QuoteState, Range, Summary},
};

use crate::{
    chance::{CONVS, Chance, PEOPLE, conv, history, says, seq, uid},
    log::Log,
    naive::{Naive, Seen},
    world::World,
};

fn seen(item: &Item) -> Seen {
    match &item.state {
        ItemState::Normal(fact) => (item.seq.get(), "normal", Some(fact.content.json().to_owned())),
        ItemState::Recalled(..) => (item.seq.get(), "recalled", None),
        ItemState::Deleted => (item.seq.get(), "deleted", None),
        ItemState::Expired => (item.seq.get(), "expired", None),
    }
}

fn limit(n: u64) -> PageLimit {
    PageLimit::new(n as u32).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_is_what_a_naive_reading_shows() {
    for seed in 10..14 {
        let events = history(seed, 2500);
        let log = Log::new();
        for (conv, event) in &events {
            log.append(conv, event).await;
        }
        let world = World::new().await;
        let projector = world.projector(log.store.clone()).await;
        let models = world.read_models(log.store.clone(), Some(&projector)).await;
        let mut chance = Chance(seed);
        for name in CONVS {
            let naive = Naive::of(&conv(name), &events);
            for viewer in (1..=PEOPLE).map(uid) {
                if naive.members.contains_key(&viewer) {
                    check_member(&models, &naive, viewer, &mut chance).await;
                } else {
                    let refused = models.page(&naive.conv, viewer, Range::default(), limit(1)).await;
                    assert!(matches!(refused, Err(QueryError::NotAMember)), "{name} {viewer}");
                }
            }
        }
        check_inbox(&models, &events).await;
        projector.shutdown().await;
    }
}

async fn check_member(models: &ReadModels, naive: &Naive, viewer: Uid, chance: &mut Chance) {
    let at = format!("{} seen by {viewer}", naive.conv);
    let summary = models.summary(&naive.conv, viewer).await.unwrap();
    assert_eq!(
        (summary.max_seq.get(), summary.min_seq.get()),
        (naive.max_seq(), naive.min_seq(viewer)),
        "{at}"
    );
    assert_eq!(summary.read_seq, naive.read(viewer).0, "{at}");
    assert_eq!(summary.peer_read_seq, naive.conv.peer_of(viewer).map(|peer| naive.read(peer).0), "{at}");
    assert_eq!(summary.unread, naive.unread(viewer), "{at}");
    assert_eq!(summary.settings, naive.settings(viewer), "{at}");
    assert_eq!(summary.mention_seq, naive.mention(viewer), "{at}");
    assert_eq!(summary.last_message.as_ref().map(seen), naive.last_message(viewer), "{at}");
    let all = naive.seen(viewer);
    for _ in 0..12 {
        check_page(models, naive, viewer, &all, chance).await;
    }
    let positions = models.read_positions(&naive.conv, viewer, None, limit(200)).await.unwrap();
    let positions: Vec<_> = positions.iter().map(|p| (p.uid, (p.read_seq, p.read_at))).collect();
    let expected: Vec<_> = naive.members.keys().map(|uid| (*uid, naive.read(*uid))).collect();
    assert_eq!(positions, expected, "{at}");
    let members = models.members(&naive.conv, viewer, None, limit(200)).await.unwrap();
    let members: Vec<_> = members.iter().map(|m| (m.uid, (m.role, m.joined_seq))).collect();
    assert_eq!(members, naive.members.clone().into_iter().collect::<Vec<_>>(), "{at}");
    check_readers(models, naive, viewer, chance).await;
    if naive.conv.is_group() {
        check_group(models, naive, viewer).await;
    }
}

async fn check_group(models: &ReadModels, naive: &Naive, viewer: Uid) {
    let group = models.group(&naive.conv, viewer).await.unwrap();
    let GroupChange { name, history, mute_all, invite } = naive.group.clone();
    assert_eq!(group.name, name.unwrap_or("群".into()));
    assert!(history.is_none_or(|history| history == group.history));
    assert_eq!((group.mute_all, group.invite), (mute_all.unwrap_or(false), invite.unwrap_or_default()));
    assert_eq!((group.dissolved, group.members), (naive.dissolved, naive.members.len() as u64));
    assert_eq!((group.owner, group.role), (Some(uid(1)), naive.members[&viewer].0));
}

async fn check_page(models: &ReadModels, naive: &Naive, viewer: Uid, all: &[Seen], chance: &mut Chance) {
    let mut bound = |odds| (chance.below(odds) > 0).then(|| seq(1 + chance.below(naive.max_seq() + 3)));
    let range = Range { before_seq: bound(2), after_seq: bound(2) };
    let size = 1 + chance.below(200);
    let page = models.page(&naive.conv, viewer, range, limit(size)).await.unwrap();
    let within = |(n, ..): &&Seen| {
        range.before_seq.is_none_or(|before| *n < before.get())
            && range.after_seq.is_none_or(|after| *n > after.get())
    };
    let mut expected: Vec<Seen> = all.iter().filter(within).cloned().collect();
    let more = expected.len() as u64 > size;
    let surplus = expected.len().saturating_sub(size as usize);
    if range.after_seq.is_none() {
        expected.drain(..surplus);
    } else {
        expected.truncate(size as usize);
    }
    let at = format!("{} seen by {viewer}: {range:?}, {size}", naive.conv);
    assert_eq!(page.items.iter().map(seen).collect::<Vec<_>>(), expected, "{at}");
    assert_eq!(page.has_more, more, "{at}");
    for item in &page.items {
        let expected =
            matches!(item.state, ItemState::Normal(_)).then(|| naive.quote(viewer, item.seq.get()));
        let quote = item.quote.as_ref().map(|quote| {
            let state = match quote.state {
                QuoteState::Normal => "normal",
                QuoteState::Recalled => "recalled",
                QuoteState::Deleted => "deleted",
                QuoteState::Expired => "expired",
                QuoteState::Hidden => "hidden",
            };
            (state, quote.excerpt.clone())
        });
        assert_eq!(quote, expected.flatten(), "{at}: {}", item.seq);
    }
}

async fn check_readers(models: &ReadModels, naive: &Naive, viewer: Uid, chance: &mut Chance) {
    let at = Seq::new(1 + chance.below(naive.max_seq()));
    let mut after = None;
    let (mut read, mut unread) = (vec![], vec![]);
    loop {
        let readers = models.readers(&naive.conv, viewer, at, after, limit(1)).await;
        if at.get() < naive.min_seq(viewer) {
            assert!(matches!(readers, Err(QueryError::MessageNotFound)));
            return;
        }
        let readers = readers.unwrap();
        let expected = naive.readers(at);
        assert_eq!(
            (readers.read_count, readers.unread_count),
            (expected.0.len() as u64, expected.1.len() as u64)
        );
        read.extend(readers.read);
        unread.extend(readers.unread);
        after = readers.next;
        if after.is_none() {
            assert_eq!((read, unread), expected);
            return;
        }
    }
}

/// Every conversation that is not hidden, once, pinned ones first, then the newest activity, the same as when it is
/// asked for alone.
async fn check_inbox(models: &ReadModels, events: &[(ConvId, Event)]) {
    for viewer in (1..=PEOPLE).map(uid) {
        let (mut after, mut listed) = (None, vec![]);
        loop {
            let page = models.summaries(viewer, limit(2), after).await.unwrap();
            listed.extend(page.conversations);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let is_ahead = |a: &Summary, b: &Summary| {
            (b.settings.pinned, b.updated_at, &a.conv) < (a.settings.pinned, a.updated_at, &b.conv)
        };
        assert!(listed.is_sorted_by(is_ahead), "{listed:?}");
        let is_in = |name: &&str| Naive::of(&conv(name), events).is_listed(viewer);
        let mut names: Vec<_> = listed.iter().map(|summary| summary.conv.to_string()).collect();
        names.sort();
        let mut expected: Vec<_> = CONVS.iter().copied().filter(is_in).map(str::to_owned).collect();
        expected.sort();
        assert_eq!(names, expected);
        for summary in listed {
            assert_eq!(models.summary(&summary.conv, viewer).await.unwrap(), summary);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_chat_that_nobody_has_used_is_there_for_its_two() {
    let (world, log) = (World::new().await, Log::new());
    let models = world.read_models(log.store.clone(), None).await;
    let chat = conv("p2p-1-2");
    let summary = models.summary(&chat, uid(1)).await.unwrap();
    assert_eq!((summary.max_seq.get(), summary.min_seq.get(), summary.unread), (0, 1, 0));
    assert_eq!((summary.last_message, summary.updated_at), (None, 0));
    assert!(models.page(&chat, uid(1), Range::default(), limit(10)).await.unwrap().items.is_empty());
    assert!(matches!(models.summary(&chat, uid(3)).await, Err(QueryError::NotAMember)));
    assert!(matches!(models.summary(&conv("grp-no"), uid(1)).await, Err(QueryError::NotAMember)));
    assert!(models.summaries(uid(1), limit(10), None).await.unwrap().conversations.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_is_read_at_once() {
    let (world, log) = (World::new().await, Arc::new(Log::new()));
    let projector = world.projector(log.store.clone()).await;
    let here = world.read_models(log.store.clone(), Some(&projector)).await;
    let elsewhere = world.read_models(log.store.clone(), None).await;
    let chat = conv("p2p-1-2");
    for n in 1..=250 {
        log.append(&chat, &says(1, "x")).await;
        let models = if n % 2 == 0 { &here } else { &elsewhere };
        let page = models.page(&chat, uid(2), Range::default(), limit(3)).await.unwrap();
        assert_eq!(page.max_seq, seq(n));
        let inbox = models.summaries(uid(2), limit(3), None).await.unwrap();
        assert_eq!((inbox.conversations.len(), inbox.conversations[0].unread), (1, n));
    }
    projector.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_never_unread_is_left_out_once() {
    let (world, log) = (World::new().await, Log::new());
    let chat = conv("p2p-1-2");
    for n in 1..=101 {
        log.append(&chat, &says(if n % 10 == 0 || n == 95 { 0 } else { 2 }, "x")).await;
    }
    let (bo, at) = (uid(2), 1_764_000_000_000);
    log.append(&chat, &Event::ReadAdvanced { uid: uid(1), read_seq: seq(90), at }).await;
    // 95 is the system's own and recalled; 100 that and deleted; 99 recalled and deleted; 98 deleted and back; 90 is
    // read.
    for n in [95, 99, 100] {
        log.append(&chat, &Event::MessageRecalled { seq: seq(n), by: bo, at }).await;
    }
    let seqs = [90, 98, 99, 100, 101].map(seq).to_vec();
    log.append(&chat, &Event::MessagesDeletedFor { uid: uid(1), seqs }).await;
    log.append(&chat, &Event::MessagesRestoredFor { uid: uid(1), seqs: vec![seq(98)] }).await;
    let projector = world.projector(log.store.clone()).await;
    let models = world.read_models(log.store.clone(), Some(&projector)).await;
    let summary = models.summary(&chat, uid(1)).await.unwrap();
    assert_eq!(summary.unread, 7, "91 to 98 but 95");
    assert_eq!(
        summary.last_message.map(|item| item.seq),
        Some(seq(98)),
        "past a bucket in which all is deleted"
    );
    // From the sealed bucket into the one that still fills.
    let range = Range { after_seq: Some(seq(97)), before_seq: None };
    let page = models.page(&chat, uid(1), range, limit(10)).await.unwrap();
    let states: Vec<_> = page.items.iter().map(|item| (item.seq.get(), seen(item).1)).collect();
    assert_eq!(states, [(98, "normal"), (99, "deleted"), (100, "deleted"), (101, "deleted")]);
    projector.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_who_joins_has_read_the_message_about_it() {
    let (world, log) = (World::new().await, Log::new());
    let (group, by, announced) = (conv("grp-a"), uid(1), true);
    let (name, history) = ("a".into(), History::Joined);
    log.append(&group, &Event::GroupCreated { name, owner: by, history, announced, source: None }).await;
    log.append(&group, &says(0, "founded")).await;
    log.append(&group, &says(1, "x")).await;
    let (uids, joined_seq) = (vec![uid(2)], seq(2));
    log.append(&group, &Event::MembersJoined { uids, joined_seq, by, announced, source: None }).await;
    let projector = world.projector(log.store.clone()).await;
    let models = world.read_models(log.store.clone(), Some(&projector)).await;
    let numbers = async |of| {
        let summary = models.summary(&group, uid(of)).await.unwrap();
        [summary.max_seq, summary.min_seq, summary.read_seq].map(Seq::get).into_iter().chain([summary.unread])
    };
    assert_eq!(numbers(2).await.collect::<Vec<_>>(), [2, 3, 2, 0], "a moment before the message is there");
    log.append(&group, &says(0, "joined")).await;
    assert_eq!(numbers(2).await.collect::<Vec<_>>(), [3, 3, 3, 0]);
    assert_eq!(numbers(1).await.collect::<Vec<_>>(), [3, 1, 2, 0]);
    projector.shutdown().await;
}

/// As many as a busy person has: page after page, some pinned, some hidden, some hidden and back.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_two_thousand_is_in_order() {
    const CHATS: u64 = 2000;
    let (world, log) = (World::new().await, Log::new());
    let (ana, chat) = (uid(1), |n: u64| ConvId::single(uid(1), uid(n + 1)));
    for n in 1..=CHATS {
        log.append(&chat(n), &says(1, "x")).await;
        if n % 7 == 0 {
            let settings = Settings { pinned: n % 2 == 0, muted: true };
            log.append(&chat(n), &Event::SettingsChanged { uid: ana, settings }).await;
        }
        if n % 5 == 0 {
            log.append(&chat(n), &Event::ConversationHidden { uid: ana, up_to_seq: seq(1) }).await;
        }
        if n % 15 == 0 {
            log.append(&chat(n), &says(n + 1, "y")).await;
        }
    }
    let projector = world.projector(log.store.clone()).await;
    let models = world.read_models(log.store.clone(), Some(&projector)).await;
    let (mut after, mut listed) = (None, vec![]);
    loop {
        let page = models.summaries(ana, limit(200), after).await.unwrap();
        listed.extend(page.conversations);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let key = |it: &Summary| (std::cmp::Reverse((it.settings.pinned, it.updated_at)), it.conv.clone());
    assert!(listed.is_sorted_by_key(key));
    let mut convs: Vec<_> = listed.iter().map(|it| it.conv.clone()).collect();
    convs.sort();
    let mut expected: Vec<_> = (1..=CHATS).filter(|n| n % 5 != 0 || n % 15 == 0).map(chat).collect();
    expected.sort();
    assert_eq!(convs, expected);
    let pinned = listed.iter().filter(|it| it.settings.pinned).count() as u64;
    assert_eq!(pinned, (1..=CHATS).filter(|n| n % 14 == 0 && (n % 5 != 0 || n % 15 == 0)).count() as u64);
    let back = listed.iter().find(|it| it.conv == chat(15)).unwrap();
    assert_eq!((back.min_seq, back.unread, back.settings.pinned), (seq(2), 1, false));
    projector.shutdown().await;
}
