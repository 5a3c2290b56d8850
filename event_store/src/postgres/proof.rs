//! Proof on Postgres: reads what is on disk, never what is in memory; makes checkpoints; recomputes the whole log.
//!
//! Everything is paged by key, so no transaction lasts longer than a page, and nothing here grows with the length of
//! the log but the leaves of one shard of one checkpoint (see [`crate::checkpoint::SHARD_EVENTS_MAX`]).

mod checkpoints;
mod conversation;
mod covering;
mod leaves;
mod make;
mod reader;
mod rewritten;
mod whole;

pub use checkpoints::newest;
pub use conversation::{ConversationProof, VerifyFrom, verify_conversation};
pub use covering::{Covering, covering};
pub use make::{Made, make_checkpoint};
pub use reader::LogReader;
pub use whole::{Scope, Verified, Watch, verify};
