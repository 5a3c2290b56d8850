//! Appends for those who name what they rest on instead of deciding in the worker: ids, versions and guards are
//! checked one append after the other, in the shard's exclusive turn.

use std::collections::{BTreeSet, HashMap};

use domain::{ConvId, Conversation, Key, Need};

use super::pieces;
use crate::{
    chain,
    port::{Append, AppendError, Appended, Batch, Found, PieceWrite, StoreError, StreamHead, Turn, Wanted},
    recorded::{Recorded, StreamName},
    shard::Shard,
    surroundings::Surroundings,
};

/// Events of one append: enough for any command.
const EVENTS_MAX: usize = 1000;

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
        let conv = append.stream.conv.clone();
        let of_conv = heads.entry(conv).or_default();
        if let Some(first) = repeat(&mut *turn, &append, of_conv, &batch).await? {
            outcomes.push(Ok(first));
            continue;
        }
        if let Some(conflict) = conflict(&append, of_conv) {
            outcomes.push(Err(conflict));
            continue;
        }
        let stream_head = &mut of_conv[append.stream.kind as usize];
        for unsealed in append.events {
            let salt = surroundings.entropy.salt();
            let stream = append.stream.clone();
            batch.events.push(chain::seal(unsealed, shard, stream, &mut head, stream_head, now, salt));
        }
        outcomes.push(Ok(Appended { version: stream_head.version, position: head.position }));
    }
    batch.pieces = follow(&mut *turn, &batch.events).await?;
    turn.append(&batch).await?;
    Ok(outcomes)
}

async fn load_heads(
    turn: &mut dyn Turn,
    appends: &[Append],
) -> Result<HashMap<ConvId, [StreamHead; 3]>, StoreError> {
    let convs: BTreeSet<&ConvId> = appends.iter().map(|append| &append.stream.conv).collect();
    let wanted: Vec<Wanted> =
        convs.into_iter().map(|conv| Wanted { conv: conv.clone(), heads: true, needs: vec![] }).collect();
    let found = turn.load(&wanted).await?;
    let heads = |(wanted, found): (Wanted, Found)| (wanted.conv, found.heads.unwrap_or_default());
    Ok(wanted.into_iter().zip(found).map(heads).collect())
}

/// The same ids at the same version are the same append.
async fn repeat(
    turn: &mut dyn Turn,
    append: &Append,
    heads: &[StreamHead; 3],
    batch: &Batch,
) -> Result<Option<Appended>, StoreError> {
    let count = append.events.len();
    if count == 0 || heads[append.stream.kind as usize].version < append.expected + count as u64 {
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

fn conflict(append: &Append, heads: &[StreamHead; 3]) -> Option<AppendError> {
    let own = (append.stream.kind, append.expected);
    append.guards.iter().copied().chain([own]).find_map(|(kind, expected)| {
        let actual = heads[kind as usize].version;
        let stream = StreamName::new(&append.stream.conv, kind);
        (actual != expected).then_some(AppendError::Conflict { stream, expected, actual })
    })
}

/// The pieces as they are after these events.
async fn follow(turn: &mut dyn Turn, events: &[Recorded]) -> Result<Vec<PieceWrite>, StoreError> {
    let corrupt = |what: String| StoreError::Corrupt { doing: "follow appended events", what };
    let mut facts = Vec::with_capacity(events.len());
    let mut touched: HashMap<ConvId, BTreeSet<Key>> = HashMap::new();
    for recorded in events {
        let (header, conv) = (&recorded.header, &recorded.header.stream.conv);
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
        Some(PieceWrite { conv: conv.clone(), key, value })
    };
    Ok(touched.iter().flat_map(|(conv, keys)| keys.iter().filter_map(|key| write(conv, *key))).collect())
}
