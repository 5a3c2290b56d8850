//! What the traffic wants a device to do, and the command that becomes of it.

use serde_json::{Value, json};
use uuid::Uuid;

use super::fact::{Names, digest};

/// What to do. Which message it concerns is for the device to choose, since it knows what it shows.
#[derive(Debug, Clone)]
pub enum Deed {
    /// Say something.
    Say { conv: String, text: String, names: Names, quotes: bool },
    /// Take the newest own message back.
    Recall { conv: String },
    /// Delete one of the newest messages for oneself.
    Delete { conv: String },
}

/// A command that is sent again until it is answered.
#[derive(Debug, Clone)]
pub struct Act {
    pub conv: String,
    pub what: What,
}

/// Of which sort.
#[derive(Debug, Clone)]
pub enum What {
    Send { id: Uuid, text: String, names: Names, quoted: Option<u64> },
    Recall { seq: u64 },
    Delete { seq: u64 },
    Read { seq: u64 },
}

impl Act {
    /// The op of the WebSocket.
    pub fn op(&self) -> &'static str {
        match self.what {
            What::Send { .. } => "send",
            What::Recall { .. } => "recall",
            What::Delete { .. } => "delete",
            What::Read { .. } => "read",
        }
    }

    /// Its fields.
    pub fn fields(&self) -> Value {
        let conv_id = &self.conv;
        match &self.what {
            What::Send { id, text, names, quoted } => json!({
                "conv_id": conv_id, "client_msg_id": id, "msg_type": 1, "content": text,
                "at_all": names.all, "mentions": names.uids, "reply_to": quoted,
            }),
            What::Recall { seq } => json!({"conv_id": conv_id, "seq": seq}),
            What::Delete { seq } => json!({"conv_id": conv_id, "seqs": [seq]}),
            What::Read { seq } => json!({"conv_id": conv_id, "read_seq": seq}),
        }
    }

    /// What the server may refuse it with, beside that the person is not in.
    pub fn may_be_refused_with(&self, code: &str) -> bool {
        match self.what {
            // The quoted message may have gone out of sight with another stay in the group.
            What::Send { quoted, .. } => quoted.is_some() && code == "message_not_found",
            What::Recall { .. } => ["recall_window_passed", "message_not_found"].contains(&code),
            What::Delete { .. } => code == "message_not_found",
            What::Read { .. } => false,
        }
    }
}

/// What a text message must be told as, everywhere.
pub fn digest_of_text(text: &str, names: &Names, quoted: Option<u64>) -> u64 {
    digest(&Value::from(text), names, quoted)
}
