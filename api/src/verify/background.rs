//! Compares read models with the log all the time, one conversation after the other, beside a server that has other
//! things to do. What drifts is logged by name and counted; whether the server is ready has nothing to do with it: what
//! is wrong in one conversation must not take a node out of service.

use std::{collections::BTreeMap, collections::VecDeque, sync::Arc, time::Duration};

use domain::ConvId;
use event_store::{Entropy, EventStore};
use futures_util::TryStreamExt;
use projections::{
    Generation, OpenError, ProjectorsWatch,
    verify::{Verified, Verifier, VerifyError},
};
use tokio::time::sleep;
use tokio_postgres::Config;

use super::names::{Names, draw, sample};

/// It asks one thing after the other.
const CONNECTIONS: usize = 1;
/// Before each of its questions, so that even a long conversation costs little at a time.
const REST: Duration = Duration::from_millis(20);
/// Drifts of one conversation that are logged each time.
const LOGGED_MAX: usize = 10;
/// Conversations that are known to drift; more would be all of them.
const KNOWN_MAX: usize = 1000;
/// Among so many comparisons one looks again at what is known to drift, so that what has been healed is seen.
const AGAIN_EVERY: u64 = 4;

/// Why a comparison was not made.
#[derive(Debug, thiserror::Error)]
enum LookError {
    #[error("read which conversations there are")]
    Names(#[from] event_store::StoreError),
    #[error("open the read models")]
    Open(#[from] OpenError),
    #[error("compare a conversation")]
    Verify(#[from] VerifyError),
}

/// Goes round, one conversation every `every`; never ends.
pub async fn run(
    database: Config,
    store: Arc<dyn EventStore>,
    entropy: Arc<dyn Entropy>,
    projectors: ProjectorsWatch,
    every: Duration,
) {
    let mut round = Round::new(database, store, entropy, projectors);
    metrics::gauge!("quipu_projection_drift").set(0.0);
    loop {
        sleep(every).await;
        if let Err(error) = round.step().await {
            tracing::warn!(
                error = crate::cli::chain_of(&error),
                "a conversation was not compared with its log"
            );
        }
    }
}

struct Round {
    database: Config,
    store: Arc<dyn EventStore>,
    entropy: Arc<dyn Entropy>,
    projectors: ProjectorsWatch,
    /// Of which generation it is.
    verifier: Option<(i32, Verifier)>,
    /// The next ones; at most a page.
    due: VecDeque<ConvId>,
    last: Option<ConvId>,
    /// Where the first round began is drawn, so that one who is often started gets everywhere.
    begun: bool,
    drifting: BTreeMap<ConvId, u64>,
    steps: u64,
}

impl Round {
    fn new(
        database: Config,
        store: Arc<dyn EventStore>,
        entropy: Arc<dyn Entropy>,
        projectors: ProjectorsWatch,
    ) -> Self {
        let (verifier, due, last) = (None, VecDeque::new(), None);
        Self {
            database,
            store,
            entropy,
            projectors,
            verifier,
            due,
            last,
            begun: false,
            drifting: BTreeMap::new(),
            steps: 0,
        }
    }

    async fn step(&mut self) -> Result<(), LookError> {
        self.steps += 1;
        let again = self.steps.is_multiple_of(AGAIN_EVERY);
        let known =
            self.drifting.keys().nth(draw(&*self.entropy, self.drifting.len().max(1) as u64) as usize);
        let conv = match known.filter(|_| again).cloned() {
            Some(conv) => Some(conv),
            None => self.next().await?,
        };
        let Some(conv) = conv else { return Ok(()) };
        let verifier = self.verifier().await?;
        let verified = verifier.conversation(&conv, draw(&*self.entropy, u64::MAX)).await?;
        self.note(conv, &verified);
        Ok(())
    }

    /// The next one in the round; none in an empty log.
    async fn next(&mut self) -> Result<Option<ConvId>, LookError> {
        if !self.begun {
            self.last = sample(&self.store, 1, &*self.entropy).await?.pop();
            self.begun = true;
        }
        if self.due.is_empty() {
            let mut pages = Box::pin(Names::pages(Arc::clone(&self.store), self.last.clone()));
            self.due = pages.try_next().await?.unwrap_or_default().into();
            if self.due.is_empty() {
                let mut pages = Box::pin(Names::pages(Arc::clone(&self.store), None));
                self.due = pages.try_next().await?.unwrap_or_default().into();
            }
        }
        let next = self.due.pop_front();
        self.last.clone_from(&next);
        Ok(next)
    }

    async fn verifier(&mut self) -> Result<Verifier, LookError> {
        let serving = self.projectors.serving().map(|status| status.generation);
        if let Some((number, verifier)) = &self.verifier
            && serving.is_none_or(|serving| serving == *number)
        {
            return Ok(verifier.clone());
        }
        // Another one serves by now.
        let generation = Generation::serving(&self.database, CONNECTIONS).await?;
        let number = generation.number();
        let verifier = Verifier::new(Arc::clone(&self.store), generation).resting(REST);
        self.verifier = Some((number, verifier.clone()));
        Ok(verifier)
    }

    fn note(&mut self, conv: ConvId, verified: &Verified) {
        metrics::counter!("quipu_projection_compared_total").increment(1);
        for drift in verified.drifts.told.iter().take(LOGGED_MAX) {
            let count = verified.drifts.count;
            tracing::warn!(%drift, count, "a read model is not what the log says");
        }
        if verified.drifts.count == 0 {
            self.drifting.remove(&conv);
        } else if self.drifting.len() < KNOWN_MAX || self.drifting.contains_key(&conv) {
            self.drifting.insert(conv, verified.drifts.count);
        }
        metrics::gauge!("quipu_projection_drift").set(self.drifting.values().sum::<u64>() as f64);
    }
}
