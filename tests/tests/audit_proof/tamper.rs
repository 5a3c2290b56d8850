//! What can be done to a log with SQL.

use domain::ConvId;
use ed25519_dalek::SigningKey;
use event_store::Shard;
use event_store::postgres::proof::{Scope, Verified, verify_conversation};
use event_store::verify::What;
use tests::log::chat;

use crate::world::{STREAM, World, named};

/// The number of [`STREAM`], and the place of one of its events.
const THE_STREAM: &str = "(select conv_no * 8 from log.conversation where conv_id = 'p2p-1-2')";

fn at(version: u64) -> String {
    format!("stream_id = {THE_STREAM} and version = {version}")
}

/// The body's place.
fn body_at(version: u64) -> String {
    format!("(shard, position) = (select shard, position from log.event where {})", at(version))
}

#[tokio::test]
async fn a_whole_log_is_found_whole() {
    let world = World::new().await;
    let (verified, faults) = world.verify_with(world.scope()).await;
    assert_eq!(faults, []);
    assert_eq!(verified, Verified { events: 17 + 5 + 3 + 2, streams: 4, checkpoints: 2 });
    assert!(world.checkpoint().await.is_some(), "two messages and the second checkpoint");
    assert_eq!(world.checkpoint().await, None, "nothing but the third checkpoint");
    assert_eq!(world.verify().await, []);
}

#[tokio::test]
async fn each_column_of_a_header_counts() {
    let world = World::new().await;
    let changes = [
        "version = 1000",
        "position = 1000",
        "recorded_at = recorded_at + 1",
        "actor = actor + 1",
        "msg_id = msg_id + 1",
        "msg_id = null",
        "create_at = create_at + 1",
        "event_id = gen_random_uuid()",
        "correlation_id = gen_random_uuid()",
        "client_msg_id = gen_random_uuid()",
        "shard = (shard + 1) % 16",
        "event_type = 2",
        "schema_version = 2",
        "origin = 1",
        "msg_type = 2",
        "msg_type = msg_type + 256",
        "flags = 1",
        "device = 'Phone'",
        "device = null",
        "chain = set_byte(chain, 0, get_byte(chain, 0) # 1)",
        "chain = set_byte(chain, 31, get_byte(chain, 31) # 128)",
    ];
    for change in changes {
        let faults = world.tampered(&format!("update log.event set {change} where {}", at(4))).await;
        let named = named(&faults);
        assert!(named.iter().any(|it| (it.0, it.1) == (STREAM, 4)), "{change}: {faults:?}");
        let far = |it: &&(&str, u64, What)| ![4, 1000].contains(&it.1) && it.2 == What::Altered;
        assert!(named.iter().find(far).is_none(), "{change}: {faults:?}");
    }
    let moved = format!("update log.event set stream_id = stream_id + 2 where {}", at(4));
    let faults = world.tampered(&moved).await;
    assert!(named(&faults).contains(&(STREAM, 4, What::Missing)), "{faults:?}");
    assert!(faults.iter().any(|it| it.stream.as_deref() == Some("group-p2p-1-2")), "{faults:?}");
    assert_eq!(world.verify().await, []);
}

#[tokio::test]
async fn a_body_and_its_salt_count_and_may_not_just_go() {
    let world = World::new().await;
    for version in [1, 9, 17] {
        let place = body_at(version);
        for column in ["salt", "bytes"] {
            let change = format!(
                "update log.body set {column} = set_byte({column}, 3, get_byte({column}, 3) # 1) where {place}"
            );
            let faults = world.tampered(&change).await;
            assert_eq!(named(&faults), [(STREAM, version, What::Altered)], "{faults:?}");
        }
        let faults = world.tampered(&format!("delete from log.body where {place}")).await;
        assert_eq!(named(&faults), [(STREAM, version, What::BodyMissing)], "{faults:?}");
        let both = format!(
            "insert into log.digest select position, shard, decode(repeat('00', 32), 'hex') from log.event where {}",
            at(version)
        );
        let faults = world.tampered(&both).await;
        assert_eq!(named(&faults), [(STREAM, version, What::Altered)], "{faults:?}");
        let forged = format!(
            "insert into log.digest select position, shard, decode(repeat('00', 32), 'hex') from log.event where {}; \
             delete from log.body where {place}",
            at(version)
        );
        let faults = world.tampered(&forged).await;
        assert_eq!(named(&faults), [(STREAM, version, What::Altered)], "{faults:?}");
    }
}

#[tokio::test]
async fn an_event_that_was_dropped_is_named() {
    let world = World::new().await;
    for version in [1, 4, 12] {
        let faults = world.tampered(&format!("delete from log.event where {}", at(version))).await;
        assert!(named(&faults).contains(&(STREAM, version, What::Missing)), "{faults:?}");
        let gap = faults.iter().find(|it| it.stream.is_none() && it.what == What::Missing);
        assert!(
            gap.is_some_and(|it| it.position.is_some()),
            "its place in the shard is empty, too: {faults:?}"
        );
    }
}

#[tokio::test]
async fn two_events_that_were_swapped_are_named() {
    let world = World::new().await;
    for (one, other) in [(3, 4), (2, 9), (16, 17)] {
        let swap = format!(
            "update log.event set version = 1000 where {}; update log.event set version = {one} where {};
             update log.event set version = {other} where {}",
            at(one),
            at(other),
            at(1000)
        );
        let faults = world.tampered(&swap).await;
        let named = named(&faults);
        assert!(named.contains(&(STREAM, one, What::Swapped)), "{faults:?}");
        assert!(named.contains(&(STREAM, other, What::Swapped)), "{faults:?}");
        assert!(named.iter().all(|it| it.2 == What::Swapped), "{faults:?}");
    }
    // The bodies alone.
    let [three, five] =
        [3, 5].map(|version| format!("(select bytes from backup.body where {})", body_at(version)));
    let swap = format!(
        "update log.body set bytes = {five} where {}; update log.body set bytes = {three} where {}",
        body_at(3),
        body_at(5)
    );
    let faults = world.tampered(&swap).await;
    assert_eq!(named(&faults), [(STREAM, 3, What::Altered), (STREAM, 5, What::Altered)], "{faults:?}");
}

/// Makes the positions of a shard dense again, bodies and all, so that no gap tells of what is gone.
const CLOSE_GAPS: &str = "
    create temporary table moved on commit drop as
    select shard, position, recorded_at, row_number() over (partition by shard order by position) as dense
      from log.event;
    update log.event e set position = -m.dense from moved m where (e.shard, e.position) = (m.shard, m.position);
    update log.event set position = -position;
    update log.body b set position = -m.dense from moved m
     where (b.shard, b.position, b.recorded_at) = (m.shard, m.position, m.recorded_at);
    delete from log.body where position > 0;
    update log.body set position = -position;";

#[tokio::test]
async fn an_end_that_was_cut_off_after_a_checkpoint_is_named() {
    let world = World::new().await;
    world.sql.batch_execute("alter table log.event drop constraint event_position_check").await.unwrap();
    let from = |version: u64| {
        format!("delete from log.event where stream_id = {THE_STREAM} and version >= {version}")
    };
    // Two that no checkpoint has seen: nobody can know. Fifteen were seen by the second one, ten by the first.
    for (cut, is_seen) in [(16, false), (15, true), (9, true), (1, true)] {
        let faults = world.tampered(&format!("begin; {}; {CLOSE_GAPS} commit", from(cut))).await;
        let named = named(&faults);
        assert_eq!(named.contains(&(STREAM, cut, What::Truncated)), is_seen, "{cut}: {faults:?}");
        assert!(is_seen || faults.is_empty(), "{cut}: {faults:?}");
    }
    // Not even the kept heads are there to tell: the shard and the checkpoint still do.
    let cut = from(9);
    let faults =
        world.tampered(&format!("begin; delete from log.checkpoint_heads; {cut}; {CLOSE_GAPS} commit")).await;
    assert!(faults.iter().any(|it| it.what == What::Rewritten && it.shard.is_some()), "{faults:?}");
    // Whoever forges the kept heads forges nothing else.
    let forge = "update log.checkpoint_heads set heads = set_byte(heads, 9, 1)";
    assert_eq!(world.tampered(forge).await, []);
    let faults = world.tampered(&format!("begin; {forge}; {cut}; {CLOSE_GAPS} commit")).await;
    assert!(faults.iter().any(|it| it.what == What::Rewritten && it.shard.is_some()), "{faults:?}");
}

#[tokio::test]
async fn an_event_that_was_forged_with_all_that_follows_computed_again_is_named() {
    let world = World::new().await;
    // A checkpoint knows how a stream ended: it names the versions between it and the one before.
    for (version, first, last) in [(4, 1, 10), (12, 11, 15), (15, 11, 15)] {
        world.forge(version).await;
        let faults = world.verify().await;
        world.restore().await;
        let told = named(&faults);
        assert!(told.iter().all(|it| it.2 == What::Rewritten && it.0 == STREAM), "{faults:?}");
        assert_eq!(told.first().map(|it| it.1), Some(first), "{version}: {faults:?}");
        assert!(faults[0].detail.ends_with(&format!("versions {first} to {last}")), "{faults:?}");
    }
    // After the last checkpoint nobody has seen it yet.
    world.forge(16).await;
    assert_eq!(world.verify().await, []);
    world.restore().await;
}

#[tokio::test]
async fn checkpoints_that_are_gone_forged_or_signed_by_somebody_else_are_named() {
    let world = World::new().await;
    let saved = world.checkpoint().await.unwrap();
    let trusting = |world: &World| Scope { trusted: vec![saved.clone()], ..world.scope() };
    assert_eq!(world.verify_with(trusting(&world)).await.1, []);
    let strangers = vec![SigningKey::from_bytes(&[8; 32]).verifying_key()];
    let (_, faults) = world.verify_with(Scope { keys: strangers, ..world.scope() }).await;
    let signature = |version| ("checkpoint", version, What::Signature);
    assert_eq!(named(&faults), [signature(1), signature(2), signature(3)]);
    // The newest one is gone: only who has it can tell.
    let cut = "delete from log.event e using log.conversation c
                where c.conv_id = 'checkpoint' and e.stream_id = c.conv_no * 8 + 7 and version = 3";
    world.sql.batch_execute(cut).await.unwrap();
    assert_eq!(world.verify().await, []);
    let (_, faults) = world.verify_with(trusting(&world)).await;
    assert_eq!(named(&faults), [("checkpoint", 3, What::Truncated)]);
    world.restore().await;
    // One says something else, in the text that was signed.
    let forged = "update log.body b set bytes = convert_to(regexp_replace(convert_from(bytes, 'UTF8'), '\"at\":\\d+', '\"at\":5'), 'UTF8')
                    from log.event e join log.conversation c on e.stream_id = c.conv_no * 8 + 7
                   where c.conv_id = 'checkpoint' and version = 2 and (b.shard, b.position) = (e.shard, e.position)";
    let faults = world.tampered(forged).await;
    assert!(named(&faults).contains(&signature(2)), "{faults:?}");
    assert!(named(&faults).contains(&("checkpoint", 2, What::Altered)), "{faults:?}");
}

#[tokio::test]
async fn a_stream_that_has_lost_its_name_is_told() {
    let world = World::new().await;
    for sql in [
        "delete from log.conversation where conv_id = 'p2p-1-3'",
        "update log.conversation set conv_id = 'p2p-3-1' where conv_id = 'p2p-1-3'",
    ] {
        let faults = world.tampered(sql).await;
        assert!(
            faults.iter().any(|it| it.stream.as_deref().is_some_and(|it| it.starts_with("stream "))),
            "{faults:?}"
        );
    }
    let renamed = "update log.conversation set conv_id = 'p2p-1-4' where conv_id = 'p2p-1-3'";
    assert!(!world.tampered(renamed).await.is_empty());
}

#[tokio::test]
async fn a_conversation_is_not_blamed_for_another_one_of_its_shard() {
    let world = World::new().await;
    let shard = |conv: &ConvId| Shard::of(conv, world.store.info().shards);
    let beside = (4..).find(|n| shard(&chat(1, *n)) == shard(&chat(1, 2))).unwrap();
    world.say(1, beside, 200).await;
    world.say(1, 2, 18).await;
    assert!(world.checkpoint().await.is_some());
    world.forge(18).await;
    let of = async |conv: ConvId| {
        let keys = world.scope().keys;
        let proof = verify_conversation(&world.reader, &conv, &keys, None).await.unwrap().unwrap();
        let whats: Vec<What> = proof.faults.iter().map(|it| it.what).collect();
        (whats, proof.covered[0].agrees)
    };
    assert_eq!(of(chat(1, beside)).await, (vec![], true));
    assert_eq!(of(chat(1, 2)).await, (vec![What::Rewritten], false));
    // Without what was kept nobody can tell the two apart.
    world.sql.batch_execute("delete from log.checkpoint_heads").await.unwrap();
    assert_eq!(of(chat(1, beside)).await, (vec![What::Rewritten], false));
}
