//! The holds that stand: kept by the database in the transaction of the events from which they follow.

use deadpool_postgres::{Object, Pool};
use domain::{ConvId, Hold, Reason, Sender, Uid};
use tokio_postgres::Row;

use super::failure::{corrupt, unavailable};
use crate::{port::StoreError, recorded::StreamName};

const DOING: &str = "read the holds";
/// Holds that are read at once.
const PAGE: i64 = 500;
/// Holds that one removal takes into account; past it nothing is removed at all.
const HOLDS_MAX: usize = 100_000;

/// On what a hold is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldOn {
    /// A conversation.
    Conversation(ConvId),
    /// A person.
    Person(Uid),
}

impl HoldOn {
    /// Its name in the log.
    pub fn cord(&self) -> String {
        match self {
            Self::Conversation(conv) => conv.to_string(),
            Self::Person(uid) => StreamName::Person(*uid).cord().into_owned(),
        }
    }

    fn of(cord: &str) -> Option<Self> {
        match StreamName::parse_own(cord) {
            Some(StreamName::Person(uid)) => Some(Self::Person(uid)),
            _ => ConvId::parse(cord).ok().map(Self::Conversation),
        }
    }
}

/// At most `limit` holds after a name, ascending by name.
pub async fn page(pool: &Pool, after: &str, limit: u32) -> Result<Vec<(HoldOn, Hold)>, StoreError> {
    let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
    let rows = client.query(include_str!("holds.sql"), &[&after, &i64::from(limit)]).await;
    rows.map_err(|error| unavailable(DOING, error))?.iter().map(read).collect()
}

/// The hold that stands on this.
pub async fn on(pool: &Pool, on: &HoldOn) -> Result<Option<Hold>, StoreError> {
    let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
    let row = client.query_opt(include_str!("hold.sql"), &[&on.cord()]).await;
    let row = row.map_err(|error| unavailable(DOING, error))?;
    Ok(row.as_ref().map(read).transpose()?.map(|(_, hold)| hold))
}

/// All of them, in the transaction that asks.
pub async fn all(client: &Object) -> Result<Vec<(HoldOn, Hold)>, StoreError> {
    let mut all: Vec<(HoldOn, Hold)> = Vec::new();
    loop {
        let after = all.last().map(|(on, _)| on.cord()).unwrap_or_default();
        let rows = client.query(include_str!("holds.sql"), &[&after, &PAGE]).await;
        let rows = rows.map_err(|error| unavailable(DOING, error))?;
        all.extend(rows.iter().map(read).collect::<Result<Vec<_>, _>>()?);
        if rows.len() < PAGE as usize {
            return Ok(all);
        }
        if all.len() > HOLDS_MAX {
            return Err(corrupt(DOING, format!("there are more than {HOLDS_MAX}")));
        }
    }
}

fn read(row: &Row) -> Result<(HoldOn, Hold), StoreError> {
    let cord: &str = row.get(1);
    let on = HoldOn::of(cord).ok_or_else(|| corrupt(DOING, format!("there is one on {cord}")))?;
    let by = Sender::new(row.get::<_, i64>(2) as u64).map_err(|error| corrupt(DOING, error.to_string()))?;
    Ok((on, Hold { by, reason: Reason::from_log(row.get(3)), at: row.get(4) }))
}

/// Persons whose erasure has not come to its end; some of them, where there are many.
pub async fn erasing(pool: &Pool) -> Result<Vec<Uid>, StoreError> {
    let doing = "read which erasures are open";
    let client = pool.get().await.map_err(|error| unavailable(doing, error))?;
    let rows = client.query(include_str!("erasing.sql"), &[&PAGE]).await;
    let rows = rows.map_err(|error| unavailable(doing, error))?;
    let person = |row: &Row| match StreamName::parse_own(row.get(0)) {
        Some(StreamName::Person(uid)) => Some(uid),
        _ => None,
    };
    Ok(rows.iter().filter_map(person).collect())
}
