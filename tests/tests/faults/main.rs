//! What was acknowledged is there, once and in order, whatever dies: the server, its Postgres, an importer, all at
//! any moment and with -9. The binary runs as a process of its own, on a durable Postgres.
//!
//! Chance comes from a seed that is printed; when something is killed is drawn, that it is in the middle of the work
//! is waited for.

mod away;
mod imports;
mod notified;
mod promises;
mod pushes;
mod sends;
mod starts;
mod stop;

/// The binary, as cargo built it with these tests.
const PROGRAM: &str = env!("CARGO_BIN_EXE_quipu-child");
