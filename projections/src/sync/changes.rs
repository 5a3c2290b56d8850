//! What has changed in conversations since a position, as one viewer may know it.
//!
//! Which facts came is read from the log, what they come to from the snapshot: a fact names a message or a person,
//! and the answer says how that one stands now. Another person's deletions are nobody's business.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use domain::{Bucket, ConvId, Event, Role, Seq, Uid};
use event_store::{EventStore, Position, Recorded, Since};
use tokio_postgres::Row;

use super::{Changes, MemberChange};
use crate::{
    marks::bits::SqlBits,
    query::{QueryError, ReadPosition},
    snapshot::{Ask, Snapshot, unavailable},
    standing::Standing,
    write::{count, int},
};

/// Seqs, positions or members in one list of changes: as many as a telephone can show of a conversation.
const LIST_MAX: usize = 500;
/// Later facts read of one conversation; each changes a message or a few.
const FACTS_MAX: u32 = 500;
/// Later facts read for one page of conversations: about two megabytes.
const FACTS_OF_PAGE_MAX: u32 = 10_000;
/// Members up to which everybody is told how far the others have read.
pub(crate) const SMALL_GROUP_MAX: i64 = 50;

/// A conversation in which something came since, and where.
pub(crate) struct Grown {
    pub standing: Standing,
    /// Where the device stands in the conversation's shard.
    pub since: Position,
    /// Where the snapshot stands there.
    pub up_to: Position,
    /// Is one of the new events a message?
    pub messages: bool,
    /// Is one of them something else?
    pub others: bool,
}

/// The messages and people that facts of one conversation name.
#[derive(Default)]
struct Touched {
    recalled: BTreeSet<Seq>,
    erased: BTreeSet<Seq>,
    /// By the viewer: deleted, or restored?
    deleted: BTreeMap<Seq, bool>,
    members: BTreeSet<Uid>,
    /// How many departures there were.
    left: i64,
    /// Did the viewer's own numbers, or the conversation's, change?
    numbers: bool,
    truncated: bool,
}

impl Touched {
    /// No `_` arm: a new event stops the build until somebody says who may know of it.
    fn by(&mut self, event: Event, viewer: Uid) {
        match event {
            Event::MessageRecalled { seq, .. } => drop(self.recalled.insert(seq)),
            Event::MessagesDeletedFor { uid, seqs } if uid == viewer => {
                self.deleted.extend(seqs.into_iter().map(|seq| (seq, true)));
            }
            Event::MessagesRestoredFor { uid, seqs } if uid == viewer => {
                self.deleted.extend(seqs.into_iter().map(|seq| (seq, false)));
            }
            Event::HistoryCleared { uid, .. }
            | Event::ConversationHidden { uid, .. }
            | Event::SettingsChanged { uid, .. } => self.numbers |= uid == viewer,
            Event::GroupCreated { owner, .. } => {
                self.numbers = true;
                self.members.insert(owner);
            }
            Event::MembersJoined { uids, .. } => self.members.extend(uids),
            Event::RoleChanged { uid, .. } => drop(self.members.insert(uid)),
            Event::MemberLeft { uid, .. } => {
                self.left += 1;
                self.members.insert(uid);
            }
            Event::GroupChanged { .. } | Event::GroupDissolved { .. } | Event::HistoryExpired { .. } => {
                self.numbers = true;
            }
            Event::BodiesErased { seqs, .. } => self.erased.extend(seqs),
            // Somebody else's business; messages and positions are not among the later facts.
            Event::MessagesDeletedFor { .. }
            | Event::MessagesRestoredFor { .. }
            | Event::HoldPlaced { .. }
            | Event::HoldLifted { .. }
            | Event::MessageSent { .. }
            | Event::ReadAdvanced { .. } => {}
        }
    }
}

/// Rows of the snapshot by conversation.
#[derive(Default)]
struct Found {
    reads: HashMap<String, Vec<ReadPosition>>,
    own_reads: HashSet<String>,
    deleted: HashMap<(String, Bucket), domain::Bits>,
    members: HashMap<(String, Uid), (Role, Seq)>,
}

/// The changes of those conversations in which there are any that the viewer may know, in the order given.
pub(crate) async fn changes(
    store: &dyn EventStore,
    snapshot: &Snapshot,
    viewer: Uid,
    grown: Vec<Grown>,
) -> Result<Vec<(Standing, Changes)>, QueryError> {
    if grown.is_empty() {
        return Ok(Vec::new());
    }
    let touched = touched(store, viewer, &grown).await?;
    let found = found(snapshot, viewer, &grown, &touched).await?;
    let told = grown.into_iter().zip(touched).filter_map(|(grown, touched)| {
        let worth_telling = grown.messages || touched.numbers || touched.truncated;
        let own_read = found.own_reads.contains(grown.standing.conv.as_str());
        let changes = Changes { own_read, ..found.changes(viewer, &grown.standing, touched) };
        (worth_telling || !changes.is_empty()).then_some((grown.standing, changes))
    });
    Ok(told.collect())
}

/// Asks the log.
async fn touched(store: &dyn EventStore, viewer: Uid, grown: &[Grown]) -> Result<Vec<Touched>, QueryError> {
    let asked: Vec<Since> = grown
        .iter()
        .filter(|it| it.others)
        .map(|it| Since { conv: it.standing.conv.clone(), after: it.since, up_to: it.up_to })
        .collect();
    // One more than is looked at, to know whether there is more.
    let facts = match asked.as_slice() {
        [] => Vec::new(),
        asked => store
            .facts_since(asked, FACTS_MAX + 1, FACTS_OF_PAGE_MAX)
            .await
            .map_err(|error| unavailable("read what has changed", error))?,
    };
    // Where the page's facts are used up, nobody knows of those behind the last conversation.
    let used_up = facts.len() == FACTS_OF_PAGE_MAX as usize;
    let cut = facts.last().filter(|_| used_up).and_then(|last| last.header.stream.conv().cloned());
    let mut cut_at = cut.and_then(|conv| asked.iter().position(|it| it.conv == conv)).unwrap_or(usize::MAX);
    let mut facts = facts.into_iter().peekable();
    let mut all = Vec::with_capacity(grown.len());
    for Grown { standing, others, .. } in grown {
        let mut touched = Touched::default();
        let mut seen = 0;
        while let Some(fact) = facts.next_if(|fact| fact.header.stream.conv() == Some(&standing.conv)) {
            seen += 1;
            touched.take(fact, viewer);
        }
        if *others {
            touched.truncated |= seen > FACTS_MAX || cut_at == 0;
            cut_at = cut_at.saturating_sub(1);
        }
        all.push(touched);
    }
    Ok(all)
}

impl Touched {
    fn take(&mut self, fact: Recorded, viewer: Uid) {
        match fact.event() {
            Ok(event) => self.by(event, viewer),
            // Its body is gone, or of a later binary: the client looks again.
            Err(_) => self.truncated = true,
        }
    }
}

/// Asks the snapshot, in two round trips.
async fn found(
    snapshot: &Snapshot,
    viewer: Uid,
    grown: &[Grown],
    touched: &[Touched],
) -> Result<Found, QueryError> {
    let conv = |it: &Grown| it.standing.conv.to_string();
    let others = || grown.iter().filter(|it| it.others || it.messages);
    let groups: Vec<String> = others().filter(|it| it.standing.conv.is_group()).map(conv).collect();
    let (convs, sinces): (Vec<String>, Vec<i64>) = others().map(|it| (conv(it), int(it.since.get()))).unzip();
    let mut deleted = BTreeSet::new();
    let mut members = Vec::new();
    for (grown, touched) in grown.iter().zip(touched) {
        let labelled = touched.recalled.union(&touched.erased);
        deleted.extend(labelled.map(|seq| (conv(grown), Bucket::of(*seq))));
        members.extend(touched.members.iter().take(LIST_MAX).map(|uid| (conv(grown), int(uid.get()))));
    }
    let (deleted_convs, buckets): (Vec<String>, Vec<i64>) =
        deleted.into_iter().map(|(conv, bucket)| (conv, int(bucket.get()))).unzip();
    let (member_convs, uids): (Vec<String>, Vec<i64>) = members.into_iter().unzip();
    let uid = int(viewer.get());
    let [small_rows, own_reads, deleted, members] = snapshot
        .ask([
            Ask { sql: include_str!("small.sql"), params: &[&groups, &SMALL_GROUP_MAX] },
            Ask { sql: include_str!("own_reads.sql"), params: &[&convs, &sinces, &uid] },
            Ask { sql: include_str!("../marks/deleted_at.sql"), params: &[&deleted_convs, &buckets, &uid] },
            Ask { sql: include_str!("members.sql"), params: &[&member_convs, &uids] },
        ])
        .await?;
    let mut small: HashMap<&str, i64> = HashMap::new();
    for row in &small_rows {
        let failed = |error: tokio_postgres::Error| snapshot.failed(error);
        small.insert(row.try_get(0).map_err(failed)?, row.try_get(1).map_err(failed)?);
    }
    let told = |(it, touched): (&Grown, &Touched)| {
        let members = match it.standing.conv.is_group() {
            true => *small.get(it.standing.conv.as_str())?,
            false => 0,
        };
        // What was read while the group was larger was not told.
        let was_larger = members + touched.left > SMALL_GROUP_MAX;
        Some((conv(it), if was_larger { 0 } else { int(it.since.get()) }))
    };
    let (convs, sinces): (Vec<String>, Vec<i64>) = grown.iter().zip(touched).filter_map(told).unzip();
    let [reads] = snapshot.ask([Ask { sql: include_str!("reads.sql"), params: &[&convs, &sinces] }]).await?;
    Found::read(&reads, &own_reads, &deleted, &members).map_err(|error| snapshot.failed(error))
}

impl Found {
    fn read(
        reads: &[Row],
        own_reads: &[Row],
        deleted: &[Row],
        members: &[Row],
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let mut found = Self::default();
        for row in reads {
            let position = ReadPosition {
                uid: Uid::new(count(row.try_get(1)?))?,
                read_seq: Seq::new(count(row.try_get(2)?)),
                read_at: row.try_get(3)?,
            };
            found.reads.entry(row.try_get(0)?).or_default().push(position);
        }
        for row in own_reads {
            found.own_reads.insert(row.try_get(0)?);
        }
        for row in deleted {
            let bucket = Bucket::new(count(row.try_get(1)?));
            found.deleted.insert((row.try_get(0)?, bucket), row.try_get::<_, SqlBits>(2)?.0);
        }
        for row in members {
            let role = Role::parse(row.try_get(2)?).ok_or("a member has an unknown role")?;
            let key = (row.try_get(0)?, Uid::new(count(row.try_get(1)?))?);
            found.members.insert(key, (role, Seq::new(count(row.try_get(3)?))));
        }
        Ok(found)
    }

    fn changes(&self, viewer: Uid, standing: &Standing, touched: Touched) -> Changes {
        let text = standing.conv.to_string();
        let seen = |seq: &Seq| *seq >= standing.min_seq();
        let hidden = |seq: &Seq| {
            let bits = self.deleted.get(&(text.clone(), Bucket::of(*seq)));
            bits.is_some_and(|bits| bits.has(Bucket::slot(*seq)))
        };
        let told = |seqs: &mut dyn Iterator<Item = &Seq>| -> Vec<Seq> {
            seqs.copied().filter(|seq| seen(seq) && !hidden(seq)).collect()
        };
        let flipped = |to: bool| {
            let to_this = touched.deleted.iter().filter(move |(_, deleted)| **deleted == to);
            to_this.map(|(seq, _)| *seq).filter(seen).collect::<Vec<_>>()
        };
        let member =
            |uid: &Uid| MemberChange { uid: *uid, now: self.members.get(&(text.clone(), *uid)).copied() };
        let mut read_positions = self.reads.get(&text).cloned().unwrap_or_default();
        read_positions.retain(|position| position.uid != viewer);
        read_positions.sort_by_key(|position| position.uid);
        // A batch may end between a joining, which counts the message about it as read, and that message.
        read_positions.iter_mut().for_each(|it| it.read_seq = it.read_seq.min(standing.max_seq()));
        let mut changes = Changes {
            recalled: told(&mut touched.recalled.difference(&touched.erased)),
            deleted: flipped(true),
            restored: flipped(false),
            expired: told(&mut touched.erased.iter()),
            read_positions,
            members: touched.members.iter().map(member).collect(),
            own_read: false,
            truncated: touched.truncated,
        };
        changes.cut(LIST_MAX);
        changes
    }
}

impl Changes {
    fn is_empty(&self) -> bool {
        let Self { recalled, deleted, restored, expired, read_positions, members, own_read, truncated } =
            self;
        let seqs = [recalled, deleted, restored, expired];
        seqs.iter().all(|seqs| seqs.is_empty())
            && read_positions.is_empty()
            && members.is_empty()
            && !own_read
            && !truncated
    }

    fn cut(&mut self, most: usize) {
        let Self { recalled, deleted, restored, expired, read_positions, members, own_read: _, truncated } =
            self;
        for seqs in [recalled, deleted, restored, expired] {
            *truncated |= seqs.len() > most;
            seqs.truncate(most);
        }
        *truncated |= read_positions.len() > most || members.len() > most;
        read_positions.truncate(most);
        members.truncate(most);
    }
}

/// For the caller, who knows conversations by id.
pub(crate) fn parked(
    rows: &[Row],
) -> Result<HashMap<ConvId, Position>, Box<dyn std::error::Error + Send + Sync>> {
    let parked = |row: &Row| Ok((ConvId::parse(row.try_get(0)?)?, Position::new(count(row.try_get(1)?))));
    rows.iter().map(parked).collect()
}
