//! What the live feed asks: who is to hear of something, and how a quoted message looks to each of them.

use domain::{Bucket, ConvId, History, Labels, Role, Seq, Uid, Viewer, view};
use event_store::Position;

use crate::{
    history::load::Loaded,
    marks::bits::SqlBits,
    query::{QueryError, Quote},
    snapshot::{Ask, Snapshot},
    write::{count, int},
};

/// Members that are read at once: more than may be configured for a group.
const MEMBERS_MAX: i64 = 200_000;

/// Who is in a group, and from where on they see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audience {
    /// What new members see.
    pub history: History,
    /// The members and the head when they joined.
    pub members: Vec<(Uid, Seq)>,
    /// The read models had come at least this far.
    pub at: Position,
}

pub(crate) async fn audience(
    snapshot: &Snapshot,
    conv: &ConvId,
    at: Position,
) -> Result<Audience, QueryError> {
    let text = conv.as_str();
    let [members, head] = snapshot
        .ask([
            Ask { sql: include_str!("member/audience.sql"), params: &[&text, &MEMBERS_MAX] },
            Ask { sql: include_str!("head/history.sql"), params: &[&text] },
        ])
        .await?;
    let failed = |error: tokio_postgres::Error| snapshot.failed(error);
    let history: Option<&str> = match head.first() {
        Some(row) => row.try_get(0).map_err(failed)?,
        None => None,
    };
    let member = |row: &tokio_postgres::Row| {
        let uid = Uid::new(count(row.try_get(0).map_err(failed)?)).map_err(|error| snapshot.failed(error))?;
        Ok((uid, Seq::new(count(row.try_get(1).map_err(failed)?))))
    };
    Ok(Audience {
        history: history.and_then(History::parse).unwrap_or(History::Joined),
        members: members.iter().map(member).collect::<Result<_, QueryError>>()?,
        at,
    })
}

/// Who would hear a member of a group speak, and whether they may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listeners {
    /// Is the group over?
    pub dissolved: bool,
    /// Do only its owner and admins speak, and the speaker is neither?
    pub muted: bool,
    /// The members but the speaker; none where there are more than were asked for.
    pub others: Option<Vec<Uid>>,
}

/// Of a speaker who is known to be in the group.
pub(crate) async fn listeners(
    snapshot: &Snapshot,
    conv: &ConvId,
    speaker: Uid,
    most: usize,
) -> Result<Listeners, QueryError> {
    let (text, uid, limit) = (conv.as_str(), int(speaker.get()), most as i64 + 1);
    let [group, members] = snapshot
        .ask([
            Ask { sql: include_str!("member/speaker.sql"), params: &[&text, &uid] },
            Ask { sql: include_str!("member/audience.sql"), params: &[&text, &limit] },
        ])
        .await?;
    let failed = |error: tokio_postgres::Error| snapshot.failed(error);
    let row = group.first().ok_or(QueryError::NotAMember)?;
    let role = Role::parse(row.try_get(2).map_err(failed)?);
    let role = role.ok_or_else(|| snapshot.failed("a member has an unknown role"))?;
    let mute_all: bool = row.try_get(1).map_err(failed)?;
    let person = |row: &tokio_postgres::Row| {
        Uid::new(count(row.try_get(0).map_err(failed)?)).map_err(|error| snapshot.failed(error))
    };
    let few = members.len() <= most;
    let others = few.then(|| members.iter().map(person).collect::<Result<Vec<_>, _>>()).transpose()?;
    Ok(Listeners {
        dissolved: row.try_get(0).map_err(failed)?,
        muted: mute_all && role == Role::Member,
        others: others.map(|all| all.into_iter().filter(|uid| *uid != speaker).collect()),
    })
}

/// The quoted message as each of these people sees it now; those who see the same stand together.
pub(crate) async fn quotes(
    snapshot: &Snapshot,
    conv: &ConvId,
    quoted: Seq,
    people: &[Uid],
) -> Result<Vec<(Quote, Vec<Uid>)>, QueryError> {
    let Some(first) = people.first() else { return Ok(vec![]) };
    let mut loaded = Loaded::default();
    // The labels that differ from person to person are asked for below.
    loaded.add(snapshot, *first, [(conv.clone(), quoted)]).await?;
    let uids: Vec<i64> = people.iter().map(|uid| int(uid.get())).collect();
    let (text, bucket) = (conv.as_str(), int(Bucket::of(quoted).get()));
    let [head, eyes] = snapshot
        .ask([
            Ask { sql: include_str!("head/history.sql"), params: &[&text] },
            Ask { sql: include_str!("marks/eyes.sql"), params: &[&text, &uids, &bucket] },
        ])
        .await?;
    let failed = |error: tokio_postgres::Error| snapshot.failed(error);
    let seq = |number: Option<i64>| Seq::new(number.map_or(0, count));
    let (mut history, mut expired) = (None, Seq::ZERO);
    if let Some(row) = head.first() {
        history = row.try_get::<_, Option<&str>>(0).map_err(failed)?.and_then(History::parse);
        expired = seq(row.try_get(1).map_err(failed)?);
    }
    let mut classes: Vec<(Quote, Vec<Uid>)> = Vec::new();
    for row in &eyes {
        let uid = Uid::new(count(row.try_get(0).map_err(failed)?)).map_err(|error| snapshot.failed(error))?;
        let joined: Option<i64> = row.try_get(1).map_err(failed)?;
        let sees_from = if history == Some(History::Joined) { seq(joined) } else { Seq::ZERO };
        let viewer = Viewer {
            member: if conv.is_group() { joined.is_some() } else { conv.has_party(uid) },
            min_seq: view::min_seq(seq(row.try_get(2).map_err(failed)?), sees_from, expired),
        };
        let bits: Option<SqlBits> = row.try_get(3).map_err(failed)?;
        let labels = Labels {
            recalled: loaded.recall(conv, quoted),
            deleted: bits.is_some_and(|bits| bits.0.has(Bucket::slot(quoted))),
            expired: loaded.expired(conv, quoted),
        };
        let quote = loaded.quote_as(conv, quoted, &labels, &viewer);
        match classes.iter_mut().find(|(class, _)| *class == quote) {
            Some((_, uids)) => uids.push(uid),
            None => classes.push((quote, vec![uid])),
        }
    }
    Ok(classes)
}
