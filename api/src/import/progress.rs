//! Shows how an import goes: a bar on a terminal, a line every few seconds elsewhere, and the refusals.

use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal, Write},
    path::Path,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use super::{Counts, Refusal, Report};

/// Refusals that are shown; the others are only counted.
const SHOWN_MAX: u64 = 100;
/// The time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
const BAR: &str = "{wide_bar} {percent:>3} %  {msg}  ETA {eta}";

pub(super) struct Progress {
    /// On a terminal.
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
    bytes: u64,
    shown: u64,
    all: Option<BufWriter<File>>,
    /// The first failure to write the file of refusals.
    failure: Option<io::Error>,
}

impl Progress {
    /// `bytes`: of all files together. `refusals`: a file for all of them, written anew.
    #[expect(clippy::disallowed_methods, reason = "measures how long the import takes")]
    pub fn new(bytes: u64, refusals: Option<&Path>) -> io::Result<Self> {
        let bar = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(bytes).with_style(style)
        });
        let all = refusals.map(File::create).transpose()?.map(BufWriter::new);
        let started = Instant::now();
        Ok(Self { bar, started, last_line: started, bytes, shown: 0, all, failure: None })
    }

    /// Takes the bar away and says whether all refusals could be written.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        match (self.failure, &mut self.all) {
            (Some(failure), _) => Err(failure),
            (None, Some(all)) => all.flush(),
            (None, None) => Ok(()),
        }
    }

    /// Messages a second since the beginning, those that were there already too.
    pub fn rate(&self, counts: &Counts) -> u64 {
        let seconds = self.started.elapsed().as_secs_f64();
        ((counts.imported + counts.skipped) as f64 / seconds.max(0.001)) as u64
    }

    fn show(&self, text: &str) {
        // Nobody to tell when standard error is gone.
        let write = || drop(writeln!(io::stderr(), "{text}"));
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Report for Progress {
    fn refused(&mut self, refusal: &Refusal) {
        if let Some(all) = &mut self.all
            && let Err(error) = writeln!(all, "{refusal}")
        {
            self.failure.get_or_insert(error);
        }
        self.shown += 1;
        if self.shown <= SHOWN_MAX {
            self.show(&format!("refused: {refusal}"));
        } else if self.shown == SHOWN_MAX + 1 {
            self.show("refused: more; from here on only counted (--refusals FILE keeps them all)");
        }
    }

    fn progress(&mut self, counts: &Counts, bytes: u64) {
        let rate = self.rate(counts);
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{rate} messages/s"));
            bar.set_position(bytes);
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line += self.last_line.elapsed();
            let share = bytes as f64 / self.bytes.max(1) as f64;
            let left = self.started.elapsed().as_secs_f64() * (1.0 / share.max(1e-6) - 1.0);
            self.show(&format!("{:.0} %, {rate} messages/s, ETA {left:.0} s: {counts}", share * 100.0));
        }
    }
}
