//! The read models against a real Postgres: whatever the batch boundaries, crashes and races, they show what a
//! naive reading of the log shows.

mod answers;
mod chance;
mod faults;
mod log;
mod naive;
mod past;
mod replay;
mod sync;
mod verify;
mod world;
