//! When the next request is due.

use std::time::Duration;

use tokio::time::Instant;

use super::{Arguments, Case};

/// What is measured of a run.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// What is due before is not counted.
    pub from: Instant,
    /// Nothing is sent from here on.
    pub until: Instant,
}

/// How a connection decides to send.
#[derive(Debug, Clone, Copy)]
pub enum Pace {
    /// As long as fewer than so many are in flight.
    Closed(usize),
    /// At fixed intervals, the first one after so long.
    Open {
        /// Between two.
        every: Duration,
        /// So that connections do not send at the same moment.
        first: Duration,
    },
    /// Never: it only listens.
    Silent,
}

impl Pace {
    pub fn of(arguments: &Arguments, rate: Option<u32>, number: usize) -> Self {
        let senders = match arguments.case {
            Case::Group => arguments.senders.min(arguments.connections),
            _ => arguments.connections,
        };
        if number >= usize::from(senders) {
            return Self::Silent;
        }
        match rate {
            None => Self::Closed(arguments.in_flight.into()),
            Some(rate) => {
                let every = Duration::from_secs_f64(f64::from(senders) / f64::from(rate));
                Self::Open { every, first: every.mul_f64(number as f64 / f64::from(senders)) }
            }
        }
    }
}

/// The moments at which one connection sends.
#[derive(Debug)]
pub struct Due {
    pace: Pace,
    next: Instant,
    until: Instant,
}

impl Due {
    pub fn new(pace: Pace, span: Span) -> Self {
        let next = match pace {
            Pace::Open { first, .. } => Instant::now() + first,
            Pace::Closed(_) | Pace::Silent => Instant::now(),
        };
        Self { pace, next, until: span.until }
    }

    /// The moment from which the next request counts, if it is to be sent now.
    pub fn take(&mut self, now: Instant, in_flight: usize) -> Option<Instant> {
        if now >= self.until {
            return None;
        }
        match self.pace {
            Pace::Closed(most) => (in_flight < most).then_some(now),
            Pace::Open { every, .. } => {
                let due = self.next;
                (due <= now).then(|| {
                    self.next += every;
                    due
                })
            }
            Pace::Silent => None,
        }
    }

    /// When to look again, if no answer comes before.
    pub fn look(&self) -> Instant {
        match self.pace {
            Pace::Open { .. } => self.next.min(self.until),
            Pace::Closed(_) | Pace::Silent => self.until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span() -> Span {
        let from = Instant::now();
        Span { from, until: from + Duration::from_secs(60) }
    }

    #[test]
    fn an_open_loop_counts_from_when_it_was_due() {
        let span = span();
        let every = Duration::from_millis(10);
        let mut due = Due::new(Pace::Open { every, first: every }, span);
        let began = due.look() - every;
        assert_eq!(due.take(began, 0), None);
        // A tool that was held up for a while sends what it owes, and counts from then.
        let late = began + Duration::from_millis(35);
        let owed: Vec<Duration> = std::iter::from_fn(|| due.take(late, 1000)).map(|at| at - began).collect();
        assert_eq!(owed, [10, 20, 30].map(Duration::from_millis));
        assert_eq!(due.look() - began, Duration::from_millis(40));
        assert_eq!(due.take(span.until, 0), None);
    }

    #[test]
    fn a_closed_loop_sends_while_there_is_room() {
        let mut due = Due::new(Pace::Closed(2), span());
        let now = Instant::now();
        assert_eq!((due.take(now, 0), due.take(now, 1), due.take(now, 2)), (Some(now), Some(now), None));
    }
}
