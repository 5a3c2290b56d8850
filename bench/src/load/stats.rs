//! What one connection, or all of them, have seen.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Latencies in microseconds, up to ten minutes, to three digits.
#[derive(Debug, Clone)]
pub struct Latency(Histogram<u64>);

/// Longer than anything is waited for, in microseconds.
const MOST_US: u64 = 600_000_000;

impl Default for Latency {
    fn default() -> Self {
        // These bounds are valid: 1 is below the most, and three digits are between 0 and 5.
        Self(Histogram::new_with_bounds(1, MOST_US, 3).unwrap_or_else(|_| unreachable!("valid bounds")))
    }
}

impl Latency {
    pub fn note(&mut self, took: Duration) {
        self.0.saturating_record(u64::try_from(took.as_micros()).unwrap_or(MOST_US).max(1));
    }

    pub fn add(&mut self, other: &Self) {
        // Both have the same bounds.
        let _ = self.0.add(&other.0);
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// In milliseconds.
    pub fn at(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64 / 1000.0
    }
}

/// What was seen of the measured part.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Good answers.
    pub answered: u64,
    /// Problems.
    pub refused: u64,
    /// No answer at all.
    pub unanswered: u64,
    /// Connections that ended early.
    pub broken: u64,
    /// Pushes that came.
    pub pushed: u64,
    /// From when a request was due to its good answer.
    pub answers: Latency,
    /// From when a send was due to its push to the sender.
    pub pushes: Latency,
}

impl Stats {
    pub fn add(&mut self, other: &Self) {
        self.answered += other.answered;
        self.refused += other.refused;
        self.unanswered += other.unanswered;
        self.broken += other.broken;
        self.pushed += other.pushed;
        self.answers.add(&other.answers);
        self.pushes.add(&other.pushes);
    }
}
