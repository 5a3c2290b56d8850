//! Pages of many histories in one answer and one snapshot, bounded in all.
//!
//! Ranges are served in the order asked, until items or bytes are used up; what did not fit says that there is
//! more. A range that this viewer may not read fails alone: the others must not be lost.

use std::collections::{BTreeSet, HashMap};

use domain::{ConvId, Uid};
use event_store::Shard;
use futures_util::future::join;

use super::{
    load::Loaded,
    range::{Span, span},
};
use crate::{
    query::{Item, ItemState, Page, PageLimit, QueryError, Range},
    read_models::{Asked, Patience, ReadModels},
    snapshot::{Ask, Snapshot, unavailable},
    standing::{STANDING, Standing},
};

/// Ranges in one question: a screen of conversations that were missed.
pub const RANGES_MAX: usize = 100;
/// Items in one answer, over all ranges.
pub const ITEMS_MAX: u32 = 1000;
/// Contents and quotes in one answer, in bytes. One item is always given, so that a client gets on.
pub const BYTES_MAX: usize = 4 * 1024 * 1024;
/// Items loaded at once: bounds what is loaded and then does not fit.
const ITEMS_AT_ONCE: u32 = PageLimit::MAX;
/// About what an item weighs beside its content, in bytes.
const ITEM_BYTES: usize = 300;

/// What is left of an answer's bounds.
struct Room {
    items: u32,
    bytes: usize,
    /// Nothing was given yet.
    empty: bool,
}

impl ReadModels {
    /// Pages of several histories, at most [`RANGES_MAX`], at one moment. The inner errors are a range's own.
    pub async fn pages(
        &self,
        viewer: Uid,
        ranges: &[(ConvId, Range)],
    ) -> Result<Vec<Result<Page, QueryError>>, QueryError> {
        let mine = |conv: &&ConvId| conv.is_group() || conv.has_party(viewer);
        let convs: BTreeSet<&ConvId> = ranges.iter().map(|(conv, _)| conv).filter(mine).collect();
        let convs: Vec<ConvId> = convs.into_iter().cloned().collect();
        let (snapshot, standings) = self.standings("read pages of histories", &convs, viewer).await?;
        let mut room = Room { items: ITEMS_MAX, bytes: BYTES_MAX, empty: true };
        let mut pages = Vec::with_capacity(ranges.len());
        let mut waiting = ranges;
        while !waiting.is_empty() {
            let (planned, later) = plan(waiting, &standings, room.items);
            let spans = planned.iter().filter_map(|it| it.as_ref().ok());
            let places = spans.flat_map(|it| it.span.seqs().map(|seq| (it.standing.conv.clone(), seq)));
            let mut loaded = Loaded::default();
            loaded.add(&snapshot, viewer, places.collect::<Vec<_>>()).await?;
            let spans = planned.iter().filter_map(|it| it.as_ref().ok());
            let quoted = spans.flat_map(|it| {
                let (conv, eyes) = (&it.standing.conv, it.standing.viewer());
                it.span.seqs().filter_map(|seq| loaded.quoted(conv, seq, &eyes)).collect::<Vec<_>>()
            });
            let quoted: Vec<_> = quoted.collect();
            loaded.add(&snapshot, viewer, quoted).await?;
            pages.extend(planned.into_iter().map(|it| it.map(|planned| planned.page(&loaded, &mut room))));
            waiting = later;
        }
        Ok(pages)
    }

    /// A snapshot that has passed the last events of these conversations, and where the viewer stands in them.
    async fn standings(
        &self,
        doing: &'static str,
        convs: &[ConvId],
        viewer: Uid,
    ) -> Result<(Snapshot, HashMap<ConvId, Standing>), QueryError> {
        let patience = Patience::new();
        let asked = Asked::new(convs, viewer, self.generation().number());
        let params = asked.params();
        let open = || self.open(doing, Ask { sql: STANDING, params: &params });
        let (opened, wanted) = join(open(), self.store().stream_positions(convs)).await;
        let wanted = wanted.map_err(|error| unavailable(doing, error))?;
        let shards = convs.iter().map(|conv| Shard::of(conv, self.store().info().shards));
        let last = wanted.into_iter().map(|last| last.into_iter().max().unwrap_or_default());
        let (snapshot, _, rows) = self.passed(opened?, open, &shards.zip(last).collect::<Vec<_>>(), &patience).await?;
        let standings = asked.read(&rows).map_err(|error| snapshot.failed(error))?;
        Ok((snapshot, standings.into_iter().map(|standing| (standing.conv.clone(), standing)).collect()))
    }
}

/// A range that may be read, and which of its seqs fit.
struct Planned<'a> {
    standing: &'a Standing,
    span: Span,
    /// Paged upwards: what does not fit is above.
    ascending: bool,
}

/// The next ranges that are loaded together, and those that come later.
fn plan<'a, 'b>(
    ranges: &'b [(ConvId, Range)],
    standings: &'a HashMap<ConvId, Standing>,
    mut room: u32,
) -> (Vec<Result<Planned<'a>, QueryError>>, &'b [(ConvId, Range)]) {
    let mut at_once = ITEMS_AT_ONCE;
    let mut planned = Vec::new();
    for (place, (conv, range)) in ranges.iter().enumerate() {
        if at_once == 0 && room > 0 {
            return (planned, &ranges[place..]);
        }
        planned.push(match standings.get(conv) {
            Some(standing) if standing.parked => Err(QueryError::Parked),
            Some(standing) if standing.is_in => {
                let span = fitting(*range, standing, room.min(at_once));
                let items = u32::try_from(span.seqs().count()).unwrap_or(u32::MAX);
                (room, at_once) = (room.saturating_sub(items), at_once.saturating_sub(items));
                Ok(Planned { standing, span, ascending: range.after_seq.is_some() })
            }
            Some(_) | None => Err(QueryError::NotAMember),
        });
    }
    (planned, &[])
}
