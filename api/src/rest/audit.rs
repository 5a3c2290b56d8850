//! For compliance. Each of these records who asks before anything is looked up.

pub mod accesses;
pub mod as_of;
pub mod erasures;
pub mod events;
pub mod holds;
pub mod message;
pub mod verify;
