//! The log in memory, for tests of the domain's rules through the handler and for the contract suite. Loses
//! everything with the process.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use domain::{ConvId, EventId, MsgId, Need, Seq, StreamKind};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard, watch};
use uuid::Uuid;

use crate::{
    codec,
    handler::pieces::key_text,
    port::{
        Batch, EventStore, Found, LogInfo, Looked, PieceWrite, ShardHead, Since, StoreError, StreamHead,
        Turn, Wanted,
    },
    recorded::{Position, Recorded, StreamName},
    shard::{SHARDS, Shard},
};

/// A log in memory.
pub struct MemoryEventStore {
    info: LogInfo,
    shards: Vec<MemoryShard>,
    /// Of the streams that are of no conversation.
    own: MemoryShard,
}

struct MemoryShard {
    /// The exclusive turn.
    turn: AsyncMutex<()>,
    log: Mutex<ShardLog>,
    wake: watch::Sender<u64>,
}

#[derive(Default)]
struct ShardLog {
    /// The event at position n is at n − 1.
    events: Vec<Recorded>,
    streams: HashMap<StreamName, Vec<usize>>,
    ids: HashMap<(StreamName, EventId), usize>,
    pieces: HashMap<(StreamName, String), String>,
}

impl MemoryEventStore {
    /// An empty log.
    pub fn new(log_id: Uuid) -> Self {
        let shard = |_| MemoryShard {
            turn: AsyncMutex::default(),
            log: Mutex::default(),
            wake: watch::Sender::new(0),
        };
        let info = LogInfo { log_id, epoch: 1, shards: SHARDS };
        Self { info, shards: (0..SHARDS).map(shard).collect(), own: shard(0) }
    }

    fn shard(&self, shard: Shard) -> &MemoryShard {
        self.shards.get(usize::from(shard.get())).unwrap_or(&self.own)
    }

    fn of_conversation(&self, conv: &ConvId) -> &MemoryShard {
        self.shard(Shard::of(conv, self.info.shards))
    }
}

impl MemoryShard {
    fn log(&self) -> MutexGuard<'_, ShardLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, batch: Batch) {
        self.log().append(batch);
        self.wake.send_modify(|count| *count += 1);
    }
}

impl ShardLog {
    fn head(&self) -> ShardHead {
        self.events.last().map_or_else(ShardHead::default, |last| ShardHead {
            position: last.header.position,
            recorded_at: last.header.recorded_at,
        })
    }

    fn stream_head(&self, stream: &StreamName) -> StreamHead {
        let last = self.streams.get(stream).and_then(|indices| indices.last());
        last.map_or_else(StreamHead::default, |index| {
            let header = &self.events[*index].header;
            StreamHead { version: header.version, chain: header.chain }
        })
    }

    fn read_stream(&self, stream: &StreamName, from: u64, limit: u32) -> Vec<Recorded> {
        let indices = self.streams.get(stream).map_or(&[][..], Vec::as_slice);
        let skip = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
        indices.iter().skip(skip).take(limit as usize).map(|index| self.events[*index].clone()).collect()
    }

    fn stream_positions(&self, conv: &ConvId) -> [Position; 3] {
        StreamKind::ALL.map(|kind| {
            let stream = self.streams.get(&StreamName::new(conv, kind));
            let last = stream.and_then(|indices| indices.last());
            last.map_or(Position::START, |index| self.events[*index].header.position)
        })
    }

    fn facts_since(&self, Since { conv, after, up_to }: &Since) -> Vec<Recorded> {
        let indices = [StreamKind::Mark, StreamKind::Group]
            .into_iter()
            .filter_map(|kind| self.streams.get(&StreamName::new(conv, kind)))
            .flatten();
        let mut facts: Vec<Recorded> = indices
            .map(|index| &self.events[*index])
            .filter(|event| event.header.position > *after && event.header.position <= *up_to)
            .filter(|event| event.header.event_type != codec::EventType::ReadAdvanced as i16)
            .cloned()
            .collect();
        facts.sort_by_key(|event| event.header.position);
        facts
    }

    fn append(&mut self, batch: Batch) {
        for event in batch.events {
            let index = self.events.len();
            self.streams.entry(event.header.stream.clone()).or_default().push(index);
            self.ids.insert((event.header.stream.clone(), event.header.event_id), index);
            self.events.push(event);
        }
        for PieceWrite { stream, key, value } in batch.pieces {
            self.pieces.insert((stream, key), value);
        }
    }

    fn load(&self, wanted: &[Wanted]) -> Vec<Found> {
        wanted.iter().map(|wanted| self.load_one(wanted)).collect()
    }

    fn load_one(&self, Wanted { conv, heads, needs }: &Wanted) -> Found {
        let mut found = Found::default();
        if *heads {
            found.heads = Some(StreamKind::ALL.map(|kind| self.stream_head(&StreamName::new(conv, kind))));
        }
        for need in needs {
            match need {
                Need::Piece(key) => {
                    let value = self.pieces.get(&(StreamName::new(conv, key.stream()), key_text(*key)));
                    found.pieces.extend(value.map(|value| (*key, value.clone())));
                }
                Need::Message(seq) => {
                    let stream = self.streams.get(&StreamName::new(conv, StreamKind::Message));
                    let place = usize::try_from(seq.get()).unwrap_or(0).checked_sub(1);
                    let index = place.and_then(|place| stream?.get(place));
                    found.messages.extend(index.and_then(|index| codec::message_fact(&self.events[*index])));
                }
                Need::Event(kind, id) => {
                    let index = self.ids.get(&(StreamName::new(conv, *kind), *id));
                    found.events.extend(index.map(|index| (*id, self.events[*index].clone())));
                }
            }
        }
        found
    }
}

#[async_trait]
impl EventStore for MemoryEventStore {
    fn info(&self) -> &LogInfo {
        &self.info
    }

    async fn read_stream(
        &self,
        stream: &StreamName,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        Ok(self.shard(stream.shard(self.info.shards)).log().read_stream(stream, from, limit))
    }

    async fn read_shard(
        &self,
        shard: Shard,
        after: Position,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        let log = self.shard(shard).log();
        let skip = usize::try_from(after.get()).unwrap_or(usize::MAX);
        Ok(log.events.iter().skip(skip).take(limit as usize).cloned().collect())
    }

    async fn read_conversation(
        &self,
        conv: &ConvId,
        after: Position,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        let log = self.of_conversation(conv).log();
        let of =
            |event: &&Recorded| event.header.stream.conv() == Some(conv) && event.header.position > after;
        Ok(log.events.iter().filter(of).take(limit as usize).cloned().collect())
    }

    async fn conversations(&self, after: Option<&ConvId>, limit: u32) -> Result<Vec<ConvId>, StoreError> {
        let mut names = std::collections::BTreeSet::new();
        for shard in &self.shards {
            names.extend(shard.log().streams.keys().filter_map(|stream| stream.conv().cloned()));
        }
        let later = names.into_iter().filter(|conv| after.is_none_or(|after| conv.as_str() > after.as_str()));
        Ok(later.take(limit as usize).collect())
    }

    async fn message(&self, id: MsgId) -> Result<Option<Recorded>, StoreError> {
        let found = |shard: &MemoryShard| {
            shard.log().events.iter().find(|event| event.header.msg_id == Some(id)).cloned()
        };
        Ok(self.shards.iter().find_map(found))
    }

    async fn shard_heads(&self) -> Result<Vec<ShardHead>, StoreError> {
        Ok(self.shards.iter().map(|shard| shard.log().head()).collect())
    }

    async fn shard_head(&self, shard: Shard) -> Result<ShardHead, StoreError> {
        Ok(self.shard(shard).log().head())
    }

    async fn conversation_position(&self, conv: &ConvId) -> Result<Position, StoreError> {
        let last = self.of_conversation(conv).log().stream_positions(conv);
        Ok(last.into_iter().max().unwrap_or_default())
    }

    async fn stream_positions(&self, convs: &[ConvId]) -> Result<Vec<[Position; 3]>, StoreError> {
        Ok(convs.iter().map(|conv| self.of_conversation(conv).log().stream_positions(conv)).collect())
    }

    async fn first_messages(&self, asked: &[(ConvId, Position)]) -> Result<Vec<Option<Seq>>, StoreError> {
        let first = |(conv, after): &(ConvId, Position)| {
            let shard = self.of_conversation(conv);
            let log = shard.log();
            let messages = log.streams.get(&StreamName::new(conv, StreamKind::Message))?.iter();
            let event = messages.map(|index| &log.events[*index]).find(|it| it.header.position > *after)?;
            Some(Seq::new(event.header.version))
        };
        Ok(asked.iter().map(first).collect())
    }

    async fn facts_since(&self, asked: &[Since], each: u32, limit: u32) -> Result<Vec<Recorded>, StoreError> {
        let of_one = |asked: &Since| {
            let facts = self.of_conversation(&asked.conv).log().facts_since(asked);
            facts.into_iter().take(each as usize)
        };
        Ok(asked.iter().flat_map(of_one).take(limit as usize).collect())
    }

    async fn load(&self, shard: Shard, wanted: &[Wanted]) -> Result<Vec<Found>, StoreError> {
        Ok(self.shard(shard).log().load(wanted))
    }

    async fn append_at(&self, shard: Shard, seen: ShardHead, batch: Batch) -> Result<bool, StoreError> {
        let shard = self.shard(shard);
        let Ok(_turn) = shard.turn.try_lock() else { return Ok(false) };
        let stands = {
            let log = shard.log();
            let is_there = |place: &(StreamName, EventId)| log.ids.contains_key(place);
            log.head().position == seen.position && !batch.absent.iter().any(is_there)
        };
        if stands {
            shard.append(batch);
        }
        Ok(stands)
    }

    async fn turn(&self, shard: Shard) -> Result<Box<dyn Turn + '_>, StoreError> {
        let shard = self.shard(shard);
        let turn = shard.turn.lock().await;
        Ok(Box::new(MemoryTurn { head: shard.log().head(), shard, _turn: turn }))
    }

    fn wake(&self, shard: Shard) -> watch::Receiver<u64> {
        self.shard(shard).wake.subscribe()
    }
}

struct MemoryTurn<'a> {
    head: ShardHead,
    shard: &'a MemoryShard,
    _turn: AsyncMutexGuard<'a, ()>,
}

#[async_trait]
impl Turn for MemoryTurn<'_> {
    fn head(&self) -> ShardHead {
        self.head
    }

    async fn grown_since(&mut self, after: Position, limit: u32) -> Result<Option<Vec<ConvId>>, StoreError> {
        let log = self.shard.log();
        let new = log.events.get(usize::try_from(after.get()).unwrap_or(usize::MAX)..).unwrap_or_default();
        let convs = || new.iter().filter_map(|event| event.header.stream.conv().cloned()).collect();
        Ok((new.len() <= limit as usize).then(convs))
    }

    async fn load(&mut self, wanted: &[Wanted]) -> Result<Vec<Found>, StoreError> {
        Ok(self.shard.log().load(wanted))
    }

    async fn look(
        &mut self,
        streams: &[StreamName],
        pieces: &[(StreamName, String)],
    ) -> Result<Looked, StoreError> {
        let log = self.shard.log();
        Ok(Looked {
            heads: streams.iter().map(|stream| log.stream_head(stream)).collect(),
            pieces: pieces.iter().map(|piece| log.pieces.get(piece).cloned()).collect(),
        })
    }

    async fn read_stream(
        &mut self,
        stream: &StreamName,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        Ok(self.shard.log().read_stream(stream, from, limit))
    }

    async fn append(self: Box<Self>, batch: Batch) -> Result<(), StoreError> {
        self.shard.append(batch);
        Ok(())
    }
}
