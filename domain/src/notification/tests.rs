//! What may be told and read, and what a repeat gets.

use serde_json::json;

use super::*;

fn uid(n: u64) -> Uid {
    Uid::new(n).unwrap()
}

fn told(text: &str) -> Notification {
    let content = NotificationContent::parse(&json!(text), 100).unwrap();
    Notification { to: Recipients::All, category: Category::parse("news").unwrap(), content }
}

const KEY: Uuid = Uuid::from_u128(3);

fn post(text: &str) -> NotificationCommand {
    NotificationCommand::Post { notification: told(text), by: uid(1), at: 5, key: KEY }
}

fn read(read_id: u64) -> NotificationCommand {
    NotificationCommand::Read { uid: uid(7), read_id: NotificationId::new(read_id), at: 9 }
}

fn at(head: u64, read_id: u64) -> Notifications {
    let (head, read_id) = (NotificationId::new(head), NotificationId::new(read_id));
    Notifications { head, earlier: None, read_id }
}

#[test]
fn a_notification_takes_the_next_id() {
    let (fact, reply) = at(41, 0).decide(&post("hi")).unwrap();
    let id = NotificationId::new(42);
    assert_eq!(reply, NotificationReply::Posted { id, at: 5, duplicate: false });
    let sent = NotificationEvent::Sent { notification: told("hi"), by: uid(1), at: 5 };
    assert_eq!(fact, Some((EventId::notified(uid(1), KEY), sent)));
}

#[test]
fn a_repeat_gets_its_first_answer_and_another_payload_is_a_conflict() {
    let id = NotificationId::new(2);
    let first = Posted { id, at: 5, notification: Some(told("hi")), duplicate: true };
    let known = |earlier| Notifications { earlier: Some(earlier), ..at(9, 0) };
    let again = NotificationReply::Posted { id, at: 5, duplicate: true };
    assert_eq!(known(first.clone()).decide(&post("hi")), Ok((None, again)));
    assert_eq!(known(first.clone()).decide(&post("other")), Err(Rejection::IdempotencyConflict));
    let erased = Posted { notification: None, ..first.clone() };
    assert_eq!(known(erased).decide(&post("other")), Ok((None, again)));
    let lost = Posted { duplicate: false, ..first };
    let first_answer = NotificationReply::Posted { id, at: 5, duplicate: false };
    assert_eq!(known(lost).decide(&post("hi")), Ok((None, first_answer)));
}

#[test]
fn the_watermark_only_rises_and_never_beyond_the_head() {
    let (fact, reply) = at(9, 3).decide(&read(5)).unwrap();
    assert_eq!(reply, NotificationReply::Read(NotificationId::new(5)));
    assert!(fact.is_some());
    for lower in [0, 2, 3] {
        let stands = NotificationReply::Read(NotificationId::new(3));
        assert_eq!(at(9, 3).decide(&read(lower)), Ok((None, stands)));
    }
    let head = NotificationId::new(9);
    assert_eq!(at(9, 3).decide(&read(10)), Err(Rejection::NotificationBeyondHead { head }));
}

#[test]
fn recipients_are_a_set_of_bounded_size() {
    let people = Recipients::people(vec![uid(3), uid(1), uid(3)]).unwrap();
    assert_eq!(people, Recipients::People(vec![uid(1), uid(3)]));
    assert!(people.include(uid(3)) && !people.include(uid(2)) && Recipients::All.include(uid(2)));
    assert!(Recipients::people(vec![]).is_err());
    let many = |n| (1..=n).map(uid).collect::<Vec<_>>();
    assert!(Recipients::people(many(Recipients::PEOPLE_MAX as u64)).is_ok());
    assert!(Recipients::people(many(Recipients::PEOPLE_MAX as u64 + 1)).is_err());
}

#[test]
fn a_content_is_a_string_or_an_object_of_bounded_size_without_nul() {
    let parse = |value: Value| NotificationContent::parse(&value, 20);
    assert_eq!(parse(json!("a \u{7fa4}")).unwrap().json(), "\"a \u{7fa4}\"");
    assert_eq!(parse(json!({"a": [1]})).unwrap().json(), r#"{"a":[1]}"#);
    for odd in [json!(null), json!(1), json!([]), json!(true), json!(""), json!({})] {
        assert_eq!(parse(odd), Err(NotificationError::Shape));
    }
    assert!(parse(json!("x".repeat(20))).is_ok());
    assert_eq!(parse(json!("x".repeat(21))), Err(NotificationError::TooLarge { bytes: 21, limit: 20 }));
    for nul in [json!("a\0"), json!({"a\0": 1}), json!({"a": ["\0"]})] {
        assert_eq!(parse(nul), Err(NotificationError::Nul));
    }
}

#[test]
fn a_category_is_a_short_plain_name() {
    for good in ["a", "order.shipped", "x-1_2", &"a".repeat(64)] {
        assert_eq!(Category::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", "A", "a b", "\u{7fa4}", &"a".repeat(65)] {
        assert_eq!(Category::parse(bad), Err(NotificationError::Category));
    }
}
