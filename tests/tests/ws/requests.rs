//! Commands and questions: the same fields, answers and problems as REST, many in flight.

use std::time::Duration;

use domain::ConvId;
use event_store::{EventStore, Shard};
use quipu::Limits;
use reqwest::Method;
use serde_json::json;
use tests::log::{START, postgres_log};
use tests::server::{Server, send};
use tests::socket::Socket;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::{CHAT, say, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_comes_by_header_or_by_subprotocol_and_is_needed() {
    let server = Server::start().await;
    let refused = |error: Error| match error {
        Error::Http(response) => response.status().as_u16(),
        other => panic!("{other}"),
    };
    let open = async |headers: &[(&'static str, String)]| {
        let mut request = Socket::request(server.address());
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        Socket::open(request).await
    };
    let ana = server.person(1);
    let protocol = format!("bearer, {}", ana.token());
    let mut socket = open(&[("sec-websocket-protocol", protocol)]).await.unwrap();
    assert_eq!(socket.ok("ping", json!({})).await, json!({}));
    assert_eq!(open(&[]).await.err().map(refused), Some(401));
    assert_eq!(open(&[("authorization", "Bearer a.b.c".into())]).await.err().map(refused), Some(401));
    assert_eq!(open(&[("sec-websocket-protocol", "bearer".into())]).await.err().map(refused), Some(401));
    let plain = ana.get("/v1/ws").await;
    assert_eq!(plain.problem(), (426, "upgrade_required"));
    assert_eq!(send(server.request(Method::GET, "/v1/ws")).await.problem(), (401, "unauthorized"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_op_answers_as_rest_does() {
    let server = Server::start().await;
    let (mut ana, mut bo) = (server.person(1).connect().await, server.person(2).connect().await);
    let message = text("P2P-2-1", "one");
    let sent = ana.ok("send", message.clone()).await;
    assert_eq!(
        (&sent["conv_id"], &sent["seq"], &sent["duplicate"]),
        (&json!(CHAT), &json!(1), &json!(false))
    );
    let again = ana.ok("send", message.clone()).await;
    assert_eq!((&again["msg_id"], &again["duplicate"]), (&sent["msg_id"], &json!(true)));
    let mut other = message;
    other["content"] = json!("other");
    assert_eq!(ana.refused("send", other).await, "idempotency_conflict");
    say(&mut ana, CHAT, "two").await;
    let recalled = ana.ok("recall", json!({"conv_id": CHAT, "seq": 1})).await;
    assert_eq!(recalled, json!({"conv_id": CHAT, "seq": 1, "recalled_by": 1, "recalled_at": START}));
    assert_eq!(bo.refused("recall", json!({"conv_id": CHAT, "seq": 2})).await, "not_sender");
    assert_eq!(bo.ok("delete", json!({"conv_id": CHAT, "seqs": [2]})).await, json!({"deleted": 1}));
    assert_eq!(bo.ok("restore", json!({"conv_id": CHAT, "seqs": [2]})).await, json!({"restored": 1}));
    let read = bo.ok("read", json!({"conv_id": CHAT, "read_seq": 2})).await;
    assert_eq!(read, json!({"read_seq": 2, "unread": 0}));
    assert_eq!(bo.refused("read", json!({"conv_id": CHAT, "read_seq": 9})).await, "read_seq_beyond_head");
    let page = bo.ok("history", json!({"conv_id": CHAT, "after_seq": 0, "limit": 1})).await;
    assert_eq!(page, bo_page(&server).await);
    let key = "00000000-0000-0000-0000-000000000009";
    assert_eq!(bo.ok("clear", json!({"conv_id": CHAT, "key": key})).await, json!({"min_seq": 3}));
    say(&mut ana, CHAT, "three").await;
    let repeat = bo.ok("clear", json!({"conv_id": CHAT, "key": key})).await;
    assert_eq!(repeat, json!({"min_seq": 3}), "a repeat gets the first answer");
    let synced = bo.ok("sync", json!({"limit": 5})).await;
    assert_eq!(synced["conversations"][0]["conv_id"], CHAT);
    assert!(synced["cursor"].is_string());
    server.stop().await;
}

async fn bo_page(server: &Server) -> serde_json::Value {
    let path = format!("/v1/conversations/{CHAT}/messages?after_seq=0&limit=1");
    server.person(2).get(&path).await.json
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_answered_and_the_connection_stays() {
    let server = Server::start().await;
    let mut ana = server.person(1).connect().await;
    for (frame, id, code) in [
        ("{", json!(null), "malformed_json"),
        ("", json!(null), "malformed_json"),
        ("[1]", json!(null), "invalid_body"),
        (r#"{"op":"ping"}"#, json!(null), "invalid_body"),
        (r#"{"id":"a"}"#, json!("a"), "invalid_body"),
        (r#"{"id":"a","op":"dance"}"#, json!("a"), "unknown_op"),
        (r#"{"id":"a","op":"ping","x":1}"#, json!("a"), "invalid_body"),
        (r#"{"id":"a","op":"send"}"#, json!("a"), "invalid_body"),
        (r#"{"id":"a","op":"send","conv_id":"p2p-1"}"#, json!("a"), "invalid_conv_id"),
        (r#"{"id":"a","op":"history","conv_id":"p2p-1-2","limit":0}"#, json!("a"), "invalid_parameter"),
        (r#"{"id":"a","op":"history","conv_id":"p2p-2-3"}"#, json!("a"), "not_a_member"),
        (r#"{"id":"a","op":"history","conv_id":"grp-none"}"#, json!("a"), "not_a_member"),
        (r#"{"id":"a","op":"clear","conv_id":"p2p-1-2","key":"x"}"#, json!("a"), "invalid_idempotency_key"),
        (r#"{"id":"a","op":"read","conv_id":"p2p-1-2","read_seq":-1}"#, json!("a"), "invalid_body"),
        (r#"{"id":"a","op":"resume","cursor":"made up"}"#, json!("a"), "invalid_cursor"),
        (r#"{"id":"a","op":"resume","cursor":7}"#, json!("a"), "invalid_body"),
        (r#"{"id":"a","op":"sync","cursor":"made up"}"#, json!("a"), "invalid_cursor"),
    ] {
        ana.send(Message::text(frame)).await;
        let answer = ana.any_answer().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{frame}: {answer}");
        for part in ["type", "title", "status", "detail"] {
            assert!(!answer["error"][part].is_null(), "{part} of {answer}");
        }
    }
    assert_eq!(ana.ok("ping", json!({})).await, json!({}));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_in_flight_take_effect_in_the_order_sent() {
    const MESSAGES: usize = 1500;
    let server = Server::start().await;
    let mut ana = server.person(1).connect().await;
    let mut ids = Vec::new();
    for n in 0..MESSAGES {
        ids.push(ana.begin("send", text(CHAT, &format!("{n}"))).await);
        if n == 700 {
            ids.push(ana.begin("history", json!({"conv_id": CHAT, "limit": 1})).await);
        }
    }
    let mut seq = 0;
    for id in ids {
        let answer = ana.answer(&id).await;
        if answer["ok"]["items"].is_array() {
            assert!(answer["ok"]["max_seq"].as_u64() >= Some(701), "it waits for what came before: {answer}");
            continue;
        }
        seq += 1;
        assert_eq!(answer["ok"]["seq"], seq, "{answer}");
    }
    assert_eq!(seq as usize, MESSAGES);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_in_flight_is_taken_until_it_is_answered() {
    let server = Server::start().await;
    let mut ana = server.person(1).connect().await;
    let mut first = text(CHAT, "x");
    (first["id"], first["op"]) = (json!("same"), json!("send"));
    let mut second = text(CHAT, "y");
    (second["id"], second["op"]) = (json!("same"), json!("send"));
    let both = format!("{first}");
    ana.send(Message::text(both)).await;
    ana.say(&second).await;
    let (one, two) = (ana.any_answer().await, ana.any_answer().await);
    // The first may have been done before the second was read.
    let refused = [&one, &two].iter().filter(|it| it["error"]["code"] == "request_id_in_flight").count();
    let sent = [&one, &two].iter().filter(|it| it["ok"]["seq"].is_u64()).count();
    assert!(refused + sent == 2 && sent >= 1, "{one} {two}");
    ana.say(&second).await;
    assert!(ana.any_answer().await["ok"]["seq"].is_u64(), "free again");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_expires_while_connected_closes_with_4401() {
    let server = Server::start().await;
    let (mut ana, mut idle) = (server.person(1).connect().await, server.person(1).connect().await);
    assert_eq!(ana.ok("ping", json!({})).await, json!({}));
    server.clock.put(START + 3_600_001);
    ana.say(&json!({"id": "late", "op": "send", "conv_id": CHAT})).await;
    assert_eq!(ana.closed().await, 4401);
    drop(ana);
    server.clock.put(START);
    // One that says nothing is looked at in time, too.
    assert_eq!(idle.ok("ping", json!({})).await, json!({}));
    server.stop().await;

    let limits = Limits { ping_every: Duration::from_millis(300), ..Limits::default() };
    let server = Server::start_with(limits).await;
    let mut idle = server.person(1).connect().await;
    server.clock.put(START + 3_600_001);
    assert_eq!(idle.closed().await, 4401);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_answers_what_it_took_and_says_1001() {
    let server = Server::start().await;
    let mut ana = server.person(1).connect().await;
    let mut ids = Vec::new();
    for n in 0..50 {
        ids.push(ana.begin("send", text(CHAT, &format!("{n}"))).await);
    }
    // Some of them are taken by now.
    ana.answer(&ids[0]).await;
    let (_, answered) = tokio::join!(server.stop(), async {
        let mut answered = 1;
        loop {
            match ana.raw().await {
                Some(Ok(Message::Text(text))) if text.contains("\"ok\"") => answered += 1,
                Some(Ok(Message::Close(frame))) => {
                    assert_eq!(frame.map(|frame| frame.code.into()), Some(1001_u16));
                    break answered;
                }
                Some(Ok(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    });
    assert!(answered >= 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_the_log_keeps_nobody_from_reading_on() {
    let server = Server::start().await;
    let mut ana = server.person(1).connect().await;
    say(&mut ana, CHAT, "first").await;
    // Nobody appends in this shard meanwhile.
    let log = postgres_log(&server.database.config).await;
    let shard = Shard::of(&ConvId::parse(CHAT).unwrap(), log.info().shards);
    let turn = log.turn(shard).await.unwrap();
    let mut asked = vec![];
    for n in 0..100 {
        asked.push(ana.begin("send", text(CHAT, &format!("{n}"))).await);
    }
    assert_eq!(ana.ok("ping", json!({})).await, json!({}), "all of them have been read");
    drop(turn);
    for (id, seq) in asked.iter().zip(2..) {
        assert_eq!(ana.answer(id).await["ok"]["seq"], seq, "and are done in their order");
    }
    let commits = "select count(distinct xmin::text) from log.event where version > 1";
    let commits: i64 = server.database.connect().await.query_one(commits, &[]).await.unwrap().get(0);
    assert!(commits <= 2, "one or two group commits, not {commits}");
}
