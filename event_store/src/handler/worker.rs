//! One shard's worker: takes what waits, loads what is needed, decides, appends in one group commit, answers.
//!
//! Usually the shard still stands where this node left it and every send is new, and the batch goes in as decided. Where
//! another node was faster, or a send is a repeat, everything is looked up and decided again in the shard's exclusive
//! turn. It never waits for a consumer.

use std::{sync::Arc, time::Duration};

use super::{
    Asked, CommandError,
    known::Known,
    plan::Plan,
    queue::{Queue, Waiting},
    sequence::{Sequence, Unanswered},
};
use crate::{
    port::{EventStore, ShardHead, StoreError},
    shard::Shard,
    surroundings::Surroundings,
};
use domain::Reply;

/// Commands that one shard brings to a group commit. Measured in the design: past 500 rows a commit little is won.
const BATCH_COMMANDS_MAX: usize = 512;
/// How often a batch is tried when the log is away or its answer got lost; with the pauses between, about 3 s.
const ATTEMPTS_MAX: u32 = 6;
/// The pause before the second attempt; it doubles each time.
const PAUSE: Duration = Duration::from_millis(100);
/// Events of others that are looked at to keep the rest of what is known; past that all is forgotten.
const GROWN_EVENTS_MAX: u32 = 2000;

type Answer = Result<Reply, CommandError>;

/// Runs until the queue is closed and empty.
pub(super) async fn run(
    shard: Shard,
    store: Arc<dyn EventStore>,
    surroundings: Surroundings,
    queue: Arc<Queue>,
) {
    let mut worker = Worker { shard, store, surroundings, head: None, known: Known::new() };
    while queue.filled().await {
        let batch = queue.take(BATCH_COMMANDS_MAX);
        let is_broken = |waiting: &Waiting| waiting.sequence.as_ref().is_some_and(Sequence::is_broken);
        let (broken, batch): (Vec<_>, Vec<_>) =
            batch.into_iter().partition(|(_, waiting)| is_broken(waiting));
        for (_, waiting) in broken {
            let _ = waiting.answer.send(Err(CommandError::Unavailable));
        }
        if batch.is_empty() {
            continue;
        }
        let unanswered = Unanswered::new(batch.iter().filter_map(|(_, waiting)| waiting.sequence.as_ref()));
        let (requests, answers): (Vec<_>, Vec<_>) = batch
            .into_iter()
            .map(|(conv, Waiting { request, answer, sequence })| (Asked { conv, request, sequence }, answer))
            .unzip();
        let replies = worker.commit(&requests).await;
        if replies.iter().any(is_unknown) {
            drop(unanswered)
        } else {
            unanswered.answered()
        }
        for (answer, reply) in answers.into_iter().zip(replies) {
            // Who asked may have gone; the facts stay.
            let _ = answer.send(reply);
        }
    }
}

fn is_unknown(answer: &Answer) -> bool {
    matches!(answer, Err(CommandError::Unavailable))
}

/// What stands behind a refused command of its sequence must not overtake it.
fn refuse(requests: &[Asked], answers: &[Answer]) {
    for (asked, answer) in requests.iter().zip(answers) {
        if let (Some(sequence), Err(CommandError::OverLimit(over))) = (&asked.sequence, answer) {
            sequence.refuse(*over);
        }
    }
}

struct Worker {
    shard: Shard,
    store: Arc<dyn EventStore>,
    surroundings: Surroundings,
    /// Where this node last saw the shard; what is known is true there.
    head: Option<ShardHead>,
    known: Known,
}

impl Worker {
    /// One answer for each request, in order.
    async fn commit(&mut self, requests: &[Asked]) -> Vec<Answer> {
        let mut pause = PAUSE;
        for attempt in 1..=ATTEMPTS_MAX {
            let outcome = match self.at_seen_position(requests, attempt).await {
                Ok(None) => self.in_a_turn(requests).await,
                Ok(Some(answers)) => Ok(answers),
                Err(error) => Err(error),
            };
            let error = match outcome {
                Ok(answers) => {
                    refuse(requests, &answers);
                    return answers;
                }
                Err(error) => error,
            };
            self.forget();
            match error {
                StoreError::Refused { ref source, .. } => {
                    if let [Asked { conv, .. }] = requests {
                        tracing::warn!(%conv, %error, source = %source, "the log refuses a command");
                        return vec![Err(CommandError::Refused)];
                    }
                    // Each half on its own, until the one that is refused stands alone.
                    let (left, right) = requests.split_at(requests.len() / 2);
                    let mut answers = Box::pin(self.commit(left)).await;
                    if answers.iter().any(is_unknown) {
                        // What stands behind them must not overtake them.
                        answers.extend(right.iter().map(|_| Err(CommandError::Unavailable)));
                    } else {
                        answers.extend(Box::pin(self.commit(right)).await);
                    }
                    return answers;
                }
                StoreError::Corrupt { .. } => {
                    tracing::error!(shard = self.shard.get(), %error, "the log makes no sense");
                    break;
                }
                StoreError::Unavailable { ref source, .. } | StoreError::Unknown { ref source, .. } => {
                    if attempt == ATTEMPTS_MAX {
                        tracing::error!(shard = self.shard.get(), %error, source = %source, "gave up a batch");
                        break;
                    }
                    tracing::warn!(shard = self.shard.get(), attempt, %error, source = %source, "will try again");
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
            }
        }
        requests.iter().map(|_| Err(CommandError::Unavailable)).collect()
    }

    /// None if nothing was done, since something is not as it was taken for, or if there is no position to trust.
    async fn at_seen_position(
        &mut self,
        requests: &[Asked],
        attempt: u32,
    ) -> Result<Option<Vec<Answer>>, StoreError> {
        // After a failure the outcome of the last attempt may still be on its way: only a turn tells.
        if attempt > 1 {
            return Ok(None);
        }
        let seen = match self.head {
            Some(head) => head,
            None => self.store.shard_head(self.shard).await?,
        };
        self.head = Some(seen);
        let mut wanted = self.known.missing(requests);
        let supposed = self.known.not_to_be_asked(requests, &mut wanted);
        if !wanted.is_empty() {
            let found = self.store.load(self.shard, &wanted).await?;
            self.known.learn(&wanted, found)?;
        }
        self.known.suppose_new(&supposed);
        let mut plan = Plan::decide(self.shard, seen, &mut self.known, requests, &self.surroundings)?;
        self.known.may_come_again(&supposed);
        plan.batch.absent = supposed;
        if !self.store.append_at(self.shard, seen, plan.batch).await? {
            // What was decided did not happen.
            self.known.forget_all(requests.iter().map(|asked| &asked.conv));
            return Ok(None);
        }
        self.head = Some(plan.head);
        self.known.trim(requests.iter().map(|asked| &asked.conv));
        Ok(Some(plan.answers))
    }

    /// Nobody else appends meanwhile, so this attempt cannot be overtaken.
    async fn in_a_turn(&mut self, requests: &[Asked]) -> Result<Vec<Answer>, StoreError> {
        let store = Arc::clone(&self.store);
        let mut turn = store.turn(self.shard).await?;
        let grown = match self.head {
            Some(seen) => turn.grown_since(seen.position, GROWN_EVENTS_MAX).await?,
            None => None,
        };
        match grown {
            Some(conversations) => self.known.forget_all(&conversations),
            None => self.known.clear(),
        }
        self.head = Some(turn.head());
        let wanted = self.known.missing(requests);
        if !wanted.is_empty() {
            let found = turn.load(&wanted).await?;
            self.known.learn(&wanted, found)?;
        }
        let plan = Plan::decide(self.shard, turn.head(), &mut self.known, requests, &self.surroundings)?;
        turn.append(plan.batch).await?;
        self.head = Some(plan.head);
        self.known.trim(requests.iter().map(|asked| &asked.conv));
        Ok(plan.answers)
    }

    fn forget(&mut self) {
        self.head = None;
        self.known.clear();
    }
}
