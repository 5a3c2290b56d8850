//! What one connection, or all of them, have seen.

use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::time::Instant;

use super::pace::Span;

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

/// The slowest answer of each tenth of a second of a run, by when it was due: a stall is seen as one, whatever the
/// quantiles of the whole say.
#[derive(Debug, Clone, Default)]
pub struct Moments(Vec<Duration>);

/// One moment.
const MOMENT: Duration = Duration::from_millis(100);
/// An hour of them; what comes later is not told apart.
const MOMENTS_MAX: usize = 36_000;

impl Moments {
    /// Notes what took so long, and was due so long after the measured part began.
    pub fn note(&mut self, since: Duration, took: Duration) {
        let nth = usize::try_from(since.as_millis() / MOMENT.as_millis()).unwrap_or(MOMENTS_MAX);
        let nth = nth.min(MOMENTS_MAX - 1);
        if self.0.len() <= nth {
            self.0.resize(nth + 1, Duration::ZERO);
        }
        self.0[nth] = self.0[nth].max(took);
    }

    pub fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), Duration::ZERO);
        for (mine, others) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*others);
        }
    }

    /// The slowest answer of each moment.
    pub fn all(&self) -> &[Duration] {
        &self.0
    }

    /// The `most` slowest stretches: when each began, and its slowest answer. A stretch ends where the slowest answer
    /// of a moment takes less than half of its own.
    pub fn stalls(&self, most: usize) -> Vec<(Duration, Duration)> {
        let mut left = self.0.clone();
        let mut stalls = vec![];
        while stalls.len() < most
            && let Some((peak, &took)) = left.iter().enumerate().max_by_key(|(_, took)| **took)
            && !took.is_zero()
        {
            let slow = |nth: &usize| left[*nth] >= took / 2;
            let first = (0..=peak).rev().take_while(slow).last().unwrap_or(peak);
            let last = (peak..left.len()).take_while(slow).last().unwrap_or(peak);
            left[first..=last].fill(Duration::ZERO);
            stalls.push((MOMENT * u32::try_from(first).unwrap_or(u32::MAX), took));
        }
        stalls.sort_unstable();
        stalls
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
    /// The slowest answers over time.
    pub moments: Moments,
}

impl Stats {
    /// A good answer has come to what was due then.
    pub fn answered(&mut self, due: Instant, now: Instant, span: Span) {
        if due >= span.from {
            self.answered += u64::from(now < span.until);
            self.answers.note(now - due);
            self.moments.note(due - span.from, now - due);
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.answered += other.answered;
        self.refused += other.refused;
        self.unanswered += other.unanswered;
        self.broken += other.broken;
        self.pushed += other.pushed;
        self.answers.add(&other.answers);
        self.pushes.add(&other.pushes);
        self.moments.add(&other.moments);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_one_however_many_moments_it_has() {
        let mut moments = Moments::default();
        let ms = Duration::from_millis;
        for (at, took) in [(0, 20), (150, 25), (310, 300), (420, 210), (530, 110), (990, 180), (1_200, 15)] {
            moments.note(ms(at), ms(took));
        }
        assert_eq!(moments.stalls(2), [(ms(300), ms(300)), (ms(900), ms(180))]);
        assert_eq!(moments.stalls(3)[1], (ms(500), ms(110)));
        assert_eq!(Moments::default().stalls(3), []);
        let mut both = Moments::default();
        both.note(ms(2_000), ms(1));
        both.add(&moments);
        assert_eq!((both.all().len(), both.all()[3]), (21, ms(300)));
    }
}
