//! Has another generation serve: in one transaction, while no checkpoint moves, and only if it has passed all that
//! the serving one has.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicU64},
};

use deadpool_postgres::Object;
use event_store::{Position, Shard};
use tokio::sync::watch;
use tokio_postgres::error::SqlState;

use super::{GenerationError, Generations, failed};
use crate::{
    checkpoint,
    feeder::{FeedError, Feeder, SHARDS_AT_ONCE},
    projection::Projection,
};

/// Events that may be missing when checkpoints are held still: they are applied within a fraction of a second.
const MISSING_MAX: u64 = 2_000;
/// How often it catches up and tries.
const TRIES_MAX: u32 = 20;
/// How often it catches up for one try. Each time there is less to do, unless traffic is faster than that.
const ROUNDS_MAX: u32 = 100;

impl Generations {
    /// Has `to` serve instead of `from`. The caller has the right to.
    pub(crate) async fn switch(
        &self,
        projection: Projection,
        from: i32,
        to: i32,
    ) -> Result<(), GenerationError> {
        let feeder = self.feeder(projection, to)?;
        let (passed, never) = (AtomicU64::new(0), watch::Sender::new(false));
        for _ in 0..TRIES_MAX {
            self.catch_up(&feeder, from, &passed, &never.subscribe()).await?;
            let client = feeder.generation.pool().get().await?;
            let done = self.switch_on(&client, &feeder, from).await;
            // Its lock goes with it, whatever has happened.
            drop(Object::take(client));
            if done? {
                return Ok(());
            }
        }
        Err(GenerationError::TooSlow(projection.name()))
    }

    /// Brings a generation nearly to where another one stands.
    pub(crate) async fn catch_up(
        &self,
        feeder: &Feeder,
        other: i32,
        passed: &AtomicU64,
        stop: &watch::Receiver<bool>,
    ) -> Result<(), GenerationError> {
        for _ in 0..ROUNDS_MAX {
            let goals = self.positions(feeder.projection, other).await?;
            feeder.lead(&goals, passed, stop).await?;
            let now = self.positions(feeder.projection, other).await?;
            if missing(&now, &goals) <= MISSING_MAX / 4 {
                return Ok(());
            }
        }
        Err(GenerationError::TooSlow(feeder.projection.name()))
    }

    /// False where it is to be tried again.
    async fn switch_on(&self, client: &Object, feeder: &Feeder, from: i32) -> Result<bool, GenerationError> {
        let (projection, to) = (feeder.projection, feeder.generation.number());
        let name = projection.name();
        let error = failed(projection, "switch generations");
        match client.execute(include_str!("hold.sql"), &[&name]).await {
            Err(held) if held.code() == Some(&SqlState::QUERY_CANCELED) => return Ok(false),
            done => drop(done.map_err(&error)?),
        }
        let goals = self.positions_on(client, projection, from).await?;
        let here = self.positions_on(client, projection, to).await?;
        if missing(&goals, &here) > MISSING_MAX {
            return Ok(false);
        }
        for (shard, goal) in goals {
            // Nobody else moves this checkpoint now, so that each chunk gets on.
            let mut at = here.get(&shard).copied().unwrap_or(Position::START);
            while at < goal {
                let fed = feeder.chunk_on(client, shard, goal).await;
                (_, at) = fed.map_err(|error| match error {
                    FeedError::Other(error) => error,
                    FeedError::Apply(error) => GenerationError::of_apply(projection, error),
                })?;
            }
        }
        let switched = client.query_one(include_str!("switch.sql"), &[&name, &to, &from]).await;
        let switched = switched.and_then(|row| row.try_get(0)).map_err(&error)?;
        client.execute(include_str!("let_go.sql"), &[&name]).await.map_err(&error)?;
        Ok(switched)
    }

    /// Where a generation stands in each shard.
    pub(crate) async fn positions(
        &self,
        projection: Projection,
        number: i32,
    ) -> Result<HashMap<Shard, Position>, GenerationError> {
        let client = self.pool().get().await?;
        self.positions_on(&client, projection, number).await
    }

    async fn positions_on(
        &self,
        client: &Object,
        projection: Projection,
        number: i32,
    ) -> Result<HashMap<Shard, Position>, GenerationError> {
        let error = failed(projection, "read checkpoints");
        let rows =
            client.query(checkpoint::POSITIONS, &[&projection.name(), &number]).await.map_err(&error)?;
        Ok(checkpoint::positions(&rows).map_err(&error)?.into_iter().collect())
    }

    /// Feeds a generation.
    pub(crate) fn feeder(&self, projection: Projection, number: i32) -> Result<Feeder, GenerationError> {
        let generation = self.open(projection, number, SHARDS_AT_ONCE)?;
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        Ok(Feeder { store, clock, projection, generation })
    }
}

/// Events between where a generation stands and where it should. An estimate: positions of some logs have gaps.
fn missing(goals: &HashMap<Shard, Position>, here: &HashMap<Shard, Position>) -> u64 {
    let missing = |(shard, goal): (&Shard, &Position)| {
        goal.get().saturating_sub(here.get(shard).map_or(0, |at| at.get()))
    };
    goals.iter().map(missing).sum()
}
