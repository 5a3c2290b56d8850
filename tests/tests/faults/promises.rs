//! Sixteen people who talk without end, what the server has promised them, and whether it is so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use reqwest::Method;
use serde_json::{Value, json};
use tests::process::{PATIENCE, Person, Site};
use tokio::sync::watch;
use tokio::task::JoinSet;
use uuid::Uuid;

/// People, each with a connection of their own.
pub const PEOPLE: u64 = 16;
/// Where all of them are members.
const GROUP: &str = "grp-faults";

/// An acknowledged message.
#[derive(Debug, Clone)]
struct Said {
    sender: u64,
    n: u64,
    seq: u64,
    msg_id: Value,
}

/// All that was acknowledged.
pub struct Promises {
    /// By conversation, in the order in which they were acknowledged.
    said: Mutex<BTreeMap<String, Vec<Said>>>,
    /// Positions by conversation and person.
    read: Mutex<BTreeMap<(String, u64), u64>>,
    count: watch::Sender<u64>,
}

/// A message of theirs: the same again is the same message.
fn message(sender: u64, n: u64) -> Value {
    json!({"client_msg_id": client_msg_id(sender, n), "msg_type": 1, "content": format!("message {n} of {sender}")})
}

fn client_msg_id(sender: u64, n: u64) -> String {
    Uuid::from_u128(u128::from(sender) << 64 | u128::from(n)).to_string()
}

/// The single chat with the next one of the circle.
fn chat(person: u64) -> String {
    let next = person % PEOPLE + 1;
    format!("p2p-{}-{}", person.min(next), person.max(next))
}

fn messages(conv: &str) -> String {
    format!("/v1/conversations/{conv}/messages")
}

impl Promises {
    /// Founds the group.
    pub async fn begin(site: &Site) -> Arc<Self> {
        let members: Vec<u64> = (1..=PEOPLE).collect();
        let body = json!({"group_id": GROUP, "name": "Faults", "members": members});
        let founded = site.person(1).insist(Method::POST, "/v1/groups", Some(&body)).await;
        assert_eq!(founded.status, 201, "{founded:?}");
        let (said, read) = (Mutex::default(), Mutex::default());
        Arc::new(Self { said, read, count: watch::Sender::new(0) })
    }

    /// How many messages were acknowledged so far.
    pub fn count(&self) -> u64 {
        *self.count.borrow()
    }

    /// Waits until so many were acknowledged.
    pub async fn reach(&self, count: u64) {
        let mut counts = self.count.subscribe();
        let reached = tokio::time::timeout(PATIENCE, counts.wait_for(|it| *it >= count)).await;
        let _ = reached.unwrap_or_else(|_| panic!("stuck at {} acknowledged messages", self.count()));
    }

    /// All talk until `stop` is true, and insist on an answer.
    pub fn talk(self: &Arc<Self>, site: &Arc<Site>, stop: &watch::Receiver<bool>) -> JoinSet<()> {
        let mut talks = JoinSet::new();
        for uid in 1..=PEOPLE {
            let (promises, site, stop) = (Arc::clone(self), Arc::clone(site), stop.clone());
            talks.spawn(async move {
                let me = site.person(uid);
                let mut n = 0;
                while !*stop.borrow() {
                    n += 1;
                    promises.say(&me, n, true).await;
                }
            });
        }
        talks
    }

    /// All talk until nobody answers any more; what has no answer is not asked again.
    pub fn talk_to_the_end(self: &Arc<Self>, site: &Arc<Site>) -> JoinSet<()> {
        let mut talks = JoinSet::new();
        for uid in 1..=PEOPLE {
            let (promises, site) = (Arc::clone(self), Arc::clone(site));
            talks.spawn(async move {
                let me = site.person(uid);
                let mut n = 1;
                while promises.say(&me, n, false).await {
                    n += 1;
                }
            });
        }
        talks
    }

    /// Sends the n-th message, and now and then reads or moves the own position. False where no answer came.
    async fn say(&self, me: &Person<'_>, n: u64, insist: bool) -> bool {
        let ask = async |method, path: &str, body: Option<&Value>| {
            if insist { Some(me.insist(method, path, body).await) } else { me.ask(method, path, body).await }
        };
        // Both of a chat's two talk in it, and everybody in the group.
        let conv = match n % 3 {
            0 => GROUP.to_owned(),
            1 => chat(me.uid),
            _ => chat((me.uid + PEOPLE - 2) % PEOPLE + 1),
        };
        let Some(sent) = ask(Method::POST, &messages(&conv), Some(&message(me.uid, n))).await else {
            return false;
        };
        assert!([200, 201].contains(&sent.status), "{sent:?}");
        assert_eq!(sent.json["duplicate"], sent.status == 200, "{sent:?}");
        let seq = sent.json["seq"].as_u64().expect("a seq");
        let said = Said { sender: me.uid, n, seq, msg_id: sent.json["msg_id"].clone() };
        self.said.lock().unwrap().entry(conv.clone()).or_default().push(said);
        self.count.send_modify(|count| *count += 1);
        if n.is_multiple_of(4) {
            let path = format!("/v1/conversations/{conv}/read");
            let Some(read) = ask(Method::PUT, &path, Some(&json!({"read_seq": seq}))).await else {
                return false;
            };
            assert_eq!((read.status, &read.json["read_seq"]), (200, &json!(seq)), "{read:?}");
            self.read.lock().unwrap().insert((conv.clone(), me.uid), seq);
        }
        if n.is_multiple_of(5) {
            let path = format!("{}?after_seq={}&limit=1", messages(&conv), seq - 1);
            let Some(page) = ask(Method::GET, &path, None).await else { return false };
            let own = &page.json["items"][0];
            assert_eq!(own["client_msg_id"], client_msg_id(me.uid, n), "not read what was written: {page:?}");
        }
        true
    }

    /// Every promise is kept, and there is nothing that nobody said. `all_acknowledged`: there is nothing either that
    /// was not acknowledged.
    pub async fn hold(&self, site: &Site, all_acknowledged: bool) {
        let (said, read) = (self.said.lock().unwrap().clone(), self.read.lock().unwrap().clone());
        assert_eq!(said.len() as u64, PEOPLE + 1, "a conversation without a message");
        for (conv, said) in &said {
            let members: Vec<u64> = match conv.strip_prefix("p2p-") {
                Some(two) => two.split('-').map(|uid| uid.parse().unwrap()).collect(),
                None => (1..=PEOPLE).collect(),
            };
            let items = site.person(members[0]).history(conv).await;
            // Of the system there is the group's founding, once, which all have read.
            let told = items.iter().filter(|it| it["sender_id"] == 0).count();
            assert_eq!(told, usize::from(conv == GROUP), "{conv}");
            assert!(!all_acknowledged || items.len() == said.len() + told, "{conv}: other than acknowledged");
            every_one_once_in_order(conv, &items);
            for Said { sender, n, seq, msg_id } in said {
                let item = &items[*seq as usize - 1];
                let expected = (json!(sender), json!(client_msg_id(*sender, *n)), msg_id);
                let found = (item["sender_id"].clone(), item["client_msg_id"].clone(), &item["msg_id"]);
                assert_eq!(found, expected, "{conv}: message {n} of {sender} was acknowledged at {seq}");
                assert_eq!(item["content"], format!("message {n} of {sender}"));
            }
            for &member in &members {
                let moved = read.get(&(conv.clone(), member)).copied().unwrap_or(0);
                let own = items.iter().filter(|it| it["sender_id"] == member).map(|it| it["seq"].as_u64());
                let position = own.flatten().max().unwrap_or(told as u64).max(moved);
                let above = items.iter().skip(position as usize);
                let unread = above.filter(|it| it["sender_id"] != member).count();
                let shown = site.person(member).get(&format!("/v1/conversations/{conv}")).await;
                let found = (&shown["max_seq"], &shown["read_seq"], &shown["unread"]);
                let expected = (json!(items.len()), json!(position), json!(unread));
                assert_eq!(found, (&expected.0, &expected.1, &expected.2), "{conv}, seen by {member}");
            }
            // Each sender's last one again, long after: the first answer.
            let last = said.last().expect("somebody said something");
            let again = message(last.sender, last.n);
            let again = site.person(last.sender).insist(Method::POST, &messages(conv), Some(&again)).await;
            assert_eq!((again.status, &again.json["duplicate"]), (200, &json!(true)));
            assert_eq!((&again.json["seq"], &again.json["msg_id"]), (&json!(last.seq), &last.msg_id));
        }
    }
}

/// No message twice, and each sender's in the order of sending.
fn every_one_once_in_order(conv: &str, items: &[Value]) {
    let mut ids = BTreeSet::new();
    let mut last_of: BTreeMap<u64, u128> = BTreeMap::new();
    for item in items {
        let id: Uuid = item["client_msg_id"].as_str().expect("a client_msg_id").parse().expect("a UUID");
        assert!(ids.insert(id), "{conv}: {id} twice");
        let sender = item["sender_id"].as_u64().expect("a sender");
        let last = last_of.insert(sender, id.as_u128());
        assert!(last.is_none_or(|last| last < id.as_u128()), "{conv}: {sender} out of order");
    }
}
