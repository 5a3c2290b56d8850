//! How long what was said is kept: legal holds, retention, erasure; and that what is gone is gone from every file.

mod erasure;
mod faults;
mod holds;
mod retention;
mod told;
mod traces;

/// The binary, as cargo built it with these tests.
const PROGRAM: &str = env!("CARGO_BIN_EXE_quipu-child");
