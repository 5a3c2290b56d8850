//! Compares two generations, row by row, in moments in which both have passed exactly the same events.
//!
//! Page by page: a snapshot of the old generation says where it stands; the new one is brought exactly there, and a
//! snapshot of it is taken. What lies in the two rests on the same events, however busy the log is. Rows are compared
//! by hashes that the database makes, in the order of each table's key.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::atomic::{AtomicU64, Ordering},
};

use domain::ConvId;
use event_store::{Position, Shard};
use tokio::sync::watch;
use tokio_postgres::{Row, error::SqlState};

use crate::{
    checkpoint,
    feeder::Feeder,
    generations::{GenerationError, Generations, failed},
    history::bucket,
    projection::Projection,
    query::QueryError,
    snapshot::{Ask, Snapshot},
};

/// Rows of one page: their hashes take some milliseconds.
const PAGE_ROWS: i64 = 2_000;
/// Differences that are told one by one; the others are counted.
const TOLD_MAX: usize = 100;
/// Conversations that differ are told apart up to so many.
const APART_MAX: usize = 10_000;
/// How often two snapshots at equal positions are tried for: the serving generation may lose its last batches in a
/// crash of Postgres, a connection may go.
const TRIES_MAX: u32 = 20;

/// In what two generations differed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Rows that are otherwise, missing or too many in the old generation.
    pub rows: u64,
    /// Conversations with such rows, up to ten thousand; of notifications the rows.
    pub conversations: u64,
    /// Rows of conversations that are parked in one of the two: these are not counted above.
    pub parked_rows: u64,
    /// Table, key and what was wrong, of one row a conversation, the first hundred.
    pub first: Vec<String>,
    apart: BTreeSet<String>,
}

impl Differences {
    /// Were they the same?
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// For the status.
    pub(super) fn said(&self) -> Vec<&str> {
        self.first.iter().map(String::as_str).collect()
    }

    pub(super) fn warn(&self, projection: Projection, new: i32) {
        for difference in &self.first {
            tracing::warn!(projection = projection.name(), new, difference, "a rebuild heals a difference");
        }
        let Self { rows, conversations, parked_rows, .. } = *self;
        if rows > 0 || parked_rows > 0 {
            let name = projection.name();
            tracing::warn!(
                projection = name,
                new,
                rows,
                conversations,
                parked_rows,
                "the generations differ"
            );
        }
    }

    fn add(&mut self, table: &Table, key: &[String], what: &str) {
        self.rows += 1;
        let whose =
            table.conv(key).map_or_else(|| format!("{} {}", table.name, key.join(" ")), str::to_owned);
        if self.apart.len() < APART_MAX && self.apart.insert(whose) {
            self.conversations += 1;
            if self.first.len() < TOLD_MAX {
                self.first.push(format!("{} {}: {what}", table.name, key.join(" ")));
            }
        }
    }
}

struct Table {
    name: String,
    keys: Vec<String>,
    types: Vec<String>,
}

impl Table {
    /// The conversation whose row has this key; none of notifications.
    fn conv<'a>(&self, key: &'a [String]) -> Option<&'a str> {
        let place = self.keys.iter().position(|name| name == "conv_id")?;
        key.get(place).map(String::as_str)
    }
}

/// A row's key as texts, and its hash.
type Hashes = HashMap<Vec<String>, String>;

/// Two generations, and who feeds them.
pub(super) struct Comparing<'a> {
    pub generations: &'a Generations,
    pub old: &'a Feeder,
    pub new: &'a Feeder,
}

/// Both at one place of the log.
struct Pair {
    old: Snapshot,
    new: Snapshot,
}

/// One page of a table in both, and where it ends.
struct Page {
    pair: Pair,
    old: Hashes,
    new: Hashes,
    end: Option<Vec<String>>,
}

impl Comparing<'_> {
    /// Compares all rows of all tables.
    pub async fn run(
        &self,
        compared: &AtomicU64,
        fed: &AtomicU64,
        stop: &watch::Receiver<bool>,
    ) -> Result<Differences, GenerationError> {
        let projection = self.new.projection;
        let mut differences = Differences::default();
        for table in self.tables().await? {
            let (mut after, mut rows) = (None, PAGE_ROWS);
            loop {
                if *stop.borrow() {
                    return Err(GenerationError::Stopped(projection.name()));
                }
                let page = match self.page(&table, after.as_deref(), rows, fed, stop).await {
                    Err(error) if rows > 1 && is_timeout(&error) => {
                        rows /= 2;
                        continue;
                    }
                    page => page?,
                };
                compared.fetch_add(page.old.len() as u64, Ordering::Relaxed);
                self.differing(&table, &page, &mut differences).await?;
                match page.end {
                    Some(end) => after = Some(end),
                    None => break,
                }
            }
        }
        Ok(differences)
    }

    async fn differing(
        &self,
        table: &Table,
        page: &Page,
        differences: &mut Differences,
    ) -> Result<(), GenerationError> {
        let missing =
            page.new.keys().filter(|key| !page.old.contains_key(*key)).map(|key| (key, "was missing"));
        let others = page.old.iter().filter_map(|(key, hash)| match page.new.get(key) {
            None => Some((key, "was too many")),
            Some(new) if new != hash => Some((key, "was otherwise")),
            Some(_) => None,
        });
        let mut found: Vec<_> = missing.chain(others).collect();
        if found.is_empty() {
            return Ok(());
        }
        found.sort_unstable();
        // Read after the snapshots: what was parked before them is among it.
        let parked = self.parked().await?;
        for (key, what) in found {
            if table.conv(key).is_some_and(|conv| parked.contains(conv)) {
                differences.parked_rows += 1;
            } else if table.name != "history_bucket" || !self.same_bucket(page, key).await? {
                differences.add(table, key, what);
            }
        }
        Ok(())
    }

    /// Another version of the compressor may have packed the same messages otherwise.
    async fn same_bucket(&self, page: &Page, key: &[String]) -> Result<bool, GenerationError> {
        let [conv, number] = key else { return Ok(false) };
        let (convs, numbers) = (vec![conv.as_str()], vec![number.parse::<i64>().unwrap_or(-1)]);
        let ask = Ask { sql: include_str!("../history/sealed_at.sql"), params: &[&convs, &numbers] };
        let unpacked = |rows: &[Row]| -> Option<Vec<Vec<u8>>> {
            let opened = bucket::open(rows.first()?.try_get(2).ok()?).ok()?;
            opened.messages().map(|message| message.ok().map(<[u8]>::to_vec)).collect()
        };
        let ([old], [new]) =
            (page.pair.old.ask([ask]).await.map_err(asked)?, page.pair.new.ask([ask]).await.map_err(asked)?);
        let old = unpacked(&old);
        Ok(old.is_some() && old == unpacked(&new))
    }

    /// The rows behind a key in both, up to the same key; at most so many in each, or a few more in the new one.
    async fn page(
        &self,
        table: &Table,
        after: Option<&[String]>,
        most: i64,
        fed: &AtomicU64,
        stop: &watch::Receiver<bool>,
    ) -> Result<Page, GenerationError> {
        let pair = self.pair(fed, stop).await?;
        let last = |rows: &[(Vec<String>, String)], most: i64| {
            rows.last().filter(|_| rows.len() as i64 >= most).map(|(key, _)| key.clone())
        };
        let mut old = self.rows(&pair.old, table, (after, None), most).await?;
        let mut end = last(&old, most);
        let new = self.rows(&pair.new, table, (after, end.as_deref()), 2 * most).await?;
        if let Some(earlier) = last(&new, 2 * most) {
            // The old one lacks many: then both end where the new one's page does.
            old = self.rows(&pair.old, table, (after, Some(&earlier)), most).await?;
            end = Some(earlier);
        }
        let (old, new) = (old.into_iter().collect(), new.into_iter().collect());
        Ok(Page { pair, old, new, end })
    }

    /// Behind a key, up to a key.
    async fn rows(
        &self,
        snapshot: &Snapshot,
        table: &Table,
        (after, upto): (Option<&[String]>, Option<&[String]>),
        most: i64,
    ) -> Result<Vec<(Vec<String>, String)>, GenerationError> {
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
            [&table.name, &table.keys, &table.types, &after, &upto, &most];
        let ask = Ask { sql: include_str!("page.sql"), params: &params };
        let [rows] = snapshot.ask([ask]).await.map_err(asked)?;
        let row = |row: &Row| Ok((row.try_get(0)?, row.try_get(1)?));
        let rows = rows.iter().map(row).collect::<Result<_, _>>();
        rows.map_err(failed(self.new.projection, "read a page of a generation"))
    }

    /// Snapshots of both in which every shard stands at the same position.
    async fn pair(&self, fed: &AtomicU64, stop: &watch::Receiver<bool>) -> Result<Pair, GenerationError> {
        let projection = self.new.projection;
        let mut tries = 0;
        loop {
            tries += 1;
            // The new one is not to be ahead: a crash of Postgres may have thrown the old one back.
            let new = self.generations.positions(projection, self.new.generation.number()).await?;
            self.old.lead(&new, &AtomicU64::new(0), stop).await?;
            let opened = async {
                let (old, at) = snapshot(self.old).await?;
                self.new.lead(&at, fed, stop).await?;
                let (new, here) = snapshot(self.new).await?;
                Ok((at == here).then_some(Pair { old, new }))
            };
            match opened.await {
                Ok(Some(pair)) => return Ok(pair),
                Ok(None) if tries < TRIES_MAX => {
                    self.generations.catch_up(self.new, self.old.generation.number(), fed, stop).await?
                }
                Ok(None) => return Err(GenerationError::TooSlow(projection.name())),
                Err(GenerationError::Database { .. }) if tries < TRIES_MAX => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn tables(&self) -> Result<Vec<Table>, GenerationError> {
        let failed = failed(self.new.projection, "list the tables of a generation");
        let client = self.new.generation.pool().get().await?;
        let schema = format!("{}_g{}", self.new.projection.name(), self.new.generation.number());
        let rows = client.query(include_str!("tables.sql"), &[&schema]).await.map_err(&failed)?;
        let table =
            |row: &Row| Ok(Table { name: row.try_get(0)?, keys: row.try_get(1)?, types: row.try_get(2)? });
        rows.iter().map(table).collect::<Result<_, _>>().map_err(failed)
    }

    /// The conversations that are parked in one of the two.
    async fn parked(&self) -> Result<HashSet<String>, GenerationError> {
        let failed = failed(self.new.projection, "read what is parked");
        let mut parked = HashSet::new();
        for feeder in [self.old, self.new] {
            let client = feeder.generation.pool().get().await?;
            for shard in feeder.projection.shards(feeder.store.info().shards) {
                let (name, number) = (feeder.projection.name(), feeder.generation.number());
                let read = checkpoint::read_of(&client, name, number, shard).await.map_err(&failed)?;
                parked.extend(
                    read.into_iter().flat_map(|(_, parked)| parked).map(|conv: ConvId| conv.to_string()),
                );
            }
        }
        Ok(parked)
    }
}

/// A moment of a generation, and where it stands then.
async fn snapshot(feeder: &Feeder) -> Result<(Snapshot, HashMap<Shard, Position>), GenerationError> {
    let (name, number) = (feeder.projection.name(), feeder.generation.number());
    let ask = Ask { sql: checkpoint::POSITIONS, params: &[&name, &number] };
    let doing = "compare generations";
    let (snapshot, [rows]) = Snapshot::open(feeder.generation.pool(), doing, [ask]).await.map_err(asked)?;
    let positions = checkpoint::positions(&rows).map_err(failed(feeder.projection, doing))?;
    Ok((snapshot, positions.into_iter().collect()))
}

fn asked(error: QueryError) -> GenerationError {
    match error {
        QueryError::Unavailable { doing, source } => GenerationError::Database { doing, source },
        other => GenerationError::Database { doing: "compare generations", source: Box::new(other) },
    }
}

fn is_timeout(error: &GenerationError) -> bool {
    let GenerationError::Database { source, .. } = error else { return false };
    let source: &(dyn std::error::Error + 'static) = &**source;
    let state = source.downcast_ref::<tokio_postgres::Error>().and_then(tokio_postgres::Error::code);
    state == Some(&SqlState::QUERY_CANCELED)
}
