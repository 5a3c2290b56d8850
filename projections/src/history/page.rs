//! One page of a history as one viewer sees it, in two round trips; a third where it quotes what is not on it.

use domain::{ConvId, Uid};

use super::{load::Loaded, range::span};
use crate::{
    query::{Page, PageLimit, QueryError, Range},
    snapshot::Snapshot,
    standing::Standing,
};

/// Exactly one item for every seq of the page.
pub(crate) async fn page(
    snapshot: &Snapshot,
    conv: &ConvId,
    viewer: Uid,
    standing: &Standing,
    range: Range,
    limit: PageLimit,
) -> Result<Page, QueryError> {
    let (min_seq, max_seq) = (standing.min_seq(), standing.max_seq());
    let span = span(range, limit, min_seq, max_seq);
    let mut loaded = Loaded::default();
    loaded.add_page(snapshot, viewer, conv, span).await?;
    let eyes = standing.viewer();
    let quoted: Vec<_> = span.seqs().filter_map(|seq| loaded.quoted(conv, seq, &eyes)).collect();
    loaded.add(snapshot, viewer, quoted).await?;
    let items = span.seqs().filter_map(|seq| loaded.item(conv, seq, &eyes)).collect();
    Ok(Page { conv: conv.clone(), max_seq, min_seq, has_more: span.has_more, items })
}
