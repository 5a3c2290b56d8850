//! The log: the port that promises what a log of events must promise, its adapters, and the command handler.
//!
//! Knows the domain; knows nothing of read models, HTTP or who asks.

pub mod access;
pub mod chain;
pub mod checkpoint;
pub mod codec;
pub mod handler;
pub mod hex;
pub mod memory;
pub mod merkle;
pub mod moment;
pub mod notifications;
pub mod persons;
pub mod port;
pub mod postgres;
pub mod recorded;
pub mod shard;
pub mod surroundings;
pub mod vector;
pub mod verify;

pub use access::{Access, AccessError, AccessLog, Accessor, Action};
pub use handler::{CommandError, CommandHandler, Limit, OverLimit, Pending, Request, Sequence};
pub use notifications::{NotificationHandler, NotificationRequest};
pub use persons::Persons;
pub use port::{
    Append, AppendError, Appended, Batch, EventStore, LogInfo, ShardHead, Since, StoreError, Turn,
};
pub use recorded::{Body, Header, Origin, Position, Recorded, StreamName};
pub use shard::Shard;
pub use surroundings::{Clock, Entropy};
pub use vector::Vector;
