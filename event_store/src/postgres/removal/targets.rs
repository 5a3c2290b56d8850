//! What retention may take: conversations in pages, and up to which message each is older than it may be.

use deadpool_postgres::Pool;
use domain::{ConvId, Ms, Seq};

use super::query;
use crate::{handler::pieces::KEEPING, port::StoreError, postgres::failure::unavailable};

const DOING: &str = "look for what is too old";

/// A conversation of which something is too old, or something that has expired is still in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Which one.
    pub conv: ConvId,
    /// Everything up to here is older than it may be.
    pub up_to: Seq,
    /// Everything up to here has expired already.
    pub expired: Seq,
    /// Up to here bodies are gone, or their digests stand.
    pub retained: Seq,
}

/// A page of conversations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Targets {
    /// In the order in which the conversations came into being.
    pub targets: Vec<Target>,
    /// Where the next page begins; none after the last.
    pub next: Option<i64>,
}

/// The last conversation of this moment: retention ends with it.
pub async fn last(pool: &Pool) -> Result<i64, StoreError> {
    let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
    let rows = query(&client, DOING, include_str!("last_conversation.sql"), &[]).await?;
    Ok(rows.first().map_or(0, |row| row.get(0)))
}

/// The next `limit` conversations after number `after` and up to `last`, as far as there is something to be taken.
/// `before` are the moments before which single chats and groups are too old (none: for ever), and `own` those of groups
/// that have their own.
pub async fn page(
    pool: &Pool,
    (after, last): (i64, i64),
    limit: u32,
    before: [Option<Ms>; 2],
    own: &[(String, Option<Ms>)],
) -> Result<Targets, StoreError> {
    let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
    let (names, moments): (Vec<&str>, Vec<Option<Ms>>) =
        own.iter().map(|(name, moment)| (name.as_str(), *moment)).unzip();
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 8] =
        [&after, &last, &i64::from(limit), &before[0], &before[1], &names, &moments, &KEEPING];
    let rows = query(&client, DOING, include_str!("targets.sql"), &params).await?;
    let next = rows.last().filter(|_| rows.len() == limit as usize).map(|row| row.get(0));
    let seq = |number: i64| Seq::new(number as u64);
    let mut targets = Vec::new();
    for row in &rows {
        // What is of no conversation is no target.
        let Ok(conv) = ConvId::parse(row.get(1)) else { continue };
        let target =
            Target { conv, up_to: seq(row.get(2)), expired: seq(row.get(3)), retained: seq(row.get(4)) };
        if target.up_to > target.expired || target.expired > target.retained {
            targets.push(target);
        }
    }
    Ok(Targets { targets, next })
}

/// Messages of a conversation that are in the log after one seq and up to another, and the bytes of their bodies.
pub async fn weigh(
    pool: &Pool,
    conv: &ConvId,
    (after, up_to): (Seq, Seq),
) -> Result<super::digests::Noted, StoreError> {
    const WINDOW: u64 = 2000;
    let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
    let mut weighed = super::digests::Noted::default();
    let mut from = after.get();
    while from < up_to.get() {
        let to = (from + WINDOW).min(up_to.get());
        let (text, first, last) = (conv.as_str(), from as i64, to as i64);
        let rows = query(&client, DOING, include_str!("weigh.sql"), &[&text, &first, &last]).await?;
        if let Some(row) = rows.first() {
            let (messages, bytes): (i64, i64) = (row.get(0), row.get(1));
            weighed += super::digests::Noted { messages: messages as u64, bytes: bytes as u64 };
        }
        from = to;
    }
    Ok(weighed)
}
