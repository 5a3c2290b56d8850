//! The binary `quipu`: REST, WebSocket and the live feed, their description, the command line, configuration and wiring.
//!
//! Knows everything below it and decides nothing: rules are in `domain`, the log in `event_store`, answers in
//! `projections`.

pub mod app;
pub mod audit;
pub mod auth;
pub mod cli;
pub mod clock;
pub mod config;
pub mod cursor;
pub mod database;
pub mod doctor;
pub mod door;
pub mod durability;
pub mod entropy;
pub mod export;
pub mod generations;
pub mod import;
pub mod instance;
pub mod keeping;
pub mod keys;
pub mod live;
pub mod logging;
pub mod measures;
pub mod migrate;
pub mod msg_ids;
pub mod node;
pub mod openapi;
pub mod postgres_server;
pub mod presence;
pub mod problem;
pub mod rates;
pub mod ready;
pub mod rebuilds;
pub mod requests;
pub mod rest;
pub mod routes;
pub mod secret;
pub mod serve;
pub mod server;
pub mod sync_cursor;
pub mod time_text;
pub mod verify;
pub mod writer;
pub mod ws;

pub use app::{App, Limits};
pub use node::{Node, NodeSettings};
pub use routes::router;
