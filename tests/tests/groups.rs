//! Groups and lists from outside: roles, what the system tells, what an owner changes, pinned and hidden
//! conversations. What a send into a large group costs is in `live_at_scale/cost.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Method;
use serde_json::{Value, json};
use tests::log::START;
use tests::server::{Answer, Person, Server, send};
use uuid::Uuid;

const GROUP: &str = "/v1/groups/grp-team";
const MEMBERS: &str = "/v1/groups/grp-team/members";
const CONVERSATION: &str = "/v1/conversations/grp-team";
const MESSAGES: &str = "/v1/conversations/grp-team/messages";

fn text(content: &str) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = Uuid::from_u128(NEXT.fetch_add(1, Ordering::Relaxed).into());
    json!({"client_msg_id": id, "msg_type": 1, "content": content})
}

/// The group of person 1, with these members.
async fn found(server: &Server, members: &[u64]) {
    let body = json!({"group_id": "team", "name": "Team", "members": members});
    assert_eq!(server.person(1).post("/v1/groups", body).await.status, 201);
}

async fn say(person: &Person<'_>, content: &str) -> Answer {
    person.post(MESSAGES, text(content)).await
}

async fn patch(person: &Person<'_>, body: Value) -> Answer {
    send(person.request(Method::PATCH, GROUP).json(&body)).await
}

/// Seq and content of all that somebody sees.
async fn seen(person: &Person<'_>) -> Vec<(u64, Value)> {
    let page = person.get(MESSAGES).await;
    let items = page.json["items"].as_array().unwrap_or_else(|| panic!("{page:?}"));
    items.iter().map(|item| (item["seq"].as_u64().unwrap(), item["content"].clone())).collect()
}

async fn listed(person: &Person<'_>) -> Vec<String> {
    let list = person.get("/v1/conversations").await;
    let conversations = list.json["conversations"].as_array().unwrap();
    conversations.iter().map(|it| it["conv_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_system_tells_who_comes_and_goes() {
    let server = Server::start().await;
    let (ana, bo, cy) = (server.person(1), server.person(2), server.person(3));
    found(&server, &[2]).await;
    say(&ana, "hi").await;
    assert_eq!(ana.post(MEMBERS, json!({"uids": [3, 2]})).await.json["added"], json!([3]));
    assert_eq!(ana.post(MEMBERS, json!({"uids": [3]})).await.json["added"], json!([]), "told once");
    bo.delete(&format!("{MEMBERS}/2")).await;
    ana.delete(&format!("{MEMBERS}/3")).await;
    patch(&ana, json!({"name": "群"})).await;
    let told = [
        (1, json!({"event": "founded", "by": 1, "name": "Team", "uids": [2], "count": 1})),
        (2, json!("hi")),
        (3, json!({"event": "joined", "by": 1, "uids": [3], "count": 1})),
        (4, json!({"event": "left", "by": 2, "uids": [2], "count": 1})),
        (5, json!({"event": "removed", "by": 1, "uids": [3], "count": 1})),
        (6, json!({"event": "renamed", "by": 1, "name": "群"})),
    ];
    assert_eq!(seen(&ana).await, told);
    let item = &ana.get(MESSAGES).await.json["items"][2];
    assert_eq!(
        (&item["sender_id"], &item["msg_type"], &item["create_at"]),
        (&json!(0), &json!(10), &json!(START))
    );
    let shown = ana.get(CONVERSATION).await.json;
    assert_eq!(
        (&shown["unread"], &shown["name"], &shown["last_message"]["seq"]),
        (&json!(0), &json!("群"), &json!(6))
    );
    for person in [&bo, &cy] {
        assert_eq!(person.get(MESSAGES).await.problem(), (403, "not_a_member"));
    }
    let recall = format!("{MESSAGES}/3/recall");
    assert_eq!(ana.post(&recall, json!({})).await.problem(), (403, "not_sender"));
    let admin = server.with_roles(9, &["admin"]);
    assert_eq!(admin.post(&recall, json!({})).await.status, 200);
    assert_eq!(seen(&ana).await[2], (3, json!({})));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_member_sees_begins_with_the_joining() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    found(&server, &[]).await;
    say(&ana, "a").await;
    ana.post(MEMBERS, json!({"uids": [2]})).await;
    let seqs = async || seen(&bo).await.into_iter().map(|(seq, _)| seq).collect::<Vec<_>>();
    let numbers = async || {
        let shown = bo.get(CONVERSATION).await.json;
        ["min_seq", "read_seq", "max_seq", "unread"].map(|name| shown[name].as_u64().unwrap())
    };
    assert_eq!((seqs().await, numbers().await), (vec![3], [3, 3, 3, 0]));
    say(&ana, "b").await;
    assert_eq!((seqs().await, numbers().await), (vec![3, 4], [3, 3, 4, 1]));
    bo.delete(&format!("{MEMBERS}/2")).await;
    say(&ana, "c").await;
    ana.post(MEMBERS, json!({"uids": [2]})).await;
    assert_eq!((seqs().await, numbers().await), (vec![7], [7, 7, 7, 0]), "from the new joining");
    patch(&ana, json!({"history": "all"})).await;
    assert_eq!(seqs().await, [1, 2, 3, 4, 5, 6, 7], "a change works backwards, too");
    patch(&ana, json!({"history": "joined"})).await;
    assert_eq!(seqs().await, [7]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_say_who_may() {
    let server = Server::start().await;
    let (ana, bo, cy) = (server.person(1), server.person(2), server.person(3));
    found(&server, &[2, 3]).await;
    let role = async |by: &Person<'_>, uid: u64, role: &str| {
        by.put(&format!("{MEMBERS}/{uid}/role"), json!({"role": role})).await
    };
    let done = role(&ana, 2, "admin").await;
    assert_eq!((done.status, &done.json), (200, &json!({"conv_id": "grp-team", "uid": 2, "role": "admin"})));
    assert_eq!(role(&ana, 2, "king").await.problem(), (422, "invalid_body"));
    assert_eq!(role(&ana, 9, "admin").await.problem(), (404, "member_not_found"));
    assert_eq!(role(&ana, 1, "member").await.problem(), (409, "owner_stays"));
    assert_eq!(role(&bo, 3, "admin").await.problem(), (403, "not_allowed"));
    assert_eq!(role(&server.person(9), 3, "admin").await.problem(), (403, "not_a_member"));
    assert_eq!(bo.post(MEMBERS, json!({"uids": [4]})).await.status, 200);
    assert_eq!(bo.delete(&format!("{MEMBERS}/1")).await.problem(), (409, "owner_stays"));
    assert_eq!(patch(&bo, json!({"name": "x"})).await.problem(), (403, "not_allowed"));
    assert_eq!(bo.delete(GROUP).await.problem(), (403, "not_allowed"));
    assert_eq!(cy.post(MEMBERS, json!({"uids": [5]})).await.problem(), (403, "not_allowed"));
    assert_eq!(role(&ana, 3, "owner").await.status, 200);
    assert_eq!(
        role(&ana, 3, "owner").await.status,
        200,
        "a repeat, though it is not the caller's right any more"
    );
    assert_eq!(role(&ana, 2, "member").await.problem(), (403, "not_allowed"));
    let members = cy.get(MEMBERS).await.json;
    let roles: Vec<_> = members["members"].as_array().unwrap().iter().map(|it| it["role"].clone()).collect();
    assert_eq!(json!(roles), json!(["admin", "admin", "owner", "member"]));
    let group = cy.get(GROUP).await.json;
    let expected = json!({
        "conv_id": "grp-team", "name": "Team", "history": "joined", "mute_all": false, "invite": "admins",
        "dissolved": false, "owner": 3, "member_count": 4, "role": "owner",
    });
    assert_eq!(group, expected);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_owner_changes_holds_at_once() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    found(&server, &[2]).await;
    let first = text("before");
    assert_eq!(bo.post(MESSAGES, first.clone()).await.status, 201);
    let changed = patch(&ana, json!({"mute_all": true, "invite": "members"})).await;
    let expected = json!({"conv_id": "grp-team", "mute_all": true, "invite": "members"});
    assert_eq!((changed.status, &changed.json), (200, &expected));
    assert_eq!(say(&bo, "x").await.problem(), (403, "muted"));
    assert_eq!(bo.post(MESSAGES, first).await.status, 200, "a repeat is recognised before a mute");
    assert_eq!(say(&ana, "x").await.status, 201);
    assert_eq!(bo.post(MEMBERS, json!({"uids": [3]})).await.json["added"], json!([3]));
    for (body, expected) in [
        (json!({}), (422, "invalid_body")),
        (json!({"name": ""}), (422, "invalid_name")),
        (json!({"name": null}), (422, "invalid_body")),
        (json!({"history": "some"}), (422, "invalid_body")),
        (json!({"colour": "red"}), (422, "invalid_body")),
        (json!({"mute_all": 1}), (422, "invalid_body")),
    ] {
        assert_eq!(patch(&ana, body.clone()).await.problem(), expected, "{body}");
    }
    assert_eq!(bo.get("/v1/groups/p2p-1-2").await.problem(), (422, "not_a_group"));
    assert_eq!(bo.get("/v1/groups/grp-nobody").await.problem(), (403, "not_a_member"));
    // Founded again under its first name.
    patch(&ana, json!({"name": "New"})).await;
    let body = json!({"group_id": "team", "name": "Team", "members": [2]});
    assert_eq!(ana.post("/v1/groups", body).await.status, 200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dissolved_group_can_be_read_and_left() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    found(&server, &[2]).await;
    say(&bo, "hi").await;
    let over = ana.delete(GROUP).await;
    assert_eq!((over.status, &over.json), (200, &json!({"conv_id": "grp-team", "dissolved": true})));
    assert_eq!(ana.delete(GROUP).await.status, 200);
    assert_eq!(seen(&bo).await[2], (3, json!({"event": "dissolved", "by": 1})));
    assert_eq!(say(&bo, "x").await.problem(), (409, "group_dissolved"));
    assert_eq!(ana.post(MEMBERS, json!({"uids": [3]})).await.problem(), (409, "group_dissolved"));
    assert_eq!(patch(&ana, json!({"name": "x"})).await.problem(), (409, "group_dissolved"));
    assert_eq!(bo.put(&format!("{CONVERSATION}/read"), json!({"read_seq": 3})).await.status, 200);
    assert_eq!(
        bo.post(&format!("{MESSAGES}/delete"), json!({"seqs": [2]})).await.json,
        json!({"deleted": 1})
    );
    assert_eq!(bo.get(GROUP).await.json["dissolved"], true);
    assert_eq!(bo.delete(CONVERSATION).await.json, json!({"min_seq": 4}));
    assert_eq!(listed(&bo).await, [] as [&str; 0]);
    assert_eq!(ana.delete(&format!("{MEMBERS}/1")).await.status, 200, "there is nothing to hand over");
    assert_eq!(bo.get(CONVERSATION).await.json["max_seq"], 3, "and nothing is told");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pinned_ones_come_first_and_hidden_ones_with_their_next_message() {
    let server = Server::start().await;
    let ana = server.person(1);
    let chat = |peer: u64| format!("/v1/conversations/p2p-1-{peer}");
    let write = async |by: u64, peer: u64| {
        let sent = server.person(by).post(&format!("{}/messages", chat(peer)), text("x")).await;
        assert_eq!(sent.status, 201);
    };
    for peer in 2..=4 {
        server.clock.put(START + i64::try_from(peer).unwrap());
        write(1, peer).await;
    }
    assert_eq!(listed(&ana).await, ["p2p-1-4", "p2p-1-3", "p2p-1-2"]);
    let settled = ana.put(&format!("{}/settings", chat(2)), json!({"pinned": true})).await;
    assert_eq!((settled.status, &settled.json), (200, &json!({"pinned": true, "muted": false})));
    let settled = ana.put(&format!("{}/settings", chat(2)), json!({"muted": true})).await;
    assert_eq!(settled.json, json!({"pinned": true, "muted": true}));
    assert_eq!(listed(&ana).await, ["p2p-1-2", "p2p-1-4", "p2p-1-3"]);
    let first = ana.get("/v1/conversations?limit=1").await.json;
    assert_eq!(
        (&first["conversations"][0]["pinned"], &first["conversations"][0]["muted"]),
        (&json!(true), &json!(true))
    );
    let next =
        ana.get(&format!("/v1/conversations?limit=1&cursor={}", first["cursor"].as_str().unwrap())).await;
    assert_eq!(next.json["conversations"][0]["conv_id"], "p2p-1-4");
    assert_eq!(server.person(2).get(&chat(2)).await.json["pinned"], false, "one's own list only");

    assert_eq!(ana.delete(&chat(4)).await.json, json!({"min_seq": 2}));
    assert_eq!(listed(&ana).await, ["p2p-1-2", "p2p-1-3"]);
    assert_eq!(listed(&server.person(4)).await, ["p2p-1-4"]);
    assert_eq!(ana.get(&chat(4)).await.json["last_message"], Value::Null);
    write(4, 4).await;
    assert_eq!(listed(&ana).await, ["p2p-1-2", "p2p-1-4", "p2p-1-3"], "back, behind the pinned one");
    assert_eq!(ana.get(&chat(4)).await.json["unread"], 1);
    let late = ana.delete(&format!("{}?up_to_seq=1", chat(4))).await;
    assert_eq!(
        (late.status, &late.json),
        (200, &json!({"min_seq": 2})),
        "a repeat does not hide what came since"
    );
    assert_eq!(listed(&ana).await.len(), 3);

    let keyed = async || {
        let key = Uuid::from_u128(9).to_string();
        send(ana.request(Method::DELETE, &chat(3)).header("idempotency-key", key)).await
    };
    assert_eq!(keyed().await.json, json!({"min_seq": 2}));
    write(3, 3).await;
    assert_eq!(keyed().await.json, json!({"min_seq": 2}));
    assert!(listed(&ana).await.contains(&"p2p-1-3".to_owned()));
    for (path, expected) in [
        ("?up_to_seq=9", (422, "up_to_seq_beyond_head")),
        ("?up_to_seq=0", (422, "invalid_seq")),
        ("?colour=red", (400, "invalid_parameter")),
    ] {
        assert_eq!(ana.delete(&format!("{}{path}", chat(3))).await.problem(), expected, "{path}");
    }
    assert_eq!(ana.delete("/v1/conversations/p2p-2-3").await.problem(), (403, "not_a_member"));
    let body = send(ana.request(Method::DELETE, &chat(3)).json(&json!({"up_to_seq": 2}))).await;
    assert_eq!(body.json, json!({"min_seq": 3}));
    let twofold = ana.request(Method::DELETE, &format!("{}?up_to_seq=1", chat(3)));
    assert_eq!(send(twofold.json(&json!({"up_to_seq": 2}))).await.problem(), (400, "invalid_parameter"));
    for body in [json!({"pinned": 1}), json!({"colour": "red"}), json!([])] {
        let refused = ana.put(&format!("{}/settings", chat(2)), body).await;
        assert_eq!(refused.problem(), (422, "invalid_body"));
    }
    server.stop().await;
}
