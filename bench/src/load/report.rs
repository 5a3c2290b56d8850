//! What came of a run: lines for people, an object for programs.

use std::{
    io::{self, Write},
    time::Duration,
};

use serde::Serialize;

use super::{
    Arguments,
    machine::Machine,
    stats::{Latency, Stats},
    usage::Usage,
};

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// On which machine.
    pub machine: Machine,
    /// One for each rate, or one of a closed loop.
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct Run {
    /// What was asked, and which way.
    pub case: String,
    /// See `case`.
    pub via: String,
    /// Connections.
    pub connections: u16,
    /// In flight on each; none of an open loop.
    pub in_flight: Option<u16>,
    /// Wanted requests a second; none of a closed loop.
    pub rate: Option<u32>,
    /// Measured for so many seconds.
    pub seconds: u32,
    /// Good answers a second.
    pub answers_per_s: f64,
    /// Problems, requests without an answer, connections that broke.
    pub refused: u64,
    /// See `refused`.
    pub unanswered: u64,
    /// See `refused`.
    pub broken: u64,
    /// Of good answers.
    pub answers_ms: Quantiles,
    /// Pushes that came, a second.
    pub pushes_per_s: f64,
    /// The slowest stretches, in the order in which they came.
    pub stalls: Vec<Stall>,
    /// The slowest answer of each tenth of a second, by when it was due, in milliseconds.
    pub moments_ms: Vec<f64>,
    /// The longest that a timer of this tool rang late, in milliseconds: what is held up here is counted as latency.
    pub late_ms: f64,
    /// CPU seconds that a virtual machine's host gave to others meanwhile.
    pub stolen_s: f64,
    /// Of pushes to the sender, from when the send was due.
    pub pushes_ms: Quantiles,
    /// How long after the end the read models had passed everything, in milliseconds.
    pub caught_up_ms: f64,
    /// CPU microseconds for each good answer.
    pub server_us: f64,
    /// See `server_us`.
    pub postgres_us: f64,
    /// See `server_us`.
    pub tool_us: f64,
    /// Resident, in bytes, at the end.
    pub server_rss: u64,
    /// Of Postgres, for each good answer; none where the server does not say.
    pub wal_bytes: Option<f64>,
    /// See `wal_bytes`; before vacuum and checkpoints have had their time.
    pub disk_bytes: Option<f64>,
}

/// So many of the slowest stretches are told.
const STALLS: usize = 3;

/// A stretch of slow answers.
#[derive(Debug, Serialize)]
pub struct Stall {
    /// Seconds since the measured part began.
    pub at_s: f64,
    /// Its slowest answer, in milliseconds.
    pub ms: f64,
}

/// In milliseconds.
#[derive(Debug, Serialize)]
pub struct Quantiles {
    /// How many there were.
    pub count: u64,
    /// Half were faster.
    pub p50: f64,
    /// One in a hundred was slower.
    pub p99: f64,
    /// One in a thousand was slower.
    pub p99_9: f64,
    /// The slowest.
    pub most: f64,
}

impl From<&Latency> for Quantiles {
    fn from(latency: &Latency) -> Self {
        let [p50, p99, p99_9, most] = [0.5, 0.99, 0.999, 1.0].map(|quantile| latency.at(quantile));
        Self { count: latency.count(), p50, p99, p99_9, most }
    }
}

impl From<(Duration, Duration)> for Stall {
    fn from((at, took): (Duration, Duration)) -> Self {
        Self { at_s: at.as_secs_f64(), ms: millis(took) }
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

impl Run {
    pub fn new(
        arguments: &Arguments,
        rate: Option<u32>,
        stats: &Stats,
        spent: &Usage,
        caught_up_ms: f64,
        late: Duration,
    ) -> Self {
        let seconds = f64::from(arguments.seconds);
        let each = |seconds: f64| seconds * 1e6 / (stats.answered as f64).max(1.0);
        let bytes = |bytes: Option<f64>| bytes.map(|bytes| bytes / (stats.answered as f64).max(1.0));
        Self {
            case: format!("{:?}", arguments.case).to_lowercase(),
            via: format!("{:?}", arguments.via).to_lowercase(),
            connections: arguments.connections,
            in_flight: rate.is_none().then_some(arguments.in_flight),
            rate,
            seconds: arguments.seconds,
            answers_per_s: stats.answered as f64 / seconds,
            refused: stats.refused,
            unanswered: stats.unanswered,
            broken: stats.broken,
            answers_ms: (&stats.answers).into(),
            stalls: stats.moments.stalls(STALLS).into_iter().map(Stall::from).collect(),
            moments_ms: stats.moments.all().iter().copied().map(millis).collect(),
            late_ms: millis(late),
            stolen_s: spent.stolen,
            pushes_per_s: stats.pushed as f64 / seconds,
            pushes_ms: (&stats.pushes).into(),
            caught_up_ms,
            server_us: each(spent.server),
            postgres_us: each(spent.postgres),
            tool_us: each(spent.tool),
            server_rss: spent.server_rss,
            wal_bytes: bytes(spent.wal),
            disk_bytes: bytes(spent.disk),
        }
    }

    /// For people.
    pub fn say(&self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        let pace = match (self.rate, self.in_flight) {
            (Some(rate), _) => format!("{rate}/s wanted"),
            (None, Some(most)) => format!("{most} in flight on each"),
            (None, None) => String::new(),
        };
        writeln!(
            out,
            "{} via {}, {} connections, {pace}, {} s",
            self.case, self.via, self.connections, self.seconds
        )?;
        writeln!(
            out,
            "  answers  {:>10.0}/s   {}   {} refused, {} unanswered, {} connections broke",
            self.answers_per_s, self.answers_ms, self.refused, self.unanswered, self.broken
        )?;
        let stalls: Vec<String> =
            self.stalls.iter().map(|stall| format!("{:.0} ms at {:.1} s", stall.ms, stall.at_s)).collect();
        writeln!(
            out,
            "  slowest  {}   (this tool late by up to {:.0} ms, {:.2} CPU s taken by the host)",
            stalls.join(", "),
            self.late_ms,
            self.stolen_s
        )?;
        if self.pushes_per_s > 0.0 {
            writeln!(out, "  pushes   {:>10.0}/s   {}   (own)", self.pushes_per_s, self.pushes_ms)?;
        }
        writeln!(out, "  read models had caught up {:.0} ms after the end", self.caught_up_ms)?;
        writeln!(
            out,
            "  CPU µs an answer: server {:.1}, Postgres {:.1}, this tool {:.1}; server {} MiB resident",
            self.server_us,
            self.postgres_us,
            self.tool_us,
            self.server_rss >> 20
        )?;
        if let (Some(wal), Some(disk)) = (self.wal_bytes, self.disk_bytes) {
            writeln!(out, "  bytes an answer: WAL {wal:.0}, disk {disk:.0}")?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Quantiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { count, p50, p99, p99_9, most } = self;
        if *count == 0 {
            return f.write_str("none");
        }
        write!(f, "p50 {p50:.2} p99 {p99:.2} p99.9 {p99_9:.2} most {most:.2} ms")
    }
}
