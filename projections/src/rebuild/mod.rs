//! Builds a generation of read models anew from the log, beside the one that serves, and has it serve.
//!
//! Loading in large chunks, two shards at a time; then both are compared at equal positions; then the switch, see
//! [`crate::generations`]. Each chunk moves its checkpoint, so that a rebuild that was killed goes on where it was
//! when it is begun again. Until the switch nothing of what serves is touched.

mod compare;

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU8, AtomicU64, Ordering},
    time::Duration,
};

use event_store::{Position, Shard};
use tokio::{
    sync::watch,
    time::{Instant, interval},
};

pub use compare::Differences;

use crate::{
    effects::chain_of,
    feeder::Feeder,
    generations::{GenerationError, Generations, Right, failed},
    projection::Projection,
    write::int,
};

/// How often is told how it goes.
const TELL_EVERY: Duration = Duration::from_millis(200);
/// How often it is noted in the database.
const NOTE_EVERY: Duration = Duration::from_secs(1);

/// What a rebuild is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Reads the log.
    Loading,
    /// Compares with what serves.
    Comparing,
    /// Catches up, and switches.
    Switching,
}

impl Phase {
    /// For people and programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Comparing => "comparing",
            Self::Switching => "switching",
        }
    }

    const fn of(number: u8) -> Self {
        match number {
            0 => Self::Loading,
            1 => Self::Comparing,
            _ => Self::Switching,
        }
    }
}

/// How a rebuild goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What it does.
    pub phase: Phase,
    /// Events that were there already, of a rebuild that was interrupted.
    pub before: u64,
    /// Events that this run has applied.
    pub events: u64,
    /// Events that the log had when this run began.
    pub total: u64,
    /// Rows that were compared.
    pub compared: u64,
    /// Since this run began.
    pub took: Duration,
}

/// What came of a rebuild.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Of which read models.
    pub projection: Projection,
    /// The generation that served when it began.
    pub old: i32,
    /// The new one.
    pub new: i32,
    /// Does the new one serve now?
    pub switched: bool,
    /// Events that this run has applied.
    pub events: u64,
    /// How long the loading took.
    pub loading: Duration,
    /// How long all of it took.
    pub took: Duration,
    /// In what the two differed.
    pub differences: Differences,
}

/// A rebuild that has the right to run.
pub struct Rebuild {
    generations: Generations,
    projection: Projection,
    old: i32,
    new: i32,
    right: Right,
}

/// What the run tells about itself.
#[derive(Default)]
struct Counters {
    phase: AtomicU8,
    events: AtomicU64,
    compared: AtomicU64,
}

impl Counters {
    fn phase(&self) -> Phase {
        Phase::of(self.phase.load(Ordering::Relaxed))
    }
}

impl Rebuild {
    /// Takes the right to rebuild, and makes the new generation or finds the one that was begun. Refused while
    /// somebody else is at it, and where an earlier generation has not been dropped.
    pub async fn begin(generations: &Generations, projection: Projection) -> Result<Self, GenerationError> {
        let right = generations.right(projection).await?;
        let begun = async {
            let new = generations.begin(projection).await?;
            Ok::<_, GenerationError>((new, generations.two(projection).await?.0.number))
        };
        let (new, old) = match begun.await {
            Ok(numbers) => numbers,
            Err(error) => {
                right.give_back().await;
                return Err(error);
            }
        };
        let name = projection.name();
        tracing::info!(projection = name, old, new, "rebuilding");
        Ok(Self { generations: generations.clone(), projection, old, new, right })
    }

    /// The new generation's number.
    pub fn number(&self) -> i32 {
        self.new
    }

    /// Builds, compares, and switches unless it is only to be compared. `told` hears several times a second how it
    /// goes. Once `stop` is true it ends between two chunks. After an error the same command goes on where it was.
    pub async fn run(
        self,
        check_only: bool,
        told: &mut (dyn FnMut(Progress) + Send),
        stop: &watch::Receiver<bool>,
    ) -> Result<Report, GenerationError> {
        let done = self.told(check_only, told, stop).await;
        self.right.give_back().await;
        done
    }

    /// Works, and tells meanwhile how it goes.
    async fn told(
        &self,
        check_only: bool,
        told: &mut (dyn FnMut(Progress) + Send),
        stop: &watch::Receiver<bool>,
    ) -> Result<Report, GenerationError> {
        let counters = Counters::default();
        let started = Instant::now();
        let total = self.heads().await?.values().map(|head| head.get()).sum();
        let before = self.passed(self.new).await?.min(total);
        let mut noted = (0, Instant::now());
        let mut ticks = interval(TELL_EVERY);
        let done = {
            let mut work = std::pin::pin!(self.work(check_only, &counters, stop));
            loop {
                tokio::select! {
                    done = &mut work => break done,
                    _ = ticks.tick() => {}
                }
                let events = counters.events.load(Ordering::Relaxed);
                told(Progress {
                    phase: counters.phase(),
                    before,
                    events,
                    total,
                    compared: counters.compared.load(Ordering::Relaxed),
                    took: started.elapsed(),
                });
                if noted.1.elapsed() >= NOTE_EVERY {
                    let more = events - noted.0;
                    let phase = counters.phase().name();
                    noted = (events, Instant::now());
                    // Where it cannot be noted, the work itself will say why.
                    let _ = self.note(phase, more, &Differences::default(), None).await;
                }
            }
        };
        let events = counters.events.load(Ordering::Relaxed);
        let (name, new) = (self.projection.name(), self.new);
        match done {
            Ok((loading, differences)) => {
                let phase = if check_only { "compared" } else { "live" };
                if let Err(error) = self.note(phase, events - noted.0, &differences, None).await {
                    // It is done all the same.
                    tracing::warn!(
                        projection = name,
                        new,
                        error = chain_of(&error),
                        "what came of it is not noted"
                    );
                }
                let took = started.elapsed();
                let seconds = took.as_secs_f64();
                tracing::info!(projection = name, new, events, seconds, switched = !check_only, "rebuilt");
                let Self { projection, old, .. } = *self;
                let switched = !check_only;
                Ok(Report { projection, old, new, switched, events, loading, took, differences })
            }
            Err(error) => {
                let failure = chain_of(&error);
                tracing::error!(projection = name, new, events, error = failure, "a rebuild has ended early");
                let phase = counters.phase().name();
                // The database may be what failed.
                let _ = self.note(phase, events - noted.0, &Differences::default(), Some(&failure)).await;
                Err(error)
            }
        }
    }

    async fn work(
        &self,
        check_only: bool,
        counters: &Counters,
        stop: &watch::Receiver<bool>,
    ) -> Result<(Duration, Differences), GenerationError> {
        let started = Instant::now();
        let feeder = self.generations.feeder(self.projection, self.new)?;
        self.enter(counters, Phase::Loading);
        feeder.lead(&self.heads().await?, &counters.events, stop).await?;
        let loading = started.elapsed();
        self.generations.catch_up(&feeder, self.old, &counters.events, stop).await?;
        self.enter(counters, Phase::Comparing);
        let differences = self.compare(&feeder, counters, stop).await?;
        differences.warn(self.projection, self.new);
        if !check_only {
            self.enter(counters, Phase::Switching);
            if *stop.borrow() {
                return Err(GenerationError::Stopped(self.projection.name()));
            }
            self.generations.switch(self.projection, self.old, self.new).await?;
        }
        Ok((loading, differences))
    }

    async fn compare(
        &self,
        new: &Feeder,
        counters: &Counters,
        stop: &watch::Receiver<bool>,
    ) -> Result<Differences, GenerationError> {
        let old = self.generations.feeder(self.projection, self.old)?;
        let comparing = compare::Comparing { generations: &self.generations, old: &old, new };
        comparing.run(&counters.compared, &counters.events, stop).await
    }

    fn enter(&self, counters: &Counters, phase: Phase) {
        counters.phase.store(phase as u8, Ordering::Relaxed);
        tracing::info!(
            projection = self.projection.name(),
            new = self.new,
            phase = phase.name(),
            "rebuilding"
        );
    }

    /// Where the log stands, which may be beyond what serves if nobody projects.
    async fn heads(&self) -> Result<HashMap<Shard, Position>, GenerationError> {
        let store = &self.generations.store;
        Ok(match self.projection {
            Projection::Conversation => {
                let heads = store.shard_heads().await?;
                Shard::all(u16::MAX).zip(heads).map(|(shard, head)| (shard, head.position)).collect()
            }
            Projection::Notification => {
                HashMap::from([(Shard::OWN, store.shard_head(Shard::OWN).await?.position)])
            }
        })
    }

    async fn passed(&self, number: i32) -> Result<u64, GenerationError> {
        let positions = self.generations.positions(self.projection, number).await?;
        Ok(positions.values().map(|position| position.get()).sum())
    }

    async fn note(
        &self,
        phase: &str,
        more: u64,
        differences: &Differences,
        failure: Option<&str>,
    ) -> Result<(), GenerationError> {
        let client = self.generations.pool().get().await?;
        let (name, said) = (self.projection.name(), differences.said());
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
            [&name, &self.new, &phase, &int(more), &int(differences.conversations), &said, &failure];
        let noted = client.execute(include_str!("../generations/note.sql"), &params).await;
        noted.map(drop).map_err(failed(self.projection, "note how a rebuild goes"))
    }
}
