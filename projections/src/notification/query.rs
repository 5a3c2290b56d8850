//! What is in a person's inbox: each answer is one moment, and has seen what the asker has.

use std::{sync::Arc, time::Duration};

use domain::{Ms, NotificationId, Uid};
use event_store::{EventStore, Position, Shard};
use futures_util::future::join;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use tokio_postgres::{Row, types::ToSql};

use super::NOTIFICATION;
use crate::{
    checkpoint,
    generation::Generation,
    query::{PageLimit, QueryError},
    serving::Gone,
    snapshot::{Ask, Snapshot, unavailable},
    write::{count, int},
};

/// How long an answer waits for the read model to pass what the asker may have seen: usually milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the checkpoint is looked at, where another process applies.
const POLL: Duration = Duration::from_millis(20);

const POSITION: &str = include_str!("../checkpoint/position.sql");
const NEWEST: &str = include_str!("newest.sql");
const OLDEST: &str = include_str!("oldest.sql");
const STANDING: &str = include_str!("standing.sql");
const CONTENTS: &str = include_str!("contents.sql");

/// Which part of an inbox. Both bounds are exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bounds {
    /// Only what is above it: then the oldest of those, else the newest.
    pub after: Option<NotificationId>,
    /// Only what is below it.
    pub before: Option<NotificationId>,
}

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxItem {
    /// Its number.
    pub id: NotificationId,
    /// What it is about.
    pub category: String,
    /// JSON.
    pub content: String,
    /// When it was told.
    pub at: Ms,
}

/// Where a person stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxStanding {
    /// How far they have read.
    pub read_id: NotificationId,
    /// The newest that is for them.
    pub max_id: NotificationId,
    /// How many of those that are for them lie above `read_id`.
    pub unread: u64,
}

/// A page of an inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbox {
    /// Ascending by id.
    pub items: Vec<InboxItem>,
    /// Is there more, further in the direction of the paging?
    pub has_more: bool,
    /// Where the person stands at that moment.
    pub standing: InboxStanding,
}

/// The query side of one generation.
pub(crate) struct InboxReader {
    store: Arc<dyn EventStore>,
    generation: Generation,
    passed: watch::Receiver<Position>,
}

impl InboxReader {
    /// `generation` is one of notifications; `passed` is the projector's, in this process.
    pub(crate) fn new(
        store: Arc<dyn EventStore>,
        generation: Generation,
        passed: watch::Receiver<Position>,
    ) -> Self {
        Self { store, generation, passed }
    }

    /// A page of what is for a person.
    pub(crate) async fn page(&self, uid: Uid, bounds: Bounds, limit: PageLimit) -> Result<Inbox, QueryError> {
        let doing = "read notifications";
        let (who, wanted) = (int(uid.get()), limit.get() as usize);
        let after = int(bounds.after.unwrap_or_default().get());
        let before = bounds.before.map_or(i64::MAX, |id| int(id.get()));
        // One more than fits, to know whether there is more.
        let most = wanted as i64 + 1;
        let params: [&(dyn ToSql + Sync); 4] = [&who, &after, &before, &most];
        let sql = if bounds.after.is_some() { OLDEST } else { NEWEST };
        let (snapshot, rows, standing) = self.passed_by(doing, who, Ask { sql, params: &params }).await?;
        let ids = rows.iter().map(|row| row.try_get::<_, i64>(0)).collect::<Result<Vec<_>, _>>();
        let mut ids = ids.map_err(|error| snapshot.failed(error))?;
        let has_more = ids.len() > wanted;
        ids.truncate(wanted);
        let [rows] = snapshot.ask([Ask { sql: CONTENTS, params: &[&ids] }]).await?;
        let items = rows.iter().map(item).collect::<Result<Vec<_>, _>>();
        Ok(Inbox { items: items.map_err(|error| snapshot.failed(error))?, has_more, standing })
    }

    /// Where a person stands.
    pub(crate) async fn standing(&self, uid: Uid) -> Result<InboxStanding, QueryError> {
        let nothing = Ask { sql: CONTENTS, params: &[&Vec::<i64>::new()] };
        let (_, _, standing) = self.passed_by("read where an inbox stands", int(uid.get()), nothing).await?;
        Ok(standing)
    }

    /// How many events of notifications this read model has passed over.
    pub(crate) async fn skipped(&self) -> Result<u64, QueryError> {
        let skipped = super::projector::skipped(&self.generation).await;
        skipped.map_err(|error| unavailable("count what was passed over", error))
    }

    /// A snapshot that has passed the head of the shard as it was when the question came, the answer to a first
    /// question, and where the person stands.
    async fn passed_by(
        &self,
        doing: &'static str,
        who: i64,
        ask: Ask<'_>,
    ) -> Result<(Snapshot, Vec<Row>, InboxStanding), QueryError> {
        let until = Instant::now() + PATIENCE;
        let (generation, shard) = (self.generation.number(), i32::from(Shard::OWN.get()));
        let position: [&(dyn ToSql + Sync); 3] = [&NOTIFICATION, &generation, &shard];
        let standing: [&(dyn ToSql + Sync); 1] = [&who];
        let open = || {
            let asks =
                [Ask { sql: POSITION, params: &position }, ask, Ask { sql: STANDING, params: &standing }];
            Snapshot::open(self.generation.pool(), doing, asks)
        };
        let (opened, head) = join(open(), self.store.shard_head(Shard::OWN)).await;
        let wanted = head.map_err(|error| unavailable(doing, error))?.position;
        let (mut snapshot, mut answers) = opened?;
        loop {
            let [position, rows, standing] = answers;
            let position = position.first().ok_or_else(|| snapshot.failed(Gone))?;
            let passed = checkpoint::position_of_row(position).map_err(|error| snapshot.failed(error))?;
            if passed >= wanted {
                let standing = standing.first().map(standing_of).transpose();
                let standing = standing.map_err(|error| snapshot.failed(error))?;
                let standing = standing.ok_or_else(|| snapshot.failed("an answer is missing"))?;
                return Ok((snapshot, rows, standing));
            }
            // Given back before waiting: the projector may need the room.
            drop(snapshot);
            if Instant::now() >= until {
                return Err(QueryError::Behind);
            }
            let mut passed = self.passed.clone();
            // In another process, or after a crash of Postgres, the row says more than our own projector.
            let _ = timeout_at(until.min(Instant::now() + POLL), passed.wait_for(|at| *at >= wanted)).await;
            (snapshot, answers) = open().await?;
        }
    }
}

fn item(row: &Row) -> Result<InboxItem, tokio_postgres::Error> {
    Ok(InboxItem {
        id: NotificationId::new(count(row.try_get(0)?)),
        category: row.try_get(1)?,
        content: row.try_get(2)?,
        at: row.try_get(3)?,
    })
}

fn standing_of(row: &Row) -> Result<InboxStanding, tokio_postgres::Error> {
    let id = |column| Ok::<_, tokio_postgres::Error>(NotificationId::new(count(row.try_get(column)?)));
    Ok(InboxStanding { read_id: id(0)?, max_id: id(1)?, unread: count(row.try_get(2)?) })
}
