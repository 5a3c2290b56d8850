//! Each thing that the book notices, once where it is so and once where it is not.

use serde_json::json;

use super::*;
use crate::population::{
    plan::Planned,
    reckoning::{check, check_book},
    replica::Replica,
};

const GROUP: &str = "grp-a";
const CHAT: &str = "p2p-1-2";

/// A book of a chat of 1 and 2, and a group of 1, 2 and 3 that was founded.
struct Book {
    ledger: Ledger,
    faults: Arc<Faults>,
}

fn item(seq: u64, sender: u64, state: &str, content: Value) -> Item {
    let msg_type = if sender == 0 { 10 } else { 1 };
    let id = Uuid::from_u128(u128::from(seq));
    serde_json::from_value(json!({
        "seq": seq, "state": state, "msg_id": seq.to_string(), "sender_id": sender, "msg_type": msg_type,
        "content": content, "flags": 0, "create_at": 1, "client_msg_id": id, "mentions": [], "reply_to": null,
    }))
    .unwrap()
}

fn text(seq: u64, sender: u64) -> Item {
    item(seq, sender, "normal", json!(format!("{seq}")))
}

fn notice(seq: u64, event: &str, uid: u64) -> Item {
    item(seq, 0, "normal", json!({"event": event, "by": 1, "uids": [uid], "count": 1}))
}

impl Book {
    fn new() -> Self {
        let planned = |conv: &str, members: &[u64], kind| Planned {
            conv: conv.into(),
            members: members.to_vec(),
            kind,
            churns: false,
        };
        let group = plan::Kind::Group { shows_all: false };
        let conversations =
            vec![planned(CHAT, &[1, 2], plan::Kind::Single), planned(GROUP, &[1, 2, 3], group)];
        let plan = Plan { people: vec![1, 2, 3, 4], conversations };
        let faults = Arc::new(Faults::default());
        Self { ledger: Ledger::new(&plan, Arc::clone(&faults)), faults }
    }

    /// Somebody says what [`text`] tells.
    fn say(&self, conv: &str, seq: u64, sender: u64) -> Uuid {
        let (id, digest) = (Uuid::from_u128(u128::from(seq)), Fact::of(&text(seq, sender)).unwrap().digest);
        self.ledger.say(conv, sender, id, digest.unwrap());
        id
    }

    /// And it is acknowledged.
    fn said(&self, conv: &str, seq: u64, sender: u64) {
        let id = self.say(conv, seq, sender);
        let sent = Sent { seq, msg_id: seq.to_string(), create_at: 1, duplicate: false };
        self.ledger.acknowledged(conv, sender, id, &sent);
    }

    /// A question that starts now is answered with this.
    fn tell(&self, conv: &str, viewer: u64, item: &Item) {
        let asked = self.ledger.tick();
        self.ledger.told(conv, viewer, item, asked);
    }

    fn kinds(&self) -> Vec<Kind> {
        self.faults.noted().into_keys().collect()
    }
}

#[test]
fn what_was_said_and_told_alike_is_well() {
    let book = Book::new();
    book.said(CHAT, 1, 1);
    book.tell(CHAT, 1, &text(1, 1));
    book.tell(CHAT, 2, &text(1, 1));
    assert_eq!(book.kinds(), []);
}

#[test]
fn what_nobody_said_or_what_is_told_otherwise_is_a_contradiction() {
    let unsaid = Book::new();
    unsaid.tell(CHAT, 2, &text(1, 1));
    assert_eq!(unsaid.kinds(), [Kind::Contradiction]);
    let changed = Book::new();
    changed.said(CHAT, 1, 1);
    changed.tell(CHAT, 2, &item(1, 1, "normal", json!("something else")));
    assert_eq!(changed.kinds(), [Kind::Contradiction]);
    let moved = Book::new();
    moved.said(CHAT, 2, 1);
    let mut elsewhere = text(2, 1);
    elsewhere.seq = 3;
    moved.tell(CHAT, 2, &elsewhere);
    assert_eq!(moved.kinds(), [Kind::Contradiction], "acknowledged at 2 and told at 3");
}

#[test]
fn one_message_at_two_seqs_and_two_answers_are_duplicates() {
    let twice = Book::new();
    let id = twice.say(CHAT, 1, 1);
    twice.tell(CHAT, 1, &text(1, 1));
    let mut again = text(1, 1);
    again.seq = 2;
    twice.tell(CHAT, 1, &again);
    assert_eq!(twice.kinds(), [Kind::Duplicate]);
    let answers = Book::new();
    answers.said(CHAT, 1, 1);
    let other = Sent { seq: 2, msg_id: "2".into(), create_at: 1, duplicate: true };
    answers.ledger.acknowledged(CHAT, 1, id, &other);
    assert_eq!(answers.kinds(), [Kind::Duplicate]);
}

#[test]
fn a_recalled_body_is_forbidden_to_who_asks_after_the_recall() {
    let book = Book::new();
    book.said(CHAT, 1, 1);
    let before = book.ledger.tick();
    book.ledger.recalled(CHAT, 1);
    book.ledger.told(CHAT, 2, &text(1, 1), before);
    book.tell(CHAT, 2, &item(1, 1, "recalled", json!("")));
    assert_eq!(book.kinds(), [], "who asked before may have it; afterwards it is blank");
    book.tell(CHAT, 2, &text(1, 1));
    assert_eq!(book.kinds(), [Kind::Forbidden]);
    let blank = Book::new();
    blank.said(CHAT, 1, 1);
    blank.tell(CHAT, 2, &item(1, 1, "recalled", json!("still here")));
    assert_eq!(blank.kinds(), [Kind::Forbidden]);
}

#[test]
fn a_quote_of_a_recalled_message_is_blank() {
    let book = Book::new();
    book.said(CHAT, 1, 1);
    book.ledger.recalled(CHAT, 1);
    let mut quoting = text(2, 2);
    let quote = |excerpt: &str| serde_json::from_value(json!({"seq": 1, "excerpt": excerpt})).unwrap();
    quoting.reply_to = quote("");
    book.ledger.say(CHAT, 2, quoting.client_msg_id.unwrap(), Fact::of(&quoting).unwrap().digest.unwrap());
    book.tell(CHAT, 1, &quoting);
    assert_eq!(book.kinds(), []);
    quoting.reply_to = quote("1");
    book.tell(CHAT, 1, &quoting);
    assert_eq!(book.kinds(), [Kind::Forbidden]);
}

#[test]
fn a_deleted_message_is_forbidden_to_who_deleted_it_only() {
    let book = Book::new();
    book.said(CHAT, 1, 1);
    book.ledger.deleted(CHAT, 2, 1);
    book.tell(CHAT, 1, &text(1, 1));
    assert_eq!(book.kinds(), []);
    book.tell(CHAT, 2, &text(1, 1));
    assert_eq!(book.kinds(), [Kind::Forbidden]);
}

#[test]
fn who_is_out_is_told_nothing_of_what_they_ask_afterwards() {
    let book = Book::new();
    let before = book.ledger.tick();
    book.ledger.moving(GROUP, 3);
    book.ledger.heard_of(GROUP, 3, book.ledger.tick(), "a push");
    book.ledger.moved(GROUP, 3, false);
    book.ledger.heard_of(GROUP, 3, before, "a push");
    assert_eq!(book.kinds(), [], "while it is under way both may be");
    book.ledger.heard_of(GROUP, 3, book.ledger.tick(), "a push");
    assert_eq!(book.kinds(), [Kind::Forbidden]);
}

#[test]
fn a_member_is_not_refused_and_what_was_refused_is_not_there() {
    let refused = Book::new();
    let id = refused.say(GROUP, 2, 3);
    refused.ledger.moving(GROUP, 3);
    refused.ledger.moved(GROUP, 3, false);
    refused.ledger.refused(GROUP, 3, id);
    assert_eq!(refused.kinds(), []);
    refused.tell(GROUP, 1, &text(2, 3));
    assert_eq!(refused.kinds(), [Kind::Contradiction]);
    let member = Book::new();
    let id = member.say(GROUP, 2, 3);
    member.ledger.refused(GROUP, 3, id);
    assert_eq!(member.kinds(), [Kind::Answer]);
}

/// A replica with the group's numbers and these messages.
fn replica(uid: u64, min_seq: u64, read_seq: u64, items: &[Item]) -> Replica {
    let mut replica = Replica::new(uid);
    let max_seq = items.last().map_or(0, |item| item.seq);
    let numbers =
        json!({"conv_id": GROUP, "max_seq": max_seq, "min_seq": min_seq, "read_seq": read_seq, "unread": 0});
    replica.take_numbers(&serde_json::from_value(numbers).unwrap());
    items.iter().for_each(|item| replica.take_item(GROUP, item));
    replica
}

/// The group after 4 came in at 3, with one message before and one after.
fn grown() -> (Book, Vec<Item>) {
    let book = Book::new();
    book.said(GROUP, 2, 1);
    book.said(GROUP, 4, 1);
    book.ledger.moving(GROUP, 4);
    book.ledger.moved(GROUP, 4, true);
    let founded = item(1, 0, "normal", json!({"event": "founded", "by": 1, "uids": [2, 3], "count": 2}));
    let items = vec![founded, text(2, 1), notice(3, "joined", 4), text(4, 1)];
    items.iter().for_each(|item| book.tell(GROUP, 1, item));
    (book, items)
}

/// The kinds of fault that a replica of the group has at the end.
fn reckoned(book: &Book, replica: &Replica) -> Vec<Kind> {
    check_book(&book.ledger, &book.faults);
    check(&book.ledger, &book.faults, "a device", replica);
    book.kinds()
}

#[test]
fn a_device_that_shows_what_was_promised_is_well() {
    let (book, items) = grown();
    assert_eq!(reckoned(&book, &replica(2, 1, 1, &items)), []);
    assert_eq!(reckoned(&book, &replica(4, 3, 3, &items[2..])), []);
}

#[test]
fn a_message_that_is_missing_on_one_device_or_everywhere_is_a_loss() {
    let (book, items) = grown();
    assert!(reckoned(&book, &replica(2, 1, 1, &[&items[..1], &items[2..]].concat())).contains(&Kind::Loss));
    let (book, items) = grown();
    book.said(GROUP, 5, 1);
    assert_eq!(reckoned(&book, &replica(2, 1, 1, &items)), [Kind::Loss]);
}

#[test]
fn a_message_from_before_one_came_in_is_forbidden() {
    let (book, items) = grown();
    let mut told = replica(4, 3, 3, &items[2..]);
    told.told.entry(GROUP.into()).or_default().insert(2);
    assert_eq!(reckoned(&book, &told), [Kind::Forbidden]);
}

#[test]
fn a_read_position_that_nobody_reported_makes_the_counts_differ() {
    let (book, items) = grown();
    assert_eq!(reckoned(&book, &replica(2, 1, 4, &items)), [Kind::Count]);
}

#[test]
fn a_recall_that_a_device_has_not_heard_of_is_forbidden() {
    let (book, items) = grown();
    book.ledger.recalled(GROUP, 4);
    assert!(reckoned(&book, &replica(2, 1, 1, &items)).contains(&Kind::Forbidden));
}

#[test]
fn a_group_that_is_shown_to_who_is_out_is_forbidden() {
    let (book, items) = grown();
    book.ledger.moving(GROUP, 2);
    book.ledger.moved(GROUP, 2, false);
    assert_eq!(reckoned(&book, &replica(2, 1, 1, &items)), [Kind::Forbidden]);
}
