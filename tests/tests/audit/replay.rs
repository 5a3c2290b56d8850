//! A conversation's events as auditors read them: all of them, in order, resumable, for programs and for people.

use reqwest::Method;
use serde_json::{Value, json};
use tests::process::{self, Site};
use tests::server::{Person, Server};
use uuid::Uuid;

const CHAT: &str = "p2p-1-2";

/// The lines of an NDJSON answer.
async fn lines(person: &Person<'_>, path: &str) -> Vec<Value> {
    let answer = person.request(Method::GET, path).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    assert_eq!(answer.headers()["content-type"], "application/x-ndjson");
    let text = answer.text().await.unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn events(query: &str) -> String {
    format!("/v1/audit/conversations/{CHAT}/events{query}")
}

/// A client's name for what is said once.
fn named(content: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, content.as_bytes())
}

async fn say(person: &Person<'_>, content: &str) -> Value {
    let body = json!({"client_msg_id": named(content), "msg_type": 1, "content": content});
    let sent = person.post(&format!("/v1/conversations/{CHAT}/messages"), body).await;
    assert_eq!(sent.status, 201, "{sent:?}");
    sent.json
}

/// Three messages, of which one is recalled, one deleted, and then all cleared.
async fn conversation(server: &Server) -> Vec<Value> {
    let (ana, bo) = (server.person(1), server.person(2));
    let sent = vec![say(&ana, "kept").await, say(&ana, "taken back").await, say(&bo, "deleted").await];
    let path = |rest: &str| format!("/v1/conversations/{CHAT}/{rest}");
    assert_eq!(ana.post(&path("messages/2/recall"), Value::Null).await.status, 200);
    assert_eq!(bo.post(&path("messages/delete"), json!({"seqs": [3]})).await.status, 200);
    assert_eq!(bo.post(&path("clear"), json!({})).await.status, 200);
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_there_in_order_with_its_full_content() {
    let server = Server::start().await;
    conversation(&server).await;
    let auditor = server.with_roles(9, &["compliance"]);
    let all = lines(&auditor, &events("")).await;
    let names: Vec<&str> = all.iter().map(|line| line["event"].as_str().unwrap()).collect();
    let sent = ["MessageSent"; 3];
    assert_eq!(names[..3], sent);
    assert_eq!(names[3..], ["MessageRecalled", "MessagesDeletedFor", "HistoryCleared"]);
    let said: Vec<&str> = all[..3].iter().map(|line| line["body"]["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["kept", "taken back", "deleted"]);
    for (line, version) in all.iter().zip([1, 2, 3, 1, 2, 3]) {
        assert_eq!(line["version"], version);
        let stream = if line["event"] == "MessageSent" { "message" } else { "mark" };
        assert_eq!(line["stream"], format!("{stream}-{CHAT}"));
        assert_eq!(line["chain"].as_str().unwrap().len(), 64);
    }
    assert!(all.is_sorted_by_key(|line| line["position"].as_u64().unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_goes_on_where_it_ended_in_pieces_of_any_size() {
    let server = Server::start().await;
    conversation(&server).await;
    let auditor = server.with_roles(9, &["compliance"]);
    let all = lines(&auditor, &events("")).await;
    for limit in 1..=7 {
        let (mut after, mut read) = (0, vec![]);
        loop {
            let page = lines(&auditor, &events(&format!("?after_position={after}&limit={limit}"))).await;
            assert!(page.len() <= limit);
            let Some(last) = page.last() else { break };
            after = last["position"].as_u64().unwrap();
            read.extend(page);
        }
        assert_eq!(read, all, "{limit} at a time");
    }
    // Longer than a page of the server's own.
    let ana = server.person(1);
    for n in 0..300 {
        say(&ana, &format!("{n}")).await;
    }
    assert_eq!(lines(&auditor, &events("")).await.len(), all.len() + 300);
    assert_eq!(lines(&auditor, &events("?limit=299")).await.len(), 299);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_or_malformed_is_said_clearly() {
    let server = Server::start().await;
    conversation(&server).await;
    let auditor = server.with_roles(9, &["compliance"]);
    let problem = async |path: &str| {
        let answer = auditor.get(path).await;
        let (status, code) = answer.problem();
        (status, code.to_owned())
    };
    let of = |status, code: &str| (status, code.to_owned());
    let nobody = "/v1/audit/conversations/p2p-7-8/events";
    assert_eq!(problem(nobody).await, of(404, "conversation_not_found"));
    assert_eq!(problem("/v1/audit/conversations/nonsense/events").await, of(400, "invalid_conv_id"));
    assert_eq!(problem(&events("?limit=0")).await, of(400, "invalid_parameter"));
    assert_eq!(problem(&events("?after_position=x")).await, of(400, "invalid_parameter"));
    assert_eq!(problem("/v1/audit/messages/77").await, of(404, "message_not_found"));
    assert_eq!(problem("/v1/audit/messages/x").await, of(404, "message_not_found"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_message_is_found_by_its_id_whatever_has_become_of_it() {
    let server = Server::start().await;
    let sent = conversation(&server).await;
    for (role, sent) in ["compliance", "admin"].into_iter().cycle().zip(&sent) {
        let reader = server.with_roles(9, &[role]);
        let id = sent["msg_id"].as_str().unwrap();
        let found = reader.get(&format!("/v1/audit/messages/{id}")).await;
        assert_eq!(found.status, 200, "{found:?}");
        assert_eq!((&found.json["conv_id"], &found.json["seq"]), (&json!(CHAT), &sent["seq"]));
        let said = ["kept", "taken back", "deleted"][sent["seq"].as_u64().unwrap() as usize - 1];
        assert_eq!(found.json["event"]["body"]["content"], said);
        assert_eq!(found.json["recalled"]["by"], if sent["seq"] == 2 { json!(1) } else { Value::Null });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transcript_marks_and_shows_what_was_recalled_and_deleted() {
    let site = Site::new(env!("CARGO_BIN_EXE_quipu-child"));
    let mut serve = site.serve().await;
    let (ana, bo) = (site.person(1), site.person(2));
    let messages = format!("/v1/conversations/{CHAT}/messages");
    for (person, content) in
        [(&ana, "\u{4f60}\u{597d}"), (&ana, "taken back"), (&bo, "\u{0645}\u{0631}\u{062d}\u{0628}\u{0627}")]
    {
        let body = json!({"client_msg_id": named(content), "msg_type": 1, "content": content});
        assert_eq!(person.insist(Method::POST, &messages, Some(&body)).await.status, 201);
    }
    let path = format!("{messages}/2/recall");
    assert_eq!(ana.insist(Method::POST, &path, None).await.status, 200);
    let path = format!("{messages}/delete");
    assert_eq!(bo.insist(Method::POST, &path, Some(&json!({"seqs": [1]}))).await.status, 200);
    // Beside the running server, on its database.
    let mut text = site.start(&["audit", "replay", "--conv", CHAT, "--format", "text"]);
    assert!(text.ended().await.success(), "{}", text.log());
    let transcript = text.output();
    let lines: Vec<&str> = transcript.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert_eq!(lines[0], "#1 1: \"\u{4f60}\u{597d}\"");
    assert!(lines[1].starts_with("#2 1: \"taken back\"  [RECALLED by 1 at 2"), "{}", lines[1]);
    assert_eq!(lines[2], "#3 2: \"\u{0645}\u{0631}\u{062d}\u{0628}\u{0627}\"");
    assert_eq!(lines[3], "1 recalled #2, which said: \"taken back\"");
    assert_eq!(lines[4], "2 deleted #1 for themself");
    let mut nobody = site.start(&["audit", "replay", "--conv", "p2p-7-8"]);
    assert_eq!(nobody.ended().await.code(), Some(1));
    assert!(nobody.log().contains("there is no conversation p2p-7-8"), "{}", nobody.log());
    // Both are in the record, as the operator's.
    let mut accesses = site.start(&["audit", "accesses"]);
    assert!(accesses.ended().await.success());
    let record: Vec<Value> =
        accesses.output().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = record.iter().map(|line| (&line["actor"], &line["body"]["action"])).collect();
    let (operator, replay, accesses) = (json!(0), json!("replay"), json!("accesses"));
    assert_eq!(told, [(&operator, &replay), (&operator, &replay), (&operator, &accesses)]);
    assert!(record[0]["device"].as_str().unwrap().starts_with("cli:"));
    serve.interrupt();
    assert!(serve.ended().await.success());
    process::until("nothing is left", async || site.residents().is_empty()).await;
}
