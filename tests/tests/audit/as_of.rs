//! What a person saw at a moment: recorded from the running server after random commands, and asked for again at the
//! end, from its log.

use std::sync::Arc;

use domain::{ConvId, Ms};
use event_store::{Clock, EventStore};
use projections::Generation;
use projections::verify::Verifier;
use reqwest::Method;
use serde_json::{Value, json};
use tests::dice::Dice;
use tests::log::postgres_log;
use tests::process::{self, Site};
use tests::server::{Person, Server};
use uuid::Uuid;

const GROUP: &str = "grp-case";
const CHAT: &str = "p2p-1-2";
const PEOPLE: u64 = 4;
/// Commands in all, and between two looks.
const COMMANDS: u64 = 260;
const BETWEEN: u64 = 5;

/// What one person got of one conversation at a time.
struct Screenshot {
    at: Ms,
    viewer: u64,
    conv: &'static str,
    query: String,
    /// None: 403.
    seen: Option<(Value, Value)>,
}

async fn screenshot(server: &Server, dice: &mut Dice, viewer: u64, conv: &'static str) -> Screenshot {
    let mut query = format!("limit={}", 1 + dice.below(30));
    for bound in ["before_seq", "after_seq"] {
        if dice.below(3) == 0 {
            query += &format!("&{bound}={}", dice.below(60));
        }
    }
    let person = server.person(viewer);
    let entry = person.get(&format!("/v1/conversations/{conv}")).await;
    let page = person.get(&format!("/v1/conversations/{conv}/messages?{query}")).await;
    assert_eq!(entry.status, page.status, "{entry:?} {page:?}");
    assert!(page.status == 200 || page.problem() == (403, "not_a_member"), "{page:?}");
    let seen = (page.status == 200).then_some((entry.json, page.json));
    Screenshot { at: server.clock.now(), viewer, conv, query, seen }
}

/// Any command of anybody. Whether it may be is not the point: what came of it is looked at.
async fn act(server: &Server, dice: &mut Dice, n: u64) {
    let who = 1 + dice.below(PEOPLE);
    let conv = if dice.below(3) == 0 { CHAT } else { GROUP };
    let person = server.person(who);
    let seq = 1 + dice.below(1 + n / 3);
    let other = 1 + dice.below(PEOPLE);
    let at = |rest: &str| format!("/v1/conversations/{conv}/{rest}");
    let in_group = |rest: &str| format!("/v1/groups/{GROUP}{rest}");
    let answer = match dice.below(24) {
        0 | 1 => person.post(&at(&format!("messages/{seq}/recall")), Value::Null).await,
        2 | 3 => person.post(&at("messages/delete"), json!({"seqs": [seq, seq + 1]})).await,
        4 => person.post(&at("messages/restore"), json!({"seqs": [seq]})).await,
        5..=7 => person.put(&at("read"), json!({"read_seq": seq})).await,
        8 if dice.below(3) == 0 => person.post(&at("clear"), json!({"up_to_seq": seq})).await,
        9 => person.put(&at("settings"), json!({"pinned": seq.is_multiple_of(2), "muted": who == 2})).await,
        10 if dice.below(3) == 0 => person.delete(&format!("/v1/conversations/{conv}")).await,
        11 | 12 => person.post(&in_group("/members"), json!({"uids": [other]})).await,
        13 => person.delete(&in_group(&format!("/members/{other}"))).await,
        14 => person.put(&in_group(&format!("/members/{other}/role")), json!({"role": "admin"})).await,
        15 => {
            let history = *dice.one(&["all", "joined"]);
            let change = json!({"name": format!("case {n}"), "history": history});
            person.request(Method::PATCH, &in_group("")).json(&change).send().await.unwrap();
            return;
        }
        _ => say(&person, dice, conv, n, seq, other).await,
    };
    assert!(answer.status < 500, "{answer:?}");
}

async fn say(
    person: &Person<'_>,
    dice: &mut Dice,
    conv: &str,
    n: u64,
    seq: u64,
    other: u64,
) -> tests::server::Answer {
    let mut body = json!({
        "client_msg_id": Uuid::from_u128(n.into()), "msg_type": 1, "content": format!("第 {n} 句"),
    });
    match dice.below(5) {
        0 => body["mentions"] = json!([other]),
        1 => body["at_all"] = json!(conv == GROUP),
        2 | 3 => body["reply_to"] = json!(seq),
        _ => {}
    }
    person.post(&format!("/v1/conversations/{conv}/messages"), body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn screenshots_of_the_past() {
    let server = Server::start().await;
    let mut dice = Dice::of_this_run();
    let body = json!({"group_id": GROUP, "name": "case", "members": [2, 3], "history": "joined"});
    assert_eq!(server.person(1).post("/v1/groups", body).await.status, 201);
    let first = json!({"client_msg_id": Uuid::from_u128(1 << 64), "msg_type": 1, "content": "first"});
    let path = format!("/v1/conversations/{CHAT}/messages");
    assert_eq!(server.person(1).post(&path, first).await.status, 201);
    let mut shots = Vec::new();
    for n in 1..=COMMANDS {
        act(&server, &mut dice, n).await;
        if n % BETWEEN == 0 {
            for viewer in 1..=PEOPLE {
                for conv in [GROUP, CHAT] {
                    shots.push(screenshot(&server, &mut dice, viewer, conv).await);
                }
            }
            // What comes from here on is later.
            server.clock.put(server.clock.now() + 1 + dice.below(500) as i64);
        }
    }
    let auditor = server.with_roles(9, &["compliance"]);
    let mut outside = 0;
    for Screenshot { at, viewer, conv, query, seen } in shots {
        let path = format!("/v1/audit/conversations/{conv}/as-of?viewer={viewer}&at={at}&{query}");
        let again = auditor.get(&path).await;
        assert_eq!((again.status, &again.json["conv_id"]), (200, &json!(conv)), "{path}: {again:?}");
        assert_eq!(again.json["member"], seen.is_some(), "{path}");
        let Some((entry, page)) = seen else {
            assert!(again.json.get("conversation").is_none() && again.json.get("page").is_none(), "{path}");
            outside += 1;
            continue;
        };
        assert_eq!(again.json["conversation"], entry, "{path}");
        assert_eq!(again.json["page"], page, "{path}");
        // The position that a moment is says the same.
        let position = again.json["position"].as_u64().unwrap();
        let path = path.replace(&format!("at={at}"), &format!("position={position}"));
        assert_eq!(auditor.get(&path).await.json, again.json, "{path}");
    }
    assert!(outside > 0, "nobody was ever outside");
    // The last screenshot is of now: so what is kept now is what the log says, too.
    let store: Arc<dyn EventStore> = Arc::new(postgres_log(&server.database.config).await);
    let verifier = Verifier::new(store, Generation::serving(&server.database.config, 1).await.unwrap());
    for conv in [GROUP, CHAT] {
        let verified = verifier.conversation(&ConvId::parse(conv).unwrap(), 0).await.unwrap();
        assert_eq!((verified.drifts.count, verified.parked), (0, false), "{:#?}", verified.drifts.told);
        assert!(verified.messages > 0 && !verified.behind, "{verified:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_wrongly_is_told_and_who_asks_is_recorded() {
    let server = Server::start().await;
    let ana = server.person(1);
    let body = json!({"client_msg_id": Uuid::from_u128(1), "msg_type": 1, "content": "one"});
    assert_eq!(ana.post(&format!("/v1/conversations/{CHAT}/messages"), body).await.status, 201);
    let auditor = server.with_roles(9, &["compliance"]);
    let as_of = |conv: &str, query: &str| format!("/v1/audit/conversations/{conv}/as-of?{query}");
    for (conv, query, expected) in [
        (CHAT, "viewer=1", (400, "invalid_parameter")),
        (CHAT, "viewer=1&at=5&position=1", (400, "invalid_parameter")),
        (CHAT, "viewer=1&position=2", (400, "invalid_parameter")),
        (CHAT, "at=5", (400, "invalid_parameter")),
        (CHAT, "viewer=1&at=5&limit=201", (400, "invalid_parameter")),
        (CHAT, "viewer=1&at=5&limit=0", (400, "invalid_parameter")),
        (CHAT, "viewer=1&at=soon", (400, "invalid_parameter")),
        (CHAT, "viewer=1&at=5&page=2", (400, "invalid_parameter")),
        (CHAT, "viewer=0&at=5", (422, "invalid_uid")),
        ("p2p-7-8", "viewer=7&at=5", (404, "conversation_not_found")),
        ("p2p", "viewer=7&at=5", (400, "invalid_conv_id")),
    ] {
        let path = as_of(conv, query);
        assert_eq!(auditor.get(&path).await.problem(), expected, "{path}");
    }
    let stranger = auditor.get(&as_of(CHAT, "viewer=3&position=1")).await;
    assert_eq!((stranger.status, &stranger.json["member"]), (200, &json!(false)), "{stranger:?}");
    let early = auditor.get(&as_of(CHAT, "viewer=1&at=0")).await;
    assert_eq!((&early.json["position"], &early.json["conversation"]["max_seq"]), (&json!(0), &json!(0)));
    let refused = server.person(2).get(&as_of(CHAT, "viewer=2&position=1")).await;
    assert_eq!(refused.problem(), (403, "not_allowed"), "not even what one could see oneself");
    let record =
        auditor.request(Method::GET, "/v1/audit/accesses").send().await.unwrap().text().await.unwrap();
    let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |actor: u64, allowed: bool| {
        let told = |line: &&Value| line["actor"] == actor && line["body"]["allowed"] == allowed;
        lines.iter().filter(told).map(|line| line["body"].clone()).collect::<Vec<_>>()
    };
    let last = of(9, true).into_iter().rfind(|body| body["action"] == "as_of").unwrap();
    assert_eq!((&last["subject"], &last["detail"]), (&json!(CHAT), &json!({"viewer": 1, "at": 0})));
    assert_eq!(of(2, false).len(), 1, "{lines:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_command_line_it_is_json_or_a_transcript() {
    let site = Site::new(env!("CARGO_BIN_EXE_quipu-child"));
    let mut serve = site.serve().await;
    let (ana, bo) = (site.person(1), site.person(2));
    let messages = format!("/v1/conversations/{CHAT}/messages");
    for (n, person) in [(1, &ana), (2, &ana), (3, &bo)] {
        let body =
            json!({"client_msg_id": Uuid::from_u128(n), "msg_type": 1, "content": format!("第 {n} 句")});
        assert_eq!(person.insist(Method::POST, &messages, Some(&body)).await.status, 201);
    }
    assert_eq!(ana.insist(Method::POST, &format!("{messages}/2/recall"), None).await.status, 200);
    let ask = |rest: &[&str]| {
        let mut arguments = vec!["audit", "as-of", "--conv", CHAT, "--viewer", "2"];
        arguments.extend(rest);
        site.start(&arguments)
    };
    let mut json = ask(&["--position", "3"]);
    assert!(json.ended().await.success(), "{}", json.log());
    let seen: Value = serde_json::from_str(&json.output()).unwrap();
    assert_eq!(seen["conversation"]["last_message"]["content"], "第 3 句");
    assert_eq!(seen["page"]["items"][1]["state"], "normal", "the recall came later");
    let mut text = ask(&["--position", "4", "--format", "text"]);
    assert!(text.ended().await.success(), "{}", text.log());
    let transcript = text.output();
    let lines: Vec<&str> = transcript.lines().collect();
    assert_eq!(lines[0], "p2p-1-2 as 2 saw it after position 4");
    assert_eq!(lines[1], "messages #1 to #3, read up to #3, 0 unread");
    assert!(lines[2].starts_with("#1  2") && lines[2].ends_with("  1: \"第 1 句\""), "{}", lines[2]);
    assert!(lines[3].contains("  1: [recalled by 1 at 2"), "{}", lines[3]);
    let mut beyond = ask(&["--position", "5"]);
    assert_eq!(beyond.ended().await.code(), Some(1));
    assert!(beyond.log().contains("stands at 4"), "{}", beyond.log());
    let mut neither = ask(&[]);
    assert_eq!(neither.ended().await.code(), Some(2), "{}", neither.log());
    serve.interrupt();
    assert!(serve.ended().await.success());
    process::until("nothing is left", async || site.residents().is_empty()).await;
}
