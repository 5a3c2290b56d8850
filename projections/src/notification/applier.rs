//! Applies events of notifications to one generation: halves what the database will not take or not in time, and
//! passes over what is poison.

use std::sync::Arc;

use deadpool_postgres::Object;
use domain::Ms;
use event_store::{Clock, Position, Recorded, Shard};

use super::{
    NOTIFICATION,
    effects::{Effects, fold},
};
use crate::{
    apply::{ApplyError, BEGIN},
    checkpoint,
    effects::chain_of,
    write::int,
};

/// Of one generation.
pub(crate) struct Applier {
    pub generation: i32,
    pub clock: Arc<dyn Clock>,
}

impl Applier {
    /// Applies events after `at`, which goes along with the checkpoint.
    pub(crate) async fn apply(
        &self,
        client: &Object,
        at: &mut Position,
        events: &[Recorded],
    ) -> Result<(), ApplyError> {
        // Each turn applies events or halves a batch: at most twice as many as there are events.
        let mut rest = vec![events];
        while let Some(batch) = rest.pop() {
            let Some(to) = batch.last().map(|event| event.header.position) else { continue };
            match self.step(client, *at, to, &fold(batch)).await {
                Ok(()) => *at = to,
                Err(error) if batch.len() > 1 && (error.is_poison() || error.is_timeout()) => {
                    let (first, second) = batch.split_at(batch.len() / 2);
                    rest.extend([second, first]);
                }
                Err(error) if error.is_poison() => {
                    let skipped = Effects::skip(&batch[0], chain_of(&error));
                    self.step(client, *at, to, &skipped).await?;
                    *at = to;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Moves the checkpoint over what this log has not.
    pub(crate) async fn pass(
        &self,
        client: &Object,
        at: &mut Position,
        to: Position,
    ) -> Result<(), ApplyError> {
        self.step(client, *at, to, &Effects::default()).await?;
        *at = to;
        Ok(())
    }

    async fn step(
        &self,
        client: &Object,
        from: Position,
        to: Position,
        effects: &Effects,
    ) -> Result<(), ApplyError> {
        let stepped = self.write(client, from, to, effects).await;
        let doing = "apply notifications";
        let Err(error) = stepped.map_err(|error| ApplyError::of(doing, error)) else { return Ok(()) };
        let rolled_back = client.batch_execute("rollback").await;
        rolled_back.map_err(|source| ApplyError::Database { doing: "roll back", source })?;
        Err(error)
    }

    async fn write(
        &self,
        client: &Object,
        from: Position,
        to: Position,
        effects: &Effects,
    ) -> Result<(), tokio_postgres::Error> {
        let (generation, shard) = (self.generation, i32::from(Shard::OWN.get()));
        client.batch_execute(BEGIN).await?;
        let moved = client.prepare_cached(checkpoint::MOVE).await?;
        client.query(&moved, &[&NOTIFICATION, &generation, &shard, &int(from.get()), &int(to.get())]).await?;
        for write in effects.writes() {
            let statement = client.prepare_cached(write.sql).await?;
            let params: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
                write.columns.iter().map(|column| &**column as _).collect();
            client.execute(&statement, &params).await?;
        }
        let now: Ms = self.clock.now();
        for (event, reason) in &effects.skipped {
            let skip = client.prepare_cached(include_str!("skip.sql")).await?;
            let name = format!("{} {}", event.header.stream, event.header.version);
            let (position, id) = (int(event.header.position.get()), event.header.event_id.get());
            // Postgres takes no NUL in a text, and a reason must not be a poison, too.
            let reason = reason.replace('\0', "\\0");
            tracing::error!(name, position, event_id = %id, reason, "skipped a notification");
            client
                .execute(&skip, &[&NOTIFICATION, &generation, &name, &shard, &position, &id, &reason, &now])
                .await?;
        }
        client.batch_execute("commit").await
    }
}
