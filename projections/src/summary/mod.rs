//! Conversations as one member sees them: unread, mention and last message, each computed when asked.
//!
//! Unread is counted from facts (design.md), never kept. The number of statements does not depend on how many
//! conversations there are or how long they are.

mod list;

use std::collections::HashMap;

use domain::{ConvId, Seq, Uid, unread};
use futures_util::future::try_join;
use tokio_postgres::{
    Row,
    types::{FromSqlOwned, ToSql},
};

use crate::{
    history::load::Loaded,
    query::{Item, ItemState, QueryError, Summary},
    snapshot::{Ask, Snapshot},
    standing::Standing,
    write::{count, int},
};

/// At most as many as fit a page. The conversations come back in the order in which they were named.
pub(crate) async fn summaries(
    snapshot: &Snapshot,
    viewer: Uid,
    standings: &[Standing],
) -> Result<Vec<Summary>, QueryError> {
    let mut loaded = Loaded::default();
    let (counted, newest) =
        try_join(counted(snapshot, viewer, standings), newest(snapshot, viewer, standings, &mut loaded))
            .await?;
    let Counted { uncounted, mentions } = counted;
    let last = |standing: &Standing| newest.get(&standing.conv).copied();
    let quoted = |standing: &Standing| loaded.quoted(&standing.conv, last(standing)?, &standing.viewer());
    let quoted: Vec<_> = standings.iter().filter_map(quoted).collect();
    loaded.add(snapshot, viewer, quoted).await?;
    let summary = |standing: &Standing| {
        let Standing { conv, name, read, peer_read, .. } = standing;
        let (min_seq, max_seq) = (standing.min_seq(), standing.max_seq());
        let not = uncounted.get(conv.as_str()).map_or(0, |n| count(*n));
        Summary {
            conv: conv.clone(),
            name: name.clone(),
            max_seq,
            min_seq,
            read_seq: read.0,
            peer_read_seq: (!conv.is_group()).then_some(peer_read.0),
            unread: unread::unread(max_seq, read.0, min_seq, not),
            mention_seq: mentions.get(conv.as_str()).map(|seq| Seq::new(count(*seq))),
            last_message: last(standing)
                .and_then(|seq| loaded.item(conv, seq, &standing.viewer()))
                .filter(|Item { state, .. }| matches!(state, ItemState::Normal(_) | ItemState::Recalled(..))),
            updated_at: standing.updated_at(),
            settings: standing.settings,
        }
    };
    Ok(standings.iter().map(summary).collect())
}

/// Of those in which there may be something unread: how many messages are never unread, and the first mention.
#[derive(Default)]
struct Counted {
    uncounted: HashMap<String, i64>,
    mentions: HashMap<String, i64>,
}

async fn counted(snapshot: &Snapshot, viewer: Uid, standings: &[Standing]) -> Result<Counted, QueryError> {
    let above = |standing: &Standing| unread::unread_above(standing.read.0, standing.min_seq());
    let unread = standings.iter().filter(|standing| above(standing) < standing.max_seq());
    let (convs, aboves): (Vec<&str>, Vec<i64>) =
        unread.map(|standing| (standing.conv.as_str(), int(above(standing).get()))).unzip();
    if convs.is_empty() {
        return Ok(Counted::default());
    }
    let uid = int(viewer.get());
    let params: [&(dyn ToSql + Sync); 3] = [&convs, &aboves, &uid];
    let [uncounted, mentions] = snapshot
        .ask([
            Ask { sql: include_str!("uncounted.sql"), params: &params },
            Ask { sql: include_str!("first_mention.sql"), params: &params },
        ])
        .await?;
    Ok(Counted { uncounted: by_conv(snapshot, &uncounted)?, mentions: by_conv(snapshot, &mentions)? })
}

/// The newest message of each that the viewer may see and that is not erased, and loads it. That is the last one but
/// for those who have deleted it, so it is loaded first, and only where it is gone another one is looked for.
async fn newest(
    snapshot: &Snapshot,
    viewer: Uid,
    standings: &[Standing],
    loaded: &mut Loaded,
) -> Result<HashMap<ConvId, Seq>, QueryError> {
    let seen: Vec<&Standing> = standings.iter().filter(|it| it.max_seq() >= it.min_seq()).collect();
    let last = |it: &&Standing| (it.conv.clone(), it.max_seq());
    loaded.add(snapshot, viewer, seen.iter().map(last)).await?;
    let (left, gone): (Vec<&Standing>, Vec<&Standing>) =
        seen.iter().partition(|it| loaded.is_left(&it.conv, it.max_seq()));
    let mut newest: HashMap<ConvId, Seq> = left.iter().map(last).collect();
    if gone.is_empty() {
        return Ok(newest);
    }
    let convs: Vec<&str> = gone.iter().map(|it| it.conv.as_str()).collect();
    let mins: Vec<i64> = gone.iter().map(|it| int(it.min_seq().get())).collect();
    let maxes: Vec<i64> = gone.iter().map(|it| int(it.max_seq().get())).collect();
    let params: [&(dyn ToSql + Sync); 4] = [&convs, &mins, &maxes, &int(viewer.get())];
    let [rows] = snapshot.ask([Ask { sql: include_str!("newest.sql"), params: &params }]).await?;
    let found: HashMap<String, i64> = by_conv(snapshot, &rows)?;
    let place =
        |it: &&Standing| found.get(it.conv.as_str()).map(|seq| (it.conv.clone(), Seq::new(count(*seq))));
    let places: Vec<_> = gone.iter().filter_map(place).collect();
    loaded.add(snapshot, viewer, places.iter().cloned()).await?;
    newest.extend(places);
    Ok(newest)
}

fn by_conv<T: FromSqlOwned>(snapshot: &Snapshot, rows: &[Row]) -> Result<HashMap<String, T>, QueryError> {
    let pair = |row: &Row| Ok::<_, tokio_postgres::Error>((row.try_get(0)?, row.try_get(1)?));
    rows.iter().map(pair).collect::<Result<_, _>>().map_err(|error| snapshot.failed(error))
}
