//! What a comparison has found so far, how it goes, and what is said of it at the end.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use domain::ConvId;
use indicatif::{ProgressBar, ProgressStyle};

use super::Outcome;

/// Drifts that are printed; the others are only counted.
const SHOWN_MAX: u64 = 1000;
/// The time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
const BAR: &str = "{wide_bar} {pos}/{len} conversations  {msg}  ETA {eta}";

/// Counts and a bar.
pub(super) struct Report {
    due: u64,
    bar: Option<ProgressBar>,
    last_line: Instant,
    conversations: u64,
    messages: u64,
    drifts: u64,
    shown: u64,
    parked: u64,
    unreadable: u64,
    behind: u64,
    removing: u64,
    /// Of which only some members' eyes were looked through.
    partly: u64,
}

impl Report {
    /// For so many conversations.
    #[expect(clippy::disallowed_methods, reason = "says every few seconds how it goes")]
    pub fn new(due: u64) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(due).with_style(style)
        });
        let (conversations, messages, drifts, shown) = (0, 0, 0, 0);
        let (parked, unreadable, behind, removing, partly, last_line) = (0, 0, 0, 0, 0, Instant::now());
        Self {
            due,
            bar,
            last_line,
            conversations,
            messages,
            drifts,
            shown,
            parked,
            unreadable,
            behind,
            removing,
            partly,
        }
    }

    /// One more; its drifts are printed.
    pub fn note(&mut self, conv: &ConvId, outcome: Outcome) -> io::Result<()> {
        self.conversations += 1;
        match outcome {
            Ok(verified) if verified.parked => {
                self.parked += 1;
                self.say(&format!("parked: {conv}: it waits for an operator and was not compared"))?;
            }
            Ok(verified) => {
                self.messages += verified.messages;
                self.drifts += verified.drifts.count;
                self.removing += u64::from(verified.removing);
                self.behind += u64::from(verified.behind);
                self.partly += u64::from(verified.viewers < verified.members);
                for drift in &verified.drifts.told {
                    self.shown += 1;
                    if self.shown <= SHOWN_MAX {
                        self.say(&format!("drift: {drift}"))?;
                    }
                }
                let untold = verified.drifts.count - verified.drifts.told.len() as u64;
                if untold > 0 && self.shown <= SHOWN_MAX {
                    self.say(&format!("drift: {conv}: {untold} more"))?;
                }
            }
            Err(error) => {
                self.unreadable += 1;
                self.say(&format!("unreadable: {conv}: {}", crate::cli::chain_of(&error)))?;
            }
        }
        self.progress();
        Ok(())
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Is everything that was looked at as the log says?
    pub fn is_clean(&self) -> bool {
        self.drifts == 0 && self.parked == 0 && self.unreadable == 0
    }

    /// The last lines.
    pub fn text(&self, whole: bool) -> String {
        let Self {
            due,
            conversations,
            messages,
            drifts,
            shown,
            parked,
            unreadable,
            behind,
            removing,
            partly,
            ..
        } = self;
        let mut text = format!("compared {conversations} of {due} conversations with {messages} messages: ");
        // Writing to a string cannot fail.
        let _ = write!(text, "{drifts} drifts, {parked} parked, {unreadable} unreadable");
        if *shown > SHOWN_MAX {
            let _ = write!(text, "\nonly the first {SHOWN_MAX} drifts are shown");
        }
        if *removing > 0 {
            let _ = write!(text, "\n{removing} were left out: bodies are being taken out of them just now");
        }
        if *behind > 0 {
            let _ = write!(
                text,
                "\n{behind} are not projected up to their last event, and were compared as far as they are"
            );
        }
        if *partly > 0 {
            let most = projections::verify::VIEWERS_MAX;
            let _ = write!(
                text,
                "\n{partly} large groups were looked at through the eyes of {most} of their members"
            );
        }
        if !whole {
            text.push_str("\ninterrupted before the end");
        }
        text
    }

    fn say(&self, text: &str) -> io::Result<()> {
        match &self.bar {
            Some(bar) => bar.suspend(|| writeln!(io::stdout(), "{text}")),
            None => writeln!(io::stdout(), "{text}"),
        }
    }

    fn progress(&mut self) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{} drifts", self.drifts));
            bar.set_position(self.conversations);
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line += self.last_line.elapsed();
            let Self { due, conversations, messages, drifts, .. } = self;
            // Nobody to tell when standard error is gone.
            let _ = writeln!(
                io::stderr(),
                "{conversations} of {due} conversations, {messages} messages, {drifts} drifts"
            );
        }
    }
}
