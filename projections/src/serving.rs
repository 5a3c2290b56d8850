//! Which generation answers. It may change at any moment; a question belongs to one generation from its first
//! statement to its last, and is asked again where that one has gone meanwhile.

use std::{error::Error, sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, watch},
    time::timeout,
};
use tokio_postgres::error::SqlState;

use crate::query::QueryError;

/// How long a question waits for the generation that serves now, where its own has gone: one look at a small table.
const LOOK_TIME_MAX: Duration = Duration::from_secs(5);
/// How often one question is asked again: generations are dropped by people, one by one.
const AGAIN_MAX: u32 = 3;

/// A generation has no checkpoints: it was dropped.
#[derive(Debug, thiserror::Error)]
#[error("this generation of the read models is gone")]
pub(crate) struct Gone;

/// What answers now: a reader of one generation.
pub(crate) struct Serving<R> {
    current: watch::Receiver<Arc<R>>,
    /// Has somebody look at once which generation serves; none where it never changes.
    look: Option<Arc<Notify>>,
}

// Not derived: that would ask for a reader that can be cloned.
impl<R> Clone for Serving<R> {
    fn clone(&self) -> Self {
        Self { current: self.current.clone(), look: self.look.clone() }
    }
}

impl<R> Serving<R> {
    /// One that never changes.
    pub fn fixed(reader: R) -> Self {
        Self { current: watch::Sender::new(Arc::new(reader)).subscribe(), look: None }
    }

    /// One that follows.
    pub fn following(current: watch::Receiver<Arc<R>>, look: Arc<Notify>) -> Self {
        Self { current, look: Some(look) }
    }

    /// Asks the generation that serves.
    pub async fn ask<T, F>(&self, ask: impl Fn(Arc<R>) -> F) -> Result<T, QueryError>
    where
        F: Future<Output = Result<T, QueryError>>,
    {
        let mut current = self.current.clone();
        let mut again = 0;
        loop {
            let reader = Arc::clone(&current.borrow_and_update());
            let answer = ask(reader).await;
            match (answer, &self.look) {
                (Err(error), Some(look)) if again < AGAIN_MAX && is_of_one_gone(&error) => {
                    again += 1;
                    look.notify_one();
                    if !matches!(timeout(LOOK_TIME_MAX, current.changed()).await, Ok(Ok(()))) {
                        return Err(error);
                    }
                }
                (answer, _) => return answer,
            }
        }
    }
}

/// Was it answered so because the tables were dropped, or while they were?
fn is_of_one_gone(error: &QueryError) -> bool {
    let QueryError::Unavailable { source, .. } = error else { return false };
    let source: &(dyn Error + 'static) = &**source;
    let state = source.downcast_ref::<tokio_postgres::Error>().and_then(tokio_postgres::Error::code);
    source.is::<Gone>()
        || state.is_some_and(|state| {
            // The last: who drops takes table after table, and so does who reads.
            [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME, SqlState::T_R_DEADLOCK_DETECTED]
                .contains(state)
        })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::snapshot::unavailable;

    fn gone() -> QueryError {
        unavailable("test", Gone)
    }

    #[tokio::test]
    async fn a_question_whose_generation_has_gone_is_asked_of_the_next() {
        let (sender, look) = (watch::Sender::new(Arc::new(1)), Arc::new(Notify::new()));
        let serving = Serving::following(sender.subscribe(), Arc::clone(&look));
        let asked = serving.ask(async |number| if *number == 1 { Err(gone()) } else { Ok(*number) });
        let (answer, ()) = tokio::join!(asked, async {
            look.notified().await;
            sender.send_replace(Arc::new(2));
        });
        assert_eq!(answer.unwrap(), 2);
    }

    #[tokio::test]
    async fn other_errors_and_fixed_generations_are_not_asked_again() {
        let count = AtomicU32::new(0);
        let fixed = Serving::fixed(());
        let asked = fixed.ask(|_| {
            count.fetch_add(1, Ordering::Relaxed);
            async { Err::<(), _>(gone()) }
        });
        assert!(asked.await.is_err());
        let sender = watch::Sender::new(Arc::new(()));
        let following = Serving::following(sender.subscribe(), Arc::default());
        let asked = following.ask(|_| {
            count.fetch_add(1, Ordering::Relaxed);
            async { Err::<(), _>(QueryError::Behind) }
        });
        assert!(asked.await.is_err());
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }
}
