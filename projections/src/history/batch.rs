//! Pages of many histories in one answer and one snapshot, bounded in all.
//!
//! Ranges are served in the order asked, until items or bytes are used up; what did not fit says that there is
//! more. A range that this viewer may not read fails alone: the others must not be lost.

use std::collections::{BTreeSet, HashMap};

use domain::{ConvId, Seq, Uid};
use event_store::{Position, Shard};
use futures_util::future::join;

use super::{
    load::Loaded,
    range::{Span, span},
};
use crate::{
    query::{Item, ItemState, Page, PageLimit, QueryError, Range},
    reader::{Patience, Reader},
    snapshot::{Snapshot, unavailable},
    standing::Standing,
};

/// Items in one answer, over all ranges.
const ITEMS_MAX: u32 = 1000;
/// Contents and quotes in one answer, in bytes. One item is always given, so that a client gets on.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// Ranges are loaded together until they have as many items: bounds what is loaded and then does not fit.
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

impl Reader {
    /// Pages of several histories, at one moment. The inner errors are a range's own.
    pub(crate) async fn pages(
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
        let mut later = ranges;
        while !later.is_empty() {
            let planned;
            (planned, later) = plan(later, &standings, viewer, room.items);
            let mut loaded = Loaded::default();
            let places = || planned.iter().filter_map(|it| it.as_ref().ok()).flat_map(Planned::places);
            loaded
                .add(&snapshot, viewer, places().map(|(standing, seq)| (standing.conv.clone(), seq)))
                .await?;
            let quoted =
                |(standing, seq): (&Standing, Seq)| loaded.quoted(&standing.conv, seq, &standing.viewer());
            let quoted: Vec<_> = places().filter_map(quoted).collect();
            loaded.add(&snapshot, viewer, quoted).await?;
            pages.extend(planned.into_iter().map(|it| Ok(room.give(&it?, &loaded))));
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
        let mut patience = Patience::new();
        let asked = self.asked(convs, viewer);
        let open = || self.open_standings(doing, &asked);
        let (opened, wanted) = join(open(), self.store().stream_positions(convs)).await;
        let wanted = wanted.map_err(|error| unavailable(doing, error))?;
        let last = wanted.into_iter().map(|last| last.into_iter().max().unwrap_or_default());
        let wanted: HashMap<&ConvId, Position> = convs.iter().zip(last).collect();
        let (mut snapshot, mut standings) = opened?;
        let is_behind = |it: &Standing| wanted.get(&it.conv).is_some_and(|wanted| !it.has_passed(*wanted));
        while standings.iter().any(is_behind) {
            drop(snapshot);
            let shard = |conv: &ConvId| Shard::of(conv, self.store().info().shards);
            let wanted: Vec<_> = wanted.iter().map(|(conv, position)| (shard(conv), *position)).collect();
            self.wait(&wanted, &mut patience).await?;
            (snapshot, standings) = open().await?;
        }
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

impl<'a> Planned<'a> {
    fn new(standing: &'a Standing, range: Range, items: u32) -> Self {
        let (min_seq, max_seq) = (standing.min_seq(), standing.max_seq());
        let span = match PageLimit::new(items.min(PageLimit::MAX)) {
            Some(limit) => span(range, limit, min_seq, max_seq),
            None => {
                let Span { first, last, .. } = span(range, PageLimit::default(), min_seq, max_seq);
                Span { first: Seq::new(1), last: Seq::ZERO, has_more: first <= last }
            }
        };
        Self { standing, span, ascending: range.after_seq.is_some() }
    }

    fn places(&self) -> impl Iterator<Item = (&'a Standing, Seq)> + use<'a> {
        let standing = self.standing;
        self.span.seqs().map(move |seq| (standing, seq))
    }
}

/// What is planned for some ranges, and the ranges that come later.
type Plan<'a, 'b> = (Vec<Result<Planned<'a>, QueryError>>, &'b [(ConvId, Range)]);

/// The next ranges that are loaded together.
fn plan<'a, 'b>(
    ranges: &'b [(ConvId, Range)],
    standings: &'a HashMap<ConvId, Standing>,
    viewer: Uid,
    mut items: u32,
) -> Plan<'a, 'b> {
    let mut planned = Vec::new();
    let mut taken = 0;
    for (place, (conv, range)) in ranges.iter().enumerate() {
        if taken >= ITEMS_AT_ONCE {
            return (planned, &ranges[place..]);
        }
        planned.push(match standings.get(conv) {
            Some(standing) if standing.parked => Err(QueryError::Parked),
            Some(standing) if standing.is_member(viewer) => {
                let fits = Planned::new(standing, *range, items);
                let count = fits.span.seqs().count() as u32;
                (taken, items) = (taken + count, items - count);
                Ok(fits)
            }
            Some(_) | None => Err(QueryError::NotAMember),
        });
    }
    (planned, &[])
}

impl Room {
    /// The page, as far as it fits.
    fn give(&mut self, planned: &Planned<'_>, loaded: &Loaded) -> Page {
        let Planned { standing, span, ascending } = planned;
        let eyes = standing.viewer();
        let mut items: Vec<Item> =
            span.seqs().filter_map(|seq| loaded.item(&standing.conv, seq, &eyes)).collect();
        let wanted = items.len();
        if *ascending {
            let fit = items.iter().take_while(|item| self.takes(item)).count();
            items.truncate(fit);
        } else {
            let fit = items.iter().rev().take_while(|item| self.takes(item)).count();
            items.drain(..wanted - fit);
        }
        Page {
            conv: standing.conv.clone(),
            max_seq: standing.max_seq(),
            min_seq: standing.min_seq(),
            has_more: span.has_more || items.len() < wanted,
            items,
        }
    }

    /// Once one did not fit, none does: no page has a gap, and ranges are served in their order.
    fn takes(&mut self, item: &Item) -> bool {
        let bytes = weight(item);
        if self.items == 0 || (bytes > self.bytes && !self.empty) {
            self.items = 0;
            return false;
        }
        (self.items, self.bytes, self.empty) = (self.items - 1, self.bytes.saturating_sub(bytes), false);
        true
    }
}

/// About how many bytes an item has in an answer.
fn weight(item: &Item) -> usize {
    let content = match &item.state {
        ItemState::Normal(fact) => fact.content.json().len() + fact.mentions.len() * size_of::<u128>(),
        ItemState::Recalled(..) | ItemState::Deleted | ItemState::Expired => 0,
    };
    ITEM_BYTES + content + item.quote.as_ref().map_or(0, |quote| quote.excerpt.len())
}
