//! One commit for what waits at the log, of all shards together. A transaction costs Postgres and this process some 0.4 ms
//! of CPU however many events it has (docs/decisions/0023), so batches of different shards share one.
//!
//! One commit is on its way at a time. What comes meanwhile waits for the next one, so that batches form under load; where
//! nothing is on its way nobody waits. Whoever comes first leads: takes what waits, sends it, tells the others.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Semaphore, oneshot};

use super::{
    Inner, append,
    conversations::Numbers,
    failure::{Shared, unknown},
};
use crate::{
    port::{Batch, ShardHead, StoreError},
    recorded::{Position, Recorded},
    shard::Shard,
};

/// Events of one commit: past some thousands more of them gain nothing. One batch may have more.
const EVENTS_MAX: usize = 4096;
/// Bytes of bodies in one commit, so that 16 shards of the largest messages do not become one transaction.
const BODY_BYTES_MAX: usize = 8 << 20;

type Answer = Result<bool, StoreError>;

/// A batch that waits to be appended.
pub(super) struct Job {
    pub shard: Shard,
    /// Where the shard was seen.
    pub seen: Position,
    pub batch: Batch,
    /// Of what is in the batch.
    pub numbers: Numbers,
    answer: oneshot::Sender<Answer>,
}

pub(super) struct GroupCommit {
    waiting: Mutex<VecDeque<Job>>,
    turn: Semaphore,
}

impl GroupCommit {
    pub fn new() -> Self {
        Self { waiting: Mutex::default(), turn: Semaphore::new(1) }
    }

    /// Appends a batch with whatever else waits, see [`crate::EventStore::append_at`].
    pub async fn append(
        &self,
        inner: &Inner,
        shard: Shard,
        seen: ShardHead,
        batch: Batch,
        numbers: Numbers,
    ) -> Answer {
        let (answer, mut answered) = oneshot::channel();
        self.waiting().push_back(Job { shard, seen: seen.position, batch, numbers, answer });
        tokio::select! {
            biased;
            answer = &mut answered => heard(answer),
            // Never closed.
            turn = self.turn.acquire() => {
                // Those who are on their way with something come along.
                tokio::task::yield_now().await;
                commit(inner, self.take()).await;
                drop(turn);
                heard(answered.await)
            }
        }
    }

    /// What fits into one commit, at most one batch a shard, in the order in which they came.
    fn take(&self) -> Vec<Job> {
        let mut waiting = self.waiting();
        let (mut jobs, mut later) = (Vec::new(), VecDeque::new());
        let (mut shards, mut events, mut bytes) = (HashSet::new(), 0, 0);
        while let Some(job) = waiting.pop_front() {
            let size: usize = job.batch.events.iter().map(Recorded::body_len).sum();
            let fits = events + job.batch.events.len() <= EVENTS_MAX && bytes + size <= BODY_BYTES_MAX;
            if (fits || jobs.is_empty()) && shards.insert(job.shard) {
                (events, bytes) = (events + job.batch.events.len(), bytes + size);
                jobs.push(job);
            } else {
                later.push_back(job);
            }
        }
        *waiting = later;
        jobs
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Job>> {
        // Nothing in here can panic half-way; a poisoned lock holds good jobs.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who led has gone before it could tell: perhaps it is done.
fn heard(answer: Result<Answer, oneshot::error::RecvError>) -> Answer {
    answer.unwrap_or_else(|gone| Err(unknown(append::DOING, gone)))
}

/// Commits these and tells everybody. What Postgres will not take stands in nobody else's way.
async fn commit(inner: &Inner, jobs: Vec<Job>) {
    if jobs.is_empty() {
        return;
    }
    match append::append(inner, &jobs).await {
        Ok(standing) => {
            for Job { shard, batch, answer, .. } in jobs {
                let appended = standing.contains(&shard);
                if appended {
                    // Before anybody is woken.
                    inner.grown(shard, batch.events);
                }
                // Who asked may have gone; the facts stay.
                let _ = answer.send(Ok(appended));
            }
        }
        Err(StoreError::Refused { .. }) if jobs.len() > 1 => {
            for job in jobs {
                Box::pin(commit(inner, vec![job])).await;
            }
        }
        Err(error) => {
            let shared = Shared::new(error);
            for Job { shard, answer, .. } in jobs {
                inner.recent.forget_shard(shard);
                let _ = answer.send(Err(shared.again()));
            }
        }
    }
}
