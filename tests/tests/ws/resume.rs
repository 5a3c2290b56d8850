//! Resume: what was missed, then live, with no gap and no duplicate in between.

use std::time::Duration;

use serde_json::{Value, json};
use tests::server::Server;

use crate::{CHAT, say, seq, text};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_missed_is_replayed_as_it_is_now() {
    let server = Server::start().await;
    let (mut ana, mut bo) = (server.person(1).connect().await, server.person(2).connect().await);
    say(&mut ana, CHAT, "1").await;
    say(&mut ana, CHAT, "2").await;
    let away = bo.ok("resume", json!({})).await["cursor"].clone();
    drop(bo);
    say(&mut ana, CHAT, "3").await;
    say(&mut ana, CHAT, "a secret").await;
    ana.ok("recall", json!({"conv_id": CHAT, "seq": 4})).await;
    ana.ok("recall", json!({"conv_id": CHAT, "seq": 1})).await;
    let mut other = server.person(2).connect().await;
    other.ok("read", json!({"conv_id": CHAT, "read_seq": 2})).await;
    other.ok("read", json!({"conv_id": CHAT, "read_seq": 3})).await;
    other.ok("delete", json!({"conv_id": CHAT, "seqs": [3]})).await;
    let mut bo = server.person(2).connect().await;
    let resumed = bo.ok("resume", json!({"cursor": away})).await;
    let pushes = bo.pushes(Duration::from_millis(300)).await;
    let kinds: Vec<_> = pushes.iter().map(|push| push["push"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "message", "recalled", "deleted", "read"], "{pushes:?}");
    assert_eq!(resumed["replayed"], 5);
    assert_eq!((seq(&pushes[0]), &pushes[0]["item"]["state"]), (3, &json!("deleted")));
    assert_eq!((seq(&pushes[1]), &pushes[1]["item"]["state"]), (4, &json!("recalled")));
    assert_eq!((&pushes[2]["seq"], &pushes[4]["read_seq"]), (&json!(1), &json!(3)));
    assert!(!pushes.iter().any(|push| push.to_string().contains("secret")));
    let mut again = server.person(2).connect().await;
    let nothing = again.ok("resume", json!({"cursor": resumed["cursor"]})).await;
    assert_eq!(nothing["replayed"], 0);
    server.stop().await;
}

/// What was said before is fetched, as by who is connected when they come in, whatever the group shows.
#[tokio::test(flavor = "multi_thread")]
async fn who_came_into_a_group_while_away_hears_of_that_before_any_message_of_it() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    let away = bo.connect().await.ok("resume", json!({})).await["cursor"].clone();
    for history in ["joined", "all"] {
        let group = json!({"group_id": history, "name": "team", "members": [3], "history": history});
        assert_eq!(ana.post("/v1/groups", group).await.status, 201);
        let conv = format!("grp-{history}");
        say(&mut ana.connect().await, &conv, "before").await;
        let members = format!("/v1/groups/{conv}/members");
        assert_eq!(ana.post(&members, json!({"uids": [2]})).await.status, 200);
        say(&mut ana.connect().await, &conv, "after").await;
    }
    let mut connected = bo.connect().await;
    let resumed = connected.ok("resume", json!({"cursor": away})).await;
    let pushes = connected.pushes(Duration::from_millis(300)).await;
    assert_eq!(resumed["replayed"], pushes.len());
    for conv in ["grp-joined", "grp-all"] {
        let told = pushes.iter().filter(|push| push["conv_id"] == conv && push["push"] != "read");
        let pushes: Vec<_> = told.collect();
        let kinds: Vec<_> = pushes.iter().map(|push| push["push"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["member", "message", "message"], "{pushes:?}");
        assert_eq!(pushes[0]["joined"], json!([2]));
        assert_eq!([seq(pushes[1]), seq(pushes[2])], [3, 4]);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_was_not_given_to_this_person_is_refused() {
    let server = Server::start().await;
    let (mut ana, mut bo) = (server.person(1).connect().await, server.person(2).connect().await);
    let cursor = ana.ok("resume", json!({})).await["cursor"].as_str().unwrap().to_owned();
    let mut altered = cursor.clone().into_bytes();
    altered[3] = if altered[3] == b'A' { b'B' } else { b'A' };
    for (what, bad) in [
        ("foreign", cursor.clone()),
        ("altered", String::from_utf8(altered).unwrap()),
        ("cut", cursor[..cursor.len() - 1].to_owned()),
        ("made up", "abc".to_owned()),
        ("empty", String::new()),
    ] {
        assert_eq!(bo.refused("resume", json!({"cursor": bad})).await, "invalid_cursor", "{what}");
    }
    say(&mut ana, CHAT, "x").await;
    assert_eq!(seq(&bo.push().await), 1, "it is live all the same");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_is_not_replayed() {
    let server = Server::start().await;
    let (mut ana, mut bo) = (server.person(1).connect().await, server.person(2).connect().await);
    let away = bo.ok("resume", json!({})).await["cursor"].clone();
    let mut ids = Vec::new();
    for n in 0..10_001 {
        ids.push(ana.begin("send", text(CHAT, &format!("{n}"))).await);
        if ids.len() == 200 {
            for id in ids.drain(..) {
                assert!(ana.answer(&id).await["ok"]["seq"].is_u64());
            }
        }
    }
    for id in ids {
        ana.answer(&id).await;
    }
    let mut late = server.person(2).connect().await;
    let resumed = late.ok("resume", json!({"cursor": away})).await;
    assert_eq!(resumed["replayed"], 0);
    assert_eq!(late.push().await, json!({"push": "resync", "cursor": away}));
    say(&mut ana, CHAT, "live").await;
    assert_eq!(seq(&late.push().await), 10_002);
    server.stop().await;
}

/// Two people and a group talk without pause while a device comes and goes.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_comes_and_goes_misses_nothing_and_hears_nothing_twice() {
    const MESSAGES: u64 = 400;
    const CONVERSATIONS: [&str; 3] = [CHAT, "p2p-2-3", "grp-load"];
    let server = Server::start().await;
    let body = json!({"group_id": "load", "name": "load", "members": [1, 2]});
    assert_eq!(server.person(3).post("/v1/groups", body).await.status, 201);
    let group = server.person(2).get("/v1/conversations/grp-load").await;
    let founded = group.json["max_seq"].as_u64().unwrap();
    let mut cursor = server.person(2).connect().await.ok("resume", json!({})).await["cursor"].clone();
    let sending = CONVERSATIONS.map(|conv| {
        let sender = server.person(if conv == CHAT { 1 } else { 3 });
        async move {
            let mut socket = sender.connect().await;
            for n in 0..MESSAGES {
                say(&mut socket, conv, &format!("{n}")).await;
            }
        }
    });
    let listening = async {
        // The server itself has said something in the group.
        let mut heard = [0, 0, founded];
        let ends = heard.map(|last| last + MESSAGES);
        let more = |heard: &[u64; 3]| heard.iter().zip(ends).any(|(last, end)| *last < end);
        let mut seed = 7_u64;
        while more(&heard) {
            let mut socket = server.person(2).connect().await;
            socket.begin("resume", json!({"cursor": cursor})).await;
            // Seeded: how many pushes are heard before it goes away again.
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut stays = 1 + (seed >> 33) % 60;
            let mut told = std::collections::BTreeSet::new();
            while stays > 0 && more(&heard) {
                let push = socket.push().await;
                stays -= 1;
                cursor = push["cursor"].clone();
                let at = CONVERSATIONS.iter().position(|conv| push["conv_id"] == *conv).unwrap();
                let seq = seq(&push);
                assert!(told.insert((at, seq)), "twice on one connection: {push}");
                // A cursor may stand behind what another shard has pushed, so a new connection may hear some again.
                assert!(seq <= heard[at] + 1, "a gap after {}: {push}", heard[at]);
                heard[at] = heard[at].max(seq);
            }
        }
    };
    tokio::join!(futures_util::future::join_all(sending), listening);
    server.stop().await;
}

/// The same without going away in the middle of a replay: then nothing at all comes twice.
#[tokio::test(flavor = "multi_thread")]
async fn from_an_answers_cursor_nothing_comes_twice() {
    const ROUNDS: u64 = 20;
    let server = Server::start().await;
    let mut cursor = server.person(2).connect().await.ok("resume", json!({})).await["cursor"].clone();
    let sender = server.person(1);
    let sending = async {
        let mut socket = sender.connect().await;
        for n in 0..ROUNDS * 20 {
            say(&mut socket, CHAT, &format!("{n}")).await;
        }
    };
    let listening = async {
        let mut heard: Vec<Value> = Vec::new();
        for _ in 0..ROUNDS {
            let mut socket = server.person(2).connect().await;
            let resumed = socket.ok("resume", json!({"cursor": cursor})).await;
            let replayed = resumed["replayed"].as_u64().unwrap();
            for _ in 0..replayed {
                heard.push(socket.push().await);
            }
            cursor = resumed["cursor"].clone();
            for _ in 0..3 {
                if heard.len() as u64 == ROUNDS * 20 {
                    break;
                }
                let push = socket.push().await;
                cursor = push["cursor"].clone();
                heard.push(push);
            }
        }
        heard.iter().map(seq).collect::<Vec<_>>()
    };
    let (_, heard) = tokio::join!(sending, listening);
    assert_eq!(heard, (1..=heard.len() as u64).collect::<Vec<_>>());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_cursor_it_starts_from_now_and_says_where_that_is() {
    let server = Server::start().await;
    let mut ana = server.person(1).connect().await;
    say(&mut ana, CHAT, "before").await;
    let mut bo = server.person(2).connect().await;
    let now = bo.ok("resume", json!({})).await;
    assert_eq!(now["replayed"], 0);
    say(&mut ana, CHAT, "after").await;
    let push = bo.push().await;
    assert_eq!(seq(&push), 2, "and nothing of before");
    for (from, replayed) in [(&now["cursor"], 1), (&push["cursor"], 0)] {
        let mut again = server.person(2).connect().await;
        assert_eq!(again.ok("resume", json!({"cursor": from})).await["replayed"], replayed);
        if replayed == 1 {
            assert_eq!(seq(&again.push().await), 2);
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_positions_and_settings_only_the_latest_is_replayed() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    let mut device = ana.connect().await;
    for content in ["1", "2", "3"] {
        say(&mut device, CHAT, content).await;
    }
    let away = bo.connect().await.ok("resume", json!({})).await["cursor"].clone();
    let chat = format!("/v1/conversations/{CHAT}");
    for (read_seq, pinned) in [(1, true), (2, false), (3, true)] {
        bo.put(&format!("{chat}/read"), json!({"read_seq": read_seq})).await;
        bo.put(&format!("{chat}/settings"), json!({"pinned": pinned})).await;
    }
    let mut back = bo.connect().await;
    assert_eq!(back.ok("resume", json!({"cursor": away})).await["replayed"], 2);
    let mut pushes = [back.push().await, back.push().await];
    pushes.sort_by_key(|push| push["push"].to_string());
    assert_eq!((&pushes[0]["push"], &pushes[0]["read_seq"]), (&json!("read"), &json!(3)));
    assert_eq!((&pushes[1]["push"], &pushes[1]["pinned"]), (&json!("settings"), &json!(true)));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_removed_while_away_fetches_and_hears_that() {
    let server = Server::start().await;
    let group = json!({"group_id": "r", "name": "R", "members": [2]});
    assert_eq!(server.person(1).post("/v1/groups", group).await.status, 201);
    let away = server.person(2).connect().await.ok("resume", json!({})).await["cursor"].clone();
    assert_eq!(server.person(1).delete("/v1/groups/grp-r/members/2").await.status, 200);
    let mut late = server.person(2).connect().await;
    assert_eq!(late.ok("resume", json!({"cursor": away})).await["replayed"], 0);
    assert_eq!(late.push().await, json!({"push": "resync", "cursor": away}));
    let missed = late.ok("sync", json!({"cursor": away})).await;
    assert_eq!(missed["conversations"], json!([{"conv_id": "grp-r", "left": true}]));
    server.stop().await;
}
