//! One history, told in several ways.

use super::*;
use crate::{
    content::Content,
    event::{History, StreamKind},
    ids::ClientMsgId,
    snowflake::MsgId,
};

const NOON: Ms = 1_764_000_000_000;

fn uid(n: u64) -> Uid {
    Uid::new(n).unwrap()
}

fn seq(n: u64) -> Seq {
    Seq::new(n)
}

fn says(sender: u64, mentions: &[u64], flags: Flags) -> Event {
    Event::MessageSent {
        msg_id: MsgId::new(1),
        sender: Sender::new(sender).unwrap(),
        content: Content::text("x", 10).unwrap(),
        flags,
        mentions: mentions.iter().map(|n| uid(*n)).collect(),
        reply_to: None,
        client_msg_id: ClientMsgId::new(uuid::Uuid::nil()),
        create_at: NOON - sender as i64,
    }
}

/// Ana founds, Bo comes, talks, is quoted, leaves and comes again.
fn history() -> Vec<Event> {
    let plain = |sender| says(sender, &[], Flags::NONE);
    let joined = |joined_seq, announced| {
        let (uids, joined_seq) = (vec![uid(2)], seq(joined_seq));
        Event::MembersJoined { uids, joined_seq, by: uid(1), announced, source: None }
    };
    let name = "g".to_owned();
    vec![
        Event::GroupCreated { name, owner: uid(1), history: History::All, announced: true, source: None },
        plain(0),
        joined(1, true),
        plain(0),
        plain(2),
        Event::ReadAdvanced { uid: uid(2), read_seq: seq(3), at: NOON },
        says(1, &[2], Flags::NONE),
        says(1, &[], Flags::AT_ALL),
        plain(1),
        plain(1),
        Event::MessagesDeletedFor { uid: uid(2), seqs: vec![seq(6), seq(7)] },
        Event::MessagesRestoredFor { uid: uid(2), seqs: vec![seq(6)] },
        Event::MessageRecalled { seq: seq(4), by: uid(1), at: NOON },
    ]
}

/// Every event at its place: positions in order, versions by stream.
fn placed(events: Vec<Event>) -> Vec<(Place, Event)> {
    let mut versions = BTreeMap::new();
    let place = |(position, event): (u64, Event)| {
        let version = versions.entry(event.stream()).or_insert(0);
        *version += 1;
        (Place { position, version: *version, recorded_at: NOON + position as i64 }, event)
    };
    (1..).zip(events).map(place).collect()
}

fn told<'a>(events: impl IntoIterator<Item = &'a (Place, Event)>) -> Replay {
    let mut replay = Replay::keeping(&ConvId::parse("grp-a").unwrap(), 10);
    replay.watch(uid(2));
    events.into_iter().for_each(|(place, event)| replay.learn(*place, event));
    replay
}

#[test]
fn what_one_person_sees_follows_from_the_events() {
    let standing = told(&placed(history())).standing(uid(2));
    assert_eq!((standing.read_seq, standing.unread), (seq(3), 2), "5 and 6: 4 is recalled, 7 deleted");
    assert_eq!(standing.mention_seq, Some(seq(5)), "the recalled one does not count");
    assert_eq!((standing.last_seq, standing.max_seq), (Some(seq(6)), seq(7)));
    assert_eq!(standing.updated_at, NOON + 10, "the last message; later marks are no activity");
}

#[test]
fn the_streams_may_be_told_one_after_the_other() {
    let events = placed(history());
    let of = |kind| events.iter().filter(move |(_, event)| event.stream() == kind);
    use StreamKind::{Group, Mark, Message};
    let orders = [[Group, Mark, Message], [Message, Group, Mark], [Mark, Message, Group]];
    for order in orders {
        assert_eq!(told(order.into_iter().flat_map(of)), told(&events), "{order:?}");
    }
}

#[test]
fn of_two_reports_of_one_position_the_earlier_counts() {
    let read = told(&placed(history())).person(uid(2)).read;
    assert_eq!(read, Read { seq: seq(3), at: NOON - 2, position: 5 }, "sent before it was read");
}

#[test]
fn a_departure_ends_the_view_and_a_return_begins_a_new_one() {
    let mut events = history();
    events.push(Event::MemberLeft { uid: uid(2), by: uid(2), announced: false, source: None });
    let left = told(&placed(events.clone()));
    assert!(!left.standing(uid(2)).viewer.member && left.members() == [uid(1)]);
    events.push(Event::GroupChanged {
        change: crate::GroupChange { history: Some(History::Joined), ..Default::default() },
        by: uid(1),
    });
    let (uids, joined_seq) = (vec![uid(2)], seq(7));
    events.push(Event::MembersJoined { uids, joined_seq, by: uid(1), announced: false, source: None });
    let back = told(&placed(events)).standing(uid(2));
    assert_eq!((back.viewer.member, back.viewer.min_seq, back.unread), (true, seq(8), 0));
    assert_eq!(back.last_seq, None);
}

#[test]
fn who_recalled_may_be_forgotten_but_not_that_it_was() {
    let mut replay = Replay::keeping(&ConvId::parse("grp-a").unwrap(), 2);
    let events: Vec<_> = (1..=4).map(|n| Event::MessageRecalled { seq: seq(n), by: uid(1), at: 5 }).collect();
    let events = placed(events);
    events.iter().for_each(|(place, event)| replay.learn(*place, event));
    assert_eq!(replay.recall(seq(1)), Err(Forgotten(seq(1))));
    assert_eq!(replay.recall(seq(4)), Ok(Some(Recall { by: uid(1), at: 5 })));
    assert_eq!(replay.recall(seq(5)), Ok(None));
    replay.forget_recalls_below(seq(1));
    events.iter().for_each(|(_, event)| replay.recollect(event));
    assert_eq!(replay.recall(seq(1)), Ok(Some(Recall { by: uid(1), at: 5 })));
    assert_eq!(replay.recall(seq(4)), Err(Forgotten(seq(4))));
}
