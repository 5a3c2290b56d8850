//! Read models: everything here is derived from the log and can be built again.

pub mod query;
