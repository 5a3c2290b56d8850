//! One page of a history as one viewer sees it, in two round trips; a third where it quotes what is not on it.

use domain::{Bucket, ConvId, Uid};

use super::{load::Loaded, range::span};
use crate::{
    query::{Page, PageLimit, QueryError, Range},
    snapshot::{Ask, Snapshot},
    standing::Standing,
    write::int,
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
    if span.first <= span.last {
        let (first, last) = (int(span.first.get()), int(span.last.get()));
        let buckets: Vec<i64> =
            (Bucket::of(span.first).get()..=Bucket::of(span.last).get()).map(int).collect();
        let (text, convs, uid) = (conv.as_str(), vec![conv.as_str(); buckets.len()], int(viewer.get()));
        let [tail, sealed, recalls, deleted, expired] = snapshot
            .ask([
                Ask {
                    sql: include_str!("page.sql"),
                    params: &[&text, &first, &last, &i64::from(limit.get())],
                },
                Ask { sql: include_str!("sealed_at.sql"), params: &[&convs, &buckets] },
                Ask { sql: include_str!("../marks/recalled.sql"), params: &[&text, &first, &last] },
                Ask { sql: include_str!("../marks/deleted_at.sql"), params: &[&convs, &buckets, &uid] },
                Ask { sql: include_str!("../marks/expired_at.sql"), params: &[&convs, &buckets] },
            ])
            .await?;
        let rows: [&[_]; 5] = [&tail, &sealed, &recalls, &deleted, &expired];
        let taken = loaded.take(rows, Some((span.first, span.last)));
        taken.map_err(|error| snapshot.failed(error))?;
        loaded.has_read(conv, span.seqs());
    }
    let eyes = standing.viewer();
    let quoted: Vec<_> = span.seqs().filter_map(|seq| loaded.quoted(conv, seq, &eyes)).collect();
    loaded.add(snapshot, viewer, quoted).await?;
    let items = span.seqs().filter_map(|seq| loaded.item(conv, seq, &eyes)).collect();
    Ok(Page { conv: conv.clone(), max_seq, min_seq, has_more: span.has_more, items })
}
