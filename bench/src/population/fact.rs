//! A message as it was told, cut down to what can be compared with how others were told of it.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use uuid::Uuid;

use crate::client::wire::{AT_ALL, Item, SYSTEM, State};

/// What never changes of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub msg_id: String,
    /// 0 for the system.
    pub sender: u64,
    pub client_msg_id: Uuid,
    pub create_at: i64,
    pub msg_type: u8,
    /// Of content, mentions and quote; none once it was recalled.
    pub digest: Option<u64>,
    pub names: Names,
    /// Who came or went, where it tells of that.
    pub moved: Option<Moved>,
}

/// Whose attention a message wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    pub all: bool,
    pub uids: Vec<u64>,
}

impl Names {
    /// Does it name this person?
    pub fn has(&self, uid: u64) -> bool {
        self.all || self.uids.contains(&uid)
    }
}

/// What the system says of a group's people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub uids: Vec<u64>,
    /// Came in, or went?
    pub inside: bool,
}

impl Fact {
    /// Of an item with a body or without one; none where fields are missing, as in a deleted one.
    pub fn of(item: &Item) -> Option<Self> {
        let said = item.state == State::Normal;
        let (sender, msg_type) = (item.sender_id?, item.msg_type?);
        let names = Names { all: item.flags & AT_ALL != 0, uids: item.mentions.clone() };
        let quoted = item.reply_to.as_ref().map(|quote| quote.seq);
        let digest = said.then(|| digest(&item.content, &names, quoted));
        let moved = if sender == 0 && msg_type == SYSTEM { moved(&item.content) } else { None };
        Some(Self {
            msg_id: item.msg_id.clone()?,
            sender,
            client_msg_id: item.client_msg_id?,
            create_at: item.create_at?,
            msg_type,
            digest,
            names,
            moved,
        })
    }

    /// Are these two tellings of one message? What was recalled in between has no digest any more.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let header = |it: &Self| (it.msg_id.clone(), it.sender, it.client_msg_id, it.create_at, it.msg_type);
        let bodies = self.digest.zip(other.digest);
        header(self) == header(other) && bodies.is_none_or(|(one, another)| one == another)
    }
}

/// Of everything that a sender chooses.
pub fn digest(content: &Value, names: &Names, quoted: Option<u64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (content.to_string(), names.all, &names.uids, quoted).hash(&mut hasher);
    hasher.finish()
}

fn moved(content: &Value) -> Option<Moved> {
    let inside = match content["event"].as_str()? {
        "joined" => true,
        "left" | "removed" => false,
        _ => return None,
    };
    let uids = content["uids"].as_array()?.iter().filter_map(Value::as_u64).collect();
    Some(Moved { uids, inside })
}
