//! Which people share a conversation with somebody: by the memberships of both, person by person.

use std::collections::BTreeSet;

use domain::Uid;
use tokio_postgres::{Row, types::ToSql};

use super::query::{MEMBERSHIPS, MEMBERSHIPS_AT_ONCE};
use crate::{
    query::QueryError,
    snapshot::{Ask, Snapshot},
    write::{count, int},
};

/// Those of these people who are in a conversation with the viewer now, ascending. The first page of the viewer's
/// memberships has come with the snapshot.
pub(crate) async fn acquaintances(
    snapshot: &Snapshot,
    viewer: Uid,
    mut memberships: Vec<Row>,
    people: &[Uid],
) -> Result<Vec<Uid>, QueryError> {
    let failed = |error: tokio_postgres::Error| snapshot.failed(error);
    let mut unknown: BTreeSet<Uid> = people.iter().copied().collect();
    let mut known = BTreeSet::new();
    loop {
        let convs =
            memberships.iter().map(|row| row.try_get(0)).collect::<Result<Vec<&str>, _>>().map_err(failed)?;
        let numbers: Vec<i64> = unknown.iter().map(|uid| int(uid.get())).collect();
        let params: [&(dyn ToSql + Sync); 2] = [&numbers, &convs];
        let [rows] = snapshot.ask([Ask { sql: include_str!("acquaintances.sql"), params: &params }]).await?;
        for row in &rows {
            let uid =
                Uid::new(count(row.try_get(0).map_err(failed)?)).map_err(|error| snapshot.failed(error))?;
            unknown.remove(&uid);
            known.insert(uid);
        }
        let Some(last) = convs.last().filter(|_| convs.len() == MEMBERSHIPS_AT_ONCE && !unknown.is_empty())
        else {
            return Ok(known.into_iter().collect());
        };
        let (uid, limit) = (int(viewer.get()), MEMBERSHIPS_AT_ONCE as i64);
        let params: [&(dyn ToSql + Sync); 3] = [&uid, last, &limit];
        let [next] = snapshot.ask([Ask { sql: MEMBERSHIPS, params: &params }]).await?;
        memberships = next;
    }
}
