//! A connection that was away: what it missed is replayed, then it goes live, with no gap and no duplicate in between.
//!
//! It has been listening since before anything is read, and what it hears meanwhile is held. What is replayed is what
//! sync would tell: messages and later facts from the log, each as this person sees it now, and of read positions only
//! the latest. Then what is held is let go, but for what the replay has told already.

use std::{collections::VecDeque, ops::RangeInclusive};

use domain::{ConvId, Event, Seq, StreamKind, Uid};
use event_store::{Position, Recorded, Shard, Since, StreamName, Vector};
use projections::{
    query::{Item, ItemState, PageLimit, QueryError, Range, ReadPosition, Summary},
    sync::{Changes, Here, SyncEntry, SyncFrom, SyncPage},
};
use serde::Serialize;

use super::{
    outbox::{Frame, Outbox},
    push::{Push, Whom, later, message, read, unsealed},
};
use crate::{
    app::App,
    problem::{Code, Problem},
    sync_cursor::{Opened, SyncCursor},
};

/// Changes that are replayed; past that sync is the better way.
const CHANGES_MAX: usize = 10_000;
/// Later facts that are looked at: of a group's, many are other people's business.
const FACTS_MAX: u32 = 20_000;

/// Events whose positions are read at once.
const EVENTS_AT_ONCE: u32 = 500;

/// To a resume.
#[derive(Debug, Serialize)]
pub struct Resumed {
    /// Everything up to here has been pushed before this answer, or was known before.
    cursor: String,
    /// How many changes were replayed.
    replayed: usize,
}

/// One conversation in which something was missed.
struct Missed {
    conv: ConvId,
    summary: Summary,
    changes: Changes,
    /// Messages that were missed; may be empty.
    seqs: RangeInclusive<u64>,
    facts: Vec<(Position, Event)>,
}

/// Why nothing is replayed.
enum Refused {
    /// Too much, or the cursor is not of this log: sync is the way.
    Resync,
    /// Something is wrong.
    Problem(Problem),
}

impl<T: Into<Problem>> From<T> for Refused {
    fn from(problem: T) -> Self {
        Self::Problem(problem.into())
    }
}

/// Replays what came after the cursor, or nothing, and lets held pushes go.
pub async fn resume(app: &App, outbox: &Outbox, cursor: Option<&str>) -> Result<Resumed, Problem> {
    // Before the hold: what is done now and was not held is queued ahead of the answer.
    let done = app.live.hub.done();
    let held = outbox.hold();
    let (outcome, at) = match cursor {
        Some(cursor) => replay(app, outbox, cursor).await,
        None => {
            // What came between the connection's opening and now is not news.
            if held && let Ok(heads) = app.live.store.shard_heads().await {
                outbox.replayed(&Vector::new(heads.into_iter().map(|head| head.position).collect()));
            }
            (Ok(0), outbox.from())
        }
    };
    let at = if held { at } else { at.merge(&done) };
    outcome.map(|replayed| {
        let at = SyncCursor { at, paging: None };
        Resumed { cursor: app.sync_cursors.give(outbox.uid, &at), replayed }
    })
}

/// How many changes were replayed, and up to where everything has been.
async fn replay(app: &App, outbox: &Outbox, cursor: &str) -> (Result<usize, Problem>, Vector) {
    match missed(app, outbox, cursor).await {
        Ok((missed, since, to)) => match write(app, outbox, missed, since, &to).await {
            Ok(replayed) => {
                outbox.replayed(&to);
                (Ok(replayed), to)
            }
            Err(problem) => {
                // Half of it may have been told: whoever goes on from here goes on from the cursor.
                outbox.replay(Frame::Push(Push::resync_from(cursor))).await;
                (Err(problem), outbox.from())
            }
        },
        Err(Refused::Resync) => {
            outbox.replay(Frame::Push(Push::resync_from(cursor))).await;
            (Ok(0), outbox.from())
        }
        Err(Refused::Problem(problem)) => {
            if problem.code != Code::InvalidCursor {
                outbox.replay(Frame::Push(Push::resync_from(cursor))).await;
            }
            (Err(problem), outbox.from())
        }
    }
}

/// What was missed since the cursor, in the order of the shards; where it begins, and up to where it is told.
async fn missed(app: &App, outbox: &Outbox, cursor: &str) -> Result<(Vec<Missed>, Vector, Vector), Refused> {
    let since = match app.sync_cursors.open(outbox.uid, cursor)? {
        Opened::Here(SyncCursor { at, paging: None }) => at,
        Opened::Here(_) => {
            let detail = "this sync has more pages: resume from the cursor of the last one";
            return Err(Problem::new(Code::InvalidCursor, detail).into());
        }
        Opened::Elsewhere => return Err(Refused::Resync),
    };
    let mut entries = Vec::new();
    let mut page = None;
    // Held pushes begin behind this, and the snapshot was taken later.
    let mut to = outbox.from();
    loop {
        let from = SyncFrom { since: Some(since.clone()), page };
        let limit = PageLimit::new(PageLimit::MAX).unwrap_or_default();
        let SyncPage { at, next, reset, entries: more, .. } =
            app.read_models.sync(outbox.uid, from, limit).await?;
        entries.extend(more);
        if reset || entries.len() > CHANGES_MAX {
            return Err(Refused::Resync);
        }
        to = to.merge(&at);
        match next {
            Some(after) => page = Some((at, after)),
            None => break,
        }
    }
    let here = entries.into_iter().map(|entry| match entry {
        SyncEntry::Here(here) => {
            let Here { summary, changes, .. } = *here;
            Ok((summary, changes.unwrap_or_default()))
        }
        // No push tells of it, only a sync.
        SyncEntry::Left(_) => Err(Refused::Resync),
    });
    let here = here.collect::<Result<Vec<(Summary, Changes)>, Refused>>()?;
    let shards = app.live.store.info().shards;
    let place = |conv: &ConvId| Shard::of(conv, shards);
    let span = |vector: &Vector, conv: &ConvId| (conv.clone(), vector.at(place(conv)));
    let convs = || here.iter().map(|(summary, _)| &summary.conv);
    let firsts = convs().map(|conv| span(&since, conv)).chain(convs().map(|conv| span(&to, conv)));
    let firsts: Vec<(ConvId, Position)> = firsts.collect();
    let firsts = app.live.store.first_messages(&firsts).await.map_err(unavailable)?;
    let (firsts, ends) = firsts.split_at(here.len());
    let asked = convs().map(|conv| Since {
        conv: conv.clone(),
        after: since.at(place(conv)),
        up_to: to.at(place(conv)),
    });
    let facts = match asked.collect::<Vec<_>>().as_slice() {
        [] => Vec::new(),
        asked => app.live.store.facts_since(asked, FACTS_MAX, FACTS_MAX).await.map_err(unavailable)?,
    };
    if facts.len() >= FACTS_MAX as usize {
        return Err(Refused::Resync);
    }
    let mut facts = facts.into_iter().peekable();
    let mut missed = Vec::with_capacity(here.len());
    let mut count = 0;
    for ((summary, changes), (first, end)) in here.into_iter().zip(firsts.iter().zip(ends)) {
        let mut own = Vec::new();
        while let Some(fact) = facts.next_if(|fact| fact.header.stream.conv() == Some(&summary.conv)) {
            own.push(fact);
        }
        let seqs = seqs(&summary, came_in(&own, outbox.uid), *first, *end);
        let facts = visible(own, outbox.uid, summary.min_seq, &seqs);
        count += seqs.clone().count() + facts.len() + changes.read_positions.len();
        if count > CHANGES_MAX {
            return Err(Refused::Resync);
        }
        missed.push(Missed { conv: summary.conv.clone(), summary, changes, seqs, facts });
    }
    missed.sort_by_key(|it| place(&it.conv));
    Ok((missed, since, to))
}

fn unavailable(error: event_store::StoreError) -> Problem {
    let source = Box::new(error);
    QueryError::Unavailable { doing: "read what was missed", source }.into()
}

/// From the first message that was missed to the last before what is held, as far as the viewer may see them. What was
/// said before they came in is fetched, whatever the group shows, as by who is connected when they come in.
fn seqs(
    summary: &Summary,
    came_in: Option<Seq>,
    first: Option<Seq>,
    end: Option<Seq>,
) -> RangeInclusive<u64> {
    let last = end.map_or(summary.max_seq.get(), |end| end.get() - 1);
    let least = came_in.map_or(summary.min_seq, |head| head.next().max(summary.min_seq));
    let first = first.map_or(last + 1, |first| first.max(least).get());
    first..=last
}

/// The head when the viewer last came in, if they did so among these facts.
fn came_in(facts: &[Recorded], viewer: Uid) -> Option<Seq> {
    facts.iter().rev().find_map(|fact| match fact.event() {
        Ok(Event::MembersJoined { uids, joined_seq, .. }) if uids.contains(&viewer) => Some(joined_seq),
        _ => None,
    })
}

/// The facts that the viewer hears of, but for what the replayed messages say by themselves.
fn visible(
    facts: Vec<Recorded>,
    viewer: Uid,
    min_seq: Seq,
    seqs: &RangeInclusive<u64>,
) -> Vec<(Position, Event)> {
    let events = facts.into_iter().filter_map(|fact| Some((fact.header.position, fact.event().ok()?)));
    let mut heard = Vec::new();
    for (position, mut event) in events {
        if let Event::BodiesErased { uid: _, seqs: gone } = &mut event {
            gone.retain(|seq| *seq >= min_seq && !seqs.contains(&seq.get()));
        }
        // What was before one's own joining is nobody's news.
        if matches!(&event, Event::MembersJoined { uids, .. } if uids.contains(&viewer)) {
            heard.clear();
        }
        let hears = match later("", &event) {
            Some((_, Whom::All)) => true,
            Some((_, Whom::Sees(seq))) => seq >= min_seq && !seqs.contains(&seq.get()),
            Some((_, Whom::SeesSome)) => {
                matches!(&event, Event::BodiesErased { seqs, .. } if !seqs.is_empty())
            }
            Some((_, Whom::Only(uid) | Whom::Reader(uid))) => uid == viewer,
            None => false,
        };
        if hears {
            // Of settings only the latest.
            if matches!(event, Event::SettingsChanged { .. }) {
                heard.retain(|(_, event)| !matches!(event, Event::SettingsChanged { .. }));
            }
            heard.push((position, event));
        }
    }
    heard
}

/// Queues it all, shard by shard, each in the order of its positions: so a frame's cursor knows what was told before
/// it, and who breaks off in the middle goes on from there.
async fn write(
    app: &App,
    outbox: &Outbox,
    missed: Vec<Missed>,
    since: Vector,
    to: &Vector,
) -> Result<usize, Problem> {
    let shards = app.live.store.info().shards;
    let (mut at, mut replayed) = (since, 0);
    let mut missed = missed.into_iter().peekable();
    for shard in Shard::all(shards) {
        let of_shard =
            std::iter::from_fn(|| missed.next_if(|it| Shard::of(&it.conv, shards) == shard)).collect();
        replayed += write_shard(app, outbox, of_shard, (shard, &mut at)).await?;
        at.raise(shard, to.at(shard));
    }
    Ok(replayed)
}

/// Something to be told of one of a shard's conversations.
enum Told {
    Message(Seq),
    Fact(usize),
}

async fn write_shard(
    app: &App,
    outbox: &Outbox,
    missed: Vec<Missed>,
    (shard, at): (Shard, &mut Vector),
) -> Result<usize, Problem> {
    let mut told = Vec::new();
    for (nth, it) in missed.iter().enumerate() {
        let positions = message_positions(app, it).await?;
        told.extend(positions.into_iter().map(|(position, seq)| (position, nth, Told::Message(seq))));
        let facts = it.facts.iter().enumerate();
        told.extend(facts.map(|(fact, (position, _))| (*position, nth, Told::Fact(fact))));
    }
    told.sort_by_key(|(position, ..)| *position);
    let mut pages: Vec<VecDeque<Item>> = missed.iter().map(|_| VecDeque::new()).collect();
    let mut reads: Vec<_> = missed.iter().map(|it| positions(it, outbox.uid)).collect();
    let mut replayed = 0;
    for (position, nth, what) in told {
        let it = &missed[nth];
        let push = match what {
            Told::Message(seq) => {
                let Some(item) = item(app, outbox.uid, it, &mut pages[nth], seq).await? else { continue };
                if let ItemState::Normal(fact) | ItemState::Recalled(fact, _) = &item.state {
                    // Who says something has read up to there; the message tells that by itself.
                    reads[nth].retain(|it| it.read_seq != fact.seq || !fact.sender.is(it.uid));
                }
                Some(message(&it.conv, item.into()))
            }
            Told::Fact(fact) => later(it.conv.as_str(), &it.facts[fact].1).map(|(what, _)| what),
        };
        at.raise(shard, position);
        if let Some(what) = push {
            outbox.replay(Frame::Push(Push::new(&what, &unsealed(&app.sync_cursors, at)))).await;
            replayed += 1;
        }
    }
    let cursor = unsealed(&app.sync_cursors, at);
    for (it, reads) in missed.iter().zip(reads) {
        for position in reads {
            let what = read(it.conv.as_str(), position.uid, position.read_seq, position.read_at);
            outbox.replay(Frame::Push(Push::new(&what, &cursor))).await;
            replayed += 1;
        }
    }
    Ok(replayed)
}

/// Where the missed messages of a conversation stand in their shard.
async fn message_positions(app: &App, missed: &Missed) -> Result<Vec<(Position, Seq)>, Problem> {
    let stream = StreamName::new(&missed.conv, StreamKind::Message);
    let (mut next, last) = missed.seqs.clone().into_inner();
    let mut positions = Vec::new();
    while next <= last {
        let limit = u32::try_from(last - next + 1).unwrap_or(u32::MAX).min(EVENTS_AT_ONCE);
        let events = app.live.store.read_stream(&stream, next, limit).await.map_err(unavailable)?;
        let Some(newest) = events.last().map(|event| event.header.version) else { break };
        positions.extend(events.iter().map(|it| (it.header.position, Seq::new(it.header.version))));
        next = newest + 1;
    }
    Ok(positions)
}

/// A missed message as the viewer sees it now; read a page at a time, in the order of the seqs.
async fn item(
    app: &App,
    viewer: Uid,
    missed: &Missed,
    page: &mut VecDeque<Item>,
    seq: Seq,
) -> Result<Option<Item>, Problem> {
    if page.is_empty() {
        let after_seq = Some(Seq::new(seq.get() - 1));
        let before_seq = Some(Seq::new(missed.seqs.end() + 1));
        let (range, limit) = (Range { after_seq, before_seq }, PageLimit::default());
        match app.read_models.page(&missed.conv, viewer, range, limit).await {
            Ok(read) => page.extend(read.items),
            // Removed a moment ago: nothing of it is for them any more.
            Err(QueryError::NotAMember) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // What was cleared a moment ago is not on the page.
    let on_page = page.front().is_some_and(|item| item.seq == seq);
    Ok(if on_page { page.pop_front() } else { None })
}

/// The read positions that were raised, the viewer's own last. What was read beyond the replay is told with what is
/// held.
fn positions(missed: &Missed, viewer: Uid) -> Vec<ReadPosition> {
    let Missed { changes, summary, seqs, .. } = missed;
    let own = ReadPosition { uid: viewer, read_seq: summary.read_seq, read_at: 0 };
    let mut positions = changes.read_positions.clone();
    positions.extend(changes.own_read.then_some(own));
    positions.retain(|position| position.read_seq.get() <= *seqs.end());
    positions
}
