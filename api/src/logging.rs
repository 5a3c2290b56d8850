//! Logs: for people on a terminal, one JSON object a line otherwise. On standard error, so that what a command
//! answers on standard output can be piped.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, fmt};

use crate::config::LogFormat;

/// What is logged if RUST_LOG does not say otherwise.
const FILTER: &str = "info,refinery_core=warn,tokio_postgres=warn";

/// Starts logging; to be called once. A second call changes nothing.
pub fn start(format: Option<LogFormat>) {
    let human = if io::stderr().is_terminal() { LogFormat::Human } else { LogFormat::Json };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(FILTER));
    let logs = fmt().with_env_filter(filter).with_writer(io::stderr);
    let _ = match format.unwrap_or(human) {
        LogFormat::Human => logs.with_ansi(io::stderr().is_terminal()).try_init(),
        LogFormat::Json => logs.json().flatten_event(true).with_span_list(false).try_init(),
    };
}
