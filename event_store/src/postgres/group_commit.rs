//! One commit for what waits at the log, of all shards together. A transaction costs Postgres and this process some 0.4 ms
//! of CPU however many events it has (docs/decisions/0023), so batches of different shards share one.
//!
//! Usually one commit is on its way at a time. What comes meanwhile waits for the next one, so that batches form under
//! load; where nothing is on its way nobody waits. Where a crowd waits, a second one goes beside it, so that neither core
//! is idle while Postgres works. Whoever comes first leads: takes what waits, sends it, tells the others.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Semaphore, oneshot},
    time::{Instant, sleep_until},
};

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

/// Events of one commit, so that all that waits does not become one and then waits for itself; one batch may have more.
/// So many that wait are a crowd.
const EVENTS_MAX: usize = 512;
/// A commit of so many events says that there is a load.
const BUSY_EVENTS: usize = 8;
/// Under a load commits begin no more often than this: it takes a tenth off what a message costs at 8,000 a second. One
/// who sends alone never waits.
const PACE: Duration = Duration::from_millis(2);
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
    /// The turn of a second commit, for a crowd.
    second_turn: Semaphore,
    /// When the next commit may begin.
    next: Mutex<Instant>,
}

impl GroupCommit {
    pub fn new() -> Self {
        Self {
            waiting: Mutex::default(),
            turn: Semaphore::new(1),
            second_turn: Semaphore::new(1),
            next: Mutex::new(Instant::now()),
        }
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
        let crowd = self.push(Job { shard, seen: seen.position, batch, numbers, answer });
        // Who leads may find that others fill the commit, and leads again.
        loop {
            // Semaphores that are never closed.
            let turn = tokio::select! {
                biased;
                answer = &mut answered => return heard(answer),
                turn = self.turn.acquire() => turn,
                turn = self.second_turn.acquire(), if crowd => turn,
            };
            self.gather().await;
            let jobs = self.take();
            self.pace(&jobs);
            commit(inner, jobs).await;
            drop(turn);
        }
    }

    /// Those who are on their way with something come along.
    async fn gather(&self) {
        let next = *self.next();
        if Instant::now() < next {
            sleep_until(next).await;
        } else {
            tokio::task::yield_now().await;
        }
    }

    /// After a commit that says that there is a load the next one waits a moment for more.
    fn pace(&self, jobs: &[Job]) {
        let events: usize = jobs.iter().map(|job| job.batch.events.len()).sum();
        if events >= BUSY_EVENTS {
            *self.next() = Instant::now() + PACE;
        }
    }

    /// Is that a crowd?
    fn push(&self, job: Job) -> bool {
        let mut waiting = self.waiting();
        waiting.push_back(job);
        waiting.iter().map(|job| job.batch.events.len()).sum::<usize>() >= EVENTS_MAX
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

    fn next(&self) -> MutexGuard<'_, Instant> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
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
