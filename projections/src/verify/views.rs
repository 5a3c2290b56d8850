//! What is served to one member, answer by answer: by the very code that serves it.

use domain::{ConvId, Seq, Uid};
use tokio_postgres::types::ToSql;

use super::{Verifier, VerifyError, drift::Drifts};
use crate::{
    group_read::query as group_read,
    head, history,
    member::query as member,
    past::{shown, told::Told},
    query::{Item, ItemState, Page, PageLimit, QueryError, Range},
    snapshot::{Ask, unavailable},
    standing::{Asked, STANDING},
    summary,
};

impl Verifier {
    /// Compares the entry in the list, the newest and the oldest page, the members, the read positions and the group
    /// as one member sees them.
    pub(super) async fn views(
        &self,
        told: &mut Told<'_>,
        viewer: Uid,
        drifts: &mut Drifts,
    ) -> Result<(), VerifyError> {
        let conv = told.replay.conv().clone();
        let convs = [conv.clone()];
        let asked = Asked::new(&convs, viewer, self.generation.number(), self.store.info().shards);
        let params: [&(dyn ToSql + Sync); 6] = asked.params();
        let (snapshot, position, rows) = self.look(&conv, Ask { sql: STANDING, params: &params }).await?;
        let standing = asked.read(&rows).map_err(|error| unavailable(super::DOING, error))?.pop();
        let standing = standing.ok_or_else(|| snapshot.failed("an answer is missing"))?;
        let most = PageLimit::most();
        let oldest = Range { before_seq: None, after_seq: Some(Seq::ZERO) };
        let is_member = standing.is_member(viewer);
        let (hidden, mut summary) = (standing.hidden, None);
        let (mut pages, mut group) = (vec![], None);
        if is_member {
            let entry = summary::summaries(&snapshot, viewer, std::slice::from_ref(&standing)).await;
            summary = served(viewer, "conversation", entry, drifts)?.and_then(|mut entries| entries.pop());
            for range in [Range::default(), oldest] {
                let page = history::page::page(&snapshot, &conv, viewer, &standing, range, most).await;
                pages.extend(served(viewer, "page", page, drifts)?.map(|page| (range, page)));
            }
            if conv.is_group() {
                let facts = head::query::group(&snapshot, &conv, viewer).await;
                group = served(viewer, "group", facts, drifts)?;
            }
        }
        let members = member::members(&snapshot, &conv, None, most).await?;
        let positions = group_read::read_positions(&snapshot, &conv, viewer, &standing, None, most).await?;
        drop(snapshot);
        told.all_to(position).await?;
        let stands = told.replay.is_member(viewer);
        drifts.compare(viewer, "membership", "is a member", &stands, &is_member);
        if !stands || !is_member {
            return Ok(());
        }
        drifts.compare(viewer, "list", "is hidden", &told.replay.standing(viewer).hidden, &hidden);
        if let Some(found) = summary {
            let expected = shown::summary(told, viewer).await?;
            let mut field = |name: &str, expected: String, found: String| {
                if expected != found {
                    drifts.note(Some(viewer.get()), "conversation", name, expected, found);
                }
            };
            let text = |it: &dyn std::fmt::Debug| format!("{it:?}");
            field("name", text(&expected.name), text(&found.name));
            field("max_seq", text(&expected.max_seq), text(&found.max_seq));
            field("min_seq", text(&expected.min_seq), text(&found.min_seq));
            field("read_seq", text(&expected.read_seq), text(&found.read_seq));
            field("peer_read_seq", text(&expected.peer_read_seq), text(&found.peer_read_seq));
            field("unread", text(&expected.unread), text(&found.unread));
            field("mention_seq", text(&expected.mention_seq), text(&found.mention_seq));
            field("updated_at", text(&expected.updated_at), text(&found.updated_at));
            field("settings", text(&expected.settings), text(&found.settings));
            let (last, is) = (expected.last_message.as_ref(), found.last_message.as_ref());
            if last != is {
                field("last_message", described(last), format!("{} (it differs)", described(is)));
            }
        }
        for (range, found) in pages {
            let expected = shown::page(told, viewer, range, most).await?;
            compare_pages(&conv, viewer, &expected, &found, drifts);
        }
        let first = most.get() as usize;
        let stand: Vec<_> = shown::members_of(&told.replay).into_iter().take(first).collect();
        drifts.compare(viewer, "members", "the first page", &stand, &members);
        let stand: Vec<_> = shown::read_positions_of(&told.replay).into_iter().take(first).collect();
        drifts.compare(viewer, "read positions", "the first page", &stand, &positions);
        drifts.compare(viewer, "group", "its facts", &shown::group_of(&told.replay, viewer), &group);
        Ok(())
    }
}

/// An answer, or none where what is stored is so damaged that none can be given.
fn served<T>(
    viewer: Uid,
    view: &'static str,
    answer: Result<T, QueryError>,
    drifts: &mut Drifts,
) -> Result<Option<T>, QueryError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(QueryError::Unavailable { source, .. }) if !is_of_database(&*source) => {
            drifts.note(Some(viewer.get()), view, "is served", "an answer", source);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn is_of_database(source: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    source.is::<tokio_postgres::Error>()
        || source.is::<deadpool_postgres::PoolError>()
        || source.is::<event_store::StoreError>()
}

fn compare_pages(conv: &ConvId, viewer: Uid, expected: &Page, found: &Page, drifts: &mut Drifts) {
    let numbers = |page: &Page| (page.min_seq, page.max_seq, page.has_more, page.items.len());
    drifts.compare(viewer, "page", "min_seq, max_seq, has_more, items", &numbers(expected), &numbers(found));
    for (item, is) in expected.items.iter().zip(&found.items) {
        if item != is && numbers(expected) == numbers(found) {
            let is = format!("{} (it differs)", described(Some(is)));
            let what = format_args!("seq {} of {conv}", item.seq);
            drifts.note(Some(viewer.get()), "page", what, described(Some(item)), is);
        }
    }
}

/// An item without what it says.
fn described(item: Option<&Item>) -> String {
    let Some(Item { seq, state, quote }) = item else { return "nothing".to_owned() };
    let state = match state {
        ItemState::Normal(fact) => format!("normal by {}", fact.sender.get()),
        ItemState::Recalled(fact, recall) => {
            format!("recalled by {} at {}, of {}", recall.by, recall.at, fact.sender.get())
        }
        ItemState::Deleted => "deleted".to_owned(),
        ItemState::Expired => "expired".to_owned(),
    };
    let quote =
        quote.as_ref().map_or(String::new(), |quote| format!(", quotes {} {:?}", quote.seq, quote.state));
    format!("{seq} {state}{quote}")
}
