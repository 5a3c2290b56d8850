//! Conversations as one member sees them: unread, mention and last message, each computed when asked.
//!
//! Unread is counted from facts (design.md), never kept. The number of statements does not depend on how many
//! conversations there are or how long they are.

use std::collections::HashMap;

use domain::{Seq, Uid, unread};
use tokio_postgres::{Row, types::FromSqlOwned};

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
    let convs: Vec<&str> = standings.iter().map(|standing| standing.conv.as_str()).collect();
    let above = |standing: &Standing| unread::unread_above(standing.read.0, standing.min_seq());
    let aboves: Vec<i64> = standings.iter().map(|standing| int(above(standing).get())).collect();
    let mins: Vec<i64> = standings.iter().map(|standing| int(standing.min_seq().get())).collect();
    let maxes: Vec<i64> = standings.iter().map(|standing| int(standing.max_seq().get())).collect();
    let uid = int(viewer.get());
    let [uncounted, mentions, newest] = snapshot
        .ask([
            Ask { sql: include_str!("uncounted.sql"), params: &[&convs, &aboves, &uid] },
            Ask { sql: include_str!("first_mention.sql"), params: &[&convs, &aboves, &uid] },
            Ask { sql: include_str!("newest.sql"), params: &[&convs, &mins, &maxes, &uid] },
        ])
        .await?;
    let uncounted: HashMap<String, i64> = by_conv(snapshot, &uncounted)?;
    let mentions: HashMap<String, i64> = by_conv(snapshot, &mentions)?;
    let newest: HashMap<String, i64> = by_conv(snapshot, &newest)?;
    let last = |standing: &Standing| newest.get(standing.conv.as_str()).map(|seq| Seq::new(count(*seq)));
    let places = standings.iter().filter_map(|standing| Some((standing.conv.clone(), last(standing)?)));
    let mut loaded = Loaded::default();
    loaded.add(snapshot, viewer, places).await?;
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

fn by_conv<T: FromSqlOwned>(snapshot: &Snapshot, rows: &[Row]) -> Result<HashMap<String, T>, QueryError> {
    let pair = |row: &Row| Ok::<_, tokio_postgres::Error>((row.try_get(0)?, row.try_get(1)?));
    rows.iter().map(pair).collect::<Result<_, _>>().map_err(|error| snapshot.failed(error))
}
