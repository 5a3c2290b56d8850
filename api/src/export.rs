//! `quipu export`: takes out a conversation for compliance, everything, with proof; or what one person may see.

pub mod conversation;
pub mod event;
pub mod form;
pub mod part;
pub mod verify;

use std::{error::Error, path::PathBuf, process::ExitCode};

use clap::Args;
use domain::ConvId;

use crate::config::Config;

/// This program, as exports name it.
pub const TOOL: &str = concat!("quipu ", env!("CARGO_PKG_VERSION"));

/// Of `quipu export`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A conversation: every event with its proof, in one file
    #[arg(long, value_parser = |text: &str| ConvId::parse(text))]
    conv: ConvId,
    /// Where to: a file or an existing directory. An export that was interrupted goes on
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
}

/// Runs it.
pub async fn command(config: &Config, arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    conversation::command(config, &arguments.conv, &arguments.out).await
}
