//! The physical part of a removal, once its events and digests stand: months of the log, files of the read models, the
//! planner's samples, the write-ahead log. May be done again from the beginning at any time.

use std::{sync::Arc, time::Duration};

use event_store::postgres::removal::{Spared, months, statistics, wal};
use projections::{ReadModels, files, generations::Generations};

use super::{
    Keeping, KeepingError,
    report::{Report, Table, Wal},
};
use crate::cli::chain_of;

/// How often a month is begun anew because a hold came or went meanwhile.
const HOLD_CHANGES_MAX: u32 = 10;
/// How long older transactions are waited for, before the files of the read models are written anew.
const OLDER_TIME_MAX: Duration = Duration::from_secs(30);

/// How far a removal goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Until no file has any of it: the read models are built anew, and the write-ahead log is turned over.
    Thorough,
    /// The log's months are written anew, the read models are vacuumed; nobody waits. What was written before goes from
    /// the write-ahead log and from free room in files as these are written over.
    InPassing,
}

impl Keeping {
    /// Removes whatever is to go, but what holds spare.
    pub(super) async fn remove(
        &self,
        read_models: &ReadModels,
        depth: Depth,
        report: &mut Report,
    ) -> Result<(), KeepingError> {
        self.rewrite_months(read_models, report).await?;
        let how = match depth {
            Depth::Thorough if self.build_anew(report).await => None,
            Depth::Thorough => {
                if !wal::no_older_transaction(&self.pool, OLDER_TIME_MAX).await? {
                    report.out_of_reach.push(
                        "a transaction from before is still open: files of the read models may keep what it can see"
                            .into(),
                    );
                }
                Some(files::How::Anew)
            }
            Depth::InPassing => Some(files::How::Vacuumed),
        };
        if let Some(how) = how {
            let files::Cleaned { tables, behind } = files::clean(&self.database, how).await?;
            report.tables.extend(tables.into_iter().map(Table::from));
            report.out_of_reach.extend(behind.map(|number| {
                format!(
                    "generation {number} of the read models is behind the log: finish or drop it, and erase once more"
                )
            }));
        }
        if depth == Depth::InPassing {
            return Ok(());
        }
        if !statistics::clean(&self.pool).await? {
            report.out_of_reach.push(
                "samples that the planner took before this version: `vacuum full pg_statistic` is the superuser's right"
                    .into(),
            );
        }
        let turned = wal::turn_over(&self.pool).await?;
        report.out_of_reach.extend(turned.left);
        report.wal = Some(Wal { segments_before: turned.before, segments_after: turned.after });
        Ok(())
    }

    /// Has the read models built anew and the old ones dropped, so that nobody waits. False where that cannot be: then
    /// their tables are written anew, one after the other.
    async fn build_anew(&self, report: &mut Report) -> bool {
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.surroundings.clock));
        let built = async { files::build_anew(&Generations::new(&self.database, store, clock)?).await };
        match built.await {
            Ok(Some(tables)) => {
                report.tables.extend(tables.into_iter().map(Table::from));
                true
            }
            Ok(None) => false,
            Err(error) => {
                let error = chain_of(&error);
                tracing::warn!(
                    error,
                    "the read models are not built anew; their tables are written anew instead"
                );
                false
            }
        }
    }

    async fn rewrite_months(
        &self,
        read_models: &ReadModels,
        report: &mut Report,
    ) -> Result<(), KeepingError> {
        let mut changes = 0;
        loop {
            let spared = Spared::new(&self.pool, &self.held_by_people(read_models).await?).await?;
            let Some(month) = months::due(&self.pool, &spared).await?.first().copied() else { return Ok(()) };
            let (shards, now) = (self.store.info().shards, self.surroundings.clock.now());
            match months::rewrite(&self.pool, month, shards, &spared, now).await? {
                Some(rewritten) => {
                    tracing::info!(
                        partition = rewritten.partition,
                        removed = rewritten.removed,
                        spared = rewritten.spared,
                        "a month of the log was written anew"
                    );
                    metrics::counter!("quipu_bodies_removed_total").increment(rewritten.removed);
                    report.months.push(rewritten.into());
                }
                None if changes < HOLD_CHANGES_MAX => changes += 1,
                None => return Err(KeepingError::HoldsChange),
            }
        }
    }
}
