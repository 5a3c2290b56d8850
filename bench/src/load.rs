//! `quipu bench load`: how many requests a second, how late the answers are, and what they cost.
//!
//! A closed loop keeps so many requests in flight on each connection and finds what the server can take; an open loop
//! sends at a given rate whatever the answers do, and counts each from the moment it was due (coordinated omission:
//! G. Tene, How NOT to Measure Latency). Knows the contract, and of the server's processes only what /proc says.

mod case;
mod http;
mod machine;
mod pace;
mod picture;
mod preload;
mod report;
mod socket;
mod stats;
mod usage;

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::PathBuf,
    process::ExitStatus,
    sync::Arc,
    time::Duration,
};

use clap::{Args, ValueEnum};
use hyper::Method;
use serde_json::Value;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

pub use case::Case;

use crate::{
    Elsewhere,
    client::{Address, ClientError, rest::Rest},
    own_server::{OwnServer, OwnServerError},
};
use case::Stage;
use machine::Machine;
use pace::{Pace, Span};
use report::{Report, Run};
use stats::Stats;
use usage::Processes;

/// After the end, answers that are still due are waited for so long.
const ANSWERS_AWAITED: Duration = Duration::from_secs(30);
/// Between two looks whether it is over.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Between two rings of the timer that shows whether this tool is late itself.
const RING_EVERY: Duration = Duration::from_millis(5);
/// How often the run says how it goes.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// Which way requests go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Via {
    /// WebSocket, many in flight on each connection.
    Ws,
    /// REST with keep-alive, one in flight on each connection.
    Rest,
}

/// What, how many, how fast.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// What is asked
    #[arg(long, value_enum, default_value_t = Case::Sends)]
    pub case: Case,
    /// Which way
    #[arg(long, value_enum, default_value_t = Via::Ws)]
    pub via: Via,
    /// Connections
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub connections: u16,
    /// Requests in flight on each connection of a closed loop; over REST it is one
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub in_flight: u16,
    /// Requests a second over all connections: an open loop, one after the other for several rates [default: a
    /// closed loop]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate: Vec<u32>,
    /// Measured, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: u32,
    /// Not measured before, in seconds
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub warmup: u32,
    /// Messages in all that lie in these conversations before anything is measured, put there by `quipu import`
    /// where they are not there yet. Without a server of the tool's own it needs --data or --database, too
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub preload: u64,
    /// Pages are asked of so many of a connection's conversations: few are warm [default: all of them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub pages_of: Option<u32>,
    /// Items of a page or a list [default: 20 of a page, 50 of a list]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=200))]
    pub limit: Option<u16>,
    /// A list is asked page after page to its end, and counts as one answer; over REST
    #[arg(long)]
    pub whole_list: bool,
    /// Conversations of each connection
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub conversations: u32,
    /// Members of the one group of the case `group`
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u16).range(2..=10_000))]
    pub members: u16,
    /// Connections of the case `group` that send; the others listen
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub senders: u16,
    /// Bytes of a text
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=60_000))]
    pub bytes: u16,
    /// A server that runs already. Its secret: --jwt-secret or --data [default: one of the tool's own]
    #[arg(long)]
    pub url: Option<String>,
    /// Writes what was measured there, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draws latency over load there, as HTML
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// The process of a server that runs already, for what it costs
    #[arg(long)]
    pub pid: Option<u32>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The server of the tool's own.
    #[error(transparent)]
    OwnServer(#[from] OwnServerError),
    /// Not http://host:port.
    #[error("read the URL {0}: it is not like http://127.0.0.1:7300")]
    Url(String),
    /// What the case needs could not be set up.
    #[error("set up the case")]
    SetUp(#[source] ClientError),
    /// Something was not taken while the case was set up.
    #[error("set up the case: {0}")]
    Refused(String),
    /// The messages that are to be there before could not be written, or imported.
    #[error("import what is to be there before")]
    Preload(#[source] io::Error),
    /// The import says why.
    #[error("import what is to be there before: it ended with {0}")]
    Import(ExitStatus),
    /// Nobody reads what is said.
    #[error("say how it goes")]
    Say(#[from] io::Error),
}

/// Measures, and says on `out` what came of it.
pub async fn run(
    arguments: &Arguments,
    elsewhere: Option<Elsewhere>,
    out: &mut (dyn Write + Send),
) -> Result<(), LoadError> {
    let mut own = match &elsewhere {
        Some(_) => None,
        None => Some(OwnServer::start(&format!("quipu-bench-{}", std::process::id())).await?),
    };
    let measured = match (&elsewhere, &own) {
        (Some(elsewhere), _) => {
            let url = || LoadError::Url(elsewhere.url.clone());
            let address = Address::of_url(&elsewhere.url).ok_or_else(url)?;
            let server = Server {
                address: &address,
                secret: &elsewhere.secret,
                store: &elsewhere.store,
                pid: arguments.pid,
            };
            measure(arguments, &server, out).await
        }
        (None, Some(own)) => {
            let (secret, store) = (own.secret()?, own.store());
            let server = Server { address: &own.address, secret: &secret, store: &store, pid: own.pid() };
            measure(arguments, &server, out).await
        }
        (None, None) => Ok(()),
    };
    if let Some(own) = &mut own {
        own.stop().await?;
        own.remove()?;
    }
    measured
}

/// What is measured.
struct Server<'a> {
    address: &'a Address,
    secret: &'a str,
    /// The options by which a command of quipu finds its log.
    store: &'a [OsString],
    /// None where the machine does not know it.
    pid: Option<u32>,
}

async fn measure(
    arguments: &Arguments,
    server: &Server<'_>,
    out: &mut (dyn Write + Send),
) -> Result<(), LoadError> {
    let &Server { address, pid, .. } = server;
    let stage = Arc::new(Stage::set_up(arguments, server, out).await?);
    let mut report = Report { machine: Machine::here(), runs: vec![] };
    let rates: Vec<Option<u32>> = match arguments.rate.as_slice() {
        [] => vec![None],
        rates => rates.iter().copied().map(Some).collect(),
    };
    for (nth, rate) in rates.into_iter().enumerate() {
        let run = one(arguments, &stage, address, pid, nth as u64, rate, out).await?;
        run.say(out)?;
        report.runs.push(run);
    }
    if let Some(path) = &arguments.json {
        fs::write(path, serde_json::to_string_pretty(&report).unwrap_or_default() + "\n")?;
    }
    if let Some(path) = &arguments.picture {
        fs::write(path, picture::page(&report))?;
    }
    Ok(())
}

async fn one(
    arguments: &Arguments,
    stage: &Arc<Stage>,
    address: &Address,
    pid: Option<u32>,
    nth: u64,
    rate: Option<u32>,
    out: &mut (dyn Write + Send),
) -> Result<Run, LoadError> {
    let processes = Processes::of(pid);
    let from = Instant::now() + Duration::from_secs(arguments.warmup.into());
    let span = Span { from, until: from + Duration::from_secs(arguments.seconds.into()) };
    let mut connections = JoinSet::new();
    for number in 0..usize::from(arguments.connections) {
        let pace = Pace::of(arguments, rate, number);
        let (stage, address) = (Arc::clone(stage), address.clone());
        match arguments.via {
            Via::Ws => connections
                .spawn(async move { socket::drive(&stage, &address, number, nth, pace, span).await }),
            Via::Rest => {
                connections.spawn(async move { http::drive(&stage, &address, number, nth, pace, span).await })
            }
        };
    }
    sleep_until(span.from).await;
    let usage = async || processes.usage().with_metrics(&metrics(address).await.unwrap_or_default());
    let before = usage().await;
    let late = tokio::spawn(lateness(span));
    let mut said = Instant::now();
    while Instant::now() < span.until {
        sleep((span.until - Instant::now()).min(LOOK_EVERY)).await;
        if said.elapsed() > SAY_EVERY {
            said = Instant::now();
            writeln!(out, "{} s left", (span.until - said).as_secs())?;
        }
    }
    let late = late.await.unwrap_or_default();
    let spent = usage().await.since(&before);
    // A list waits until the read models have passed everything that there was when it was asked for.
    let asked = Instant::now();
    let list =
        Rest::new(address, stage.token(0)).ask::<Value>(Method::GET, "/v1/conversations?limit=1", None).await;
    if !matches!(list, Ok(Ok(_))) {
        writeln!(out, "the list of conversations was not answered")?;
    }
    let caught_up_ms = asked.elapsed().as_secs_f64() * 1000.0;
    let mut all = Stats::default();
    while let Some(one) = connections.join_next().await {
        match one {
            Ok(Ok(stats)) => all.add(&stats),
            Ok(Err(error)) => {
                all.broken += 1;
                writeln!(out, "a connection broke: {error}")?;
            }
            Err(error) => writeln!(out, "a connection's task died: {error}")?,
        }
    }
    Ok(Run::new(arguments, rate, &all, &spent, caught_up_ms, late))
}

/// The longest that a timer rang late during the span: how far this tool can be trusted.
async fn lateness(span: Span) -> Duration {
    let mut most = Duration::ZERO;
    while Instant::now() < span.until {
        let due = Instant::now() + RING_EVERY;
        sleep_until(due).await;
        most = most.max(due.elapsed());
    }
    most
}

/// The text of /metrics.
async fn metrics(address: &Address) -> Option<String> {
    Rest::new(address, "").text("/metrics").await.ok()
}
