//! Each state of an item and each kind of conversation, byte for byte where it matters.

use domain::{ClientMsgId, Content, MsgId, MsgType, Settings};
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;

fn uid(n: u64) -> Uid {
    Uid::new(n).unwrap()
}

fn fact(content: Content) -> Fact {
    Fact {
        seq: Seq::new(5),
        msg_id: MsgId::new(251_376_382_771_220_487),
        sender: Sender::Person(uid(1001)),
        content,
        flags: Flags::AT_ALL,
        mentions: vec![uid(7), uid(9)],
        reply_to: Some(Seq::new(2)),
        client_msg_id: ClientMsgId::new(Uuid::from_u128(1)),
        create_at: 1_764_000_000_000,
    }
}

fn text(text: &str) -> Content {
    Content::text(text, 1000).unwrap()
}

fn quote() -> Quote {
    let (sender, msg_type) = (Some(Sender::System), Some(MsgType::System));
    Quote { seq: Seq::new(2), sender, msg_type, excerpt: String::new(), state: QuoteState::Recalled }
}

fn json_of(state: ItemState, quote: Option<Quote>) -> Value {
    serde_json::to_value(ItemAnswer::from(Item { seq: Seq::new(5), state, quote })).unwrap()
}

#[test]
fn a_normal_message_shows_everything() {
    assert_eq!(
        json_of(ItemState::Normal(fact(text("hi"))), Some(quote())),
        json!({
            "state": "normal", "seq": 5, "msg_id": "251376382771220487", "sender_id": 1001, "msg_type": 1,
            "content": "hi", "flags": 2, "create_at": 1_764_000_000_000_i64,
            "client_msg_id": "00000000-0000-0000-0000-000000000001", "mentions": [7, 9],
            "reply_to": {"seq": 2, "sender_id": 0, "msg_type": 10, "excerpt": "", "state": "recalled"},
        })
    );
}

#[test]
fn a_recalled_message_keeps_its_header_and_says_nothing() {
    let recall = Recall { by: uid(1), at: 7 };
    let shown = json_of(ItemState::Recalled(fact(text("secret")), recall), None);
    assert_eq!(
        shown,
        json!({
            "state": "recalled", "seq": 5, "msg_id": "251376382771220487", "sender_id": 1001, "msg_type": 1,
            "content": "", "flags": 3, "create_at": 1_764_000_000_000_i64,
            "client_msg_id": "00000000-0000-0000-0000-000000000001", "mentions": [],
            "reply_to": null, "recalled": {"by": 1, "at": 7},
        })
    );
    let card = Content::from_log(MsgType::Card, r#"{"secret":1}"#.into());
    assert_eq!(json_of(ItemState::Recalled(fact(card), recall), None)["content"], json!({}));
}

#[test]
fn what_is_deleted_or_expired_shows_its_number_only() {
    assert_eq!(json_of(ItemState::Deleted, None), json!({"state": "deleted", "seq": 5}));
    assert_eq!(json_of(ItemState::Expired, None), json!({"state": "expired", "seq": 5}));
}

#[test]
fn content_is_sent_as_it_stands() {
    let stored = r#"{"b":1.50,"a":"é"}"#;
    let item = ItemState::Normal(fact(Content::from_log(MsgType::Card, stored.into())));
    let sent = serde_json::to_string(&ItemAnswer::from(Item { seq: Seq::new(5), state: item, quote: None }))
        .unwrap();
    assert!(sent.contains(&format!("\"content\":{stored}")), "{sent}");
}

fn summary(conv: &str) -> Summary {
    Summary {
        conv: ConvId::parse(conv).unwrap(),
        name: None,
        max_seq: Seq::ZERO,
        min_seq: Seq::new(1),
        read_seq: Seq::ZERO,
        peer_read_seq: None,
        unread: 0,
        mention_seq: None,
        last_message: None,
        updated_at: 0,
        settings: Settings { pinned: true, muted: false },
    }
}

#[test]
fn a_single_chat_names_the_peer_and_a_group_its_name() {
    let single = Summary { peer_read_seq: Some(Seq::ZERO), ..summary("p2p-1-2") };
    assert_eq!(
        serde_json::to_value(ConversationAnswer::new(single, uid(2))).unwrap(),
        json!({
            "conv_id": "p2p-1-2", "kind": "single", "peer_uid": 1, "max_seq": 0, "min_seq": 1, "read_seq": 0,
            "peer_read_seq": 0, "unread": 0, "mention_seq": null, "last_message": null, "updated_at": 0,
            "pinned": true, "muted": false,
        })
    );
    let group = Summary { name: Some("Team".into()), ..summary("grp-team") };
    let group = serde_json::to_value(ConversationAnswer::new(group, uid(2))).unwrap();
    assert_eq!((&group["kind"], &group["name"]), (&json!("group"), &json!("Team")));
    assert!(group.get("peer_uid").is_none() && group.get("peer_read_seq").is_none());
}
