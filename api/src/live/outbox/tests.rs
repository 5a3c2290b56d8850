//! What is taken, in which order, and what has no room.

use std::pin::pin;

use futures_util::FutureExt;

use super::*;

fn outbox() -> Outbox {
    let outbox = Outbox::new(Uid::new(1).unwrap(), Device::new(None), Vector::start(1));
    outbox.release();
    outbox
}

/// What waits, with `-` for what may as well be lost.
fn waiting(outbox: &Outbox) -> String {
    let frames = std::iter::from_fn(|| outbox.take());
    let letter = |next: Next| match next {
        Next::Frame(Frame::Answer(_)) => 'a',
        Next::Frame(Frame::Push(_)) => 'p',
        Next::Frame(Frame::Resync(_)) => 'r',
        Next::Frame(Frame::Passing(_)) => '-',
        Next::Close(_) => 'c',
    };
    // After the end there is nothing but the end.
    frames.map(letter).take_while(|letter| *letter != 'c').collect()
}

fn pass(outbox: &Outbox) {
    outbox.pass(&"typing".into());
}

fn push(outbox: &Outbox, n: u64) {
    let push = Push::resync_from("any");
    outbox.push((Shard::all(1).next().unwrap(), Position::new(n)), &push, &push);
}

#[test]
fn what_may_be_lost_comes_where_nothing_else_waits() {
    let outbox = outbox();
    pass(&outbox);
    push(&outbox, 1);
    pass(&outbox);
    outbox.answer("x".into());
    pass(&outbox);
    assert_eq!(waiting(&outbox), "-pa");
    pass(&outbox);
    assert_eq!(waiting(&outbox), "-");
}

#[test]
fn what_may_be_lost_is_bounded_and_takes_no_room_from_pushes() {
    let outbox = outbox();
    (0..10_000).for_each(|_| pass(&outbox));
    (1..=PUSHES_MAX as u64).for_each(|n| push(&outbox, n));
    (0..10_000).for_each(|_| pass(&outbox));
    assert_eq!(waiting(&outbox), "-".repeat(PASSING_MAX) + &"p".repeat(PUSHES_MAX), "and no resync");
    (1..=PUSHES_MAX as u64 + 1).for_each(|n| push(&outbox, n));
    assert!(waiting(&outbox).ends_with("pr"));
    pass(&outbox);
    assert_eq!(waiting(&outbox), "", "nothing between a resync and where it listens again");
}

#[tokio::test]
async fn what_is_written_at_once_is_bounded_and_nothing_comes_behind_the_end() {
    let outbox = outbox();
    (1..=5).for_each(|n| push(&outbox, n));
    let bytes = Push::resync_from("any").text.len();
    assert_eq!(outbox.next(1).await.len(), 1, "at least one");
    assert_eq!(outbox.next(2 * bytes).await.len(), 2);
    outbox.end(Close::GoingAway);
    push(&outbox, 6);
    let rest = outbox.next(usize::MAX).await;
    assert!(matches!(rest[..], [Next::Frame(_), Next::Frame(_), Next::Close(Close::GoingAway)]));
    let state = outbox.state();
    assert_eq!((state.pushes, state.push_bytes), (0, 0));
}

#[test]
fn pushes_that_come_together_are_taken_as_one_by_one() {
    let (together, apart) = (outbox(), outbox());
    let shard = Shard::all(1).next().unwrap();
    let one = Push::resync_from("any");
    for outbox in [&together, &apart] {
        outbox.replayed(&Vector::new(vec![Position::new(3)]));
        outbox.release();
    }
    let places = (1..=PUSHES_MAX as u64 + 10).map(|n| (shard, Position::new(n)));
    places.clone().for_each(|place| apart.push(place, &one, &one));
    together.push_all(places.map(|place| (place, &one)), &one);
    let waits = waiting(&together);
    assert!(waits.starts_with('p') && waits.ends_with("pr") && waits.len() == PUSHES_MAX + 1, "{waits}");
    assert_eq!(waits, waiting(&apart));
}

#[test]
fn what_may_be_lost_is_not_held() {
    let outbox = Outbox::new(Uid::new(1).unwrap(), Device::new(None), Vector::start(1));
    pass(&outbox);
    outbox.release();
    assert_eq!(waiting(&outbox), "");
    pass(&outbox);
    outbox.dismiss(Close::Replaced, "word".into());
    pass(&outbox);
    outbox.end(Close::Replaced);
    assert_eq!(waiting(&outbox), "-a");
}

/// Pushes one as a large audience hears it. True where it is to be woken later.
fn paced(outbox: &Outbox, n: u64, now: Instant) -> bool {
    let push = Push::resync_from("any");
    let place = (Shard::all(1).next().unwrap(), Position::new(n));
    outbox.push_paced([(place, &push)], &push, now)
}

#[tokio::test]
async fn who_was_just_written_to_is_woken_later_and_by_one() {
    let outbox = outbox();
    let before = Instant::now();
    let mut writer = pin!(outbox.next(usize::MAX));
    assert!((&mut writer).now_or_never().is_none(), "nothing is there");
    assert!(!paced(&outbox, 1, before), "one that has rested");
    assert_eq!((&mut writer).now_or_never().map(|some| some.len()), Some(1), "is woken at once");
    let mut writer = pin!(outbox.next(usize::MAX));
    assert!((&mut writer).now_or_never().is_none());
    assert!(paced(&outbox, 2, before), "one that has not");
    assert!(!paced(&outbox, 3, before), "who is to be woken already is nobody else's");
    assert!((&mut writer).now_or_never().is_none(), "it sleeps");
    outbox.wake();
    assert_eq!((&mut writer).now_or_never().map(|some| some.len()), Some(2));
    assert!(paced(&outbox, 4, before), "it was woken, so it is to be woken again");
    assert_eq!(outbox.next(usize::MAX).await.len(), 1);
    outbox.wake();
    assert!(!paced(&outbox, 5, Instant::now() + PACE), "it has rested");
    outbox.end(Close::GoingAway);
    assert!(!paced(&outbox, 6, before), "nobody has to wake what has ended");
}

#[tokio::test]
async fn what_is_paced_keeps_its_place_before_what_is_not() {
    let (outbox, before) = (outbox(), Instant::now());
    outbox.answer("x".into());
    assert_eq!(outbox.next(usize::MAX).await.len(), 1);
    let mut writer = pin!(outbox.next(usize::MAX));
    assert!((&mut writer).now_or_never().is_none());
    assert!(paced(&outbox, 1, before));
    outbox.answer("y".into());
    let order = (&mut writer).now_or_never().expect("an answer wakes it");
    assert!(matches!(order[..], [Next::Frame(Frame::Push(_)), Next::Frame(Frame::Answer(_))]), "{order:?}");
}
