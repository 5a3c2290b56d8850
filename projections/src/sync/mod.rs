//! What a device that was away has missed: each conversation in which anything that this person may know changed
//! since, in one snapshot; or all of them, where it knows nothing yet.
//!
//! Conversations come in the order of their ids, so that each membership is probed once, however many pages there
//! are. All pages end with the positions of the first one's snapshot: what happens while a device pages comes with
//! its next sync, never not at all.

mod changes;

use std::collections::BTreeMap;

use domain::{ConvId, Role, Seq, Uid};
use event_store::{Position, Shard, Vector};
use tokio_postgres::{Row, types::ToSql};

use crate::{
    CONVERSATION,
    departure::DEPARTURES,
    member::query::{MEMBERSHIPS, MEMBERSHIPS_AT_ONCE, Place},
    query::{PageLimit, QueryError, ReadPosition, Summary},
    reader::Reader,
    snapshot::{Ask, Snapshot, unavailable},
    standing::{STANDING, Standing},
    summary,
    write::{count, int},
};
use changes::{Grown, changes, parked};

/// Where a device stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncFrom {
    /// What it knows; none where it knows nothing.
    pub since: Option<Vector>,
    /// Of a later page: what the first one's snapshot had passed, and behind which conversation this one begins.
    pub page: Option<(Vector, ConvId)>,
}

/// A page of a sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncPage {
    /// What the device knows once it has all pages.
    pub at: Vector,
    /// What it knew when it began; none if this is a page of everything.
    pub since: Option<Vector>,
    /// Where the next page begins: behind this conversation.
    pub next: Option<ConvId>,
    /// It claimed to know what this log has not: this is everything from the start.
    pub reset: bool,
    /// Newest activity first; ended ones last.
    pub entries: Vec<SyncEntry>,
}

/// One conversation of a sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyncEntry {
    /// Left, or removed from.
    Left(ConvId),
    /// As it is now.
    Here(Box<Here>),
}

/// A conversation that the person is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Here {
    /// As in the list.
    pub summary: Summary,
    /// Taken out of the list by the person until the next message. In a sync of everything there are none of these.
    pub hidden: bool,
    /// None in a sync of everything.
    pub changes: Option<Changes>,
}

/// What has changed in a conversation beside its messages and numbers. Each list says how things are now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Taken back, as far as this viewer sees that.
    pub recalled: Vec<Seq>,
    /// Deleted by this viewer.
    pub deleted: Vec<Seq>,
    /// Not deleted any more: to be fetched again.
    pub restored: Vec<Seq>,
    /// Bodies that are gone.
    pub expired: Vec<Seq>,
    /// How far others have read; only in single chats and small groups.
    pub read_positions: Vec<ReadPosition>,
    /// Who came, went or changed.
    pub members: Vec<MemberChange>,
    /// Was the viewer's own read position raised? It stands in the summary.
    pub own_read: bool,
    /// Some of this was too much: the device fetches anew what it shows of this conversation.
    pub truncated: bool,
}

/// A person who came into a group, left it, or became something else there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberChange {
    /// Who.
    pub uid: Uid,
    /// Role and seq at joining; none for who is not in it now.
    pub now: Option<(Role, Seq)>,
}

/// What our errors call it.
const SYNC: &str = "sync";

/// A person's conversations by id: in it now, or left at a position.
type Found = BTreeMap<ConvId, Option<Position>>;

impl Reader {
    /// What a person's device has missed. One probe a membership, and what has changed.
    pub(crate) async fn sync(
        &self,
        viewer: Uid,
        from: SyncFrom,
        limit: PageLimit,
    ) -> Result<SyncPage, QueryError> {
        if let Some(page) = self.sync_page(viewer, from, limit).await? {
            return Ok(page);
        }
        let everything = self.sync_page(viewer, SyncFrom::default(), limit).await?;
        let page = everything.ok_or_else(|| unavailable(SYNC, "who claims nothing was not believed"))?;
        Ok(SyncPage { reset: true, ..page })
    }

    /// None where the device claims to know what this log has not.
    async fn sync_page(
        &self,
        viewer: Uid,
        SyncFrom { since, page }: SyncFrom,
        limit: PageLimit,
    ) -> Result<Option<SyncPage>, QueryError> {
        let (first, after) = page.unzip();
        let behind = after.as_ref().map_or("", ConvId::as_str);
        let (uid, most) = (int(viewer.get()), MEMBERSHIPS_AT_ONCE as i64);
        let params: [&(dyn ToSql + Sync); 3] = [&uid, &behind, &most];
        let abreast = self.abreast(SYNC, Ask { sql: MEMBERSHIPS, params: &params }).await?;
        let (snapshot, now, heads, rows) = abreast;
        if since.iter().chain(&first).any(|claimed| claimed.is_ahead_of(&heads)) {
            return Ok(None);
        }
        let mut at = first.unwrap_or_else(|| now.clone());
        let wanted = limit.get() as usize;
        // One more than fits, to know whether there is a next page.
        let mut found = self.grown(&snapshot, viewer, since.as_ref(), rows, after, wanted + 1).await?;
        let next = (found.len() > wanted).then(|| found[wanted - 1].0.clone());
        found.truncate(wanted);
        let standings = self.here(&snapshot, viewer, &found, &mut at).await?;
        let told = self.told(&snapshot, viewer, since.as_ref(), &now, standings).await?;
        let left = found.into_iter().filter(|(_, growth)| *growth == Growth::Left);
        let entries = told.into_iter().chain(left.map(|(conv, _)| SyncEntry::Left(conv))).collect();
        Ok(Some(SyncPage { at, since, next, reset: false, entries }))
    }

    /// What is told of those that the person is in, in the list's order.
    async fn told(
        &self,
        snapshot: &Snapshot,
        viewer: Uid,
        since: Option<&Vector>,
        now: &Vector,
        standings: Vec<(Standing, (bool, bool))>,
    ) -> Result<Vec<SyncEntry>, QueryError> {
        let mut told: Vec<(Standing, Option<Changes>)> = match since {
            None => {
                let shown = standings.into_iter().filter(|(standing, _)| !standing.hidden);
                shown.map(|(standing, _)| (standing, None)).collect()
            }
            Some(since) => {
                let grown = standings.into_iter().map(|(standing, (messages, others))| {
                    let shard = self.shard(&standing.conv);
                    Grown { since: since.at(shard), up_to: now.at(shard), standing, messages, others }
                });
                let told = changes(self.store(), snapshot, viewer, grown.collect()).await?;
                told.into_iter().map(|(standing, changes)| (standing, Some(changes))).collect()
            }
        };
        if told.is_empty() {
            return Ok(Vec::new());
        }
        told.sort_by_cached_key(|(it, _)| Place::new(it.settings.pinned, it.updated_at(), it.conv.clone()));
        let (standings, changes): (Vec<Standing>, Vec<Option<Changes>>) = told.into_iter().unzip();
        let summaries = summary::summaries(snapshot, viewer, &standings).await?;
        let hidden = standings.into_iter().map(|standing| standing.hidden);
        let here = summaries.into_iter().zip(hidden).zip(changes);
        let here = here.map(|((summary, hidden), changes)| Here { summary, hidden, changes });
        Ok(here.map(|here| SyncEntry::Here(Box::new(here))).collect())
    }

    /// The first `wanted` of a person's conversations behind one that have grown since, by id; without `since` all.
    async fn grown(
        &self,
        snapshot: &Snapshot,
        viewer: Uid,
        since: Option<&Vector>,
        mut memberships: Vec<Row>,
        mut after: Option<ConvId>,
        wanted: usize,
    ) -> Result<Vec<(ConvId, Growth)>, QueryError> {
        let (uid, most) = (int(viewer.get()), MEMBERSHIPS_AT_ONCE as i64);
        let mut grown = Vec::new();
        loop {
            let behind = after.as_ref().map_or("", ConvId::as_str);
            let params: [&(dyn ToSql + Sync); 3] = [&uid, &behind, &most];
            let departures = match since {
                None => Vec::new(),
                Some(_) => {
                    let [rows] = snapshot.ask([Ask { sql: DEPARTURES, params: &params }]).await?;
                    rows
                }
            };
            let (found, bound) = merged(&memberships, &departures).map_err(|error| snapshot.failed(error))?;
            grown.extend(self.probed(since, found).await?);
            let Some(bound) = bound.filter(|_| grown.len() < wanted) else { break };
            let params: [&(dyn ToSql + Sync); 3] = [&uid, &bound.as_str(), &most];
            [memberships] = snapshot.ask([Ask { sql: MEMBERSHIPS, params: &params }]).await?;
            after = Some(bound);
        }
        grown.truncate(wanted);
        Ok(grown)
    }

    /// Which of these have grown since.
    async fn probed(
        &self,
        since: Option<&Vector>,
        found: Found,
    ) -> Result<Vec<(ConvId, Growth)>, QueryError> {
        let Some(since) = since else {
            return Ok(found
                .into_keys()
                .map(|conv| (conv, Growth::Here { messages: true, others: true }))
                .collect());
        };
        let members = found.iter().filter(|(_, left)| left.is_none()).map(|(conv, _)| conv.clone());
        let members: Vec<ConvId> = members.collect();
        let heads = self.store().stream_positions(&members).await;
        let mut heads =
            heads.map_err(|error| unavailable("look which conversations have grown", error))?.into_iter();
        let growth = |(conv, left): (ConvId, Option<Position>)| {
            let stands = since.at(self.shard(&conv));
            let growth = match left {
                Some(left) => (left > stands).then_some(Growth::Left),
                None => {
                    let [message, mark, group] = heads.next().unwrap_or_default();
                    let (messages, others) = (message > stands, mark.max(group) > stands);
                    (messages || others).then_some(Growth::Here { messages, others })
                }
            };
            growth.map(|growth| (conv, growth))
        };
        Ok(found.into_iter().filter_map(growth).collect())
    }

    /// Where the viewer stands in those that are not left, in their order. Parked ones are left out, and hold back
    /// the device: once they are well again, it hears of them.
    async fn here(
        &self,
        snapshot: &Snapshot,
        viewer: Uid,
        found: &[(ConvId, Growth)],
        at: &mut Vector,
    ) -> Result<Vec<(Standing, (bool, bool))>, QueryError> {
        let mut here: BTreeMap<ConvId, (bool, bool)> = BTreeMap::new();
        for (conv, growth) in found {
            if let Growth::Here { messages, others } = growth {
                here.insert(conv.clone(), (*messages, *others));
            }
        }
        if here.is_empty() {
            return Ok(Vec::new());
        }
        let convs: Vec<ConvId> = here.keys().cloned().collect();
        let texts: Vec<&str> = convs.iter().map(ConvId::as_str).collect();
        let generation = self.generation().number();
        let asked = self.asked(&convs, viewer);
        let [rows, parked_rows] = snapshot
            .ask([
                Ask { sql: STANDING, params: &asked.params() },
                Ask { sql: include_str!("parked_at.sql"), params: &[&CONVERSATION, &generation, &texts] },
            ])
            .await?;
        for (conv, position) in parked(&parked_rows).map_err(|error| snapshot.failed(error))? {
            at.lower(self.shard(&conv), Position::new(position.get().saturating_sub(1)));
        }
        let mut standings = asked.read(&rows).map_err(|error| snapshot.failed(error))?;
        standings.retain(|standing| !standing.parked && standing.is_member(viewer));
        standings.sort_by(|a, b| a.conv.cmp(&b.conv));
        let growth = |standing: Standing| Some((here.get(&standing.conv).copied()?, standing));
        Ok(standings.into_iter().filter_map(growth).map(|(growth, standing)| (standing, growth)).collect())
    }

    fn shard(&self, conv: &ConvId) -> Shard {
        Shard::of(conv, self.store().info().shards)
    }
}

/// How a conversation has grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    Left,
    Here { messages: bool, others: bool },
}

/// Memberships and departures in one order, up to where both are known; and that place, if there may be more
/// behind it. Who is in it again has not left.
fn merged(
    memberships: &[Row],
    departures: &[Row],
) -> Result<(Found, Option<ConvId>), Box<dyn std::error::Error + Send + Sync>> {
    let conv = |row: &Row| Ok::<_, Box<dyn std::error::Error + Send + Sync>>(ConvId::parse(row.try_get(0)?)?);
    let last = |rows: &[Row]| rows.last().filter(|_| rows.len() == MEMBERSHIPS_AT_ONCE).map(conv).transpose();
    let bound = last(memberships)?.into_iter().chain(last(departures)?).min();
    let mut found = Found::new();
    for row in departures {
        found.insert(conv(row)?, Some(Position::new(count(row.try_get(1)?))));
    }
    for row in memberships {
        found.insert(conv(row)?, None);
    }
    if let Some(bound) = &bound {
        found.retain(|conv, _| conv <= bound);
    }
    Ok((found, bound))
}
