//! A group's own facts.

use domain::{ConvId, History, Invite, Role, Uid};
use tokio_postgres::{Error, Row};

use crate::{
    query::{GroupRow, QueryError},
    snapshot::{Ask, Snapshot},
    write::{count, int},
};

/// Of a group that the viewer is known to be in.
pub(crate) async fn group(snapshot: &Snapshot, conv: &ConvId, viewer: Uid) -> Result<GroupRow, QueryError> {
    let (text, uid) = (conv.as_str(), int(viewer.get()));
    let [rows] = snapshot.ask([Ask { sql: include_str!("group.sql"), params: &[&text, &uid] }]).await?;
    let row = rows.first().ok_or(QueryError::NotAMember)?;
    read(row)
        .map_err(|error| snapshot.failed(error))?
        .ok_or_else(|| snapshot.failed("a group makes no sense"))
}

fn read(row: &Row) -> Result<Option<GroupRow>, Error> {
    let text = |name: &str| row.try_get::<_, Option<&str>>(name);
    let (history, invite) =
        (text("history")?.and_then(History::parse), text("invite")?.and_then(Invite::parse));
    let owner: Option<i64> = row.try_get("owner")?;
    let (Some(history), Some(invite), Some(role)) = (history, invite, text("role")?.and_then(Role::parse))
    else {
        return Ok(None);
    };
    Ok(Some(GroupRow {
        name: text("name")?.unwrap_or_default().to_owned(),
        history,
        mute_all: row.try_get("mute_all")?,
        invite,
        dissolved: row.try_get("dissolved")?,
        members: count(row.try_get("members")?),
        owner: owner.and_then(|uid| Uid::new(count(uid)).ok()),
        role,
    }))
}
