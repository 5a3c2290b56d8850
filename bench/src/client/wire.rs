//! The JSON of the contract as far as a client needs it. What is not named here is passed over: servers may add.

use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

/// Why something was refused.
#[derive(Debug, Clone, Deserialize)]
pub struct Problem {
    pub status: u16,
    pub code: String,
    #[serde(default)]
    pub detail: String,
}

impl Problem {
    /// Is it worth asking again?
    pub fn passes(&self) -> bool {
        self.status == 503 || self.status == 429
    }
}

/// How a message looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Normal,
    Recalled,
    Deleted,
    Expired,
}

/// One message as one viewer sees it.
#[derive(Debug, Clone, Deserialize)]
pub struct Item {
    pub seq: u64,
    pub state: State,
    pub msg_id: Option<String>,
    pub sender_id: Option<u64>,
    pub msg_type: Option<u8>,
    #[serde(default)]
    pub content: Value,
    #[serde(default)]
    pub flags: u16,
    pub create_at: Option<i64>,
    pub client_msg_id: Option<Uuid>,
    #[serde(default)]
    pub mentions: Vec<u64>,
    pub reply_to: Option<Quote>,
}

/// A quoted message.
#[derive(Debug, Clone, Deserialize)]
pub struct Quote {
    pub seq: u64,
    #[serde(default)]
    pub excerpt: String,
}

/// The flag of a message to everybody.
pub const AT_ALL: u16 = 2;
/// The message type of what the system says.
pub const SYSTEM: u8 = 10;

/// To a send.
#[derive(Debug, Clone, Deserialize)]
pub struct Sent {
    pub seq: u64,
    pub msg_id: String,
    pub create_at: i64,
    pub duplicate: bool,
}

/// A conversation as one member sees it.
#[derive(Debug, Clone, Deserialize)]
pub struct Conversation {
    pub conv_id: String,
    pub max_seq: u64,
    pub min_seq: u64,
    pub read_seq: u64,
    pub peer_read_seq: Option<u64>,
    pub unread: u64,
    pub mention_seq: Option<u64>,
    pub last_message: Option<Item>,
}

/// A page of the list.
#[derive(Debug, Deserialize)]
pub struct List {
    pub conversations: Vec<Conversation>,
    pub cursor: Option<String>,
}

/// A page of what was missed.
#[derive(Debug, Deserialize)]
pub struct SyncPage {
    pub cursor: String,
    pub has_more: bool,
    #[serde(default)]
    pub reset: bool,
    pub conversations: Vec<Synced>,
}

/// One conversation of it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Synced {
    Left(Left),
    Here(Box<Here>),
}

/// Left, or removed from.
#[derive(Debug, Deserialize)]
pub struct Left {
    pub conv_id: String,
    #[serde(rename = "left")]
    pub _left: bool,
}

/// As it is now, and what has changed.
#[derive(Debug, Deserialize)]
pub struct Here {
    #[serde(flatten)]
    pub conversation: Conversation,
    #[serde(default)]
    pub changes: Changes,
}

/// What has changed in a conversation since.
#[derive(Debug, Default, Deserialize)]
pub struct Changes {
    #[serde(default)]
    pub recalled: Vec<u64>,
    #[serde(default)]
    pub deleted: Vec<u64>,
    #[serde(default)]
    pub truncated: bool,
}

/// Pages of many histories.
#[derive(Debug, Deserialize)]
pub struct Batch {
    pub pages: Vec<Range>,
}

/// What came of one range.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Range {
    Failed(Failed),
    Page(Page),
}

/// A range without a page.
#[derive(Debug, Deserialize)]
pub struct Failed {
    pub error: Problem,
}

/// A page of a history.
#[derive(Debug, Deserialize)]
pub struct Page {
    pub min_seq: u64,
    pub max_seq: u64,
    pub items: Vec<Item>,
}

/// To a resume.
#[derive(Debug, Deserialize)]
pub struct Resumed {
    pub cursor: String,
}

/// To a deletion.
#[derive(Debug, Deserialize)]
pub struct Deleted {
    pub deleted: u64,
}

/// To a read position.
#[derive(Debug, Deserialize)]
pub struct ReadState {
    pub read_seq: u64,
}

/// Something that happened. Which fields there are depends on what it is.
#[derive(Debug, Clone, Deserialize)]
pub struct Push {
    /// What it is.
    pub push: String,
    #[serde(default)]
    pub conv_id: String,
    pub cursor: Option<String>,
    pub item: Option<Item>,
    pub seq: Option<u64>,
    #[serde(default)]
    pub seqs: Vec<u64>,
    pub uid: Option<u64>,
    pub read_seq: Option<u64>,
    #[serde(default)]
    pub joined: Vec<u64>,
}
