//! Groups: who may do what, how many may be in one, what is seen of it, and how it ends.

use futures_util::future::join_all;
use quipu::Limits;
use reqwest::Method;
use serde_json::{Value, json};
use tests::server::{Person, Server};

use crate::{ask, found, ok, say, text};

const GROUP: &str = "/v1/groups/grp-team";
const MEMBERS: &str = "/v1/groups/grp-team/members";
const CONVERSATION: &str = "/v1/conversations/grp-team";
const MESSAGES: &str = "/v1/conversations/grp-team/messages";

async fn members(person: &Person<'_>) -> Vec<u64> {
    let list = ok(person.get(&format!("{MEMBERS}?limit=200")).await);
    list["members"].as_array().unwrap().iter().map(|it| it["uid"].as_u64().unwrap()).collect()
}

/// What the system has told of the group.
async fn told(person: &Person<'_>) -> Vec<Value> {
    let page = ok(person.get(&format!("{MESSAGES}?limit=200")).await);
    let items = page["items"].as_array().unwrap().iter();
    items.filter(|item| item["sender_id"] == 0).map(|item| item["content"]["event"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_role_may_what_the_contract_says() {
    const DONE: (u16, &str) = (200, "");
    const NO: (u16, &str) = (403, "not_allowed");
    const OUT: (u16, &str) = (403, "not_a_member");
    const STAYS: (u16, &str) = (409, "owner_stays");
    const MUTED: (u16, &str) = (403, "muted");
    let server = Server::start().await;
    // Owner, admin, member, outsider; 4 and 5 are another admin and another member.
    found(&server, &[2, 3, 4, 5]).await;
    let ana = server.person(1);
    let again = async || {
        // As it was, whoever did what.
        ok(ana.post(MEMBERS, json!({"uids": [2, 3, 4, 5]})).await);
        ok(ask(&ana, &Method::DELETE, &format!("{MEMBERS}/6"), &Value::Null).await);
        for (uid, role) in [(2, "admin"), (3, "member"), (4, "admin"), (5, "member")] {
            ok(ana.put(&format!("{MEMBERS}/{uid}/role"), json!({"role": role})).await);
        }
        ok(ask(
            &ana,
            &Method::PATCH,
            GROUP,
            &json!({"name": "Team", "history": "joined", "mute_all": false, "invite": "admins"}),
        )
        .await);
    };
    ok(ana.post(MEMBERS, json!({"uids": [6]})).await);
    again().await;
    let (delete, patch, put, post) = (Method::DELETE, Method::PATCH, Method::PUT, Method::POST);
    let said = say(&server.person(5), "grp-team", text("of a member")).await;
    let remove = |uid: u64| (delete.clone(), format!("{MEMBERS}/{uid}"), Value::Null);
    let role = |uid: u64, role: &str| (put.clone(), format!("{MEMBERS}/{uid}/role"), json!({"role": role}));
    let change = |body: Value| (patch.clone(), GROUP.to_owned(), body);
    let cases = [
        ("read", (Method::GET, MESSAGES.to_owned(), Value::Null), [DONE, DONE, DONE, OUT]),
        (
            "bring somebody in",
            (post.clone(), MEMBERS.to_owned(), json!({"uids": [6]})),
            [DONE, DONE, NO, OUT],
        ),
        ("remove a member", remove(5), [DONE, DONE, NO, OUT]),
        ("remove an admin", remove(4), [DONE, NO, NO, OUT]),
        ("remove the owner", remove(1), [STAYS, STAYS, NO, OUT]),
        ("remove who is not in", remove(77), [(404, "member_not_found"), (404, "member_not_found"), NO, OUT]),
        ("make an admin", role(5, "admin"), [DONE, NO, NO, OUT]),
        ("make a member", role(4, "member"), [DONE, NO, NO, OUT]),
        ("make an owner", role(3, "owner"), [DONE, NO, NO, OUT]),
        ("rename", change(json!({"name": "New"})), [DONE, NO, NO, OUT]),
        ("show all", change(json!({"history": "all"})), [DONE, NO, NO, OUT]),
        ("mute", change(json!({"mute_all": true})), [DONE, NO, NO, OUT]),
        ("let members invite", change(json!({"invite": "members"})), [DONE, NO, NO, OUT]),
        ("dissolve", (delete.clone(), GROUP.to_owned(), Value::Null), [(0, ""), NO, NO, OUT]),
    ];
    for (what, (method, path, body), expected) in cases {
        for (uid, expected) in (1..).zip(expected) {
            // An owner would really dissolve it, which is the last thing here.
            if expected.0 == 0 {
                continue;
            }
            let uid = if uid == 4 { 99 } else { uid };
            let answer = ask(&server.person(uid), &method, &path, &body).await;
            let seen = if answer.status < 300 { DONE } else { answer.problem() };
            assert_eq!(seen, expected, "{uid} would {what}: {answer:?}");
            if what == "make an owner" && uid == 1 {
                ok(server.person(3).put(&format!("{MEMBERS}/1/role"), json!({"role": "owner"})).await);
            }
            if answer.status < 300 {
                again().await;
            }
        }
    }
    // What the group's own settings move: invitations and speech.
    ok(ask(&ana, &patch, GROUP, &json!({"invite": "members", "mute_all": true})).await);
    for (uid, speaks) in [(1, (201, "")), (2, (201, "")), (3, MUTED), (99, OUT)] {
        let sent = server.person(uid).post(MESSAGES, text("x")).await;
        let seen = if sent.status < 300 { (sent.status, "") } else { sent.problem() };
        assert_eq!(seen, speaks, "{uid}");
        let invites = server.person(uid).post(MEMBERS, json!({"uids": [100 + uid]})).await;
        assert_eq!(invites.status, if uid == 99 { 403 } else { 200 }, "{uid}");
    }
    // Taking back what somebody else said.
    let recall = format!("{MESSAGES}/{said}/recall");
    assert_eq!(server.person(99).post(&recall, json!({})).await.problem(), OUT);
    assert_eq!(server.person(3).post(&recall, json!({})).await.problem(), (403, "not_sender"));
    assert_eq!(server.person(2).post(&recall, json!({})).await.status, 200);
    assert_eq!(ana.delete(GROUP).await.status, 200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_added_twice_is_in_once_and_told_of_once() {
    let server = Server::start().await;
    found(&server, &[2]).await;
    let ana = server.person(1);
    ok(ana.put(&format!("{MEMBERS}/2/role"), json!({"role": "admin"})).await);
    assert_eq!(ok(ana.post(MEMBERS, json!({"uids": [3, 3, 1, 2]})).await)["added"], json!([3]));
    let bo = server.person(2);
    let both = (0..20).map(async |n| ok([&ana, &bo][n % 2].post(MEMBERS, json!({"uids": [4, 5]})).await));
    let added: Vec<Value> = join_all(both).await.into_iter().map(|answer| answer["added"].clone()).collect();
    assert_eq!(added.iter().filter(|it| **it == json!([4, 5])).count(), 1, "{added:?}");
    assert_eq!(added.iter().filter(|it| **it == json!([])).count(), 19, "{added:?}");
    assert_eq!(members(&ana).await, [1, 2, 3, 4, 5]);
    assert_eq!(told(&ana).await, ["founded", "joined", "joined"]);
    assert_eq!(ok(ana.get(GROUP).await)["member_count"], 5);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_group_takes_nobody_more_until_somebody_leaves() {
    let server = Server::start_with(Limits { group_members: 4, ..Limits::default() }).await;
    let ana = server.person(1);
    let four = json!({"group_id": "full", "name": "x", "members": [1, 2, 3, 4]});
    assert_eq!(ana.post("/v1/groups", four).await.status, 201, "the founder is one of them");
    let five = json!({"group_id": "five", "name": "x", "members": [2, 3, 4, 5]});
    assert_eq!(ana.post("/v1/groups", five).await.problem(), (422, "group_full"));
    assert_eq!(ana.get("/v1/groups/grp-five").await.problem(), (403, "not_a_member"), "it was not founded");
    found(&server, &[2]).await;
    let add = async |uids: Value| ana.post(MEMBERS, json!({"uids": uids})).await;
    assert_eq!(add(json!([3, 4, 5])).await.problem(), (422, "group_full"));
    assert_eq!(members(&ana).await, [1, 2], "none of those who do not fit together");
    assert_eq!(ok(add(json!([2, 3, 4])).await)["added"], json!([3, 4]), "who is in takes no room");
    assert_eq!(add(json!([5])).await.problem(), (422, "group_full"));
    assert_eq!(ok(add(json!([4])).await)["added"], json!([]), "a repeat needs none");
    ok(server.person(4).delete(&format!("{MEMBERS}/4")).await);
    // Two want the one place.
    let wanted = join_all([5, 6].map(|uid| add(json!([uid])))).await;
    assert_eq!(wanted.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(wanted.iter().filter(|answer| answer.status == 422).count(), 1);
    assert_eq!(members(&ana).await.len(), 4);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_hands_over_before_leaving_and_the_last_one_may_go() {
    let server = Server::start().await;
    found(&server, &[2]).await;
    let (ana, bo) = (server.person(1), server.person(2));
    let leave = async |uid: u64| server.person(uid).delete(&format!("{MEMBERS}/{uid}")).await;
    assert_eq!(leave(1).await.problem(), (409, "owner_stays"));
    ok(ana.put(&format!("{MEMBERS}/2/role"), json!({"role": "owner"})).await);
    let group = ok(ana.get(GROUP).await);
    assert_eq!((&group["owner"], &group["role"]), (&json!(2), &json!("admin")));
    assert_eq!(leave(2).await.problem(), (409, "owner_stays"));
    assert_eq!(leave(1).await.status, 200);
    assert_eq!(leave(2).await.status, 200, "there is nobody to hand over to");
    assert_eq!(leave(2).await.status, 200, "and again");
    assert_eq!(bo.get(GROUP).await.problem(), (403, "not_a_member"));
    assert_eq!(bo.post(MEMBERS, json!({"uids": [2]})).await.problem(), (403, "not_a_member"));
    // Its id is not free: what was said in it would be another group's.
    let founding = json!({"group_id": "team", "name": "Another", "members": []});
    assert_eq!(server.person(3).post("/v1/groups", founding).await.problem(), (409, "group_exists"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_shows_all_shows_it_to_who_comes_later_and_nothing_to_who_has_left() {
    let server = Server::start().await;
    let (ana, bo, cy) = (server.person(1), server.person(2), server.person(3));
    let body = json!({"group_id": "team", "name": "Team", "members": [3], "history": "all"});
    assert_eq!(ana.post("/v1/groups", body).await.status, 201);
    say(&ana, "grp-team", text("before")).await;
    ok(ana.post(MEMBERS, json!({"uids": [2]})).await);
    let seen = async |person: &Person<'_>| {
        let page = ok(person.get(MESSAGES).await);
        let seqs = page["items"].as_array().unwrap().iter().map(|item| item["seq"].as_u64().unwrap());
        (page["min_seq"].as_u64().unwrap(), seqs.collect::<Vec<_>>())
    };
    assert_eq!(seen(&bo).await, (1, vec![1, 2, 3]));
    assert_eq!(ok(bo.get(CONVERSATION).await)["unread"], 0, "all the same it is read");
    ok(bo.post(&format!("{CONVERSATION}/clear"), json!({"up_to_seq": 1})).await);
    ok(bo.delete(&format!("{MEMBERS}/2")).await);
    assert_eq!(bo.get(MESSAGES).await.problem(), (403, "not_a_member"));
    say(&ana, "grp-team", text("meanwhile")).await;
    ok(ana.post(MEMBERS, json!({"uids": [2]})).await);
    assert_eq!(seen(&bo).await, (2, vec![2, 3, 4, 5, 6]), "but what bo has cleared");
    // Each sees from their own last joining, once the group shows no more than that.
    ok(ask(&ana, &Method::PATCH, GROUP, &json!({"history": "joined"})).await);
    assert_eq!(seen(&bo).await, (6, vec![6]));
    assert_eq!(seen(&cy).await, (1, (1..=6).collect()));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_dissolved_group_all_goes_on_that_sends_nothing() {
    let server = Server::start().await;
    found(&server, &[2, 3]).await;
    let (ana, bo) = (server.person(1), server.person(2));
    say(&bo, "grp-team", text("hi")).await;
    ok(ana.delete(GROUP).await);
    let go_on = [
        (Method::GET, MESSAGES.to_owned(), Value::Null),
        (Method::GET, GROUP.to_owned(), Value::Null),
        (Method::GET, MEMBERS.to_owned(), Value::Null),
        (Method::GET, CONVERSATION.to_owned(), Value::Null),
        (Method::GET, format!("{CONVERSATION}/read-positions"), Value::Null),
        (Method::GET, format!("{MESSAGES}/2/readers"), Value::Null),
        (Method::PUT, format!("{CONVERSATION}/read"), json!({"read_seq": 3})),
        (Method::POST, format!("{MESSAGES}/delete"), json!({"seqs": [1, 2]})),
        (Method::POST, format!("{MESSAGES}/restore"), json!({"seqs": [1]})),
        (Method::PUT, format!("{CONVERSATION}/settings"), json!({"pinned": true})),
        (Method::POST, format!("{CONVERSATION}/clear"), json!({"up_to_seq": 1})),
        (Method::DELETE, CONVERSATION.to_owned(), Value::Null),
    ];
    for (method, path, body) in go_on {
        let answer = ask(&bo, &method, &path, &body).await;
        assert_eq!(answer.status, 200, "{method} {path}: {answer:?}");
    }
    let over = [
        (Method::POST, MESSAGES.to_owned(), text("x")),
        (Method::POST, MEMBERS.to_owned(), json!({"uids": [4]})),
        (Method::DELETE, format!("{MEMBERS}/3"), Value::Null),
        (Method::PUT, format!("{MEMBERS}/3/role"), json!({"role": "admin"})),
        (Method::PATCH, GROUP.to_owned(), json!({"name": "x"})),
    ];
    for (method, path, body) in over {
        let answer = ask(&ana, &method, &path, &body).await;
        assert_eq!(answer.problem(), (409, "group_dissolved"), "{method} {path}");
    }
    assert_eq!(ok(ana.get(CONVERSATION).await)["max_seq"], 3);
    server.stop().await;
}
