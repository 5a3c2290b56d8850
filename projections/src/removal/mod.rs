//! Takes out of the read models what retention has let expire and what erasure names: bodies, and what hangs on them.
//!
//! That may be many rows, so it goes in short transactions of its own, before the event's own step passes it. The first
//! one hides everything (min_seq, or the label `expired`), so that whoever reads in between sees the conversation as it
//! is after the event. Each checks that the checkpoint still stands before the event, and each may be done again.

mod bodies;

use std::collections::BTreeMap;

use deadpool_postgres::Object;
use domain::{Bits, Bucket, ConvId, Seq};
use event_store::{Position, Shard};
use tokio_postgres::types::ToSql;

use crate::{
    CONVERSATION,
    apply::{ApplyError, BEGIN},
    checkpoint,
    marks::bits::SqlBits,
    write::int,
};

/// Rows of one table that one transaction takes away.
const ROWS_MAX: i64 = 5000;
/// Sealed buckets that one transaction writes anew: of the largest messages 50 MB.
const BUCKETS_MAX: usize = 8;

/// What is gone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Removal {
    /// Everything up to here.
    Expired { conv: ConvId, up_to: Seq },
    /// These.
    Erased { conv: ConvId, seqs: Vec<Seq> },
}

/// Where the generation stands: right before the event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub generation: i32,
    pub shard: Shard,
    pub position: Position,
}

/// Takes it out. To be run before the step that passes the event.
pub(crate) async fn remove(client: &Object, place: Place, removal: &Removal) -> Result<(), ApplyError> {
    let removed = match removal {
        Removal::Expired { conv, up_to } => expired(client, place, conv, *up_to).await,
        Removal::Erased { conv, seqs } => erased(client, place, conv, seqs).await,
    };
    if removed.is_err() {
        // Whatever was begun. Where this fails, so will what comes next on this connection.
        let _ = client.batch_execute("rollback").await;
    }
    removed
}

/// One short transaction; whoever began it sees to its end.
struct Short<'a> {
    client: &'a Object,
    doing: &'static str,
}

impl<'a> Short<'a> {
    async fn begin(client: &'a Object, place: Place, doing: &'static str) -> Result<Self, ApplyError> {
        let short = Self { client, doing };
        client.batch_execute(BEGIN).await.map_err(|error| ApplyError::of(doing, error))?;
        let position = int(place.position.get());
        let shard = i32::from(place.shard.get());
        short
            .query(checkpoint::MOVE, &[&CONVERSATION, &place.generation, &shard, &position, &position])
            .await?;
        Ok(short)
    }

    async fn query(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<tokio_postgres::Row>, ApplyError> {
        let failed = |error| ApplyError::of(self.doing, error);
        let statement = self.client.prepare_cached(sql).await.map_err(failed)?;
        self.client.query(&statement, params).await.map_err(failed)
    }

    async fn execute(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<u64, ApplyError> {
        let failed = |error| ApplyError::of(self.doing, error);
        let statement = self.client.prepare_cached(sql).await.map_err(failed)?;
        self.client.execute(&statement, params).await.map_err(failed)
    }

    async fn commit(self) -> Result<(), ApplyError> {
        let Self { client, doing } = self;
        client.batch_execute("commit").await.map_err(|error| ApplyError::of(doing, error))
    }
}

/// What hangs on messages that have expired, each with at most `$3` rows at a time.
const HANGS_ON: [&str; 6] = [
    include_str!("expire_recalls.sql"),
    include_str!("expire_system.sql"),
    include_str!("expire_mentions.sql"),
    include_str!("expire_deleted.sql"),
    include_str!("expire_labels.sql"),
    include_str!("expire_buckets.sql"),
];

async fn expired(client: &Object, place: Place, conv: &ConvId, up_to: Seq) -> Result<(), ApplyError> {
    let (text, last) = (conv.as_str(), int(up_to.get()));
    loop {
        let short = Short::begin(client, place, "let a history expire").await?;
        short.execute(include_str!("../head/expire.sql"), &[&vec![text], &vec![last]]).await?;
        let mut more = false;
        for sql in HANGS_ON {
            more |= short.execute(sql, &[&text, &last, &ROWS_MAX]).await? >= ROWS_MAX as u64;
        }
        short.execute(include_str!("blank_tail_below.sql"), &[&text, &last]).await?;
        short.commit().await?;
        if !more {
            break;
        }
    }
    // The bucket of which only the beginning has expired.
    let bucket = Bucket::of(up_to);
    if up_to == bucket.last_seq() {
        return Ok(());
    }
    let gone = (0..=Bucket::slot(up_to)).fold(Bits::EMPTY, |mut gone, slot| {
        gone.set(slot, true);
        gone
    });
    let short = Short::begin(client, place, "let a bucket expire").await?;
    bodies::blank(&short, conv, &[(bucket, gone)]).await?;
    short.commit().await
}

async fn erased(client: &Object, place: Place, conv: &ConvId, seqs: &[Seq]) -> Result<(), ApplyError> {
    let mut gone: BTreeMap<Bucket, Bits> = BTreeMap::new();
    for seq in seqs {
        gone.entry(Bucket::of(*seq)).or_default().set(Bucket::slot(*seq), true);
    }
    let gone: Vec<(Bucket, Bits)> = gone.into_iter().collect();
    let text = conv.as_str();
    let buckets: Vec<i64> = gone.iter().map(|(bucket, _)| int(bucket.get())).collect();
    let bits: Vec<SqlBits> = gone.iter().map(|(_, bits)| SqlBits(*bits)).collect();
    let short = Short::begin(client, place, "label erased messages").await?;
    short.execute(include_str!("label.sql"), &[&text, &buckets, &bits]).await?;
    short.commit().await?;
    for some in gone.chunks(BUCKETS_MAX) {
        let short = Short::begin(client, place, "take erased bodies out of a history").await?;
        bodies::blank(&short, conv, some).await?;
        short.commit().await?;
    }
    Ok(())
}
