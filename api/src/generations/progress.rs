//! Shows how a rebuild goes: a bar on a terminal, a line every few seconds elsewhere.

use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use projections::rebuild::{Phase, Progress};

/// The time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
const BAR: &str = "{wide_bar} {percent:>3} %  {msg}";

/// A bar, or lines.
pub(super) struct Bar {
    /// On a terminal.
    bar: Option<ProgressBar>,
    next_line: Duration,
}

impl Bar {
    pub fn new() -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(0).with_style(style)
        });
        Self { bar, next_line: LINE_EVERY }
    }

    pub fn show(&mut self, progress: &Progress) {
        let (done, total) = (progress.before + progress.events, progress.total);
        if let Some(bar) = &self.bar {
            bar.set_length(total.max(done));
            bar.set_position(done);
            bar.set_message(said(progress));
        } else if progress.took >= self.next_line {
            self.next_line = progress.took + LINE_EVERY;
            let share = done as f64 / total.max(1) as f64 * 100.0;
            // Nobody to tell when standard error is gone.
            let _ = writeln!(io::stderr(), "{share:.0} %, {}", said(progress));
        }
    }

    pub fn finish(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn said(progress: &Progress) -> String {
    match progress.phase {
        Phase::Loading => {
            let rate = progress.events as f64 / progress.took.as_secs_f64().max(0.001);
            let left = progress.total.saturating_sub(progress.before + progress.events) as f64;
            format!("loading, {rate:.0} events/s, ETA {:.0} s", left / rate.max(1.0))
        }
        Phase::Comparing => format!("comparing, {} rows", progress.compared),
        Phase::Switching => "switching".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_at_the_rate_so_far() {
        let took = Duration::from_secs(2);
        let progress =
            Progress { phase: Phase::Loading, before: 100, events: 1000, total: 2100, compared: 0, took };
        assert_eq!(said(&progress), "loading, 500 events/s, ETA 2 s");
    }
}
