//! Which conversations there are: all of them one after the other, or some, drawn so that each is as likely.

use std::sync::Arc;

use domain::ConvId;
use event_store::{Entropy, EventStore, StoreError};
use futures_util::{
    Stream, TryStreamExt,
    stream::{self, BoxStream, StreamExt},
};

/// Names that are read at once.
const NAMES_AT_ONCE: u32 = 1000;

/// Walks over all conversations.
pub struct Names;

impl Names {
    /// Ascending; those that come meanwhile, too, where they come behind.
    pub fn of(store: Arc<dyn EventStore>) -> BoxStream<'static, Result<ConvId, StoreError>> {
        Self::pages(store, None).map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed()
    }

    /// The same after one, in pages.
    pub fn pages(
        store: Arc<dyn EventStore>,
        after: Option<ConvId>,
    ) -> impl Stream<Item = Result<Vec<ConvId>, StoreError>> + Send + 'static {
        stream::try_unfold((store, after), |(store, after)| async move {
            let page = store.conversations(after.as_ref(), NAMES_AT_ONCE).await?;
            let last = page.last().cloned();
            Ok(last.map(|last| (page, (store, Some(last)))))
        })
    }
}

/// How many there are.
pub async fn count(store: &Arc<dyn EventStore>) -> Result<u64, StoreError> {
    let pages = Names::pages(Arc::clone(store), None);
    pages.try_fold(0, |count, page| async move { Ok(count + page.len() as u64) }).await
}

/// So many of them, or all if there are fewer. Algorithm R (Vitter: Random Sampling with a Reservoir, 1985).
pub async fn sample(
    store: &Arc<dyn EventStore>,
    wanted: usize,
    entropy: &dyn Entropy,
) -> Result<Vec<ConvId>, StoreError> {
    let mut pages = Box::pin(Names::pages(Arc::clone(store), None));
    let (mut drawn, mut seen) = (Vec::new(), 0);
    while let Some(page) = pages.try_next().await? {
        for conv in page {
            seen += 1;
            if drawn.len() < wanted {
                drawn.push(conv);
            } else if let Some(place) = drawn.get_mut(draw(entropy, seen) as usize) {
                *place = conv;
            }
        }
    }
    Ok(drawn)
}

/// A number below `end`, which is not 0.
pub fn draw(entropy: &dyn Entropy, end: u64) -> u64 {
    (u128::from_le_bytes(entropy.salt()) % u128::from(end)) as u64
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    struct Counting(AtomicU64);

    impl Entropy for Counting {
        fn salt(&self) -> [u8; 16] {
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            blake3::hash(&number.to_le_bytes()).as_bytes()[..16].try_into().unwrap_or_default()
        }
    }

    #[test]
    fn what_is_drawn_is_below_the_end_and_not_always_the_same() {
        let entropy = Counting(AtomicU64::new(0));
        let drawn: std::collections::BTreeSet<u64> = (0..200).map(|_| draw(&entropy, 10)).collect();
        assert_eq!(drawn, (0..10).collect());
    }
}
