//! `quipu export`: takes out a conversation for compliance, everything, with proof; or what one person may see.

pub mod conversation;
pub mod event;
pub mod form;
pub mod part;
pub mod person;
pub mod verify;

use std::{error::Error, path::PathBuf, process::ExitCode};

use clap::{Args, ValueEnum};
use domain::{ConvId, Uid};

use crate::config::Config;

/// This program, as exports name it.
pub const TOOL: &str = concat!("quipu ", env!("CARGO_PKG_VERSION"));

/// Of `quipu export`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: Subject,
    /// Where to: for a conversation a file or an existing directory, for a person a directory. An export that was
    /// interrupted goes on [default: CONV.ndjson, or export-UID]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// For a person: also pages that a browser shows
    #[arg(long, value_enum, default_value_t = Format::Ndjson, conflicts_with = "conv")]
    format: Format,
}

/// Whose.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Subject {
    /// A conversation: every event with its proof, in one file
    #[arg(long, value_parser = |text: &str| ConvId::parse(text))]
    conv: Option<ConvId>,
    /// A person: what they may see now
    #[arg(long, value_parser = Uid::parse)]
    uid: Option<Uid>,
}

/// For whom a person's export is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For programs: one JSON object a line.
    Ndjson,
    /// For people, too.
    Html,
}

/// Runs it.
pub async fn command(config: &Config, arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let Arguments { subject, out, format } = arguments;
    match (subject.conv, subject.uid) {
        (Some(conv), _) => {
            let out = out.unwrap_or_else(|| format!("{conv}.ndjson").into());
            conversation::command(config, &conv, &out).await
        }
        (None, Some(uid)) => {
            let out = out.unwrap_or_else(|| format!("export-{uid}").into());
            person::command(config, uid, &out, format).await
        }
        (None, None) => Ok(ExitCode::FAILURE),
    }
}
