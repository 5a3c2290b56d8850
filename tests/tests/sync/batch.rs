//! Ranges of many histories in one request.

use event_store::CommandHandler;
use serde_json::{Value, json};
use tests::log::{chat, node, postgres_log, say as saying};
use tests::server::{Person, Server};

use crate::said::{found, ok, recall, remove, say};

async fn batch(person: &Person<'_>, ranges: Value) -> Value {
    ok(person.post("/v1/messages/batch", json!({"ranges": ranges})).await)["pages"].clone()
}

/// Sends quickly, past REST.
async fn fill(handler: &CommandHandler, peer: u64, count: u64, text: &str) {
    let sends = (1..=count).map(|n| handler.handle(chat(1, peer), saying(peer, n, text)));
    for sent in futures_util::future::join_all(sends).await {
        sent.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_is_a_page_of_the_history() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    for conv in ["p2p-1-2", "p2p-1-3"] {
        for n in 1..=120 {
            say(&ana, conv, &format!("message {n}")).await;
        }
    }
    recall(&ana, "p2p-1-2", 7).await;
    let mut reply = crate::said::text("a reply");
    reply["reply_to"] = json!(110);
    ok(bo.post("/v1/conversations/p2p-1-2/messages", reply).await);
    let ranges = [
        ("p2p-1-2", "after_seq=5&before_seq=9"),
        ("p2p-1-2", "after_seq=100"),
        ("p2p-1-3", "before_seq=20"),
        ("p2p-1-3", ""),
        ("p2p-1-3", "after_seq=120"),
        ("p2p-1-4", ""),
    ];
    let asked = ranges.map(|(conv, bounds)| {
        let mut range = json!({"conv_id": conv.to_uppercase()});
        for bound in bounds.split('&').filter(|bound| !bound.is_empty()) {
            let (name, seq) = bound.split_once('=').unwrap();
            range[name] = json!(seq.parse::<u64>().unwrap());
        }
        range
    });
    let pages = batch(&ana, json!(asked)).await;
    for ((conv, bounds), page) in ranges.iter().zip(pages.as_array().unwrap()) {
        let alone = ana.get(&format!("/v1/conversations/{conv}/messages?limit=200&{bounds}")).await.json;
        assert_eq!(*page, alone, "{conv} {bounds}");
    }
    assert_eq!(pages.as_array().unwrap().len(), ranges.len());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_range_that_fails_does_not_hinder_the_others() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    found(&ana, "team", &[2]).await;
    say(&ana, "p2p-1-2", "hi").await;
    remove(&ana, "grp-team", 2).await;
    let ranges = json!([
        {"conv_id": "grp-team", "after_seq": 0}, {"conv_id": "p2p-1-2", "after_seq": 0},
        {"conv_id": "p2p-1-3"}, {"conv_id": "grp-nowhere"},
    ]);
    let pages = batch(&bo, ranges).await;
    for (place, conv) in [(0, "grp-team"), (2, "p2p-1-3"), (3, "grp-nowhere")] {
        assert_eq!(pages[place]["conv_id"], conv);
        let error = &pages[place]["error"];
        assert_eq!((&error["status"], &error["code"]), (&json!(403), &json!("not_a_member")));
    }
    assert_eq!(pages[1]["items"][0]["content"], "hi");
    let refused = [
        (json!({"ranges": []}), (422, "invalid_count")),
        (json!({"ranges": vec![json!({"conv_id": "p2p-1-2"}); 101]}), (422, "invalid_count")),
        (json!({"ranges": [{"conv_id": "x"}]}), (400, "invalid_conv_id")),
        (json!({"ranges": [{"conv_id": "p2p-1-2", "after": 1}]}), (422, "invalid_body")),
        (json!({"ranges": [{"conv_id": "p2p-1-2", "after_seq": -1}]}), (422, "invalid_body")),
        (json!({}), (422, "invalid_body")),
    ];
    for (body, problem) in refused {
        assert_eq!(bo.post("/v1/messages/batch", body).await.problem(), problem);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_bounded_in_items_and_bytes_and_says_what_did_not_fit() {
    let server = Server::start().await;
    let (_, handler) = node(postgres_log(&server.database.config).await);
    for peer in 2..=8 {
        fill(&handler, peer, 200, "small").await;
    }
    fill(&handler, 9, 100, &"x".repeat(60_000)).await;
    let ana = server.person(1);
    let counts = |pages: &Value| -> Vec<(usize, bool)> {
        let count =
            |page: &Value| (page["items"].as_array().unwrap().len(), page["has_more"].as_bool().unwrap());
        pages.as_array().unwrap().iter().map(count).collect()
    };
    let all: Vec<_> =
        (2..=8).map(|peer| json!({"conv_id": format!("p2p-1-{peer}"), "after_seq": 0})).collect();
    let full = (200, false);
    assert_eq!(counts(&batch(&ana, json!(all)).await), [full, full, full, full, full, (0, true), (0, true)]);
    // Upwards the lower end is given, downwards the upper one; what comes after waits its turn.
    for (range, first_seq) in
        [(json!({"conv_id": "p2p-1-9", "after_seq": 10}), 11), (json!({"conv_id": "p2p-1-9"}), 32)]
    {
        let pages = batch(&ana, json!([range, all[0]])).await;
        let (count, has_more) = counts(&pages)[0];
        assert_eq!((count, has_more), (69, true), "four mebibytes of sixty thousand each");
        assert_eq!(pages[0]["items"][0]["seq"], first_seq);
        assert_eq!(counts(&pages)[1], (0, true));
    }
    server.stop().await;
}
