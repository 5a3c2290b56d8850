//! The lines that have been submitted and not answered yet: bounded, answered in order, counted as they land.

use std::{collections::VecDeque, path::Path};

use domain::{Command, ConvId, Import, Rejection, Reply};
use event_store::{CommandError, CommandHandler, Pending, Request, Sequence};

use super::{Counts, ImportError, Refusal, Report, refusal::Reason};

/// Lines in flight: enough to fill a group commit in every shard while the next one fills.
const LINES_MAX: usize = 8192;
/// Bytes of content in flight: bounds the memory where every text is long.
const BYTES_MAX: usize = 32 * 1024 * 1024;

pub(super) struct Flight<'a> {
    pub report: &'a mut dyn Report,
    pub counts: Counts,
    sequence: Sequence,
    lines: VecDeque<Flying<'a>>,
    bytes: usize,
}

struct Flying<'a> {
    file: &'a Path,
    line: u64,
    bytes: usize,
    /// Its sender's join, where it has one.
    join: Option<Pending>,
    answer: Pending,
}

impl<'a> Flight<'a> {
    pub fn new(report: &'a mut dyn Report) -> Self {
        let (sequence, lines) = (Sequence::default(), VecDeque::new());
        Self { report, counts: Counts::default(), sequence, lines, bytes: 0 }
    }

    /// Submits a line and, ahead of it, its sender's join. Waits while too much is in flight.
    pub async fn submit(
        &mut self,
        handler: &CommandHandler,
        conv: ConvId,
        join: Option<Request>,
        request: Request,
        (file, line): (&'a Path, u64),
    ) -> Result<(), ImportError> {
        let bytes = content_bytes(&request.command);
        while self.lines.len() >= LINES_MAX || (self.bytes + bytes > BYTES_MAX && !self.lines.is_empty()) {
            self.land().await?;
        }
        let join = match join {
            Some(join) => Some(handler.submit_when_free(&self.sequence, conv.clone(), join).await),
            None => None,
        };
        let answer = handler.submit_when_free(&self.sequence, conv, request).await;
        self.bytes += bytes;
        self.lines.push_back(Flying { file, line, bytes, join, answer });
        Ok(())
    }

    /// Waits for all of them, also behind one that has no answer.
    pub async fn land_all(&mut self) -> Result<(), ImportError> {
        let mut outcome = Ok(());
        while !self.lines.is_empty() {
            outcome = outcome.and(self.land().await);
        }
        outcome
    }

    pub fn refuse(&mut self, file: &Path, line: u64, reason: &Reason) {
        self.counts.refused += 1;
        self.report.refused(&Refusal { file: file.to_owned(), line, reason: reason.shown() });
    }

    /// Waits for the one that was submitted first.
    async fn land(&mut self) -> Result<(), ImportError> {
        let Some(Flying { file, line, bytes, join, answer }) = self.lines.pop_front() else { return Ok(()) };
        self.bytes -= bytes;
        if let Some(join) = join
            && let Ok(Reply::Imported { changed: true }) = join.answer().await
        {
            self.counts.joined += 1;
        }
        let reason = match answer.answer().await {
            Ok(Reply::Sent(sent)) if !sent.duplicate => {
                self.counts.imported += 1;
                return Ok(());
            }
            Ok(Reply::Imported { changed: true }) => {
                self.counts.memberships += 1;
                return Ok(());
            }
            // Nothing is submitted here but lines, and these have no other answers.
            Ok(_) => {
                self.counts.skipped += 1;
                return Ok(());
            }
            Err(CommandError::Busy | CommandError::OverLimit(_) | CommandError::Unavailable) => {
                return Err(ImportError::LogUnavailable);
            }
            Err(CommandError::Refused) => Reason::Log,
            Err(CommandError::Rejected(Rejection::NotAMember)) => Reason::HasLeft,
            Err(CommandError::Rejected(rejection)) => Reason::Other(rejection),
        };
        self.refuse(file, line, &reason);
        Ok(())
    }
}

fn content_bytes(command: &Command) -> usize {
    match command {
        Command::Import(Import::Message { content, .. }) => content.json().len(),
        _ => 0,
    }
}
