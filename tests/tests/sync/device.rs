//! A client of the simplest kind: it keeps what it was told, and asks for nothing but what it has missed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tests::server::Person;

use crate::said::{ok, page};

/// A conversation on a device.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// As the last sync had it, without its changes.
    conversation: Value,
    items: BTreeMap<u64, Value>,
    members: BTreeMap<u64, Value>,
    read_positions: BTreeMap<u64, u64>,
    /// Items to be fetched again.
    stale: BTreeSet<u64>,
}

/// What one device of a person knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Device {
    cursor: Option<String>,
    pub kept: BTreeMap<String, Kept>,
}

impl Kept {
    /// Out of the list until the next message.
    pub fn is_hidden(&self) -> bool {
        self.conversation["hidden"] == true
    }
}

impl Device {
    /// Catches up, in pages of `limit`.
    pub async fn catch_up(&mut self, person: &Person<'_>, me: u64, limit: u32) {
        let mut anew = BTreeSet::new();
        loop {
            let page = page(person, self.cursor.as_deref(), limit).await;
            if page["reset"] == true {
                self.kept.clear();
            }
            for entry in page["conversations"].as_array().unwrap() {
                anew.extend(self.take(entry, me));
            }
            self.cursor = page["cursor"].as_str().map(str::to_owned);
            if page["has_more"] == false {
                break;
            }
        }
        for conv in anew {
            self.fetch_people(person, me, &conv).await;
        }
        self.fetch_messages(person).await;
    }

    /// Takes one entry in; names the conversation if its people are to be fetched anew.
    fn take(&mut self, entry: &Value, me: u64) -> Option<String> {
        let conv = entry["conv_id"].as_str().unwrap().to_owned();
        if entry["left"] == true {
            self.kept.remove(&conv);
            return None;
        }
        let new = !self.kept.contains_key(&conv);
        let kept = self.kept.entry(conv.clone()).or_default();
        let mut conversation = entry.clone();
        let changes = conversation.as_object_mut().unwrap().remove("changes").unwrap_or_default();
        let min_seq = conversation["min_seq"].as_u64().unwrap();
        kept.items.retain(|seq, _| *seq >= min_seq);
        kept.conversation = conversation;
        if new || changes["truncated"] == true {
            *kept = Kept { conversation: kept.conversation.clone(), ..Kept::default() };
            return Some(conv);
        }
        let named = |name: &str| changes[name].as_array().into_iter().flatten();
        // Those above the last one that it has come with the new ones.
        let last = kept.items.last_key_value().map_or(0, |(seq, _)| *seq);
        let seqs =
            |name: &str| named(name).filter_map(Value::as_u64).filter(|seq| *seq <= last).collect::<Vec<_>>();
        let mut touched = BTreeSet::new();
        for name in ["deleted", "expired"] {
            for seq in seqs(name) {
                kept.items.insert(seq, json!({"seq": seq, "state": name}));
                touched.insert(seq);
            }
        }
        // A client would blank a recalled one at once; who and when it hears with the item.
        for seq in [seqs("recalled"), seqs("restored")].concat() {
            kept.stale.insert(seq);
            touched.insert(seq);
        }
        // Quotes of those, and of what is not to be seen any more.
        let quotes = |item: &Value| {
            let quoted = item["reply_to"]["seq"].as_u64();
            quoted.is_some_and(|seq| touched.contains(&seq) || seq < min_seq)
        };
        kept.stale.extend(kept.items.iter().filter(|(_, item)| quotes(item)).map(|(seq, _)| *seq));
        for position in named("read_positions") {
            kept.read_positions.insert(number(position, "uid"), number(position, "read_seq"));
        }
        for member in named("members") {
            let uid = number(member, "uid");
            if member["left"] == true {
                kept.members.remove(&uid);
                kept.read_positions.remove(&uid);
            } else {
                kept.members.insert(uid, member.clone());
                if uid != me {
                    kept.read_positions.entry(uid).or_default();
                }
            }
        }
        None
    }

    async fn fetch_people(&mut self, person: &Person<'_>, me: u64, conv: &str) {
        let Some(kept) = self.kept.get_mut(conv) else { return };
        let positions = person.get(&format!("/v1/conversations/{conv}/read-positions?limit=200")).await;
        let members = person.get(&format!("/v1/groups/{conv}/members?limit=200")).await;
        // Removed since: the next sync will say so.
        for position in positions.json["items"].as_array().into_iter().flatten() {
            if number(position, "uid") != me {
                kept.read_positions.insert(number(position, "uid"), number(position, "read_seq"));
            }
        }
        for member in members.json["members"].as_array().into_iter().flatten() {
            kept.members.insert(number(member, "uid"), member.clone());
        }
    }

    /// New messages, and those that are not any more what they were: all conversations in one request at a time.
    async fn fetch_messages(&mut self, person: &Person<'_>) {
        loop {
            let mut ranges = vec![];
            for (conv, kept) in &self.kept {
                let last = kept.items.last_key_value().map_or(0, |(seq, _)| *seq);
                let below = last.max(number(&kept.conversation, "min_seq") - 1);
                if below < number(&kept.conversation, "max_seq") {
                    ranges.push(json!({"conv_id": conv, "after_seq": below}));
                }
                let stale = |seq: &u64| json!({"conv_id": conv, "after_seq": seq - 1, "before_seq": seq + 1});
                ranges.extend(kept.stale.iter().map(stale));
            }
            ranges.truncate(100);
            if ranges.is_empty() {
                return;
            }
            let pages = ok(person.post("/v1/messages/batch", json!({"ranges": ranges})).await);
            for (range, page) in ranges.iter().zip(pages["pages"].as_array().unwrap()) {
                let conv = range["conv_id"].as_str().unwrap();
                if page["error"].is_object() {
                    // Removed since.
                    self.kept.remove(conv);
                    continue;
                }
                let Some(kept) = self.kept.get_mut(conv) else { continue };
                for item in page["items"].as_array().unwrap() {
                    kept.items.insert(number(item, "seq"), item.clone());
                }
                let given = page["has_more"] == false || page["items"] != json!([]);
                if let Some(seq) = range["before_seq"].as_u64().filter(|_| given) {
                    kept.stale.remove(&(seq - 1));
                } else if given {
                    // What was cleared or joined since may have moved the range.
                    for name in ["min_seq", "max_seq"] {
                        let now = number(page, name).max(number(&kept.conversation, name));
                        kept.conversation[name] = json!(now);
                    }
                    let min_seq = number(page, "min_seq");
                    kept.items.retain(|seq, _| *seq >= min_seq);
                }
            }
        }
    }
}

fn number(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or_else(|| panic!("{name} of {of}"))
}
