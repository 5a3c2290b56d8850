//! Writes a month's partition anew without the bodies that are to go, while appends go on.
//!
//! The copy grows page by page in the order of the key; within a shard positions only grow, so what comes meanwhile is
//! behind. The last step holds everybody up for a moment: what has come since is copied, and the new table takes the
//! old one's place.

use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use domain::Ms;
use tokio::time::sleep;
use tokio_postgres::error::SqlState;

use super::{Spared, execute, query};
use crate::{port::StoreError, postgres::failure::unavailable, shard::Shard};

const DOING: &str = "write a month's bodies anew";
/// Bodies that are copied at once: of the largest 32 MB, usually a quarter of one.
const PAGE: i64 = 500;
/// While more than so many bodies come in a round, another one is made before everybody is held up.
const REST_MAX: u64 = 1000;
/// Rounds, where bodies come faster than they are copied.
const ROUNDS_MAX: u32 = 20;
/// How long the last step waits for its lock, since everybody waits behind it.
const LOCK_TIME_MAX: Duration = Duration::from_millis(300);
/// How often the last step is tried.
const TRIES_MAX: u32 = 60;
/// The pause between two tries: those who waited behind are let through.
const PAUSE: Duration = Duration::from_millis(250);
/// An empty month is dropped once it is over by so much, whoever's clock says so.
const OVER_BY: Ms = 24 * 60 * 60 * 1000;

/// A month that was written anew.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rewritten {
    /// Its partition.
    pub partition: String,
    /// Bodies before.
    pub rows_before: u64,
    /// Bodies that were removed.
    pub removed: u64,
    /// Bodies that are to go and stay, since a hold stands.
    pub spared: u64,
    /// Bytes on disk before, indices too.
    pub bytes_before: u64,
    /// Bytes on disk afterwards; zero where the partition is gone.
    pub bytes_after: u64,
}

/// The months that are to be written anew, in order; not those in which all that is to go was spared by the same holds.
pub async fn due(pool: &Pool, spared: &Spared) -> Result<Vec<Ms>, StoreError> {
    let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
    let rows = query(&client, DOING, include_str!("due.sql"), &[&spared.fingerprint()]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Writes one anew. None where the holds have changed meanwhile: to be done again with what they are now.
pub async fn rewrite(
    pool: &Pool,
    month: Ms,
    shards: u16,
    spared: &Spared,
    now: Ms,
) -> Result<Option<Rewritten>, StoreError> {
    let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
    let named = query(&client, DOING, include_str!("partition.sql"), &[&month]).await?;
    let Some(row) = named.first() else { return Ok(None) };
    let (name, exists, to, bytes): (String, bool, Ms, i64) = (row.get(0), row.get(1), row.get(2), row.get(3));
    if !exists {
        query(&client, DOING, include_str!("unmark.sql"), &[&month]).await?;
        return Ok(Some(Rewritten { partition: name, ..Rewritten::default() }));
    }
    let copy = Copy { client: &client, name: &name, month, to, spared };
    copy.begin().await?;
    let mut counts = Counts::new(shards);
    for _ in 0..ROUNDS_MAX {
        if copy.round(&mut counts).await? < REST_MAX {
            break;
        }
    }
    let outcome = copy.end(&mut counts, to + OVER_BY < now).await;
    if !matches!(outcome, Ok(true)) {
        // Where this connection is ill, the next run clears it away.
        let _ = execute(&client, DOING, &format!("rollback; drop table if exists log.{name}_next")).await;
    }
    if !outcome? {
        return Ok(None);
    }
    let after = query(&client, DOING, include_str!("partition.sql"), &[&month]).await?;
    Ok(Some(Rewritten {
        partition: name.clone(),
        rows_before: counts.rows,
        removed: counts.rows - counts.kept,
        spared: counts.spared,
        bytes_before: bytes as u64,
        bytes_after: after.first().map_or(0, |row| row.get::<_, i64>(3)) as u64,
    }))
}

/// How far the copy has come, by shard, and what was seen.
#[derive(Clone)]
struct Counts {
    after: Vec<(Shard, i64)>,
    rows: u64,
    kept: u64,
    spared: u64,
}

impl Counts {
    fn new(shards: u16) -> Self {
        let after = Shard::all(shards).chain([Shard::OWN]).map(|shard| (shard, 0)).collect();
        Self { after, rows: 0, kept: 0, spared: 0 }
    }
}

struct Copy<'a> {
    client: &'a Object,
    name: &'a str,
    month: Ms,
    to: Ms,
    spared: &'a Spared,
}

impl Copy<'_> {
    /// An empty table with the partition's shape. Its bounds are checked row by row, so that nobody has to read it all
    /// when it takes its place.
    async fn begin(&self) -> Result<(), StoreError> {
        let Self { name, month, to, .. } = self;
        let sql = format!(
            "drop table if exists log.{name}_next;
             create table log.{name}_next (like log.body including all,
                 constraint of_month check (recorded_at >= {month} and recorded_at < {to}));
             alter table log.{name}_next alter column bytes set statistics 0;"
        );
        execute(self.client, DOING, &sql).await
    }

    /// Copies what there is, shard by shard. Answers how many bodies were new.
    async fn round(&self, counts: &mut Counts) -> Result<u64, StoreError> {
        let sql = include_str!("copy.sql").replace("log.body_this", &format!("log.{}", self.name));
        let Spared { streams, person_streams, person_expired, people, .. } = self.spared;
        let mut seen = 0;
        for (shard, after) in &mut counts.after {
            loop {
                let shard = shard.get() as i16;
                let params: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
                    [&shard, &*after, &PAGE, streams, person_streams, person_expired, people];
                let rows = query(self.client, DOING, &sql, &params).await?;
                let Some(row) = rows.first() else { break };
                let (last, page, kept, spared): (Option<i64>, i64, i64, i64) =
                    (row.get(0), row.get(1), row.get(2), row.get(3));
                *after = last.unwrap_or(*after);
                seen += page as u64;
                counts.rows += page as u64;
                counts.kept += kept as u64;
                counts.spared += spared as u64;
                if page < PAGE {
                    break;
                }
            }
        }
        Ok(seen)
    }

    /// The last step. False where the holds have changed.
    async fn end(&self, counts: &mut Counts, over: bool) -> Result<bool, StoreError> {
        for _ in 1..TRIES_MAX {
            let before = counts.clone();
            match self.try_end(counts, over).await {
                Err(StoreError::Unavailable { source, .. }) if is_in_the_way(&*source) => {
                    // What it copied has gone with it.
                    execute(self.client, DOING, "rollback").await?;
                    *counts = before;
                    // Let those through who waited behind us, and take what they bring.
                    sleep(PAUSE).await;
                    self.round(counts).await?;
                }
                ended => return ended,
            }
        }
        self.try_end(counts, over).await
    }

    async fn try_end(&self, counts: &mut Counts, over: bool) -> Result<bool, StoreError> {
        let Self { name, month, to, .. } = self;
        // The table first, then the lock of holds: as whoever places a hold, so that nobody waits in a circle.
        let sql = format!(
            "begin; set local lock_timeout = {}; lock table log.body in access exclusive mode;",
            LOCK_TIME_MAX.as_millis()
        );
        execute(self.client, DOING, &sql).await?;
        query(self.client, DOING, include_str!("share_holds.sql"), &[]).await?;
        if !self.spared.still_stands(self.client).await? {
            return Ok(false);
        }
        self.round(counts).await?;
        let place = if counts.kept == 0 && over {
            format!("drop table log.{name}; drop table log.{name}_next;")
        } else {
            format!(
                "alter table log.body detach partition log.{name};
                 drop table log.{name};
                 alter table log.{name}_next rename to {name};
                 alter table log.body attach partition log.{name} for values from ({month}) to ({to});
                 alter table log.{name} drop constraint of_month;"
            )
        };
        execute(self.client, DOING, &place).await?;
        if counts.spared == 0 {
            query(self.client, DOING, include_str!("unmark.sql"), &[&self.month]).await?;
        } else {
            let by = self.spared.fingerprint();
            query(self.client, DOING, include_str!("spare.sql"), &[&self.month, &by]).await?;
        }
        execute(self.client, DOING, "commit").await?;
        Ok(true)
    }
}

/// Did somebody else hold the table for too long?
fn is_in_the_way(error: &(dyn std::error::Error + 'static)) -> bool {
    let state = error.downcast_ref::<tokio_postgres::Error>().and_then(|error| error.code());
    state.is_some_and(|state| [SqlState::LOCK_NOT_AVAILABLE, SqlState::T_R_DEADLOCK_DETECTED].contains(state))
}
