//! Who is in a conversation, and which conversations a person is in.

use std::cmp::Reverse;

use domain::{ConvId, ConvKind, Ms, Role, Seq, Uid};
use tokio_postgres::types::ToSql;

use crate::{
    CONVERSATION,
    query::{MemberRow, PageLimit, QueryError},
    snapshot::{Ask, Snapshot},
    write::{count, int},
};

/// The most memberships read at once, with their heads: an inbox of more is read in several turns.
pub(crate) const MEMBERSHIPS_AT_ONCE: usize = 5000;
pub(crate) const MEMBERSHIPS: &str = include_str!("memberships.sql");
pub(crate) const ACTIVITY: &str = include_str!("../head/activity.sql");

/// A page of the members, ascending by uid.
pub(crate) async fn members(
    snapshot: &Snapshot,
    conv: &ConvId,
    after: Option<Uid>,
    limit: PageLimit,
) -> Result<Vec<MemberRow>, QueryError> {
    if let ConvKind::Single { lo, hi } = conv.kind() {
        let mut both = vec![lo, hi];
        both.dedup();
        both.retain(|uid| after.is_none_or(|after| *uid > after));
        both.truncate(limit.get() as usize);
        let row = |uid| MemberRow { uid, role: Role::Member, joined_seq: Seq::ZERO };
        return Ok(both.into_iter().map(row).collect());
    }
    let (text, after, limit) = (conv.as_str(), after.map_or(0, |uid| int(uid.get())), i64::from(limit.get()));
    let [rows] =
        snapshot.ask([Ask { sql: include_str!("members.sql"), params: &[&text, &after, &limit] }]).await?;
    let failed = |error: tokio_postgres::Error| snapshot.failed(error);
    let member = |row: &tokio_postgres::Row| {
        let role: &str = row.try_get(1).map_err(failed)?;
        Ok(MemberRow {
            uid: Uid::new(count(row.try_get(0).map_err(failed)?)).map_err(|error| snapshot.failed(error))?,
            role: Role::parse(role).ok_or_else(|| snapshot.failed("a member has an unknown role"))?,
            joined_seq: Seq::new(count(row.try_get(2).map_err(failed)?)),
        })
    };
    rows.iter().map(member).collect()
}

/// Where a conversation stands in somebody's list: pinned ones first, then the newest activity, then by id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(pub Reverse<bool>, pub Reverse<Ms>, pub ConvId);

impl Place {
    pub(crate) fn new(pinned: bool, at: Ms, conv: ConvId) -> Self {
        Self(Reverse(pinned), Reverse(at), conv)
    }
}

/// The first `wanted` of a person's conversations after a place, and the first page of memberships that came with
/// the snapshot.
pub(crate) async fn inbox(
    snapshot: &Snapshot,
    viewer: Uid,
    generation: i32,
    mut memberships: Vec<tokio_postgres::Row>,
    after: Option<Place>,
    wanted: usize,
) -> Result<Vec<Place>, QueryError> {
    let failed = |error: tokio_postgres::Error| snapshot.failed(error);
    let (pinned, at) = after.as_ref().map(|Place(pinned, at, _)| (pinned.0, at.0)).unzip();
    let (uid, behind) = (int(viewer.get()), after.as_ref().map(|place| place.2.as_str()));
    let mut found: Vec<Place> = Vec::new();
    loop {
        let convs =
            memberships.iter().map(|row| row.try_get(0)).collect::<Result<Vec<&str>, _>>().map_err(failed)?;
        let joined =
            memberships.iter().map(|row| row.try_get(1)).collect::<Result<Vec<Ms>, _>>().map_err(failed)?;
        let (name, most) = (&CONVERSATION, wanted as i64);
        let params: [&(dyn ToSql + Sync); 9] =
            [&convs, &joined, name, &generation, &uid, &most, &pinned, &at, &behind];
        let [rows] = snapshot.ask([Ask { sql: ACTIVITY, params: &params }]).await?;
        for row in &rows {
            let conv =
                ConvId::parse(row.try_get(0).map_err(failed)?).map_err(|error| snapshot.failed(error))?;
            let (at, pinned) = (row.try_get(1).map_err(failed)?, row.try_get(2).map_err(failed)?);
            found.push(Place::new(pinned, at, conv));
        }
        found.sort();
        found.truncate(wanted);
        let Some(last) = convs.last().filter(|_| convs.len() == MEMBERSHIPS_AT_ONCE) else {
            return Ok(found);
        };
        let limit = MEMBERSHIPS_AT_ONCE as i64;
        let params: [&(dyn ToSql + Sync); 3] = [&uid, last, &limit];
        let [next] = snapshot.ask([Ask { sql: MEMBERSHIPS, params: &params }]).await?;
        memberships = next;
    }
}
