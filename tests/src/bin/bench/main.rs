//! Measures the core on a durable Postgres of its own: appends by batch size, commands, projection, pages, and the
//! bytes that a message costs. Prints medians of several rounds; compare ratios of one run only.
//!
//! `bench [--quick]`; `scripts/bench` builds it in release and runs it. Not a test: nothing here passes or fails.

mod measure;
mod parts;

use tests::Cluster;

/// What is measured, how often.
#[derive(Clone, Copy)]
pub struct Scale {
    /// Rounds of which the median is told.
    rounds: usize,
    /// Events of one round of appends.
    events: usize,
    /// Messages that are sent, projected and read.
    messages: usize,
    /// Pages that are read.
    pages: usize,
}

const FULL: Scale = Scale { rounds: 5, events: 20_000, messages: 100_000, pages: 2_000 };
/// Enough to see that it works.
const QUICK: Scale = Scale { rounds: 1, events: 500, messages: 2_000, pages: 50 };

#[tokio::main]
#[expect(clippy::print_stdout, reason = "its answer")]
async fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let scale = if quick { QUICK } else { FULL };
    let cluster = Cluster::private();
    println!("{}", measure::fingerprint(&cluster).await);
    parts::appends(&cluster, scale).await;
    parts::messages(&cluster, scale).await;
}
