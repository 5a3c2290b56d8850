//! Read models: everything here is derived from the log and can be built again.
//!
//! One folder a read model: what it takes from a batch of events, the SQL that writes it, and its query side.
//! [`Projector`] follows the log and writes; [`ReadModels`] answers. Knows nothing of HTTP or who asks.

mod apply;
pub mod audience;
mod checkpoint;
mod departure;
mod effects;
mod ever;
pub mod files;
mod follow;
mod generation;
mod group_read;
mod head;
mod history;
mod marks;
mod member;
mod mention;
pub mod notification;
pub mod past;
mod progress;
mod projector;
pub mod query;
mod read_models;
mod removal;
mod setting;
mod snapshot;
mod standing;
mod summary;
pub mod sync;
pub mod verify;
mod watermark;
mod write;

pub use generation::{Generation, OpenError};
pub use progress::Progress;
pub use projector::{Projector, ProjectorHandle, ShardStatus, StartError, Status};
pub use read_models::ReadModels;

/// The read models whose rows meet in one answer share this name and one checkpoint a shard.
pub const CONVERSATION: &str = "conversation";
