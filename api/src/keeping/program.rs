//! `quipu retention` and `quipu audit erase`: the arguments, and what is printed.

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use clap::Args;
use domain::{Hold, PersonCommand, Reason, Sender, Uid};
use event_store::Action;
use serde_json::{Value, json};

use super::{policy::DAYS_MAX, removal::Depth, site::Site};
use crate::{
    audit::{Asked, Session},
    config::Config,
};

/// Of `quipu retention`.
#[derive(Debug, Args)]
pub struct RetentionArguments {
    /// Say what would go, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Everything older than so many days, instead of what is configured
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(DAYS_MAX)))]
    days: Option<u32>,
}

/// Of `quipu audit erase`.
#[derive(Debug, Args)]
pub struct EraseArguments {
    /// Whose words
    #[arg(long, value_parser = Uid::parse)]
    uid: Uid,
    /// Why: 1 to 500 characters
    #[arg(long, value_parser = Reason::parse)]
    reason: Reason,
}

/// Nobody shall lose half of their history because of a word too few.
#[derive(Debug, thiserror::Error)]
#[error(
    "retention is switched off: set `enabled = true` in [retention], or name --days, or look first with --dry-run"
)]
pub struct SwitchedOff;

/// Runs `quipu retention`.
pub async fn retention(config: &Config, arguments: RetentionArguments) -> Result<ExitCode, Box<dyn Error>> {
    let RetentionArguments { dry_run, days } = arguments;
    if !dry_run && days.is_none() && !config.retention.enabled {
        return Err(SwitchedOff.into());
    }
    let policy = match days {
        Some(days) => config.retention.clone().with_days(days),
        None => config.retention.clone(),
    };
    let session = Session::open(config).await?;
    let done = async {
        let site = Site::open(&session).await?;
        let done = async {
            if dry_run {
                let [single, group] = site.keeping.would_go(&site.read_models, &policy).await?;
                return Ok::<Value, Box<dyn Error>>(json!({"single": single, "group": group}));
            }
            let (commands, models, depth) = (&site.commands, &site.read_models, Depth::Thorough);
            Ok(serde_json::to_value(site.keeping.retain(commands, models, &policy, depth, None).await?)?)
        };
        let done = done.await;
        site.close().await;
        done
    };
    let done = done.await;
    session.close().await?;
    print(&done?)
}

/// Runs `quipu audit erase`: asks for it, and stays until it is done.
pub async fn erase(
    session: &Session,
    EraseArguments { uid, reason }: EraseArguments,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    session.record(Action::Erase, Asked::about(uid).with("reason", Some(reason.as_str()))).await?;
    let site = Site::open(session).await?;
    let erased = async {
        let asked = Hold { by: Sender::System, reason, at: session.surroundings.clock.now() };
        let command = PersonCommand::Erase(asked);
        site.keeping.persons.handle(uid, &session.accessor(), &command).await?;
        let erasure = site.keeping.erase(&site.commands, &site.read_models, uid).await?;
        let report = erasure.done.map(|(_, report)| report).unwrap_or_default();
        Ok::<Value, Box<dyn Error>>(serde_json::from_str(&report)?)
    };
    let erased = erased.await;
    site.close().await;
    Ok(writeln!(out, "{}", serde_json::to_string_pretty(&erased?)?)?)
}

fn print(report: &Value) -> Result<ExitCode, Box<dyn Error>> {
    match writeln!(io::stdout(), "{}", serde_json::to_string_pretty(report)?) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
