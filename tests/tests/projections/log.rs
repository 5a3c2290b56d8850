//! A log for tests: the memory adapter filled by hand, and one that delivers as badly as the port allows.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use domain::{ConvId, Event, EventId, MsgId, Sender, Seq};
use event_store::Origin;
use event_store::{
    Batch, EventStore, LogInfo, Position, Recorded, Shard, ShardHead, StoreError, StreamName, Turn,
    chain::{Unsealed, seal},
    codec,
    memory::MemoryEventStore,
    port::{Found, Since, StreamHead, Wanted},
};
use tokio::sync::{Mutex, watch};
use uuid::Uuid;

/// The memory adapter, and what its appender knows.
pub struct Log {
    pub store: Arc<MemoryEventStore>,
    heads: Mutex<HashMap<StreamName, StreamHead>>,
}

impl Log {
    pub fn new() -> Self {
        Self { store: Arc::new(MemoryEventStore::new(Uuid::nil())), heads: Mutex::default() }
    }

    pub async fn append(&self, conv: &ConvId, event: &Event) -> Position {
        self.append_changed(conv, event, |_| {}).await
    }

    /// Appends an event that this binary would not have written so.
    pub async fn append_changed(
        &self,
        conv: &ConvId,
        event: &Event,
        change: impl FnOnce(&mut Recorded),
    ) -> Position {
        let actor = match event {
            Event::MessageSent { sender: Sender::Person(uid), .. } => uid.get(),
            _ => 0,
        };
        let shard = Shard::of(conv, self.store.info().shards);
        let stream = StreamName::new(conv, event.stream());
        let mut heads = self.heads.lock().await;
        let stream_head = heads.entry(stream.clone()).or_default();
        let seen = self.store.shard_head(shard).await.unwrap();
        let mut head = seen;
        let number = u128::from(seen.position.get()) << 16 | u128::from(shard.get());
        let unsealed = Unsealed {
            event_id: EventId::new(Uuid::from_u128(number)),
            encoded: codec::encode(event),
            actor,
            device: None,
            origin: Origin::Live,
            correlation_id: Uuid::nil(),
        };
        let now = 1_764_000_000_000 + seen.position.get() as i64;
        let mut event = seal(unsealed, shard, stream, &mut head, stream_head, now, [0; 16]);
        change(&mut event);
        let batch = Batch { events: vec![event], ..Batch::default() };
        assert!(self.store.append_at(shard, seen, batch).await.unwrap());
        head.position
    }
}

/// Delivers few events at a time, some of them again, and not in order: as badly as the port allows.
pub struct BadDelivery {
    pub store: Arc<MemoryEventStore>,
    pub limit: u32,
    wake: watch::Sender<u64>,
}

impl BadDelivery {
    pub fn new(store: &Arc<MemoryEventStore>, limit: u32) -> Self {
        Self { store: Arc::clone(store), limit, wake: watch::Sender::new(0) }
    }
}

#[async_trait]
impl EventStore for BadDelivery {
    fn info(&self) -> &LogInfo {
        self.store.info()
    }

    async fn read_stream(
        &self,
        stream: &StreamName,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        self.store.read_stream(stream, from, limit).await
    }

    async fn read_conversation(
        &self,
        conv: &ConvId,
        after: Position,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        self.store.read_conversation(conv, after, limit).await
    }

    async fn conversations(&self, after: Option<&ConvId>, limit: u32) -> Result<Vec<ConvId>, StoreError> {
        self.store.conversations(after, limit).await
    }

    async fn message(&self, id: MsgId) -> Result<Option<Recorded>, StoreError> {
        self.store.message(id).await
    }

    async fn read_shard(
        &self,
        shard: Shard,
        after: Position,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        let again = Position::new(after.get().saturating_sub(2));
        let mut events = self.store.read_shard(shard, again, limit.min(self.limit) + 2).await?;
        events.reverse();
        if events.first().is_some_and(|last| last.header.position > after) {
            self.wake.send_modify(|count| *count += 1);
        }
        Ok(events)
    }

    async fn shard_heads(&self) -> Result<Vec<ShardHead>, StoreError> {
        self.store.shard_heads().await
    }

    async fn shard_head(&self, shard: Shard) -> Result<ShardHead, StoreError> {
        self.store.shard_head(shard).await
    }

    async fn conversation_position(&self, conv: &ConvId) -> Result<Position, StoreError> {
        self.store.conversation_position(conv).await
    }

    async fn first_messages(&self, asked: &[(ConvId, Position)]) -> Result<Vec<Option<Seq>>, StoreError> {
        self.store.first_messages(asked).await
    }

    async fn stream_positions(&self, convs: &[ConvId]) -> Result<Vec<[Position; 3]>, StoreError> {
        self.store.stream_positions(convs).await
    }

    async fn facts_since(&self, asked: &[Since], each: u32, limit: u32) -> Result<Vec<Recorded>, StoreError> {
        self.store.facts_since(asked, each, limit).await
    }

    async fn load(&self, shard: Shard, wanted: &[Wanted]) -> Result<Vec<Found>, StoreError> {
        self.store.load(shard, wanted).await
    }

    async fn append_at(&self, shard: Shard, seen: ShardHead, batch: Batch) -> Result<bool, StoreError> {
        self.store.append_at(shard, seen, batch).await
    }

    async fn turn(&self, shard: Shard) -> Result<Box<dyn Turn + '_>, StoreError> {
        self.store.turn(shard).await
    }

    fn wake(&self, _: Shard) -> watch::Receiver<u64> {
        self.wake.subscribe()
    }
}
