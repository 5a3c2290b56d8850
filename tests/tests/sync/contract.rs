//! Every line of the contract's section on sync.

use serde_json::json;
use tests::log::{START, uid};
use tests::server::Server;

use crate::said::{
    add, changes, clear, convs, delete, found, ok, page, read, recall, remove, restore, say, sync,
};

const CHAT: &str = "p2p-1-2";

#[tokio::test(flavor = "multi_thread")]
async fn without_a_cursor_the_whole_list_comes() {
    let server = Server::start().await;
    let (ana, bo, cy) = (server.person(1), server.person(2), server.person(3));
    let (_, none) = sync(&ana, None).await;
    assert_eq!(none, [json!(null); 0]);
    for (n, conv) in (1..).zip(["p2p-1-9", CHAT, "p2p-1-5"]) {
        server.clock.put(START + n);
        say(&ana, conv, "hi").await;
    }
    found(&ana, "team", &[2]).await;
    let list = ana.get("/v1/conversations").await.json;
    let all = page(&ana, None, 50).await;
    assert_eq!((&all["conversations"], &all["has_more"]), (&list["conversations"], &json!(false)));
    assert!(all.get("reset").is_none() && all["conversations"][0].get("changes").is_none());
    assert_eq!(convs(&sync(&bo, None).await.1), ["grp-team", CHAT]);
    assert_eq!(sync(&cy, None).await.1, [json!(null); 0]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_device_misses_nothing_while_people_write() {
    let server = Server::start().await;
    let ana = server.person(1);
    for peer in 2..=8 {
        say(&server.person(peer), &format!("p2p-1-{peer}"), "hi").await;
    }
    let first = page(&ana, None, 3).await;
    assert_eq!(first["has_more"], true);
    // Into one that was shown, one that was not, and a new one on either side.
    for conv in ["p2p-1-2", "p2p-1-8", "p2p-1-10", "p2p-1-99"] {
        let peer = conv.rsplit('-').next().unwrap().parse().unwrap();
        say(&server.person(peer), conv, "again").await;
    }
    let mut seen: Vec<String> =
        convs(first["conversations"].as_array().unwrap()).iter().map(|&it| it.into()).collect();
    let mut cursor = first["cursor"].as_str().unwrap().to_owned();
    let mut pages = 1;
    loop {
        let next = page(&ana, Some(&cursor), 3).await;
        seen.extend(convs(next["conversations"].as_array().unwrap()).iter().map(|&it| it.to_owned()));
        cursor = next["cursor"].as_str().unwrap().to_owned();
        pages += 1;
        if next["has_more"] == false {
            break;
        }
    }
    assert_eq!(pages, 3);
    for peer in 2..=8 {
        assert_eq!(seen.iter().filter(|it| **it == format!("p2p-1-{peer}")).count(), 1, "{seen:?}");
    }
    let (_, missed) = sync(&ana, Some(&cursor)).await;
    let mut missed = convs(&missed);
    missed.sort_unstable();
    assert_eq!(missed, ["p2p-1-10", "p2p-1-2", "p2p-1-8", "p2p-1-99"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_cursor_comes_what_changed_and_nothing_else() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    for n in 0..4 {
        say(&ana, CHAT, &format!("message {n}")).await;
        say(&ana, "p2p-1-3", "idle").await;
    }
    let (cursor, _) = sync(&bo, None).await;
    let (cursor, nothing) = sync(&bo, Some(&cursor)).await;
    assert_eq!(nothing, [json!(null); 0]);
    recall(&ana, CHAT, 1).await;
    delete(&bo, CHAT, &[2, 3]).await;
    restore(&bo, CHAT, &[3]).await;
    let (after, entries) = sync(&bo, Some(&cursor)).await;
    assert_eq!(entries.len(), 1);
    let expected = changes(json!({"recalled": [1], "deleted": [2], "restored": [3]}));
    assert_eq!(entries[0]["changes"], expected);
    let mut conversation = bo.get(&format!("/v1/conversations/{CHAT}")).await.json;
    conversation["changes"] = expected.clone();
    assert_eq!(entries[0], conversation);
    assert_eq!(sync(&bo, Some(&cursor)).await.1, entries, "the same cursor again, the same answer");
    // A message alone; its sender has read up to it.
    say(&ana, CHAT, "new").await;
    let (after, entries) = sync(&bo, Some(&after)).await;
    assert_eq!((&entries[0]["max_seq"], &entries[0]["unread"]), (&json!(5), &json!(3)));
    let moved = json!([{"uid": 1, "read_seq": 5, "read_at": START}]);
    assert_eq!(entries[0]["changes"], changes(json!({"read_positions": moved})));
    assert_eq!(sync(&bo, Some(&after)).await.1, [json!(null); 0]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_does_on_one_device_the_others_hear_and_nobody_else() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    for _ in 0..4 {
        say(&ana, CHAT, "x").await;
    }
    let ((mut anas, _), (mut bos, _)) = (sync(&ana, None).await, sync(&bo, None).await);
    delete(&bo, CHAT, &[1]).await;
    clear(&bo, CHAT, 2).await;
    let entries;
    (bos, entries) = sync(&bo, Some(&bos)).await;
    assert_eq!(entries[0]["min_seq"], 3);
    assert_eq!(entries[0]["changes"], changes(json!({})), "below min_seq there is nothing");
    assert_eq!(sync(&ana, Some(&anas)).await.1, [json!(null); 0], "nobody's business");
    read(&bo, CHAT, 3).await;
    let (_, own) = sync(&bo, Some(&bos)).await;
    assert_eq!((&own[0]["read_seq"], &own[0]["changes"]), (&json!(3), &changes(json!({}))));
    let entries;
    (anas, entries) = sync(&ana, Some(&anas)).await;
    let read = json!([{"uid": 2, "read_seq": 3, "read_at": START}]);
    assert_eq!(entries[0]["changes"], changes(json!({"read_positions": read})));
    assert_eq!(entries[0]["peer_read_seq"], 3);
    // Recalled behind the clear-history watermark, and recalled where bo has deleted it.
    recall(&ana, CHAT, 1).await;
    delete(&bo, CHAT, &[4]).await;
    (bos, _) = sync(&bo, Some(&bos)).await;
    recall(&ana, CHAT, 4).await;
    assert_eq!(sync(&bo, Some(&bos)).await.1, [json!(null); 0]);
    restore(&bo, CHAT, &[4]).await;
    let (_, entries) = sync(&bo, Some(&bos)).await;
    assert_eq!(entries[0]["changes"], changes(json!({"recalled": [4], "restored": [4]})));
    let (_, entries) = sync(&ana, Some(&anas)).await;
    assert_eq!(entries[0]["changes"], changes(json!({"recalled": [1, 4]})));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_hiding_and_what_a_group_is_reach_the_other_devices() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    found(&ana, "team", &[2]).await;
    say(&ana, CHAT, "hi").await;
    let ((anas, _), (bos, _)) = (sync(&ana, None).await, sync(&bo, None).await);
    ok(bo.put(&format!("/v1/conversations/{CHAT}/settings"), json!({"pinned": true, "muted": false})).await);
    let (bos, entries) = sync(&bo, Some(&bos)).await;
    assert_eq!((&entries[0]["pinned"], &entries[0]["changes"]), (&json!(true), &changes(json!({}))));
    ok(bo.delete(&format!("/v1/conversations/{CHAT}")).await);
    let (bos, entries) = sync(&bo, Some(&bos)).await;
    assert_eq!((&entries[0]["hidden"], &entries[0]["min_seq"]), (&json!(true), &json!(2)));
    assert_eq!(convs(&sync(&bo, None).await.1), ["grp-team"], "not in the list");
    assert_eq!(sync(&ana, Some(&anas)).await.1, [json!(null); 0], "nobody's business");
    say(&ana, CHAT, "back").await;
    let (bos, entries) = sync(&bo, Some(&bos)).await;
    assert!(entries[0]["conv_id"] == CHAT && entries[0].get("hidden").is_none());
    ok(ana.put("/v1/groups/grp-team/members/2/role", json!({"role": "admin"})).await);
    let (bos, entries) = sync(&bo, Some(&bos)).await;
    let admin = &entries[0]["changes"]["members"][0];
    assert_eq!((&admin["uid"], &admin["role"]), (&json!(2), &json!("admin")));
    ok(ana.delete("/v1/groups/grp-team").await);
    let (_, entries) = sync(&bo, Some(&bos)).await;
    assert_eq!(convs(&entries), ["grp-team"], "dissolved, but not left");
    assert!(entries[0].get("left").is_none());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_left_hears_that_and_no_more() {
    let server = Server::start().await;
    let (ana, bo, cy) = (server.person(1), server.person(2), server.person(3));
    found(&ana, "team", &[2, 3]).await;
    found(&ana, "other", &[2]).await;
    let first = say(&ana, "grp-team", "hello").await;
    let ((anas, _), (bos, _), (cys, _)) =
        (sync(&ana, None).await, sync(&bo, None).await, sync(&cy, None).await);
    remove(&ana, "grp-team", 2).await;
    remove(&cy, "grp-team", 3).await;
    say(&ana, "grp-team", "without you").await;
    let left = json!({"conv_id": "grp-team", "left": true});
    let (bos, entries) = sync(&bo, Some(&bos)).await;
    assert_eq!(entries, std::slice::from_ref(&left));
    assert_eq!(sync(&bo, Some(&bos)).await.1, [json!(null); 0], "once");
    assert_eq!(convs(&sync(&bo, None).await.1), ["grp-other"], "a fresh device never knew it");
    let (_, entries) = sync(&ana, Some(&anas)).await;
    let gone = json!([{"uid": 2, "left": true}, {"uid": 3, "left": true}]);
    assert_eq!(entries[0]["changes"]["members"], gone);
    // Gone and back: what one may know now.
    add(&ana, "grp-team", &[3]).await;
    say(&ana, "grp-team", "welcome back").await;
    recall(&ana, "grp-team", first).await;
    let (cys, entries) = sync(&cy, Some(&cys)).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["conv_id"], "grp-team");
    assert!(entries[0]["min_seq"].as_u64().unwrap() > first);
    assert_eq!(entries[0]["changes"]["recalled"], json!([]), "from before the new join");
    let members = entries[0]["changes"]["members"].as_array().unwrap();
    assert_eq!(members[0], json!({"uid": 2, "left": true}));
    assert_eq!((&members[1]["uid"], &members[1]["role"]), (&json!(3), &json!("member")));
    assert_eq!(sync(&cy, Some(&cys)).await.1, [json!(null); 0]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_missed_comes_in_pages_too_departures_among_it() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    for name in ["a", "b", "c", "d", "e", "f"] {
        found(&ana, name, &[2]).await;
    }
    let (mut cursor, _) = sync(&bo, None).await;
    for conv in ["grp-b", "grp-c", "grp-e"] {
        remove(&ana, conv, 2).await;
    }
    for conv in ["grp-a", "grp-c", "grp-d", "grp-f"] {
        say(&ana, conv, "hi").await;
    }
    let mut seen = vec![];
    for (pages, has_more) in [(2, true), (2, true), (2, false)] {
        let page = page(&bo, Some(&cursor), 2).await;
        let entries = page["conversations"].as_array().unwrap();
        assert_eq!((entries.len(), &page["has_more"]), (pages, &json!(has_more)));
        seen.extend(entries.iter().map(|it| (it["conv_id"].clone(), it["left"] == true)));
        cursor = page["cursor"].as_str().unwrap().to_owned();
    }
    let expected = [("a", false), ("b", true), ("d", false), ("c", true), ("f", false), ("e", true)];
    assert_eq!(seen, expected.map(|(name, left)| (json!(format!("grp-{name}")), left)));
    assert_eq!(sync(&bo, Some(&cursor)).await.1, [json!(null); 0]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_groups_above_fifty_nobody_hears_how_far_others_have_read() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    found(&ana, "fifty", &(2..=50).collect::<Vec<_>>()).await;
    found(&ana, "large", &(2..=51).collect::<Vec<_>>()).await;
    let mut heads = vec![];
    for conv in ["grp-fifty", "grp-large"] {
        heads.push(say(&ana, conv, "hello").await);
    }
    let ((anas, _), (bos, _)) = (sync(&ana, None).await, sync(&bo, None).await);
    read(&bo, "grp-fifty", heads[0]).await;
    read(&bo, "grp-large", heads[1]).await;
    let (_, entries) = sync(&ana, Some(&anas)).await;
    assert_eq!(convs(&entries), ["grp-fifty"]);
    assert_eq!(entries[0]["changes"]["read_positions"][0]["uid"], 2);
    let (_, own) = sync(&bo, Some(&bos)).await;
    assert_eq!(convs(&own), ["grp-fifty", "grp-large"], "one's own position always");
    assert!(own.iter().all(|entry| entry["read_seq"] == entry["max_seq"]));
    // It shrinks: what was not told before is told now.
    let (anas, _) = sync(&ana, Some(&anas)).await;
    remove(&ana, "grp-large", 51).await;
    let (_, entries) = sync(&ana, Some(&anas)).await;
    let positions = entries[0]["changes"]["read_positions"].as_array().unwrap();
    assert!(positions.iter().any(|it| it["uid"] == 2 && it["read_seq"] == heads[1]), "{positions:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_bounded_and_say_so() {
    let server = Server::start().await;
    let log = tests::log::postgres_log(&server.database.config).await;
    let (_, handler) = tests::log::node(log);
    let sends: Vec<_> =
        (1..=501).map(|n| handler.handle(tests::log::chat(1, 2), tests::log::send(1, n))).collect();
    for sent in futures_util::future::join_all(sends).await {
        sent.unwrap();
    }
    let bo = server.person(uid(2).get());
    let (cursor, _) = sync(&bo, None).await;
    delete(&bo, CHAT, &(1..=500).collect::<Vec<_>>()).await;
    let (_, entries) = sync(&bo, Some(&cursor)).await;
    assert_eq!(entries[0]["changes"]["deleted"].as_array().unwrap().len(), 500);
    assert!(entries[0]["changes"].get("truncated").is_none());
    delete(&bo, CHAT, &[501]).await;
    let (_, entries) = sync(&bo, Some(&cursor)).await;
    assert_eq!(entries[0]["changes"]["deleted"].as_array().unwrap().len(), 500);
    assert_eq!(entries[0]["changes"]["truncated"], true);
    server.stop().await;
}
