//! Pushes: who hears of what, in which order, and what a slow consumer is told.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tests::log::START;
use tests::server::{Server, send};
use tests::socket::Socket;

use crate::{CHAT, say, seq, text};

const GROUP: &str = "grp-g";

/// Long enough for a push to come, had there been one.
const MOMENT: Duration = Duration::from_millis(400);

async fn found(server: &Server, members: Value) {
    let body = json!({"group_id": "g", "name": "g", "members": members});
    assert_eq!(server.person(1).post("/v1/groups", body).await.status, 201);
}

/// A device that listens from now on.
async fn listening(server: &Server, person: u64) -> Socket {
    let mut socket = server.person(person).connect().await;
    socket.ok("resume", json!({})).await;
    socket
}

fn without_cursor(mut push: Value) -> Value {
    assert!(push["cursor"].is_string(), "{push}");
    push.as_object_mut().unwrap().remove("cursor");
    push
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_reaches_every_device_of_both_and_nobody_else() {
    let server = Server::start().await;
    let mut devices = [
        server.person(1).connect().await,
        listening(&server, 1).await,
        listening(&server, 2).await,
        listening(&server, 2).await,
    ];
    let mut cy = listening(&server, 3).await;
    say(&mut devices[0], CHAT, "hi").await;
    let path = format!("/v1/conversations/{CHAT}/messages");
    let mut shown = None;
    for device in &mut devices {
        let push = without_cursor(device.push().await);
        // A question that starts after a push sees its effect.
        let page = server.person(2).get(&path).await;
        assert_eq!(push, json!({"push": "message", "conv_id": CHAT, "item": page.json["items"][0]}));
        shown = Some(push);
    }
    assert_eq!(shown.unwrap()["item"]["content"], "hi");
    assert!(cy.pushes(MOMENT).await.is_empty());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recall_reaches_all_and_what_is_ones_own_reaches_ones_own_devices() {
    let server = Server::start().await;
    let (mut ana, mut bo, mut tablet) =
        (listening(&server, 1).await, listening(&server, 2).await, listening(&server, 2).await);
    for n in 1..=3 {
        say(&mut ana, CHAT, "x").await;
        for socket in [&mut ana, &mut bo, &mut tablet] {
            assert_eq!(seq(&socket.push().await), n);
        }
    }
    ana.ok("recall", json!({"conv_id": CHAT, "seq": 1})).await;
    let recalled =
        json!({"push": "recalled", "conv_id": CHAT, "seq": 1, "recalled_by": 1, "recalled_at": START});
    for socket in [&mut ana, &mut bo, &mut tablet] {
        assert_eq!(without_cursor(socket.push().await), recalled);
    }
    bo.ok("read", json!({"conv_id": CHAT, "read_seq": 2})).await;
    let read = json!({"push": "read", "conv_id": CHAT, "uid": 2, "read_seq": 2, "read_at": START});
    for socket in [&mut ana, &mut bo, &mut tablet] {
        assert_eq!(without_cursor(socket.push().await), read);
    }
    bo.ok("delete", json!({"conv_id": CHAT, "seqs": [2, 3]})).await;
    bo.ok("restore", json!({"conv_id": CHAT, "seqs": [3]})).await;
    bo.ok("clear", json!({"conv_id": CHAT, "up_to_seq": 1})).await;
    for socket in [&mut bo, &mut tablet] {
        let own = [socket.push().await, socket.push().await, socket.push().await].map(without_cursor);
        let expected = [
            json!({"push": "deleted", "conv_id": CHAT, "seqs": [2, 3]}),
            json!({"push": "restored", "conv_id": CHAT, "seqs": [3]}),
            json!({"push": "cleared", "conv_id": CHAT, "min_seq": 2}),
        ];
        assert_eq!(own, expected);
    }
    assert!(ana.pushes(MOMENT).await.is_empty(), "nobody else's business");
    server.stop().await;
}

/// The next push but for what the server itself says: a message's content, or all of another push.
async fn told(socket: &mut Socket) -> Value {
    loop {
        let push = socket.push().await;
        if push["item"]["sender_id"] == 0 {
            continue;
        }
        let content = &push["item"]["content"];
        return if content.is_null() { without_cursor(push) } else { content.clone() };
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_is_pushed_to_each_as_they_may_see_it() {
    let server = Server::start().await;
    found(&server, json!([2, 3])).await;
    let mut ana = listening(&server, 1).await;
    let quoted = say(&mut ana, GROUP, "the quoted").await;
    server.person(1).post("/v1/groups/grp-g/members", json!({"uids": [4]})).await;
    let mut others = [listening(&server, 2).await, listening(&server, 3).await, listening(&server, 4).await];
    others[1].ok("delete", json!({"conv_id": GROUP, "seqs": [quoted]})).await;
    assert_eq!(told(&mut others[1]).await["push"], "deleted");
    let mut reply = text(GROUP, "an answer");
    reply["reply_to"] = json!(quoted);
    let seq_of_reply = ana.ok("send", reply).await["seq"].clone();
    let blank =
        |state| json!({"seq": quoted, "sender_id": null, "msg_type": null, "excerpt": "", "state": state});
    let expected = [
        json!({"seq": quoted, "sender_id": 1, "msg_type": 1, "excerpt": "the quoted", "state": "normal"}),
        blank("deleted"),
        blank("hidden"),
    ];
    for (socket, quote) in others.iter_mut().zip(expected) {
        let push = socket.push().await;
        let item = &push["item"];
        assert_eq!((&item["seq"], &item["reply_to"]), (&seq_of_reply, &quote), "{push}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_hear_who_comes_and_goes_and_who_is_removed_hears_nothing_more() {
    let server = Server::start().await;
    found(&server, json!([2])).await;
    let (mut ana, mut bo, mut cy) =
        (listening(&server, 1).await, listening(&server, 2).await, listening(&server, 3).await);
    say(&mut ana, GROUP, "before").await;
    assert_eq!(told(&mut bo).await, "before");
    server.person(1).post("/v1/groups/grp-g/members", json!({"uids": [3]})).await;
    let joined = json!({"push": "member", "conv_id": GROUP, "joined": [3], "left": [], "by": 1});
    for socket in [&mut bo, &mut cy] {
        assert_eq!(told(socket).await, joined);
    }
    say(&mut ana, GROUP, "with three").await;
    assert_eq!((told(&mut bo).await, told(&mut cy).await), (json!("with three"), json!("with three")));
    assert_eq!(server.person(1).delete("/v1/groups/grp-g/members/2").await.status, 200);
    say(&mut ana, GROUP, "without bo").await;
    let left = json!({"push": "member", "conv_id": GROUP, "joined": [], "left": [2], "by": 1});
    assert_eq!((told(&mut cy).await, told(&mut cy).await), (left, json!("without bo")));
    // Not even what the server says of it: only that there is something to be fetched, and that says it.
    let (resyncs, after): (Vec<Value>, Vec<Value>) =
        bo.pushes(MOMENT).await.into_iter().partition(|push| push["push"] == "resync");
    let [resync] = resyncs.as_slice() else { panic!("{resyncs:?}") };
    let missed =
        server.person(2).get(&format!("/v1/sync?cursor={}", resync["cursor"].as_str().unwrap())).await;
    assert_eq!(missed.json["conversations"], json!([{"conv_id": GROUP, "left": true}]));
    let known = |push: &Value| push["item"]["content"]["joined"].is_array() || push["item"]["sender_id"] == 0;
    assert!(after.iter().all(|push| known(push) && push["item"]["seq"].as_u64() < Some(4)), "{after:?}");
    assert_eq!(bo.refused("send", text(GROUP, "still here?")).await, "not_a_member");
    server.person(1).post("/v1/groups/grp-g/members", json!({"uids": [2]})).await;
    assert_eq!(told(&mut bo).await["joined"], json!([2]));
    say(&mut ana, GROUP, "again").await;
    assert_eq!(told(&mut bo).await, "again", "and nothing of what was said in between");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_changes_and_the_end_of_a_group_reach_its_members() {
    let server = Server::start().await;
    found(&server, json!([2])).await;
    let mut bo = listening(&server, 2).await;
    let ana = server.person(1);
    ana.put("/v1/groups/grp-g/members/2/role", json!({"role": "admin"})).await;
    let change = json!({"name": "other", "history": "all", "mute_all": true});
    assert_eq!(send(ana.request(Method::PATCH, "/v1/groups/grp-g").json(&change)).await.status, 200);
    bo.ok("ping", json!({})).await;
    server.person(2).put("/v1/conversations/grp-g/settings", json!({"pinned": true, "muted": false})).await;
    server.person(2).delete("/v1/conversations/grp-g").await;
    ana.delete("/v1/groups/grp-g").await;
    let role = json!({"push": "member", "conv_id": GROUP, "joined": [], "left": [],
        "changed": {"uid": 2, "role": "admin"}, "by": 1});
    assert_eq!(told(&mut bo).await, role);
    let changed = json!({"push": "group", "conv_id": GROUP, "name": "other", "history": "all",
        "mute_all": true, "by": 1});
    assert_eq!(told(&mut bo).await, changed);
    let settings = json!({"push": "settings", "conv_id": GROUP, "pinned": true, "muted": false});
    assert_eq!(told(&mut bo).await, settings);
    assert_eq!(told(&mut bo).await["push"], "hidden");
    assert_eq!(told(&mut bo).await, json!({"push": "group", "conv_id": GROUP, "dissolved": true, "by": 1}));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn how_one_arranges_ones_list_reaches_all_of_ones_own_devices_and_nobody_elses() {
    let server = Server::start().await;
    let (mut ana, mut phone, mut tablet) =
        (listening(&server, 1).await, listening(&server, 2).await, listening(&server, 2).await);
    say(&mut ana, CHAT, "one").await;
    for socket in [&mut ana, &mut phone, &mut tablet] {
        assert_eq!(told(socket).await, "one");
    }
    let chat = format!("/v1/conversations/{CHAT}");
    server.person(2).put(&format!("{chat}/settings"), json!({"pinned": false, "muted": true})).await;
    server.person(2).delete(&chat).await;
    say(&mut ana, CHAT, "two").await;
    let settings = json!({"push": "settings", "conv_id": CHAT, "pinned": false, "muted": true});
    for socket in [&mut phone, &mut tablet] {
        assert_eq!(told(socket).await, settings);
        let hidden = told(socket).await;
        assert_eq!((&hidden["push"], &hidden["min_seq"]), (&json!("hidden"), &json!(2)), "{hidden}");
        assert_eq!(told(socket).await, "two", "and it is back");
    }
    assert_eq!(told(&mut ana).await, "two", "nothing in between");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn others_reads_are_pushed_in_small_groups_only() {
    let server = Server::start().await;
    for (slug, size, pushed) in [("small", 50, true), ("large", 51, false)] {
        let members: Vec<u64> = (2..=size).collect();
        let body = json!({"group_id": slug, "name": slug, "members": members});
        assert_eq!(server.person(1).post("/v1/groups", body).await.status, 201);
        let group = format!("grp-{slug}");
        let (mut ana, mut bo) = (listening(&server, 1).await, listening(&server, 2).await);
        let said = say(&mut ana, &group, "x").await;
        assert_eq!((told(&mut ana).await, told(&mut bo).await), (json!("x"), json!("x")));
        bo.ok("read", json!({"conv_id": group, "read_seq": said})).await;
        assert_eq!(bo.push().await["push"], "read", "on one's own devices always");
        assert_eq!(!ana.pushes(MOMENT).await.is_empty(), pushed, "{slug}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_come_in_seq_order_whoever_sends() {
    const SENDERS: u64 = 6;
    const EACH: u64 = 60;
    let server = Server::start().await;
    found(&server, json!((2..=SENDERS).collect::<Vec<_>>())).await;
    let mut listener = listening(&server, 1).await;
    let sending = (1..=SENDERS).map(|person| {
        let person = server.person(person);
        async move {
            let mut socket = person.connect().await;
            let mut ids = Vec::new();
            for n in 0..EACH {
                ids.push(socket.begin("send", text(GROUP, &format!("{n}"))).await);
            }
            for id in ids {
                assert!(socket.answer(&id).await["ok"]["seq"].is_u64());
            }
        }
    });
    let heard = async {
        let first = seq(&listener.push().await);
        for n in 1..SENDERS * EACH {
            assert_eq!(seq(&listener.push().await), first + n);
        }
    };
    tokio::join!(futures_util::future::join_all(sending), heard);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_consumer_is_told_to_fetch_and_the_fast_one_waits_for_nobody() {
    const MESSAGES: u64 = 700;
    let server = Server::start().await;
    let (mut ana, mut fast, mut slow) =
        (server.person(1).connect().await, listening(&server, 2).await, listening(&server, 2).await);
    let large = "x".repeat(60_000);
    for n in 1..=MESSAGES {
        // Whatever the sender hears is read, too.
        assert_eq!(say(&mut ana, CHAT, &large).await, n);
        assert_eq!(seq(&fast.push().await), n);
    }
    let mut last = 0;
    let resync = loop {
        let push = slow.push().await;
        if push["push"] == "resync" {
            break push;
        }
        last += 1;
        assert_eq!(seq(&push), last, "what had room comes in order");
    };
    assert!(last < MESSAGES);
    // From its cursor nothing is missing: neither of what was dropped nor of what comes.
    let mut late = server.person(2).connect().await;
    let resumed = late.ok("resume", json!({"cursor": resync["cursor"]})).await;
    let replayed = resumed["replayed"].as_u64().unwrap();
    let first = seq(&late.push().await);
    assert!(first <= last + 1 && first + replayed - 1 == MESSAGES, "{first} {last} {replayed}");
    say(&mut ana, CHAT, "after").await;
    assert_eq!(seq(&slow.push().await), MESSAGES + 1, "and it hears pushes again");
    send(server.request(Method::GET, "/healthz")).await;
    server.stop().await;
}
