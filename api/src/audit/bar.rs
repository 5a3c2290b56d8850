//! Shows how a long command goes: a bar on a terminal, a line every few seconds elsewhere.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

/// The time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
const BAR: &str = "{wide_bar} {percent:>3} %  {human_pos} events  {per_sec}  ETA {eta}";

/// Counts events; may be shared.
pub struct Bar {
    /// On a terminal.
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

struct State {
    passed: u64,
    total: u64,
    last_line: Instant,
}

impl Bar {
    /// Of so many events.
    #[expect(clippy::disallowed_methods, reason = "measures when to say how it goes")]
    pub fn new(total: u64) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(total).with_style(style)
        });
        Self { bar, state: Mutex::new(State { passed: 0, total, last_line: Instant::now() }) }
    }

    /// There are so many.
    pub fn expects(&self, total: u64) {
        self.state().total = total;
        if let Some(bar) = &self.bar {
            bar.set_length(total);
        }
    }

    /// So many more have gone by.
    pub fn passed(&self, events: u64) {
        let mut state = self.state();
        state.passed += events;
        if let Some(bar) = &self.bar {
            bar.set_position(state.passed);
        } else if state.last_line.elapsed() >= LINE_EVERY {
            state.last_line += LINE_EVERY;
            // Nobody to tell when standard error is gone.
            let _ = writeln!(io::stderr(), "{} of {} events", state.passed, state.total);
        }
    }

    /// Prints something without tearing the bar.
    pub fn aside(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
