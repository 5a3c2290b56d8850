//! Placeholder

pub mod import;
pub mod postgres_server;
