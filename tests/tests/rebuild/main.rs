//! Read models that are built anew beside those that serve: they come out the same, heal what is wrong, and nobody who
//! reads or writes meanwhile notices.

mod admin;
mod full_disk;
mod killed;
mod readers;
mod same;
mod world;

/// The binary under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_quipu-child");
