//! Applies events of one shard to one generation, whatever is in them: halves what the database will not take or not
//! in time, and parks the conversation of what is poison.

use std::{collections::HashSet, ops::Range, sync::Arc};

use deadpool_postgres::Object;
use domain::ConvId;
use event_store::{Clock, Position, Recorded, Shard, codec};

use crate::{
    apply::{ApplyError, Step, apply},
    effects::{Folded, Parked, chain_of, fold},
};

/// What we believe of the checkpoint's row; the compare-and-set finds out.
pub(crate) struct Standing {
    pub position: Position,
    pub parked: Arc<HashSet<ConvId>>,
}

/// Of one shard of one generation of the read models about conversations.
pub(crate) struct Applier {
    pub generation: i32,
    pub shard: Shard,
    pub clock: Arc<dyn Clock>,
    /// See [`Step::bulk`].
    pub bulk: bool,
}

impl Applier {
    /// Applies a part of these events. Each step that was done stays done where a later one fails.
    pub(crate) async fn apply(
        &self,
        client: &Object,
        standing: &mut Standing,
        events: &Arc<[Recorded]>,
        part: Range<usize>,
    ) -> Result<(), ApplyError> {
        let mut rest = vec![part];
        // Each turn applies events or halves a part: at most twice as many as there are events.
        while let Some(part) = rest.pop() {
            let Some(last) = events[part.clone()].last() else { continue };
            let to = last.header.position;
            let folded = self.fold(events, part.clone(), &standing.parked).await?;
            match self.step(client, standing, to, folded).await {
                Err(error) if part.len() > 1 && (error.is_poison() || error.is_timeout()) => {
                    let middle = part.start + part.len() / 2;
                    rest.extend([middle..part.end, part.start..middle]);
                }
                Err(error) if error.is_poison() => {
                    let parked = |conv| Parked::at(conv, &last.header, chain_of(&error));
                    let parked = last.header.stream.conv().map(parked).into_iter().collect();
                    self.step(client, standing, to, Folded { parked, ..Folded::default() }).await?;
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Moves the checkpoint over what this log has not.
    pub(crate) async fn pass(
        &self,
        client: &Object,
        standing: &mut Standing,
        to: Position,
    ) -> Result<(), ApplyError> {
        self.step(client, standing, to, Folded::default()).await
    }

    async fn fold(
        &self,
        events: &Arc<[Recorded]>,
        part: Range<usize>,
        parked: &Arc<HashSet<ConvId>>,
    ) -> Result<Folded, ApplyError> {
        if !self.bulk {
            return Ok(fold(&events[part], parked));
        }
        let (events, parked) = (Arc::clone(events), Arc::clone(parked));
        let folding = tokio::task::spawn_blocking(move || fold(&events[part], &parked));
        folding.await.map_err(|_| ApplyError::Ends)
    }

    async fn step(
        &self,
        client: &Object,
        standing: &mut Standing,
        to: Position,
        folded: Folded,
    ) -> Result<(), ApplyError> {
        let parked = folded.parked.clone();
        let (bulk, generation, shard) = (self.bulk, self.generation, self.shard);
        let step =
            Step { bulk, generation, shard, from: standing.position, to, folded, now: self.clock.now() };
        apply(client, step).await?;
        standing.position = to;
        for Parked { conv, position, event_id, reason, .. } in parked {
            let (shard, position) = (shard.get(), position.get());
            tracing::error!(%conv, generation, shard, position, %event_id, reason, "parked a conversation");
            Arc::make_mut(&mut standing.parked).insert(conv);
        }
        Ok(())
    }
}

/// Cuts so that no part but one of a single event has more than so many bytes of bodies, and that an event which takes
/// bodies away is a part of its own: what it takes must be written before, and what comes after, after.
pub(crate) fn parts(events: &[Recorded], bytes_max: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |event: &&Recorded| {
            bytes += event.body_len();
            bytes <= bytes_max && !codec::takes_bodies(event)
        };
        let length = events[start..].iter().take_while(fits).count().max(1).min(events.len() - start);
        let part = start..start + length;
        start = part.end;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use event_store::{Body, codec::EventType};

    use super::*;
    use crate::effects::tests::read;

    #[test]
    fn a_transaction_is_bounded_in_bytes_and_loses_nothing() {
        const MOST: usize = 1000;
        let sized = |version, bytes| {
            let mut event = read("grp-a", version);
            event.body = Body::Present { salt: [0; 16], bytes: Bytes::from(vec![0; bytes]) };
            event
        };
        let half = MOST / 2;
        let events = [sized(1, half), sized(2, half), sized(3, 1), sized(4, 2 * MOST), sized(5, 1)];
        assert_eq!(parts(&events, MOST).collect::<Vec<_>>(), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(parts(&[], MOST).count(), 0);
    }

    #[test]
    fn what_takes_bodies_away_is_a_part_of_its_own() {
        let mut events = [1, 2, 3, 4, 5, 6].map(|version| read("grp-a", version));
        events[0].header.event_type = EventType::BodiesErased as i16;
        events[3].header.event_type = EventType::HistoryExpired as i16;
        assert_eq!(parts(&events, usize::MAX).collect::<Vec<_>>(), [0..1, 1..3, 3..4, 4..6]);
    }
}
