//! Read models: everything here is derived from the log and can be built again.
//!
//! One folder a read model: what it takes from a batch of events, the SQL that writes it, and its query side.
//! [`Projector`] follows the log and writes; [`ReadModels`] answers. [`rebuild`] makes a new generation of them beside
//! the one that serves, and [`Projectors`] keeps a node abreast of which there are. Knows nothing of HTTP or who asks.

mod applier;
mod apply;
pub mod audience;
mod checkpoint;
mod departure;
mod effects;
mod ever;
mod feeder;
pub mod files;
mod follow;
mod generation;
pub mod generations;
mod group_read;
mod head;
mod history;
mod marks;
mod member;
mod mention;
pub mod notification;
pub mod past;
mod progress;
mod projection;
mod projector;
mod projectors;
pub mod query;
mod read_models;
mod reader;
pub mod rebuild;
mod removal;
mod serving;
mod setting;
mod snapshot;
mod standing;
mod summary;
pub mod sync;
pub mod verify;
mod watermark;
mod write;

pub use generation::{Generation, OpenError, PLANS};
pub use progress::Progress;
pub use projection::Projection;
pub use projector::{Projector, ProjectorHandle, ShardStatus, StartError, Status};
pub use projectors::{Projectors, ProjectorsError, ProjectorsWatch, Rates};
pub use read_models::ReadModels;

/// The read models whose rows meet in one answer share this name and one checkpoint a shard.
pub const CONVERSATION: &str = "conversation";
