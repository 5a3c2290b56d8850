//! `quipu projections verify`: the arguments, which conversations are compared, what is printed and the exit code.
//! Works on the database, beside a running `serve` or without one. Comparing itself is in `projections`.

pub mod background;
mod names;
mod report;

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, Subcommand};
use domain::ConvId;
use event_store::{
    Clock, EventStore,
    postgres::{NewLog, PostgresEventStore, pool},
};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use projections::{
    Generation,
    past::PastError,
    verify::{Verified, Verifier, VerifyError},
};

use self::{
    names::{Names, count, sample},
    report::Report,
};
use crate::{
    clock::SystemClock,
    config::Config,
    database::Database,
    entropy::{SeededEntropy, uuid_v7},
    migrate::migrate,
    server::{signals, told},
};

/// Conversations that are compared at a time.
const AT_ONCE: usize = 4;
/// Each reads the log and the read models in turn, never both.
const CONNECTIONS: usize = AT_ONCE + 2;
/// As shells show a program that was interrupted.
const INTERRUPTED: u8 = 130;

/// What is to be done with the read models.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Compare the read models with the log
    ///
    /// Exit code 1: they are not what the log says, or it could not be compared. 130: it was interrupted.
    Verify(Arguments),
}

/// Of `quipu projections verify`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// So many conversations, drawn anew each time [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=SAMPLE_MAX))]
    #[arg(conflicts_with_all = ["all", "conv"])]
    sample: Option<u32>,
    /// Every conversation
    #[arg(long, conflicts_with = "conv")]
    all: bool,
    /// This conversation; may be given more than once
    #[arg(long, value_parser = |text: &str| ConvId::parse(text))]
    conv: Vec<ConvId>,
}

/// Names that are held in memory, some 60 bytes each; who wants more wants all.
const SAMPLE_MAX: i64 = 1_000_000;
/// Drawn where nothing is said.
const SAMPLE: u32 = 1000;

/// Compares, on a Postgres that is shared with a running `serve` or started for as long as it takes.
pub async fn command(config: &Config, arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let database = Database::open(config).await?;
    let done = command_on(database.config(), arguments).await;
    database.close(&config.data).await?;
    done
}

async fn command_on(
    database: &tokio_postgres::Config,
    arguments: &Arguments,
) -> Result<ExitCode, Box<dyn Error>> {
    let stopped = signals()?;
    migrate(database).await?;
    let (clock, entropy) = (SystemClock, SeededEntropy::from_system()?);
    let new = NewLog { log_id: uuid_v7(clock.now(), &entropy), at: clock.now() };
    let log = PostgresEventStore::open(pool(database, CONNECTIONS)?, database, new).await?;
    let store: Arc<dyn EventStore> = Arc::new(log);
    let verifier = Verifier::new(Arc::clone(&store), Generation::serving(database, CONNECTIONS).await?);
    let turn = names::draw(&entropy, u64::MAX);
    let (names, due) = if arguments.all {
        (Names::of(Arc::clone(&store)).boxed(), count(&store).await?)
    } else {
        let convs = match &arguments.conv[..] {
            [] => sample(&store, arguments.sample.unwrap_or(SAMPLE) as usize, &entropy).await?,
            named => named.to_vec(),
        };
        let due = convs.len() as u64;
        (stream::iter(convs.into_iter().map(Ok)).boxed(), due)
    };
    let mut report = Report::new(due);
    let compared = async {
        let mut verified = verified(&verifier, names, turn);
        while let Some((conv, outcome)) = verified.try_next().await? {
            report.note(&conv, outcome)?;
        }
        Ok::<_, Box<dyn Error>>(())
    };
    let whole = tokio::select! {
        compared = compared => compared.map(|()| true),
        () = told(stopped) => Ok(false),
    };
    report.finish();
    let whole = whole?;
    writeln!(io::stdout(), "{}", report.text(whole))?;
    Ok(match (report.is_clean(), whole) {
        (false, _) => ExitCode::FAILURE,
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(INTERRUPTED),
    })
}

/// What came of a conversation: compared, or it has an event that this binary cannot tell.
type Outcome = Result<Verified, PastError>;

fn verified<'a>(
    verifier: &'a Verifier,
    names: impl Stream<Item = Result<ConvId, event_store::StoreError>> + Send + Unpin + 'a,
    turn: u64,
) -> impl Stream<Item = Result<(ConvId, Outcome), VerifyError>> + Unpin + 'a {
    let one = move |conv: ConvId| async move {
        match verifier.conversation(&conv, turn).await {
            Ok(verified) => Ok((conv, Ok(verified))),
            Err(VerifyError::Past(error @ PastError::Event { .. })) => Ok((conv, Err(error))),
            Err(error) => Err(error),
        }
    };
    Box::pin(names.map_err(VerifyError::from).map_ok(one).try_buffer_unordered(AT_ONCE))
}
