//! What the tests of the whole product stand on: a throw-away Postgres for each test process, a database for
//! each test, and directories that vanish however the process ends.
//!
//! Everything here panics when it cannot go on: it runs inside tests only.

mod cluster;
pub mod corpus;
mod database;
pub mod dice;
pub mod import;
pub mod log;
mod on_a_thread;
pub mod process;
mod scratch;
pub mod server;
pub mod socket;
pub mod traces;

pub use cluster::{CLUSTER_VARIABLE, Cluster, cluster};
pub use database::TestDatabase;
pub use scratch::ScratchDir;
