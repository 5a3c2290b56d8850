//! For compliance. Each of these records who asks before anything is looked up.

pub mod accesses;
pub mod as_of;
pub mod events;
pub mod message;
pub mod verify;
