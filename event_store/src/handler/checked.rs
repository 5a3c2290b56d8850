//! Appends for those who name what they rest on instead of deciding in the worker: ids, versions and guards are
//! checked one append after the other, in the shard's exclusive turn.

use std::collections::{BTreeSet, HashMap};

use domain::{ConvId, Conversation, Key, Need, StreamKind};

use super::pieces;
use crate::{
    chain,
    port::{Append, AppendError, Appended, Batch, PieceWrite, StoreError, StreamHead, Turn, Wanted},
    recorded::{Recorded, StreamName},
    shard::Shard,
    surroundings::Surroundings,
};

/// Events of one append: enough for any command.
const EVENTS_MAX: usize = 1000;

type Heads = HashMap<StreamName, StreamHead>;
type Outcome = Result<Appended, AppendError>;

pub(crate) async fn append(
    mut turn: Box<dyn Turn + '_>,
    shard: Shard,
    appends: Vec<Append>,
    surroundings: &Surroundings,
) -> Result<Vec<Outcome>, StoreError> {
    let mut head = turn.head();
    // One moment for the whole batch.
    let now = surroundings.clock.now();
    let mut heads = load_heads(&mut *turn, &appends).await?;
    let mut batch = Batch::default();
    let mut outcomes = Vec::with_capacity(appends.len());
    for append in appends {
        if append.events.len() > EVENTS_MAX {
            outcomes.push(Err(AppendError::Refused(format!("an append has at most {EVENTS_MAX} events"))));
            continue;
        }
        if let Some(first) = repeat(&mut *turn, &append, &heads, &batch).await? {
            outcomes.push(Ok(first));
            continue;
        }
        if let Some(conflict) = conflict(&append, &heads) {
            outcomes.push(Err(conflict));
            continue;
        }
        let stream_head = heads.entry(append.stream.clone()).or_default();
        for unsealed in append.events {
            let salt = surroundings.entropy.salt();
            let stream = append.stream.clone();
            batch.events.push(chain::seal(unsealed, shard, stream, &mut head, stream_head, now, salt));
        }
        outcomes.push(Ok(Appended { version: stream_head.version, position: head.position }));
    }
    batch.pieces = follow(&mut *turn, &batch.events).await?;
    turn.append(batch).await?;
    Ok(outcomes)
}

/// Of the streams that are appended to and of those that guard them.
async fn load_heads(turn: &mut dyn Turn, appends: &[Append]) -> Result<Heads, StoreError> {
    let guards =
        |append: &Append| append.guards.iter().filter_map(|(kind, _)| guard(append, *kind)).collect();
    let of_one = |append: &Append| [vec![append.stream.clone()], guards(append)].concat();
    let streams: BTreeSet<StreamName> = appends.iter().flat_map(of_one).collect();
    let streams: Vec<StreamName> = streams.into_iter().collect();
    let looked = turn.look(&streams, &[]).await?;
    Ok(streams.into_iter().zip(looked.heads).collect())
}

/// Another stream of the same conversation; a stream that is of none has no guards.
fn guard(append: &Append, kind: StreamKind) -> Option<StreamName> {
    append.stream.conv().map(|conv| StreamName::new(conv, kind))
}

/// The same ids at the same version are the same append.
async fn repeat(
    turn: &mut dyn Turn,
    append: &Append,
    heads: &Heads,
    batch: &Batch,
) -> Result<Option<Appended>, StoreError> {
    let count = append.events.len();
    if count == 0 || version(heads, &append.stream) < append.expected + count as u64 {
        return Ok(None);
    }
    let mut there = turn.read_stream(&append.stream, append.expected + 1, count as u32).await?;
    // What stands earlier in this batch is not in the log yet.
    let earlier = batch
        .events
        .iter()
        .filter(|event| event.header.stream == append.stream && event.header.version > append.expected);
    there.extend(earlier.take(count - there.len().min(count)).cloned());
    let same = there.len() == count
        && there.iter().zip(&append.events).all(|(there, event)| there.header.event_id == event.event_id);
    let appended =
        |last: &Recorded| Appended { version: last.header.version, position: last.header.position };
    Ok(if same { there.last().map(appended) } else { None })
}

fn conflict(append: &Append, heads: &Heads) -> Option<AppendError> {
    let own = (append.stream.clone(), append.expected);
    let guards = append.guards.iter().filter_map(|(kind, expected)| Some((guard(append, *kind)?, *expected)));
    guards.chain([own]).find_map(|(stream, expected)| {
        let actual = version(heads, &stream);
        (actual != expected).then_some(AppendError::Conflict { stream, expected, actual })
    })
}

fn version(heads: &Heads, stream: &StreamName) -> u64 {
    heads.get(stream).copied().unwrap_or_default().version
}

/// The pieces as they are after these events.
async fn follow(turn: &mut dyn Turn, events: &[Recorded]) -> Result<Vec<PieceWrite>, StoreError> {
    let corrupt = |what: String| StoreError::Corrupt { doing: "follow appended events", what };
    let mut facts = Vec::with_capacity(events.len());
    let mut touched: HashMap<ConvId, BTreeSet<Key>> = HashMap::new();
    for recorded in events {
        let header = &recorded.header;
        // What is of no conversation has no pieces that follow from it here.
        let Some(conv) = header.stream.conv() else { continue };
        let event = recorded.event().map_err(|error| corrupt(format!("{}: {error}", header.stream)))?;
        let keys = Conversation::at(conv.clone(), [0; 3]).evolve(&event, header.version, header.event_id);
        touched.entry(conv.clone()).or_default().extend(keys);
        facts.push((conv.clone(), event, header.version, header.event_id));
    }
    touched.retain(|_, keys| !keys.is_empty());
    let needs = |keys: &BTreeSet<Key>| keys.iter().copied().map(Need::Piece).collect();
    let wanted: Vec<Wanted> = touched
        .iter()
        .map(|(conv, keys)| Wanted { conv: conv.clone(), heads: false, needs: needs(keys) })
        .collect();
    let mut states: HashMap<ConvId, Conversation> = HashMap::new();
    for (wanted, found) in wanted.iter().zip(turn.load(&wanted).await?) {
        let mut state = Conversation::at(wanted.conv.clone(), [0; 3]);
        for key in &touched[&wanted.conv] {
            let value = found.pieces.iter().find(|(there, _)| there == key).map(|(_, value)| value.as_str());
            pieces::read(&mut state, *key, value)?;
        }
        states.insert(wanted.conv.clone(), state);
    }
    for (conv, event, version, id) in &facts {
        if let Some(state) = states.get_mut(conv) {
            state.evolve(event, *version, *id);
        }
    }
    let write = |conv: &ConvId, key: Key| {
        let value = pieces::write(states.get(conv)?, key)?;
        Some(pieces::piece(conv, key, value))
    };
    Ok(touched.iter().flat_map(|(conv, keys)| keys.iter().filter_map(|key| write(conv, *key))).collect())
}
