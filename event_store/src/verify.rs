//! Recomputes what a log must be: its chains, its shards' orders, its checkpoints. Pure: whoever reads a log, or an
//! export of one, feeds it events and hears of faults.

mod chain;
mod fault;
mod order;

pub use chain::StreamCheck;
pub use fault::{Fault, What};
pub use order::ShardCheck;
