//! What is done to a stream, and what is said of it.

use bytes::Bytes;
use domain::{ConvId, EventId, StreamKind};
use uuid::Uuid;

use super::*;
use crate::{
    chain::{Unsealed, body_digest, seal},
    codec::Encoded,
    port::ShardHead,
    recorded::{Body, Origin, Recorded},
    shard::Shard,
};

const SHARDS: u16 = 16;

fn stream() -> StreamName {
    StreamName::new(&ConvId::parse("p2p-1001-1002").unwrap(), StreamKind::Message)
}

fn events(count: u64) -> Vec<Recorded> {
    let (mut shard, mut head) = (ShardHead::default(), StreamHead::default());
    let event = |n: u64| {
        let encoded = Encoded {
            event_type: 1,
            schema_version: 1,
            body: format!("{{\"n\":{n}}}").into_bytes(),
            message: None,
        };
        let (event_id, correlation_id) = (EventId::new(Uuid::from_u128(n.into())), Uuid::nil());
        let unsealed =
            Unsealed { event_id, encoded, actor: n, device: None, origin: Origin::Live, correlation_id };
        let at = n as i64;
        seal(unsealed, stream().shard(SHARDS), stream(), &mut shard, &mut head, at, [n as u8; 16])
    };
    (1..=count).map(event).collect()
}

fn check(events: &[Recorded]) -> Vec<(u64, What)> {
    let (mut check, mut faults) = (StreamCheck::new(stream(), Some(SHARDS)), vec![]);
    for event in events {
        check.next(event.header.clone(), Some(body_digest(&event.body)), &mut faults);
    }
    check.end(&mut faults);
    faults.iter().map(|fault| (fault.version.unwrap(), fault.what)).collect()
}

#[test]
fn a_whole_stream_has_no_faults() {
    assert_eq!(check(&[]), []);
    assert_eq!(check(&events(200)), []);
}

#[test]
fn one_altered_event_is_named_and_no_other() {
    for place in [0, 3, 9] {
        let named = [(place as u64 + 1, What::Altered)];
        let mut header = events(10);
        header[place].header.actor += 1;
        assert_eq!(check(&header), named);
        let mut chain = events(10);
        chain[place].header.chain[31] ^= 1;
        assert_eq!(check(&chain), named);
        let mut body = events(10);
        body[place].body = Body::Present { salt: [place as u8 + 1; 16], bytes: Bytes::from("{}") };
        assert_eq!(check(&body), named);
        let mut salt = events(10);
        let Body::Present { salt: of, .. } = &mut salt[place].body else { unreachable!() };
        of[0] ^= 1;
        assert_eq!(check(&salt), named);
    }
}

#[test]
fn each_of_two_altered_events_is_named() {
    for (one, other) in [(2, 3), (2, 4), (1, 90)] {
        let mut altered = events(200);
        altered[one].header.actor += 1;
        altered[other].header.actor += 1;
        let named = [(one as u64 + 1, What::Altered), (other as u64 + 1, What::Altered)];
        assert_eq!(check(&altered), named, "{one} {other}");
    }
}

#[test]
fn a_missing_event_is_named() {
    let mut dropped = events(10);
    dropped.remove(4);
    assert_eq!(check(&dropped), [(5, What::Missing)]);
    dropped.remove(4);
    assert_eq!(check(&dropped), [(5, What::Missing)]);
    let mut first = events(10);
    first.remove(0);
    assert_eq!(check(&first), [(1, What::Missing)]);
}

#[test]
fn two_swapped_events_are_named_and_none_between_them() {
    for (one, other) in [(0, 1), (2, 3), (2, 7), (8, 9), (0, 9), (3, 60)] {
        let mut swapped = events(if other > 9 { 100 } else { 10 });
        swapped.swap(one, other);
        (swapped[one].header.version, swapped[other].header.version) = (one as u64 + 1, other as u64 + 1);
        let named = [(one as u64 + 1, What::Swapped), (other as u64 + 1, What::Swapped)];
        assert_eq!(check(&swapped), named, "{one} {other}");
    }
}

#[test]
fn what_is_altered_between_two_swapped_events_is_named_too() {
    let mut swapped = events(10);
    swapped[4].header.actor += 1;
    swapped.swap(2, 6);
    (swapped[2].header.version, swapped[6].header.version) = (3, 7);
    assert_eq!(check(&swapped), [(3, What::Swapped), (5, What::Altered), (7, What::Swapped)]);
}

#[test]
fn a_body_that_is_gone_without_a_digest_is_named() {
    let (mut check, mut faults) = (StreamCheck::new(stream(), Some(SHARDS)), vec![]);
    for event in events(5) {
        let digest = (event.header.version != 3).then(|| body_digest(&event.body));
        check.next(event.header, digest, &mut faults);
    }
    check.end(&mut faults);
    assert_eq!(faults.len(), 1);
    assert_eq!((faults[0].version, faults[0].what), (Some(3), What::BodyMissing));
}

#[test]
fn an_erased_body_leaves_the_chain_whole() {
    let mut erased = events(5);
    erased[2].body = Body::Erased { digest: body_digest(&erased[2].body) };
    assert_eq!(check(&erased), []);
}

#[test]
fn another_shard_and_an_order_that_is_not_the_streams_are_named() {
    let mut moved = events(5);
    moved[1].header.shard = Shard::new((moved[1].header.shard.get() + 1) % SHARDS);
    assert_eq!(check(&moved), [(2, What::Misplaced)]);
    let mut turned = events(5);
    (turned[1].header.position, turned[2].header.position) =
        (turned[2].header.position, turned[1].header.position);
    assert_eq!(check(&turned), [(3, What::Misplaced)]);
}

#[test]
fn a_check_goes_on_after_an_event_that_was_found_good() {
    let all = events(10);
    let head = StreamHead { version: 4, chain: all[3].header.chain };
    let (mut check, mut faults) = (StreamCheck::after(stream(), Some(SHARDS), head), vec![]);
    for event in &all[4..] {
        check.next(event.header.clone(), Some(body_digest(&event.body)), &mut faults);
    }
    check.end(&mut faults);
    assert_eq!((faults, check.head().version), (vec![], 10));
}
