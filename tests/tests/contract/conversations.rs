//! A conversation as one person sees it: its fields, what is unread, the last message, the first mention.

use serde_json::{Value, json};
use tests::log::START;
use tests::server::{Person, Server};

use crate::{found, ok, say, text, with};

const CHAT: &str = "p2p-1-2";
const GROUP: &str = "grp-team";

async fn shown(person: &Person<'_>, conv: &str) -> Value {
    ok(person.get(&format!("/v1/conversations/{conv}")).await)
}

async fn recall(person: &Person<'_>, conv: &str, seq: u64) {
    ok(person.post(&format!("/v1/conversations/{conv}/messages/{seq}/recall"), json!({})).await);
}

async fn delete(person: &Person<'_>, conv: &str, seqs: &[u64]) {
    ok(person.post(&format!("/v1/conversations/{conv}/messages/delete"), json!({"seqs": seqs})).await);
}

async fn restore(person: &Person<'_>, conv: &str, seqs: &[u64]) {
    ok(person.post(&format!("/v1/conversations/{conv}/messages/restore"), json!({"seqs": seqs})).await);
}

async fn clear(person: &Person<'_>, conv: &str, up_to_seq: u64) {
    ok(person.post(&format!("/v1/conversations/{conv}/clear"), json!({"up_to_seq": up_to_seq})).await);
}

async fn read(person: &Person<'_>, conv: &str, read_seq: u64) {
    ok(person.put(&format!("/v1/conversations/{conv}/read"), json!({"read_seq": read_seq})).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_has_these_fields_and_no_others() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    let unused = json!({
        "conv_id": CHAT, "kind": "single", "peer_uid": 2, "max_seq": 0, "min_seq": 1, "read_seq": 0,
        "peer_read_seq": 0, "unread": 0, "mention_seq": null, "last_message": null, "updated_at": 0,
        "pinned": false, "muted": false,
    });
    assert_eq!(shown(&ana, "P2P-2-1").await, unused);
    server.clock.put(START + 5);
    say(&ana, CHAT, with("mentions", json!([2]))).await;
    let item = ok(bo.get(&format!("/v1/conversations/{CHAT}/messages")).await)["items"][0].clone();
    let used = json!({
        "conv_id": CHAT, "kind": "single", "peer_uid": 1, "max_seq": 1, "min_seq": 1, "read_seq": 0,
        "peer_read_seq": 1, "unread": 1, "mention_seq": 1, "last_message": item, "updated_at": START + 5,
        "pinned": false, "muted": false,
    });
    assert_eq!(shown(&bo, CHAT).await, used);
    say(&ana, "p2p-1-1", text("a note")).await;
    let notes = shown(&ana, "p2p-1-1").await;
    assert_eq!(
        (&notes["kind"], &notes["peer_uid"], &notes["unread"]),
        (&json!("single"), &json!(1), &json!(0))
    );
    found(&server, &[2]).await;
    let item = ok(bo.get(&format!("/v1/conversations/{GROUP}/messages")).await)["items"][0].clone();
    let group = json!({
        "conv_id": GROUP, "kind": "group", "name": "Team", "max_seq": 1, "min_seq": 1, "read_seq": 1,
        "unread": 0, "mention_seq": null, "last_message": item, "updated_at": START + 5,
        "pinned": false, "muted": false,
    });
    assert_eq!(shown(&bo, GROUP).await, group);
    // The list shows the same, the newest first; of one moment, the order is anything, but always the same.
    let list = ok(bo.get("/v1/conversations").await)["conversations"].clone();
    assert_eq!(list.as_array().unwrap().len(), 2);
    for conversation in [used, group] {
        assert!(list.as_array().unwrap().contains(&conversation), "{list}");
    }
    for (peer, conv) in [(2, CHAT), (1, "p2p-1-1"), (9, "p2p-1-9")] {
        assert_eq!(ok(ana.get(&format!("/v1/conversations/with/{peer}")).await), json!({"conv_id": conv}));
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_is_what_others_sent_and_one_may_see() {
    let server = Server::start().await;
    let (ana, bo, cy) = (server.person(1), server.person(2), server.person(3));
    found(&server, &[2, 3]).await;
    let unread = async |person: &Person<'_>| shown(person, GROUP).await["unread"].as_u64().unwrap();
    for n in 2..=7 {
        assert_eq!(say(&ana, GROUP, text("x")).await, n);
    }
    // Ana's own are none of hers; the founding, which the system told, is nobody's.
    assert_eq!((unread(&ana).await, unread(&bo).await, unread(&cy).await), (0, 6, 6));
    recall(&ana, GROUP, 2).await;
    assert_eq!((unread(&bo).await, unread(&cy).await), (5, 5), "recalled");
    delete(&bo, GROUP, &[1, 2, 3]).await;
    assert_eq!((unread(&bo).await, unread(&cy).await), (4, 5), "each is left out once, for bo alone");
    restore(&bo, GROUP, &[2, 3]).await;
    assert_eq!(unread(&bo).await, 5);
    ok(ana.post("/v1/groups/grp-team/members", json!({"uids": [4]})).await);
    assert_eq!((unread(&bo).await, unread(&cy).await), (5, 5), "of the system");
    assert_eq!(unread(&server.person(4)).await, 0, "who comes in has read all");
    clear(&bo, GROUP, 4).await;
    assert_eq!((unread(&bo).await, unread(&cy).await), (3, 5), "below min_seq");
    read(&cy, GROUP, 5).await;
    assert_eq!((unread(&bo).await, unread(&cy).await), (3, 2), "read, by cy alone");
    recall(&ana, GROUP, 3).await;
    assert_eq!(
        (unread(&bo).await, unread(&cy).await),
        (3, 2),
        "recalled where it was read or cleared already"
    );
    assert_eq!(say(&bo, GROUP, text("mine")).await, 9);
    assert_eq!((unread(&ana).await, unread(&bo).await, unread(&cy).await), (1, 0, 3), "who sends has read");
    recall(&bo, GROUP, 9).await;
    assert_eq!((unread(&ana).await, unread(&bo).await, unread(&cy).await), (0, 0, 2));
    for person in [&ana, &bo, &cy] {
        let listed = ok(person.get("/v1/conversations").await)["conversations"][0]["unread"].clone();
        assert_eq!(listed, unread(person).await, "the list counts alike");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_message_is_the_newest_normal_or_recalled_one_that_one_may_see() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    for content in ["one", "two", "a secret"] {
        say(&ana, CHAT, text(content)).await;
    }
    let last = async |person: &Person<'_>| {
        let last = shown(person, CHAT).await["last_message"].clone();
        (last["seq"].clone(), last["state"].clone(), last["content"].clone())
    };
    assert_eq!(last(&bo).await, (json!(3), json!("normal"), json!("a secret")));
    recall(&ana, CHAT, 3).await;
    assert_eq!(last(&bo).await, (json!(3), json!("recalled"), json!("")));
    delete(&bo, CHAT, &[3]).await;
    assert_eq!(last(&bo).await, (json!(2), json!("normal"), json!("two")));
    delete(&bo, CHAT, &[1, 2]).await;
    assert_eq!(last(&bo).await, (Value::Null, Value::Null, Value::Null));
    restore(&bo, CHAT, &[1]).await;
    assert_eq!(last(&bo).await, (json!(1), json!("normal"), json!("one")));
    clear(&bo, CHAT, 1).await;
    assert_eq!(last(&bo).await, (Value::Null, Value::Null, Value::Null), "what is left is deleted");
    assert_eq!(last(&ana).await, (json!(3), json!("recalled"), json!("")), "nobody else's view changes");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_unread_mention_names_one_or_everybody() {
    let server = Server::start().await;
    let (ana, bo, cy) = (server.person(1), server.person(2), server.person(3));
    found(&server, &[2, 3]).await;
    let first = async |person: &Person<'_>| shown(person, GROUP).await["mention_seq"].clone();
    say(&ana, GROUP, text("to nobody")).await;
    assert_eq!(
        (first(&ana).await, first(&bo).await, first(&cy).await),
        (json!(null), json!(null), json!(null))
    );
    assert_eq!(say(&ana, GROUP, with("mentions", json!([2]))).await, 3);
    assert_eq!(say(&ana, GROUP, with("at_all", json!(true))).await, 4);
    assert_eq!(say(&ana, GROUP, with("mentions", json!([1, 2, 3]))).await, 5);
    assert_eq!(say(&ana, GROUP, with("mentions", json!([3, 9]))).await, 6);
    assert_eq!((first(&ana).await, first(&bo).await, first(&cy).await), (json!(null), json!(3), json!(4)));
    recall(&ana, GROUP, 3).await;
    delete(&cy, GROUP, &[4]).await;
    assert_eq!((first(&bo).await, first(&cy).await), (json!(4), json!(5)));
    read(&bo, GROUP, 4).await;
    clear(&cy, GROUP, 5).await;
    assert_eq!((first(&bo).await, first(&cy).await), (json!(5), json!(6)));
    read(&bo, GROUP, 5).await;
    read(&cy, GROUP, 6).await;
    assert_eq!((first(&bo).await, first(&cy).await), (json!(null), json!(null)));
    server.stop().await;
}
