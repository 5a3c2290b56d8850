//! `quipu projections`: the arguments, the bar, the signals, what is printed and the exit code. Works on the database,
//! beside a running `serve` or without one.

mod progress;

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use event_store::{
    Clock, EventStore,
    postgres::{NewLog, PostgresEventStore, pool},
};
use projections::{
    Projection,
    generations::{GenerationError, GenerationStatus, Generations},
    rebuild::{Rebuild, Report},
};

use crate::{
    clock::SystemClock,
    config::Config,
    database::Database,
    entropy::{SeededEntropy, uuid_v7},
    migrate::migrate,
    server::signals,
};

/// Connections to the log: a few shards are read at a time.
const LOG_CONNECTIONS: usize = 4;
/// Between the two looks of which the rate is told.
const RATE_TIME: Duration = Duration::from_secs(1);
/// As shells show a program that was interrupted.
const INTERRUPTED: u8 = 130;

/// What is to be done with the read models.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Action {
    /// Say how each generation stands
    Status,
    /// Build read models anew from the log, beside those that serve, and have the new ones serve
    ///
    /// May be interrupted, and goes on when it is given again. Exit code 130: it was interrupted.
    Rebuild {
        /// conversation or notification
        #[arg(value_parser = projection)]
        name: Projection,
        /// Only build and compare; the same command without it goes on to the switch
        #[arg(long)]
        check: bool,
    },
    /// Have the generation that served before serve again
    Rollback {
        /// conversation or notification
        #[arg(value_parser = projection)]
        name: Projection,
    },
    /// Drop the generation beside the one that serves
    Drop {
        /// conversation or notification
        #[arg(value_parser = projection)]
        name: Projection,
    },
}

fn projection(name: &str) -> Result<Projection, String> {
    let names = || Projection::ALL.map(Projection::name).join(", ");
    Projection::parse(name).ok_or_else(|| format!("unknown_projection: there are {}", names()))
}

/// Does it, on a Postgres that is shared with a running `serve` or started for as long as it takes.
pub async fn command(config: &Config, action: &Action) -> Result<ExitCode, Box<dyn Error>> {
    let database = Database::open(config).await?;
    let done = command_on(database.config(), action).await;
    database.close(&config.data).await?;
    done
}

async fn command_on(database: &tokio_postgres::Config, action: &Action) -> Result<ExitCode, Box<dyn Error>> {
    migrate(database).await?;
    let clock = Arc::new(SystemClock);
    let log_id = uuid_v7(clock.now(), &SeededEntropy::from_system()?);
    let new = NewLog { log_id, at: clock.now() };
    let log = PostgresEventStore::open(pool(database, LOG_CONNECTIONS)?, database, new).await?;
    let store: Arc<dyn EventStore> = Arc::new(log);
    let generations = Generations::new(database, store, clock)?;
    match action {
        Action::Status => {
            let before = generations.status().await?;
            tokio::time::sleep(RATE_TIME).await;
            for status in generations.status().await? {
                say(&said(&status, &before))?;
            }
        }
        Action::Rebuild { name, check } => return rebuild(&generations, *name, *check).await,
        Action::Rollback { name } => {
            say(&format!("generation {} of {} serves", generations.roll_back(*name).await?, name.name()))?;
        }
        Action::Drop { name } => {
            say(&format!("generation {} of {} is gone", generations.drop(*name).await?, name.name()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn rebuild(
    generations: &Generations,
    projection: Projection,
    check_only: bool,
) -> Result<ExitCode, Box<dyn Error>> {
    let stopped = signals()?;
    let rebuild = Rebuild::begin(generations, projection).await?;
    let mut bar = progress::Bar::new();
    let done = rebuild.run(check_only, &mut |progress| bar.show(&progress), &stopped).await;
    bar.finish();
    match done {
        Ok(report) => {
            say(&reported(&report))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error @ GenerationError::Stopped(_)) => {
            let _ = writeln!(io::stderr(), "rebuild: {error}");
            Ok(ExitCode::from(INTERRUPTED))
        }
        Err(error) => Err(error.into()),
    }
}

fn reported(report: &Report) -> String {
    let Report { projection, old, new, switched, events, loading, took, differences } = report;
    let (name, rate) = (projection.name(), *events as f64 / loading.as_secs_f64().max(0.001));
    let mut lines = vec![format!(
        "{name}: {events} events in {:.1} s ({rate:.0} events/s while loading)",
        took.as_secs_f64()
    )];
    if differences.is_empty() {
        lines.push(format!("generations {old} and {new} are the same"));
    } else {
        let (conversations, rows) = (differences.conversations, differences.rows);
        lines.push(format!(
            "generation {old} differed from {new} in {rows} rows of {conversations} conversations"
        ));
        lines.extend(differences.first.iter().map(|difference| format!("  {difference}")));
    }
    if differences.parked_rows > 0 {
        lines.push(format!("{} rows of parked conversations were not compared", differences.parked_rows));
    }
    lines.push(if *switched {
        format!(
            "generation {new} serves; {old} is kept for `quipu projections rollback {name}`, until \
                 `quipu projections drop {name}`"
        )
    } else {
        format!("generation {old} serves; `quipu projections rebuild {name}` switches to {new}")
    });
    lines.join("\n")
}

fn said(status: &GenerationStatus, before: &[GenerationStatus]) -> String {
    let earlier = before.iter().find(|it| it.projection == status.projection && it.number == status.number);
    let passed = status.passed.saturating_sub(earlier.map_or(status.passed, |it| it.passed));
    let rate = passed as f64 / RATE_TIME.as_secs_f64();
    let (name, number, state) = (status.projection.name(), status.number, status.state.name());
    let mut lines = vec![format!(
        "{name} generation {number}: {state}, position {} of {}, {} behind, {rate:.0} events/s, {} parked",
        status.passed,
        status.head(),
        status.lag(),
        status.parked
    )];
    if status.phase != "live" {
        lines.push(format!("  phase {}, {} events", status.phase, status.events));
    }
    if status.differing > 0 {
        lines.push(format!("  differed in {} conversations from the one before", status.differing));
        lines.extend(status.differences.iter().map(|difference| format!("    {difference}")));
    }
    lines.extend(status.failure.iter().map(|failure| format!("  ended early: {failure}")));
    for (shard, position, head) in &status.shards {
        lines.push(format!("  shard {:>5}: {} of {}", shard.get(), position.get(), head.get()));
    }
    lines.join("\n")
}

/// A reader that went away early, such as `head`, is no error.
fn say(text: &str) -> io::Result<()> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}
