//! Brings an export's messages into the log, in the order of its lines, each of them once.
//!
//! A straight line: read a line, find its place, submit it, and collect the answers in order, at most so many in
//! flight. Constant memory, whatever the length of the files. docs/decisions/0008 says why it is so; what a line
//! may do to a conversation is decided by the domain, as for every command.

mod conversations;
mod counts;
mod flight;
mod line;
mod lines;
mod pairs;
mod program;
mod progress;
mod refusal;

use std::{io, path::PathBuf};

use domain::{Command, GroupName, Import, MsgId, snowflake::LeaseOver};
use event_store::{CommandHandler, Request};
use tokio::sync::watch;
use uuid::Uuid;

use conversations::{Conversations, Fault, Placed};
pub use counts::Counts;
use flight::Flight;
use line::{Kind, Line, What};
use lines::{Found, Lines};
pub use lines::{LINE_BYTES_MAX, Place};
pub use pairs::LOOK_AHEAD_LINES;
pub use program::{Arguments, command};
use refusal::Reason;
pub use refusal::Refusal;

/// Lines between two reports of progress: often enough for the eye, seldom enough to cost nothing.
const PROGRESS_LINES: u64 = 256;

/// Where to, and with what.
pub struct Target<'a> {
    /// Takes the commands.
    pub handler: &'a CommandHandler,
    /// Makes the ids of new messages.
    pub next_msg_id: &'a mut (dyn FnMut() -> Result<MsgId, LeaseOver> + Send),
    /// The largest content, in bytes.
    pub content_bytes_max: usize,
    /// Of this run, for the headers of its events.
    pub correlation_id: Uuid,
}

/// Hears how it goes.
pub trait Report: Send {
    /// A line was not imported.
    fn refused(&mut self, refusal: &Refusal);
    /// So far; `bytes` of all files have been read.
    fn progress(&mut self, counts: &Counts, bytes: u64);
}

/// How it went.
#[derive(Debug)]
pub struct Outcome {
    /// What has become of the lines.
    pub counts: Counts,
    /// Why there were no more.
    pub end: End,
}

/// Why a run has ended.
#[derive(Debug)]
pub enum End {
    /// All lines were read.
    Complete,
    /// It was told to stop.
    Interrupted,
    /// It could not go on.
    Failed(ImportError),
}

/// Why an import cannot go on. What was imported stays, and it may be run again.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file cannot be read.
    #[error("read {}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is read twice over, so it cannot be a pipe.
    #[error("{} is not a file", path.display())]
    NotAFile {
        /// Which one.
        path: PathBuf,
    },
    /// No more message ids.
    #[error("make a message's id")]
    MsgId(#[from] LeaseOver),
    /// Not answered in time.
    #[error("the log is unavailable; some lines are in it, some may not be")]
    LogUnavailable,
}

/// The lengths of these files, in bytes. Fails if one of them is not there: before anything is imported.
pub fn lengths(files: &[PathBuf]) -> Result<Vec<u64>, ImportError> {
    let length = |path: &PathBuf| {
        let read = |source| ImportError::Read { path: path.clone(), source };
        let metadata = std::fs::metadata(path).map_err(read)?;
        if metadata.is_file() {
            Ok(metadata.len())
        } else {
            Err(ImportError::NotAFile { path: path.clone() })
        }
    };
    files.iter().map(length).collect()
}

/// Imports these files, one after the other. When `stop` becomes true it takes no more lines and waits for those
/// in flight. Reads from disk without leaving its thread: not for a thread that serves others.
pub async fn run(
    files: &[PathBuf],
    target: Target<'_>,
    report: &mut dyn Report,
    stop: &watch::Receiver<bool>,
) -> Outcome {
    let lengths = match lengths(files) {
        Ok(lengths) => lengths,
        Err(error) => return Outcome { counts: Counts::default(), end: End::Failed(error) },
    };
    let mut run = Run { files, target, conversations: Conversations::of(files), flight: Flight::new(report) };
    let taken = run.take_lines(&lengths, stop).await;
    // Also after a failure: what has been submitted is done, and counts.
    let landed = run.flight.land_all().await;
    let end = match taken.and_then(|end| landed.map(|()| end)) {
        Ok(end) => end,
        Err(error) => End::Failed(error),
    };
    Outcome { counts: run.flight.counts, end }
}

struct Run<'a, 't> {
    files: &'a [PathBuf],
    target: Target<'t>,
    conversations: Conversations<'a>,
    flight: Flight<'a>,
}

impl Run<'_, '_> {
    async fn take_lines(
        &mut self,
        lengths: &[u64],
        stop: &watch::Receiver<bool>,
    ) -> Result<End, ImportError> {
        let mut lines = Lines::of(self.files);
        while !*stop.borrow() {
            let Some(found) = lines.next()? else { return Ok(End::Complete) };
            let place = found.place;
            self.flight.counts.lines += 1;
            match self.take(found).await {
                Ok(()) => {}
                Err(Fault::Refused(reason)) => {
                    self.flight.refuse(&self.files[place.file], place.line, &reason)
                }
                Err(Fault::Failed(error)) => {
                    self.flight.counts.lines -= 1;
                    return Err(error);
                }
            }
            if place.index % PROGRESS_LINES == 0 {
                let bytes = lengths[..place.file].iter().sum::<u64>() + place.end;
                self.flight.report.progress(&self.flight.counts, bytes);
            }
        }
        Ok(End::Interrupted)
    }

    async fn take(&mut self, Found { place, bytes }: Found<'_>) -> Result<(), Fault> {
        let line = Line::parse(bytes.ok_or(Reason::LineTooLong)?)?;
        let Placed { conv, source, id } = self.conversations.place(&line, place)?;
        let (uid, is_group) = (line.sender, line.kind == Kind::Group);
        let join = |source, before| {
            let group_name = GroupName::from_foreign_name(&line.conv);
            self.request(Import::Join { uid, group_name, source, before })
        };
        let what = line.what(self.target.content_bytes_max)?;
        let (before, request) = match what {
            What::Message(content) => {
                // Its sender may have been removed meanwhile: nothing but the log knows who is in.
                let before = is_group.then(|| join(source, Some(id)));
                let msg_id = (self.target.next_msg_id)().map_err(ImportError::from)?;
                let message = Import::Message { id, msg_id, sender: uid, content, at: line.ts };
                (before, self.request(message))
            }
            What::Join if is_group => (None, join(source, None)),
            What::Leave if is_group => (None, self.request(Import::Leave { uid, source })),
            // The two of a single chat are in it, always.
            What::Join | What::Leave => {
                self.flight.counts.skipped += 1;
                return Ok(());
            }
        };
        let file = &self.files[place.file];
        self.flight.submit(self.target.handler, conv, before, request, (file, place.line)).await?;
        Ok(())
    }

    fn request(&self, line: Import) -> Request {
        let correlation_id = self.target.correlation_id;
        Request { command: Command::Import(line), device: None, correlation_id, over_limit: None }
    }
}
