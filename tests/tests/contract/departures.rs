//! Who has left or was removed: from the next command on everything is refused, by REST and by WebSocket, and what was
//! done before may still be sent again.

use reqwest::Method;
use serde_json::{Value, json};
use tests::server::Server;

use crate::{ask, found, ok, say, text};

const GROUP: &str = "/v1/groups/grp-team";
const MEMBERS: &str = "/v1/groups/grp-team/members";
const CONVERSATION: &str = "/v1/conversations/grp-team";
const MESSAGES: &str = "/v1/conversations/grp-team/messages";

#[tokio::test(flavor = "multi_thread")]
async fn who_was_removed_is_refused_everything_that_is_new() {
    let server = Server::start().await;
    found(&server, &[2, 3]).await;
    let (ana, bo) = (server.person(1), server.person(2));
    for _ in 0..3 {
        say(&bo, "grp-team", text("x")).await;
    }
    let mut device = bo.connect().await;
    assert_eq!(device.ok("history", json!({"conv_id": "grp-team"})).await["max_seq"], 4);
    ok(ana.delete(&format!("{MEMBERS}/2")).await);
    let (get, post, put) = (Method::GET, Method::POST, Method::PUT);
    let refused = [
        (get.clone(), MESSAGES.to_owned(), Value::Null),
        (get.clone(), CONVERSATION.to_owned(), Value::Null),
        (get.clone(), GROUP.to_owned(), Value::Null),
        (get.clone(), MEMBERS.to_owned(), Value::Null),
        (get.clone(), format!("{CONVERSATION}/read-positions"), Value::Null),
        (get.clone(), format!("{MESSAGES}/2/readers"), Value::Null),
        (post.clone(), MESSAGES.to_owned(), text("still here?")),
        (post.clone(), format!("{MESSAGES}/2/recall"), Value::Null),
        (post.clone(), format!("{MESSAGES}/delete"), json!({"seqs": [2]})),
        (put.clone(), format!("{CONVERSATION}/read"), json!({"read_seq": 5})),
        (post.clone(), format!("{CONVERSATION}/clear"), json!({"up_to_seq": 2})),
        (post.clone(), format!("{CONVERSATION}/clear"), Value::Null),
        (Method::DELETE, format!("{CONVERSATION}?up_to_seq=2"), Value::Null),
        (put.clone(), format!("{CONVERSATION}/settings"), json!({"pinned": true})),
        (post.clone(), MEMBERS.to_owned(), json!({"uids": [2]})),
        (post.clone(), MEMBERS.to_owned(), json!({"uids": [9]})),
        (Method::DELETE, format!("{MEMBERS}/3"), Value::Null),
        (put, format!("{MEMBERS}/3/role"), json!({"role": "admin"})),
        (Method::PATCH, GROUP.to_owned(), json!({"name": "mine"})),
        (Method::DELETE, GROUP.to_owned(), Value::Null),
    ];
    for (method, path, body) in refused {
        let answer = ask(&bo, &method, &path, &body).await;
        assert_eq!(answer.problem(), (403, "not_a_member"), "{method} {path}: {answer:?}");
    }
    let mut send = text("still here?");
    send["conv_id"] = json!("grp-team");
    for (op, fields) in [
        ("send", send),
        ("recall", json!({"conv_id": "grp-team", "seq": 2})),
        ("delete", json!({"conv_id": "grp-team", "seqs": [2]})),
        ("read", json!({"conv_id": "grp-team", "read_seq": 5})),
        ("clear", json!({"conv_id": "grp-team"})),
        ("history", json!({"conv_id": "grp-team"})),
    ] {
        assert_eq!(device.refused(op, fields).await, "not_a_member", "{op}");
    }
    let ranges = json!({"ranges": [{"conv_id": "grp-team"}]});
    assert_eq!(ok(bo.post("/v1/messages/batch", ranges).await)["pages"][0]["error"]["code"], "not_a_member");
    assert_eq!(ok(bo.get("/v1/conversations").await)["conversations"], json!([]));
    // What is not deleted may have been restored before: that cannot be told from a repeat, and changes nothing. Who
    // never was in is refused.
    let restore = json!({"seqs": [2]});
    assert_eq!(bo.post(&format!("{MESSAGES}/restore"), restore.clone()).await.status, 200);
    let stranger = server.person(9).post(&format!("{MESSAGES}/restore"), restore).await;
    assert_eq!(stranger.problem(), (403, "not_a_member"));
    // The message that bo was removed, and no more.
    assert_eq!(ok(ana.get(CONVERSATION).await)["max_seq"], 5);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_may_be_sent_again_after_its_sender_has_left() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    let founding = json!({"group_id": "team", "name": "Team", "members": [2, 3]});
    assert_eq!(ana.post("/v1/groups", founding.clone()).await.status, 201);
    for _ in 0..3 {
        say(&bo, "grp-team", text("x")).await;
    }
    let (post, put) = (Method::POST, Method::PUT);
    // So that there is something to be restored. (What was undone since is no repeat, but the thing itself once more.)
    ok(ana.post(&format!("{MESSAGES}/delete"), json!({"seqs": [4]})).await);
    let commands = [
        (post.clone(), "/v1/groups".to_owned(), founding),
        (post.clone(), MESSAGES.to_owned(), text("hello")),
        (post.clone(), format!("{MESSAGES}/2/recall"), Value::Null),
        (post.clone(), format!("{MESSAGES}/delete"), json!({"seqs": [3]})),
        (post.clone(), format!("{MESSAGES}/restore"), json!({"seqs": [4]})),
        (put.clone(), format!("{CONVERSATION}/read"), json!({"read_seq": 5})),
        // A watermark that has been raised since would be answered as it stands, as is a position.
        (post.clone(), format!("{CONVERSATION}/clear"), json!({"up_to_seq": 2})),
        (Method::DELETE, format!("{CONVERSATION}?up_to_seq=2"), Value::Null),
        (put.clone(), format!("{CONVERSATION}/settings"), json!({"pinned": true, "muted": true})),
        (post, MEMBERS.to_owned(), json!({"uids": [4]})),
        (Method::DELETE, format!("{MEMBERS}/3"), Value::Null),
        (Method::PATCH, GROUP.to_owned(), json!({"name": "New", "invite": "members"})),
        (put, format!("{MEMBERS}/2/role"), json!({"role": "owner"})),
        (Method::DELETE, format!("{MEMBERS}/1"), Value::Null),
    ];
    let mut firsts = vec![];
    for (method, path, body) in &commands {
        firsts.push(ok(ask(&ana, method, path, body).await));
    }
    let before = server.events().await;
    for round in ["after leaving", "after the group is over"] {
        for ((method, path, body), first) in commands.iter().zip(&firsts) {
            let again = ask(&ana, method, path, body).await;
            assert_eq!(again.status, 200, "{round}: {method} {path}: {again:?}");
            let mut expected = first.clone();
            if expected["duplicate"] == false {
                expected["duplicate"] = json!(true);
            }
            // Whoever is in already was not brought in by this one.
            if expected["added"].is_array() {
                expected["added"] = json!([]);
            }
            assert_eq!(again.json, expected, "{round}: {method} {path}");
        }
        if round == "after leaving" {
            assert_eq!(server.events().await, before, "nothing was done a second time");
            ok(bo.delete(GROUP).await);
        }
    }
    assert_eq!(bo.delete(GROUP).await.status, 200);
    server.stop().await;
}
