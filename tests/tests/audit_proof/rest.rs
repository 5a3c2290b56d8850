//! `GET /v1/audit/verify`.

use std::collections::BTreeSet;

use domain::{EventId, StreamKind};
use event_store::chain::{Unsealed, seal};
use event_store::codec::Encoded;
use event_store::port::StreamHead;
use event_store::postgres::pool;
use event_store::postgres::proof::{LogReader, Made, make_checkpoint};
use event_store::{Batch, EventStore, Origin, Shard, ShardHead, StreamName};
use serde_json::{Value, json};
use tests::log::{chat, migrated, postgres_log, send, surroundings};
use tests::server::{Server, audit_key};
use uuid::Uuid;

const PATH: &str = "/v1/audit/verify?conv_id=p2p-1-2";

async fn checkpoint(server: &Server) {
    let store = postgres_log(&server.database.config).await;
    let reader = LogReader::new(pool(&server.database.config, 1).unwrap(), store.info().clone());
    let made = make_checkpoint(&reader, &store, &audit_key(), &surroundings()).await.unwrap();
    assert!(matches!(made, Made::Checkpoint { more: false, .. }), "{made:?}");
}

async fn say(server: &Server, numbers: std::ops::RangeInclusive<u64>) {
    for n in numbers {
        server.commands.handle(chat(1, 2), send(1, n)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_verified_with_its_checkpoints() {
    let server = Server::start().await;
    let auditor = server.with_roles(9, &["compliance"]);
    say(&server, 1..=3).await;
    let before = auditor.get(PATH).await;
    assert_eq!(before.status, 200, "{before:?}");
    assert_eq!((&before.json["ok"], &before.json["checkpoints"]), (&json!(true), &json!([])));
    checkpoint(&server).await;
    say(&server, 4..=5).await;
    // However the two are ordered and written.
    let answer = auditor.get("/v1/audit/verify?conv_id=P2P-2-1").await.json;
    assert_eq!((&answer["ok"], &answer["events"], &answer["faults"]), (&json!(true), &json!(5), &json!([])));
    assert_eq!(answer["streams"][0]["version"], 5);
    let seen = &answer["checkpoints"][0];
    assert_eq!(
        (&seen["stream"], &seen["version"], &seen["number"], &seen["agrees"]),
        (&json!("message-p2p-1-2"), &json!(3), &json!(1), &json!(true))
    );
    assert_eq!(answer.get("cursor"), None);
    let sql = server.database.connect().await;
    sql.batch_execute("update log.event set flags = 1 where version = 2 and event_type = 1").await.unwrap();
    let answer = auditor.get(PATH).await.json;
    let fault = &answer["faults"][0];
    assert_eq!(
        (&answer["ok"], &fault["stream"], &fault["version"], &fault["what"]),
        (&json!(false), &json!("message-p2p-1-2"), &json!(2), &json!("altered"))
    );
    assert_eq!(answer["faults"].as_array().unwrap().len(), 1, "{answer}");
    sql.batch_execute("delete from log.event where version > 2 and event_type = 1").await.unwrap();
    let answer = auditor.get(PATH).await.json;
    assert_eq!(answer["checkpoints"][0]["agrees"], false, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_or_not_allowed_is_refused() {
    let server = Server::start().await;
    let auditor = server.with_roles(9, &["compliance"]);
    say(&server, 1..=1).await;
    assert_eq!(server.person(1).get(PATH).await.problem(), (403, "not_allowed"));
    let refused = [
        ("/v1/audit/verify?conv_id=p2p-8-9", (404, "conversation_not_found")),
        ("/v1/audit/verify?conv_id=grp-none", (404, "conversation_not_found")),
        ("/v1/audit/verify?conv_id=p2p-1", (400, "invalid_conv_id")),
        ("/v1/audit/verify", (400, "invalid_parameter")),
        ("/v1/audit/verify?conv_id=p2p-1-2&cursor=message-x", (400, "invalid_cursor")),
        ("/v1/audit/verify?conv_id=p2p-1-2&cursor=notes-1", (400, "invalid_cursor")),
        ("/v1/audit/verify?conv_id=p2p-1-2&x=1", (400, "invalid_parameter")),
    ];
    for (path, problem) in refused {
        assert_eq!(auditor.get(path).await.problem(), problem, "{path}");
    }
    // A place that was good once and is gone is a fault, not an error.
    let gone = auditor.get("/v1/audit/verify?conv_id=p2p-1-2&cursor=message-7").await.json;
    assert_eq!((&gone["faults"][0]["what"], &gone["faults"][0]["version"]), (&json!("missing"), &json!(7)));
}

/// Events that no handler makes, sealed as it does.
async fn a_long_conversation(store: &dyn EventStore, events: u64) {
    const AT_ONCE: u64 = 500;
    let stream = StreamName::new(&chat(1, 2), StreamKind::Mark);
    let shard: Shard = stream.shard(store.info().shards);
    let (mut shard_head, mut head) = (ShardHead::default(), StreamHead::default());
    for first in (0..events).step_by(AT_ONCE as usize) {
        let seen = shard_head;
        let event = |n: u64| {
            let encoded = Encoded { event_type: 5, schema_version: 1, body: b"{}".to_vec(), message: None };
            let event_id = EventId::new(Uuid::from_u128(n.into()));
            let (origin, correlation_id) = (Origin::Live, Uuid::nil());
            let unsealed = Unsealed { event_id, encoded, actor: 1, device: None, origin, correlation_id };
            seal(
                unsealed,
                shard,
                stream.clone(),
                &mut shard_head,
                &mut head,
                1_764_000_000_000,
                [n as u8; 16],
            )
        };
        let batch =
            Batch { events: (first..events.min(first + AT_ONCE)).map(event).collect(), ..Batch::default() };
        assert!(store.append_at(shard, seen, batch).await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_conversation_is_verified_in_several_answers() {
    let database = migrated().await;
    let store = postgres_log(&database.config).await;
    a_long_conversation(&store, 45_000).await;
    let server = Server::start_on(database).await;
    let auditor = server.with_roles(9, &["compliance"]);
    let sql = server.database.connect().await;
    sql.batch_execute("update log.event set actor = 2 where version in (7, 20001, 44999)").await.unwrap();
    let (mut path, mut events, mut altered, mut answers) = (PATH.to_owned(), 0, BTreeSet::new(), 0);
    loop {
        let answer = auditor.get(&path).await.json;
        answers += 1;
        assert!(answer["events"].as_u64().unwrap() <= 20_000, "{answer}");
        events += answer["events"].as_u64().unwrap();
        altered.extend(answer["faults"].as_array().unwrap().iter().map(|it| it["version"].as_u64().unwrap()));
        match answer.get("cursor").and_then(Value::as_str) {
            Some(cursor) => path = format!("{PATH}&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!((events, answers), (45_000, 3));
    assert_eq!(altered, BTreeSet::from([7, 20_001, 44_999]));
}
