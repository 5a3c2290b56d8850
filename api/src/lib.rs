//! Placeholder

pub mod postgres_server;
