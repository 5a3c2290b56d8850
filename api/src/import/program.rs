//! `quipu import`: the arguments, the signals, what is printed and the exit code.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use super::{End, Outcome, Target, lengths, progress::Progress, run};

/// A run that did what it could, and refused some lines.
const SOME_REFUSED: u8 = 2;
/// As shells show a program that was interrupted.
const INTERRUPTED: u8 = 130;

/// Imports conversations. May be interrupted and run again, and run twice, without a second copy.
///
/// Exit code: 0 all is imported; 2 some lines were refused; 1 it could not go on; 130 it was interrupted.
#[derive(Debug, Clone, clap::Args)]
pub struct Arguments {
    /// Files of one JSON object a line, in the order of their times.
    #[arg(required = true, value_name = "FILE.ndjson")]
    pub files: Vec<PathBuf>,
    /// A file for all refusals; without it the first 100 are printed and the others only counted.
    #[arg(long, value_name = "FILE")]
    pub refusals: Option<PathBuf>,
}

/// Imports, shows progress, ends at Ctrl-C or SIGTERM when what is in flight has landed, prints the counts.
pub async fn command(arguments: &Arguments, target: Target<'_>) -> io::Result<ExitCode> {
    let files = &arguments.files;
    let bytes = lengths(files).map_err(io::Error::other)?.iter().sum();
    let mut progress = Progress::new(bytes, arguments.refusals.as_deref())?;
    let (stop, stopped) = watch::channel(false);
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let signals = tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        // The import may have ended at the same moment.
        let _ = stop.send(true);
    });
    let outcome = run(files, target, &mut progress, &stopped).await;
    signals.abort();
    let rate = progress.rate(&outcome.counts);
    progress.finish()?;
    writeln!(io::stdout(), "{}; {rate} messages/s", outcome.counts)?;
    Ok(said(&outcome))
}

/// Says on standard error why it is not complete.
fn said(outcome: &Outcome) -> ExitCode {
    let (code, why) = match &outcome.end {
        End::Complete if outcome.counts.refused > 0 => return ExitCode::from(SOME_REFUSED),
        End::Complete => return ExitCode::SUCCESS,
        End::Interrupted => (ExitCode::from(INTERRUPTED), "interrupted".to_owned()),
        End::Failed(error) => {
            let source = std::error::Error::source(error).map(|source| format!(": {source}"));
            (ExitCode::FAILURE, format!("{error}{}", source.unwrap_or_default()))
        }
    };
    let _ =
        writeln!(io::stderr(), "import: {why}. What is in stays in; the same command goes on from there.");
    code
}
