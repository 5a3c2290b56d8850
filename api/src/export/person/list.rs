//! The list of a person's conversations that are done, and what is counted of each: also what an interrupted run has
//! left.

use std::{collections::BTreeSet, fs, io, path::Path};

use domain::{ConvId, Uid};
use event_store::hex;
use projections::query::{ItemState, Summary};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::write::CONVERSATIONS;
use crate::export::part::FileError;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its BLAKE3, in hex.
    pub blake3: String,
}

/// The first line of the list of conversations: whose it is.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Beginning {
    pub uid: u64,
    pub log_id: Uuid,
}

/// A line of the list of conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Conversation {
    pub conv_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_uid: Option<u64>,
    pub items: u64,
    pub normal: u64,
    pub recalled: u64,
    pub deleted: u64,
    pub expired: u64,
    pub first_seq: Option<u64>,
    pub last_seq: Option<u64>,
    /// When it was read, in unix ms.
    pub at: i64,
    #[serde(flatten)]
    pub file: Listed,
}

/// What is in the list of conversations: their names, some 30 bytes each, and their sum.
pub(super) struct List {
    pub done: BTreeSet<String>,
    pub items: u64,
    pub file: Listed,
}

impl Default for List {
    fn default() -> Self {
        let file = Listed { file: CONVERSATIONS.to_owned(), bytes: 0, blake3: String::new() };
        Self { done: BTreeSet::new(), items: 0, file }
    }
}

impl List {
    pub fn add(&mut self, conversation: &Conversation) {
        self.items += conversation.items;
        self.done.insert(conversation.conv_id.clone());
    }

    /// A finished one; none where it is of something else.
    pub fn read(path: &Path, beginning: &Beginning) -> Result<Option<Self>, FileError> {
        let failed = |source| FileError { doing: "read", path: path.to_owned(), source };
        let text = fs::File::open(path).map_err(failed)?;
        let (mut there, mut hasher, mut bytes) = (There::default(), blake3::Hasher::new(), 0);
        for line in io::BufRead::split(io::BufReader::new(text), b'\n') {
            let mut line = line.map_err(failed)?;
            line.push(b'\n');
            hasher.update(&line);
            bytes += line.len() as u64;
            there.note(&line);
        }
        there.list.file.bytes = bytes;
        there.list.file.blake3 = hex::encode(hasher.finalize().as_bytes());
        Ok(there.beginning.filter(|begun| begun == beginning).map(|_| there.list))
    }
}

/// What an interrupted run has left.
#[derive(Default)]
pub(super) struct There {
    pub beginning: Option<Beginning>,
    pub list: List,
}

impl There {
    pub fn note(&mut self, line: &[u8]) {
        if self.beginning.is_none() {
            self.beginning = serde_json::from_slice(line).ok();
        } else if let Ok(conversation) = serde_json::from_slice::<Conversation>(line) {
            self.list.add(&conversation);
        }
    }
}

/// Of one conversation so far.
#[derive(Default)]
pub(super) struct Counts {
    /// normal, recalled, deleted, expired
    states: [u64; 4],
    first_seq: Option<u64>,
    pub last_seq: Option<u64>,
}

impl Counts {
    pub fn note(&mut self, seq: u64, state: &ItemState) {
        self.count(
            seq,
            match state {
                ItemState::Normal(_) => 0,
                ItemState::Recalled(..) => 1,
                ItemState::Deleted => 2,
                ItemState::Expired => 3,
            },
        );
    }

    pub fn note_line(&mut self, line: &[u8]) {
        #[derive(Deserialize)]
        struct Item<'a> {
            seq: u64,
            state: &'a str,
        }
        let Ok(Item { seq, state }) = serde_json::from_slice(line) else { return };
        let place = ["normal", "recalled", "deleted", "expired"].iter().position(|it| *it == state);
        self.count(seq, place.unwrap_or(0));
    }

    fn count(&mut self, seq: u64, place: usize) {
        self.states[place] += 1;
        self.first_seq = self.first_seq.or(Some(seq));
        self.last_seq = Some(seq);
    }

    pub fn of(self, summary: &Summary, uid: Uid, at: i64, file: Listed) -> Conversation {
        let conv: &ConvId = &summary.conv;
        let [normal, recalled, deleted, expired] = self.states;
        Conversation {
            conv_id: conv.to_string(),
            name: summary.name.clone(),
            peer_uid: conv.peer_of(uid).map(Uid::get),
            items: self.states.iter().sum(),
            normal,
            recalled,
            deleted,
            expired,
            first_seq: self.first_seq,
            last_seq: self.last_seq,
            at,
            file,
        }
    }
}
