//! How each generation stands: asked of the database, so that every process hears the same.

use domain::Ms;
use event_store::{Position, Shard};
use tokio_postgres::Row;

use super::{GenerationError, Generations};
use crate::{projection::Projection, write::count};

/// What a generation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Answers.
    Serving,
    /// Served before, or was rolled back from; kept up with the log.
    Kept,
    /// Somebody builds it.
    Building,
    /// Nobody does any more.
    Interrupted,
}

impl State {
    /// For people and programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Serving => "serving",
            Self::Kept => "kept",
            Self::Building => "building",
            Self::Interrupted => "interrupted",
        }
    }
}

/// How one generation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerationStatus {
    /// Of which read models.
    pub projection: Projection,
    /// From 1; no number comes twice.
    pub number: i32,
    /// What it is.
    pub state: State,
    /// When it was begun; 0 for those that came with the schema.
    pub made_at: Ms,
    /// `loading`, `comparing`, `switching`, `compared`, `live`.
    pub phase: String,
    /// Events that its builders have applied.
    pub events: u64,
    /// Conversations in which it differed from the generation before when it was built.
    pub differing: u64,
    /// Some of what differed, for people.
    pub differences: Vec<String>,
    /// Why its last builder gave up.
    pub failure: Option<String>,
    /// Conversations that answer nothing, or notifications that were passed over.
    pub parked: u64,
    /// What it has passed, over all shards.
    pub passed: u64,
    /// By shard: what it has passed, and where the log stands.
    pub shards: Vec<(Shard, Position, Position)>,
}

impl GenerationStatus {
    /// Where the log stands, over all shards.
    pub fn head(&self) -> u64 {
        self.shards.iter().map(|(_, _, head)| head.get()).sum()
    }

    /// Events that it has not passed. An estimate: positions of some logs have gaps.
    pub fn lag(&self) -> u64 {
        self.shards.iter().map(|(_, position, head)| head.get().saturating_sub(position.get())).sum()
    }
}

impl Generations {
    /// Every generation; of each group of read models the one that serves first.
    pub async fn status(&self) -> Result<Vec<GenerationStatus>, GenerationError> {
        let heads = self.store.shard_heads().await?;
        let mut heads: Vec<_> =
            Shard::all(u16::MAX).zip(heads).map(|(shard, head)| (shard, head.position)).collect();
        heads.push((Shard::OWN, self.store.shard_head(Shard::OWN).await?.position));
        let mut all = self.known().await?;
        for status in &mut all {
            let positions = self.positions(status.projection, status.number).await?;
            let shards = heads.iter().filter(|(shard, _)| positions.contains_key(shard));
            status.shards = shards.map(|(shard, head)| (*shard, positions[shard], *head)).collect();
        }
        Ok(all)
    }

    /// The same without its shards, in one statement.
    pub(crate) async fn known(&self) -> Result<Vec<GenerationStatus>, GenerationError> {
        let doing = "ask which generations there are";
        let asked = |error| GenerationError::Database { doing, source: Box::new(error) };
        let client = self.pool().get().await?;
        let statement = client.prepare_cached(include_str!("all.sql")).await.map_err(asked)?;
        let rows = client.query(&statement, &[]).await.map_err(asked)?;
        let known = rows.iter().map(read).collect::<Result<Vec<_>, _>>().map_err(asked)?;
        Ok(known.into_iter().flatten().collect())
    }
}

/// None for read models of a later binary.
fn read(row: &Row) -> Result<Option<GenerationStatus>, tokio_postgres::Error> {
    let Some(projection) = Projection::parse(row.try_get("name")?) else { return Ok(None) };
    let state = match (row.try_get("serving")?, row.try_get("live")?, row.try_get("locked")?) {
        (true, ..) => State::Serving,
        (false, true, _) => State::Kept,
        (false, false, true) => State::Building,
        (false, false, false) => State::Interrupted,
    };
    Ok(Some(GenerationStatus {
        projection,
        number: row.try_get("number")?,
        state,
        made_at: row.try_get("made_at")?,
        phase: row.try_get("phase")?,
        events: count(row.try_get("events")?),
        differing: count(row.try_get("differing")?),
        differences: row.try_get("differences")?,
        failure: row.try_get("failure")?,
        parked: count(row.try_get("parked")?),
        passed: count(row.try_get("passed")?),
        shards: Vec::new(),
    }))
}
