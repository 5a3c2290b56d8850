//! What was removed where, and what is out of reach: nothing is passed over in silence.

use event_store::postgres::removal;
use projections::files;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Held conversations that a report names; how many there are stands beside.
pub const HELD_NAMED_MAX: usize = 1000;

/// Of one removal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// Conversations in which something was removed.
    pub conversations: u64,
    /// Messages whose bodies were removed.
    pub messages: u64,
    /// Bytes of those bodies in the log.
    pub bytes: u64,
    /// Conversations that were passed over, since a hold stands; at most a thousand are named.
    pub held: Vec<String>,
    /// How many that were.
    pub held_count: u64,
    /// The log's months that were written anew.
    pub months: Vec<Month>,
    /// The read models' tables whose files were written anew.
    pub tables: Vec<Table>,
    /// The write-ahead log: segments before and afterwards; none where it was not turned over.
    pub wal: Option<Wal>,
    /// Where copies may be that nobody here can reach, and what this server's account was not allowed to do.
    pub out_of_reach: Vec<String>,
}

/// A month of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Month {
    /// Its partition of `log.body`.
    pub partition: String,
    /// Bodies before, of all kinds.
    pub bodies_before: u64,
    /// Bodies that were removed.
    pub removed: u64,
    /// Bodies that are to go and stay for now, since a hold stands.
    pub spared: u64,
    /// Bytes on disk before.
    pub bytes_before: u64,
    /// Bytes on disk afterwards.
    pub bytes_after: u64,
}

/// A table of a read model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Table {
    /// With its schema.
    pub table: String,
    /// Bytes on disk before.
    pub bytes_before: u64,
    /// Bytes on disk afterwards.
    pub bytes_after: u64,
}

/// The write-ahead log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Wal {
    /// Segments before, those that lay ready too.
    pub segments_before: u64,
    /// Segments afterwards: none of those.
    pub segments_after: u64,
}

/// What no process here can reach, whatever it may.
const OUT_OF_REACH: [&str; 3] = [
    "backups and archives of the write-ahead log: let them run out, or remove them",
    "replicas by streaming follow by themselves; their own archives and logical replicas do not",
    "what people have exported or their devices have stored; devices are told by sync and push",
];

impl Report {
    /// An empty one.
    pub fn new() -> Self {
        Self { out_of_reach: OUT_OF_REACH.map(str::to_owned).to_vec(), ..Self::default() }
    }

    /// A conversation was passed over.
    pub fn hold(&mut self, conv: String) {
        self.held_count += 1;
        if self.held.len() < HELD_NAMED_MAX {
            self.held.push(conv);
        }
    }
}

impl From<removal::Rewritten> for Month {
    fn from(it: removal::Rewritten) -> Self {
        Self {
            partition: it.partition,
            bodies_before: it.rows_before,
            removed: it.removed,
            spared: it.spared,
            bytes_before: it.bytes_before,
            bytes_after: it.bytes_after,
        }
    }
}

impl From<files::Rewritten> for Table {
    fn from(it: files::Rewritten) -> Self {
        Self { table: it.table, bytes_before: it.bytes_before, bytes_after: it.bytes_after }
    }
}
