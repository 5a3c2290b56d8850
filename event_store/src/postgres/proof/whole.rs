//! Recomputes the whole log: every stream's chain, every shard's order, every checkpoint.
//!
//! Three passes. Streams, in ranges of their numbers: events of a shard interleave streams, so whoever reads shard by
//! shard would have to remember every chain. Then shards, without bodies, with the roots of the checkpoints on the way.
//! Last the checkpoints themselves. The log may grow meanwhile.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use ed25519_dalek::VerifyingKey;
use tokio::task::JoinSet;

use super::{
    super::rows::Stored,
    checkpoints::{self, Checkpoints},
    leaves::{Leaves, scan},
    reader::LogReader,
    rewritten,
};
use crate::{
    checkpoint::{Checkpoint, all_shards, key_name},
    port::StoreError,
    recorded::{Position, StreamName},
    shard::Shard,
    verify::{Fault, ShardCheck, StreamCheck, What},
};

/// Numbers of streams that one worker takes at a time: eight each for 256 conversations.
const RANGE: i64 = 2048;

/// What to check against.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Whose signatures are good. Without any, signatures are not looked at.
    pub keys: Vec<VerifyingKey>,
    /// Checkpoints from elsewhere that the log must contain.
    pub trusted: Vec<Checkpoint>,
    /// How many work at once; each holds one connection.
    pub workers: usize,
}

/// Hears how it goes, from several workers at once.
pub trait Watch: Send + Sync {
    /// So many events will go by, each of them twice.
    fn expects(&self, events: u64);
    /// So many more have gone by.
    fn passed(&self, events: u64);
    /// Something is wrong.
    fn fault(&self, fault: Fault);
}

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Verified {
    /// Their chains.
    pub events: u64,
    /// Theirs.
    pub streams: u64,
    /// Their signatures and roots.
    pub checkpoints: u64,
}

/// Checks all of it. Faults go to `watch`; an error is a log that cannot be read.
pub async fn verify(
    reader: &LogReader,
    scope: &Scope,
    watch: &Arc<dyn Watch>,
) -> Result<Verified, StoreError> {
    let workers = scope.workers.max(1);
    let shards: Vec<Shard> = all_shards(reader.info().shards).collect();
    let mut events = 0;
    for shard in &shards {
        events += reader.shard_position(*shard).await?.get();
    }
    watch.expects(events);
    let mut verified = Verified::default();
    let end = reader.last_stream().await?.map_or(0, |last| last + 1);
    let next = Arc::new(AtomicI64::new(0));
    let mut streams = JoinSet::new();
    for _ in 0..workers {
        streams.spawn(chains(reader.clone(), Arc::clone(&next), end, Arc::clone(watch)));
    }
    while let Some(done) = streams.join_next().await {
        let (events, streams) = joined(done)?;
        verified.events += events;
        verified.streams += streams;
    }
    let mut orders = JoinSet::new();
    for shard in shards {
        if orders.len() >= workers
            && let Some(done) = orders.join_next().await
        {
            joined(done)?;
        }
        orders.spawn(order(reader.clone(), shard, Arc::clone(watch)));
    }
    while let Some(done) = orders.join_next().await {
        joined(done)?;
    }
    verified.checkpoints = signatures(reader, scope, &**watch).await?;
    Ok(verified)
}

fn joined<T>(done: Result<Result<T, StoreError>, tokio::task::JoinError>) -> Result<T, StoreError> {
    done.map_err(|error| StoreError::Unavailable { doing: "verify the log", source: error.into() })?
}

/// Takes range after range of streams until there are no more.
async fn chains(
    reader: LogReader,
    next: Arc<AtomicI64>,
    end: i64,
    watch: Arc<dyn Watch>,
) -> Result<(u64, u64), StoreError> {
    let shards = reader.info().shards;
    let (mut events, mut streams) = (0, 0);
    loop {
        let from = next.fetch_add(RANGE, Ordering::Relaxed);
        if from >= end {
            return Ok((events, streams));
        }
        let mut after = Some((from, 0));
        let mut current: Option<(i64, Option<StreamCheck>)> = None;
        let mut faults = vec![];
        while let Some(place) = after {
            let before = events;
            let each = &mut |stream_id: i64, stored: Stored| {
                events += 1;
                if current.as_ref().is_none_or(|(of, _)| *of != stream_id) {
                    streams += 1;
                    if let Some((_, Some(mut ended))) = current.take() {
                        ended.end(&mut faults);
                    }
                    let check = stored.stream().map(|stream| StreamCheck::new(stream.clone(), Some(shards)));
                    if check.is_none() {
                        faults.extend(stored.nameless());
                    }
                    current = Some((stream_id, check));
                }
                if let (Some((_, Some(check))), Stored::Event { header, digest }) = (&mut current, stored) {
                    check.next(header, digest, &mut faults);
                }
            };
            after = reader.streams(place, from + RANGE, each).await?;
            watch.passed(events - before);
            faults.drain(..).for_each(|fault| watch.fault(fault));
        }
        if let Some((_, Some(mut ended))) = current.take() {
            ended.end(&mut faults);
        }
        faults.into_iter().for_each(|fault| watch.fault(fault));
    }
}

/// One shard: its order, and what each checkpoint says of it.
async fn order(reader: LogReader, shard: Shard, watch: Arc<dyn Watch>) -> Result<(), StoreError> {
    let mut check = ShardCheck::new(shard);
    let mut at = Position::START;
    let mut seen_up_to = Position::START;
    let mut checkpoints = Checkpoints::new(&reader);
    let mut faults = vec![];
    while let Some((number, checkpoint)) = checkpoints.next().await? {
        // One that cannot be read, or does not go on where the one before it left off, is named by itself below.
        let seen = checkpoint.as_ref().and_then(|it| it.shard(shard));
        let Some(seen) = seen.filter(|it| it.after >= at && it.is_bounded()) else { continue };
        walk(&reader, shard, at, seen.after, &mut check, &*watch, &mut faults).await?;
        let mut passed = 0;
        let each = &mut |row: &super::reader::OrderRow| {
            passed += 1;
            check.next(row.position, row.recorded_at, &mut faults);
        };
        let leaves = Leaves::read(&reader, shard, seen.after, seen.position, each).await?;
        watch.passed(passed);
        if leaves.root() != seen.root {
            rewritten::name(&reader, number, seen, leaves, &mut faults).await?;
        }
        at = seen.position;
        seen_up_to = seen_up_to.max(seen.position);
        faults.drain(..).for_each(|fault| watch.fault(fault));
    }
    walk(&reader, shard, at, Position::new(i64::MAX as u64), &mut check, &*watch, &mut faults).await?;
    check.end(seen_up_to, &mut faults);
    faults.into_iter().for_each(|fault| watch.fault(fault));
    Ok(())
}

/// Only the order, over what no checkpoint speaks of.
async fn walk(
    reader: &LogReader,
    shard: Shard,
    after: Position,
    up_to: Position,
    check: &mut ShardCheck,
    watch: &dyn Watch,
    faults: &mut Vec<Fault>,
) -> Result<(), StoreError> {
    scan(reader, shard, after, up_to, &mut |row| {
        check.next(row.position, row.recorded_at, faults);
        watch.passed(1);
        faults.drain(..).for_each(|fault| watch.fault(fault));
    })
    .await
}

/// Each checkpoint follows the one before it and is signed; those from elsewhere are there. Returns how many there are.
async fn signatures(reader: &LogReader, scope: &Scope, watch: &dyn Watch) -> Result<u64, StoreError> {
    let told = |number, what, detail: String| {
        watch.fault(Fault::in_stream(&StreamName::Checkpoint, number, what, detail));
    };
    let (mut count, mut previous) = (0, None);
    let mut checkpoints = Checkpoints::new(reader);
    while let Some((number, checkpoint)) = checkpoints.next().await? {
        count += 1;
        let Some(checkpoint) = checkpoint else {
            told(number, What::Altered, "it is not a checkpoint".into());
            previous = None;
            continue;
        };
        // After one that cannot be read nothing is known of what it said.
        if let Some(detail) = (number == 1 || previous.is_some())
            .then(|| checkpoint.contradicts(number, reader.info(), previous.as_ref()))
            .flatten()
        {
            told(number, What::Altered, detail);
        }
        if !scope.keys.is_empty() && !scope.keys.iter().any(|key| checkpoint.is_signed_by(key)) {
            let known: Vec<String> = scope.keys.iter().map(key_name).collect();
            let detail = format!("it says key {}; good are {}", checkpoint.key, known.join(", "));
            told(number, What::Signature, detail);
        }
        previous = Some(checkpoint);
    }
    for trusted in &scope.trusted {
        let number = trusted.unsigned.number;
        if !scope.keys.is_empty() && !scope.keys.iter().any(|key| trusted.is_signed_by(key)) {
            told(number, What::Signature, "the trusted checkpoint is not signed with a good key".into());
        }
        let last = checkpoints::head(reader).await?;
        match checkpoints::one(reader, number).await? {
            Some(stands) if stands.root == trusted.root => {}
            None if last < number => {
                let detail = format!("there are {last} checkpoints, but number {number} was made");
                told(last + 1, What::Truncated, detail);
            }
            Some(_) | None => {
                told(number, What::Rewritten, "the trusted checkpoint says something else".into())
            }
        }
    }
    Ok(count)
}
