//! REST from outside: what the contract promises, and what is refused, with which status and code.
//!
//! Long because its heart is one table of bad inputs, which is read as one.

use std::sync::atomic::{AtomicU64, Ordering};

use event_store::surroundings::Clock;
use quipu::auth;
use reqwest::Method;
use serde_json::{Value, json};
use tests::log::{START, uid};
use tests::server::{Answer, Person, SECRET, Server, send};
use uuid::Uuid;

const CHAT: &str = "/v1/conversations/p2p-1-2";
const MESSAGES: &str = "/v1/conversations/p2p-1-2/messages";

fn text(content: &str) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = Uuid::from_u128(NEXT.fetch_add(1, Ordering::Relaxed).into());
    json!({"client_msg_id": id, "msg_type": 1, "content": content})
}

fn with(field: &str, value: Value) -> Value {
    let mut body = text("hi");
    body[field] = value;
    body
}

async fn say(person: &Person<'_>, content: &str) -> u64 {
    let answer = person.post(MESSAGES, text(content)).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json["seq"].as_u64().unwrap()
}

fn states(page: &Answer) -> Vec<&str> {
    page.json["items"].as_array().unwrap().iter().map(|item| item["state"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_sent_once_and_read_back() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    let mut body = text("héllo 字");
    body["mentions"] = json!([2, 2]);
    let first = ana.post("/v1/conversations/P2P-2-1/messages", body.clone()).await;
    assert_eq!(first.status, 201, "{first:?}");
    assert_eq!((&first.json["conv_id"], &first.json["seq"]), (&json!("p2p-1-2"), &json!(1)));
    assert_eq!((&first.json["create_at"], &first.json["duplicate"]), (&json!(START), &json!(false)));
    let again = ana.post(MESSAGES, body.clone()).await;
    assert_eq!((again.status, &again.json["duplicate"]), (200, &json!(true)));
    assert_eq!(again.json["msg_id"], first.json["msg_id"]);
    body["content"] = json!("other");
    assert_eq!(ana.post(MESSAGES, body).await.problem(), (409, "idempotency_conflict"));
    let mut reply = text("back");
    reply["reply_to"] = json!(1);
    bo.post(MESSAGES, reply).await;
    let page = bo.get(MESSAGES).await;
    assert_eq!(page.json["items"][0]["content"], "héllo 字");
    assert_eq!(page.json["items"][0]["mentions"], json!([2]));
    let quote = json!({"seq": 1, "sender_id": 1, "msg_type": 1, "excerpt": "héllo 字", "state": "normal"});
    assert_eq!(page.json["items"][1]["reply_to"], quote);
    assert_eq!((&page.json["max_seq"], &page.json["has_more"]), (&json!(2), &json!(false)));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_one_message_sent_many_times_at_once_there_is_one() {
    const TIMES: usize = 20;
    let server = Server::start().await;
    let (ana, body) = (server.person(1), text("once"));
    let sends = (0..TIMES).map(|_| ana.post(MESSAGES, body.clone()));
    let answers = futures_util::future::join_all(sends).await;
    let statuses = |status| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((statuses(201), statuses(200)), (1, TIMES - 1));
    assert!(answers.iter().all(|answer| answer.json["msg_id"] == answers[0].json["msg_id"]));
    assert_eq!(ana.get(MESSAGES).await.json["max_seq"], 1);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recalled_body_leaves_by_no_door() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    say(&ana, "a secret").await;
    let mut reply = text("what?");
    reply["reply_to"] = json!(1);
    bo.post(MESSAGES, reply).await;
    let recalled = ana.post(&format!("{MESSAGES}/1/recall"), json!({})).await;
    let expected = json!({"conv_id": "p2p-1-2", "seq": 1, "recalled_by": 1, "recalled_at": START});
    assert_eq!((recalled.status, &recalled.json), (200, &expected));
    let again = send(ana.request(Method::POST, &format!("{MESSAGES}/1/recall"))).await;
    assert_eq!((again.status, &again.json), (200, &expected), "and no body is needed");
    let page = bo.get(MESSAGES).await;
    assert_eq!(states(&page), ["recalled", "normal"]);
    let item = &page.json["items"][0];
    assert_eq!((&item["content"], &item["flags"], &item["msg_type"]), (&json!(""), &json!(1), &json!(1)));
    assert_eq!(item["recalled"], json!({"by": 1, "at": START}));
    for path in [MESSAGES, CHAT, "/v1/conversations"] {
        let shown = bo.get(path).await.json.to_string();
        assert!(!shown.contains("secret"), "{path}: {shown}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_deleting_restoring_and_clearing() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    for _ in 0..3 {
        say(&ana, "x").await;
    }
    let unread = async |person: &Person<'_>| person.get(CHAT).await.json["unread"].as_u64().unwrap();
    assert_eq!((unread(&ana).await, unread(&bo).await), (0, 3));
    let deleted = bo.post(&format!("{MESSAGES}/delete"), json!({"seqs": [3, 3]})).await;
    assert_eq!((deleted.status, &deleted.json), (200, &json!({"deleted": 1})));
    assert_eq!(states(&bo.get(MESSAGES).await), ["normal", "normal", "deleted"]);
    assert_eq!(states(&ana.get(MESSAGES).await), ["normal", "normal", "normal"]);
    assert_eq!(unread(&bo).await, 2);
    bo.post(&format!("{MESSAGES}/restore"), json!({"seqs": [3]})).await;
    assert_eq!(unread(&bo).await, 3);
    let read = bo.put(&format!("{CHAT}/read"), json!({"read_seq": 2})).await;
    assert_eq!((read.status, &read.json), (200, &json!({"read_seq": 2, "unread": 1})));
    let lower = bo.put(&format!("{CHAT}/read"), json!({"read_seq": 1})).await;
    assert_eq!(lower.json, json!({"read_seq": 2, "unread": 1}));
    say(&bo, "mine").await;
    let own = bo.put(&format!("{CHAT}/read"), json!({"read_seq": 1})).await;
    assert_eq!(own.json, json!({"read_seq": 4, "unread": 0}), "own sends move it too");
    let positions = ana.get(&format!("{CHAT}/read-positions")).await;
    assert_eq!(positions.json["items"][1]["read_seq"], 4);
    let readers = ana.get(&format!("{MESSAGES}/3/readers")).await;
    assert_eq!(readers.json, json!({"read_count": 1, "unread_count": 0, "read": [2], "unread": []}));
    let cleared = ana.post(&format!("{CHAT}/clear"), json!({"up_to_seq": 2})).await;
    assert_eq!((cleared.status, &cleared.json), (200, &json!({"min_seq": 3})));
    let all = send(ana.request(Method::POST, &format!("{CHAT}/clear"))).await;
    assert_eq!(all.json, json!({"min_seq": 5}), "no body is needed");
    assert_eq!(ana.get(MESSAGES).await.json["items"], json!([]));
    assert_eq!(bo.get(MESSAGES).await.json["items"].as_array().unwrap().len(), 4);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_founded_joined_and_left() {
    let server = Server::start().await;
    let (ana, bo, cy) = (server.person(1), server.person(2), server.person(3));
    let body = json!({"group_id": "GRP-Team", "name": "Team", "members": [1, 2]});
    let founded = ana.post("/v1/groups", body.clone()).await;
    assert_eq!((founded.status, &founded.json), (201, &json!({"conv_id": "grp-team", "duplicate": false})));
    assert_eq!(ana.post("/v1/groups", body.clone()).await.status, 200);
    assert_eq!(bo.post("/v1/groups", body).await.problem(), (409, "group_exists"));
    let members = "/v1/groups/grp-team/members";
    let added = ana.post(members, json!({"uids": [3, 2]})).await;
    assert_eq!((added.status, &added.json), (200, &json!({"conv_id": "grp-team", "added": [3]})));
    assert_eq!(bo.post(members, json!({"uids": [4]})).await.problem(), (403, "not_allowed"));
    let first = cy.get(&format!("{members}?limit=2")).await;
    assert_eq!(first.json["members"][0], json!({"uid": 1, "role": "owner", "joined_seq": 0}));
    let cursor = first.json["cursor"].as_str().unwrap();
    let second = cy.get(&format!("{members}?limit=2&cursor={cursor}")).await;
    // The founding was told in message 1.
    assert_eq!(second.json, json!({"members": [{"uid": 3, "role": "member", "joined_seq": 1}]}));
    assert_eq!(bo.get(&format!("{members}?cursor={cursor}")).await.problem(), (400, "invalid_cursor"));
    assert_eq!(ana.delete(&format!("{members}/1")).await.problem(), (409, "owner_stays"));
    assert_eq!(ana.delete(&format!("{members}/9")).await.problem(), (404, "member_not_found"));
    assert_eq!(bo.delete(&format!("{members}/2")).await.status, 200);
    assert_eq!(bo.get(members).await.problem(), (403, "not_a_member"));
    assert_eq!(bo.get("/v1/groups/p2p-1-2/members").await.problem(), (422, "not_a_group"));
    let key = Uuid::from_u128(7);
    let keyed = async || {
        let request = ana.request(Method::POST, "/v1/groups").header("idempotency-key", key.to_string());
        send(request.json(&json!({"name": "Keyed"}))).await
    };
    let (once, twice) = (keyed().await, keyed().await);
    assert_eq!((once.status, twice.status), (201, 200));
    assert_eq!(once.json["conv_id"], twice.json["conv_id"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_are_listed_page_by_page() {
    let server = Server::start().await;
    let ana = server.person(1);
    for peer in 2..=6 {
        server.clock.put(START + peer);
        ana.post(&format!("/v1/conversations/p2p-1-{peer}/messages"), text("x")).await;
    }
    let (mut seen, mut cursor) = (vec![], String::new());
    loop {
        let page = ana.get(&format!("/v1/conversations?limit=2{cursor}")).await;
        seen.extend(page.json["conversations"].as_array().unwrap().iter().map(|it| it["peer_uid"].clone()));
        let Some(next) = page.json["cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(json!(seen), json!([6, 5, 4, 3, 2]));
    assert_eq!(ana.get("/v1/conversations/with/9").await.json, json!({"conv_id": "p2p-1-9"}));
    let unused = ana.get("/v1/conversations/p2p-1-9").await;
    assert_eq!((unused.status, &unused.json["max_seq"]), (200, &json!(0)));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_input_is_refused_with_its_code_and_nothing_is_stored() {
    let server = Server::start().await;
    let (ana, bo, cy) = (server.person(1), server.person(2), server.person(3));
    say(&ana, "hi").await;
    let before = server.events().await;
    let image = |url: &str| json!({"url": url, "size": 1, "width": 1, "height": 1});
    let posts = [
        (MESSAGES, with("content", json!("")), (422, "invalid_content")),
        (MESSAGES, with("content", json!("x".repeat(65_537))), (413, "content_too_large")),
        (MESSAGES, with("content", json!("x".repeat(600_000))), (413, "content_too_large")),
        (MESSAGES, with("content", json!(7)), (422, "invalid_content")),
        (MESSAGES, with("content", json!(null)), (422, "invalid_content")),
        (MESSAGES, with("content", json!({"a": 1})), (422, "invalid_content")),
        (MESSAGES, with("content", json!("a\0b")), (422, "invalid_content")),
        (MESSAGES, with("msg_type", json!(0)), (422, "invalid_content")),
        (MESSAGES, with("msg_type", json!(10)), (422, "invalid_content")),
        (MESSAGES, with("msg_type", json!(-1)), (422, "invalid_body")),
        (MESSAGES, with("msg_type", json!("1")), (422, "invalid_body")),
        (MESSAGES, with("msg_type", json!(2)), (422, "invalid_content")),
        (MESSAGES, with("colour", json!("red")), (422, "invalid_body")),
        (MESSAGES, with("client_msg_id", json!("7")), (422, "invalid_client_msg_id")),
        (MESSAGES, with("mentions", json!([0])), (422, "invalid_uid")),
        (MESSAGES, with("mentions", json!([1_u64 << 53])), (422, "invalid_uid")),
        (MESSAGES, with("mentions", json!(vec![1; 1001])), (422, "invalid_count")),
        (MESSAGES, with("reply_to", json!(0)), (422, "invalid_seq")),
        (MESSAGES, with("reply_to", json!(99)), (404, "message_not_found")),
        (MESSAGES, json!({"client_msg_id": Uuid::nil()}), (422, "invalid_body")),
        (MESSAGES, json!([]), (422, "invalid_body")),
        (
            MESSAGES,
            json!({"client_msg_id": Uuid::nil(), "msg_type": 2, "content": image("data:image/png;base64,AA")}),
            (422, "invalid_content"),
        ),
        ("/v1/conversations/p2p-1/messages", text("x"), (400, "invalid_conv_id")),
        ("/v1/conversations/p2p-0-1/messages", text("x"), (400, "invalid_conv_id")),
        ("/v1/conversations/p2p-1-9007199254740992/messages", text("x"), (400, "invalid_conv_id")),
        ("/v1/conversations/x/messages", text("x"), (400, "invalid_conv_id")),
        ("/v1/conversations/grp-a%00b/messages", text("x"), (400, "invalid_conv_id")),
        ("/v1/conversations/p2p-2-3/messages", text("x"), (403, "not_a_member")),
        ("/v1/conversations/P2P-3-2/messages", text("x"), (403, "not_a_member")),
        ("/v1/conversations/grp-nobody/messages", text("x"), (403, "not_a_member")),
        ("/v1/conversations/p2p-1-2/messages/0/recall", json!({}), (422, "invalid_seq")),
        ("/v1/conversations/p2p-1-2/messages/x/recall", json!({}), (422, "invalid_seq")),
        ("/v1/conversations/p2p-1-2/messages/99/recall", json!({}), (404, "message_not_found")),
        ("/v1/conversations/p2p-1-2/messages/delete", json!({"seqs": []}), (422, "invalid_count")),
        ("/v1/conversations/p2p-1-2/messages/delete", json!({"seqs": vec![1; 1001]}), (422, "invalid_count")),
        ("/v1/conversations/p2p-1-2/messages/delete", json!({"seqs": [0]}), (422, "invalid_seq")),
        ("/v1/conversations/p2p-1-2/messages/delete", json!({"seqs": [99]}), (404, "message_not_found")),
        ("/v1/conversations/p2p-1-2/clear", json!({"up_to_seq": 99}), (422, "up_to_seq_beyond_head")),
        ("/v1/conversations/p2p-1-2/clear", json!({"up_to_seq": 0}), (422, "invalid_seq")),
        ("/v1/groups", json!({"name": ""}), (422, "invalid_name")),
        ("/v1/groups", json!({"name": "x", "group_id": "a b"}), (422, "invalid_group_id")),
        ("/v1/groups", json!({"name": "x", "group_id": "p2p-1-2"}), (422, "invalid_group_id")),
        ("/v1/groups", json!({"name": "x", "members": [0]}), (422, "invalid_uid")),
        ("/v1/groups", json!({"name": "x", "history": "some"}), (422, "invalid_body")),
        (
            "/v1/groups",
            json!({"name": "x", "members": (2..=10_001).collect::<Vec<_>>()}),
            (422, "group_full"),
        ),
        ("/v1/groups/grp-nobody/members", json!({"uids": [5]}), (403, "not_a_member")),
    ];
    for (path, body, expected) in posts {
        let shown: String = body.to_string().chars().take(80).collect();
        assert_eq!(ana.post(path, body).await.problem(), expected, "{path} {shown}");
    }
    let gets = [
        ("/v1/conversations/p2p-1-2/messages?limit=0", (400, "invalid_parameter")),
        ("/v1/conversations/p2p-1-2/messages?limit=201", (400, "invalid_parameter")),
        ("/v1/conversations/p2p-1-2/messages?limit=x", (400, "invalid_parameter")),
        ("/v1/conversations/p2p-1-2/messages?before=1", (400, "invalid_parameter")),
        ("/v1/conversations/p2p-1-2/messages?after_seq=-1", (400, "invalid_parameter")),
        ("/v1/conversations/p2p-1-2/messages?limit=1&limit=2", (400, "invalid_parameter")),
        ("/v1/conversations?cursor=AAAA", (400, "invalid_cursor")),
        ("/v1/conversations/p2p-2-3", (403, "not_a_member")),
        ("/v1/conversations/grp-nobody/read-positions", (403, "not_a_member")),
        ("/v1/conversations/p2p-1-2/messages/99/readers", (404, "message_not_found")),
        ("/v1/conversations/with/0", (422, "invalid_uid")),
        ("/v1/conversations/with/9007199254740992", (422, "invalid_uid")),
        ("/v1/nothing", (404, "not_found")),
        ("/v1/conversations/p2p-1-2/clear", (405, "method_not_allowed")),
        ("/v1/conversations/%ff", (404, "not_found")),
    ];
    for (path, expected) in gets {
        assert_eq!(ana.get(path).await.problem(), expected, "{path}");
    }
    let read = async |read_seq: Value| ana.put(&format!("{CHAT}/read"), json!({"read_seq": read_seq})).await;
    assert_eq!(read(json!(2)).await.problem(), (422, "read_seq_beyond_head"));
    assert_eq!(read(json!(u64::MAX)).await.problem(), (422, "invalid_seq"));
    assert_eq!(read(json!(0)).await.problem(), (422, "invalid_seq"));
    assert_eq!(bo.post(&format!("{MESSAGES}/1/recall"), json!({})).await.problem(), (403, "not_sender"));
    assert_eq!(cy.post(&format!("{MESSAGES}/1/recall"), json!({})).await.problem(), (403, "not_a_member"));
    assert_eq!(cy.get(MESSAGES).await.problem(), (403, "not_a_member"));
    server.clock.put(START + 120_001);
    let late = server.person(1).post(&format!("{MESSAGES}/1/recall"), json!({})).await;
    assert_eq!(late.problem(), (409, "recall_window_passed"));
    assert_eq!(server.events().await, before);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bounds_themselves_are_taken() {
    let server = Server::start().await;
    let ana = server.person(1);
    // A text of 64 KiB whose client escapes everything.
    let escaped = "\\u0001".repeat(65_536);
    let body =
        format!(r#"{{"client_msg_id":"{}","msg_type":1,"content":"{escaped}"}}"#, Uuid::from_u128(1 << 100));
    let request =
        ana.request(Method::POST, MESSAGES).header("content-type", "application/json; charset=utf-8");
    assert_eq!(send(request.body(body)).await.status, 201);
    let named: Vec<u64> = (1..=1000).collect();
    assert_eq!(ana.post(MESSAGES, with("mentions", json!(named))).await.status, 201);
    assert_eq!(ana.post(MESSAGES, with("content", json!(" "))).await.status, 201);
    assert_eq!(
        ana.post(&format!("{MESSAGES}/delete"), json!({"seqs": vec![3; 1000]})).await.json,
        json!({"deleted": 1})
    );
    for (query, items) in [
        ("before_seq=0", 0),
        ("after_seq=0", 3),
        ("after_seq=0&before_seq=3&limit=200", 2),
        ("before_seq=18446744073709551615", 3),
        ("after_seq=18446744073709551615", 0),
        ("after_seq=2&before_seq=1", 0),
    ] {
        let page = ana.get(&format!("{MESSAGES}?{query}")).await;
        assert_eq!(page.status, 200, "{query} {page:?}");
        assert_eq!(page.json["items"].as_array().unwrap().len(), items, "{query}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_body_is_refused_as_what_it_is() {
    let server = Server::start().await;
    let ana = server.person(1);
    let raw = |media: &'static str, body: Vec<u8>| {
        send(ana.request(Method::POST, MESSAGES).header("content-type", media).body(body))
    };
    let good = || text("hi").to_string().into_bytes();
    let mut not_utf8 = good();
    let at = not_utf8.windows(2).position(|pair| pair == b"hi").unwrap();
    not_utf8[at] = 0xff;
    assert_eq!(raw("application/json", not_utf8).await.problem(), (400, "malformed_json"));
    for broken in ["", "{", "{\"a\":1}x", "\"\\ud800\"", &"[".repeat(1000)] {
        assert_eq!(
            raw("application/json", broken.into()).await.problem(),
            (400, "malformed_json"),
            "{broken}"
        );
    }
    let surrogate =
        r#"{"client_msg_id":"00000000-0000-0000-0000-000000000001","msg_type":1,"content":"\ud800"}"#;
    assert_eq!(raw("application/json", surrogate.into()).await.problem(), (400, "malformed_json"));
    assert_eq!(raw("text/plain", good()).await.problem(), (415, "unsupported_media_type"));
    let none = send(ana.request(Method::POST, MESSAGES).body(good())).await;
    assert_eq!(none.problem(), (415, "unsupported_media_type"));
    let huge = raw("application/json", vec![b' '; 5 << 20]).await;
    assert_eq!(huge.problem(), (413, "content_too_large"));
    let keyed = ana.request(Method::POST, &format!("{CHAT}/clear")).header("idempotency-key", "x");
    assert_eq!(send(keyed.json(&json!({}))).await.problem(), (400, "invalid_idempotency_key"));
    assert_eq!(server.events().await, 0);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_token_there_is_no_way_in() {
    let server = Server::start().await;
    let now = server.clock.now();
    let sign = |secret: &str, at| auth::sign(secret, uid(1), &[], None, at, 60).unwrap();
    let good = sign(SECRET, now);
    let (head, _) = good.rsplit_once('.').unwrap();
    let none = format!("eyJhbGciOiJub25lIn0.{}.", head.split('.').nth(1).unwrap());
    let tokens = [
        ("expired", sign(SECRET, now - 60_000)),
        ("signed by another", sign("another secret of thirty-two bytes", now)),
        ("unsigned", format!("{head}.")),
        ("of no algorithm", none),
        ("no token", "x".into()),
    ];
    for (what, token) in tokens {
        let answer = send(server.request(Method::GET, CHAT).bearer_auth(token)).await;
        assert_eq!(answer.problem(), (401, "unauthorized"), "{what}");
        assert!(answer.headers.contains_key("www-authenticate"), "{what}");
    }
    assert_eq!(send(server.request(Method::GET, CHAT)).await.problem(), (401, "unauthorized"));
    assert_eq!(send(server.request(Method::GET, CHAT).bearer_auth(good)).await.status, 200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_recalls_anywhere_and_at_any_time() {
    let server = Server::start().await;
    say(&server.person(1), "hi").await;
    server.clock.put(START + 1_000_000);
    let recalled = server.with_roles(9, &["admin"]).post(&format!("{MESSAGES}/1/recall"), json!({})).await;
    assert_eq!((recalled.status, &recalled.json["recalled_by"]), (200, &json!(9)));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_an_id_and_operators_have_their_pages() {
    let server = Server::start().await;
    let id = "01a22cc1-8f88-79fb-8d2e-12767b8993a2";
    let named = send(server.request(Method::GET, "/healthz").header("x-request-id", id)).await;
    assert_eq!((named.status, &named.headers["x-request-id"]), (200, &id.parse().unwrap()));
    let odd = send(server.request(Method::GET, "/healthz").header("x-request-id", "<script>")).await;
    assert!(Uuid::try_parse(odd.headers["x-request-id"].to_str().unwrap()).is_ok());
    let ready = send(server.request(Method::GET, "/readyz")).await;
    assert_eq!((ready.status, &ready.json["ready"]), (200, &json!(true)), "{ready:?}");
    for path in ["/metrics", "/openapi.json", "/docs/"] {
        assert_eq!(send(server.request(Method::GET, path)).await.status, 200, "{path}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_tell_what_postgres_writes_and_holds() {
    let server = Server::start().await;
    let gauge = async |name: &str| {
        let text = server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{name} in {text}")).parse::<f64>().unwrap()
    };
    let before = gauge("quipu_postgres_wal_bytes").await;
    say(&server.person(1), "hi").await;
    assert!(gauge("quipu_postgres_wal_bytes").await > before);
    assert!(gauge("quipu_postgres_database_bytes").await > 1e6);
}
