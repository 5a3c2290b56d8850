//! The binary `quipu`: REST, its description, the command line, configuration and wiring.
//!
//! Knows everything below it and decides nothing: rules are in `domain`, the log in `event_store`, answers in
//! `projections`.

pub mod app;
pub mod auth;
pub mod clock;
pub mod cursor;
pub mod door;
pub mod entropy;
pub mod instance;
pub mod msg_ids;
pub mod openapi;
pub mod postgres_server;
pub mod problem;
pub mod queries;
pub mod ready;
pub mod requests;
pub mod rest;
pub mod routes;

pub use app::{App, Limits};
pub use queries::Queries;
pub use routes::router;
