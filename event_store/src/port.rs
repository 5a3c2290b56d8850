//! What a log of events promises, whatever stores it. One contract suite holds every adapter to this.
//!
//! Appending to one stream at an expected version is atomic; a repeat of the same ids at the same version answers
//! the first result; a conflict names the version that stands. A shard is read in order and complete: who follows
//! it by position never skips an event that commits late. Beside the streams the log keeps **pieces**: small
//! decision state by key, written with the events from which it follows, so that no command loads a history.

use async_trait::async_trait;
use domain::{ConvId, EventId, Key, Ms, MsgId, Need, Seq, StreamKind};
use tokio::sync::watch;
use uuid::Uuid;

use crate::{
    recorded::{Position, Recorded, StreamName},
    shard::Shard,
};

/// What was fixed when the log was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogInfo {
    /// Names this log; a cursor of another one is worthless here.
    pub log_id: Uuid,
    /// Raised by a restore: positions after it may mean something else than before.
    pub epoch: u32,
    /// How many shards there are.
    pub shards: u16,
}

/// Where a shard stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShardHead {
    /// Of its last event.
    pub position: Position,
    /// Of its last event: the next one's is not lower.
    pub recorded_at: Ms,
}

/// Where a stream stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamHead {
    /// Of its last event; 0 where there is none.
    pub version: u64,
    /// Of its last event; zeros where there is none.
    pub chain: [u8; 32],
}

/// What is to be loaded of one conversation.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Which one.
    pub conv: ConvId,
    /// Its three stream heads, too?
    pub heads: bool,
    /// Pieces, messages, earlier events.
    pub needs: Vec<Need>,
}

/// What was found, in the order of the [`Wanted`].
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Of the message, mark and group stream, if they were wanted.
    pub heads: Option<[StreamHead; 3]>,
    /// The needed pieces that exist.
    pub pieces: Vec<(Key, String)>,
    /// The needed messages that exist: sender (0 for the system) and time.
    pub messages: Vec<(Seq, u64, Ms)>,
    /// The needed events that exist.
    pub events: Vec<(EventId, Recorded)>,
}

/// Which later facts of one conversation are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    /// Of which one.
    pub conv: ConvId,
    /// Only what is above it in the shard's order.
    pub after: Position,
    /// Only what is not above this.
    pub up_to: Position,
}

/// A piece's new value, to be written with the events from which it follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceWrite {
    /// The stream from whose events it follows.
    pub stream: StreamName,
    /// Which of that stream's.
    pub key: String,
    /// JSON, see [`crate::handler`].
    pub value: String,
}

/// Where streams stand, and the values of pieces, in the order asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Looked {
    /// The heads.
    pub heads: Vec<StreamHead>,
    /// The pieces; none for one that was never written.
    pub pieces: Vec<Option<String>>,
}

/// Sealed events of one shard, at consecutive positions, with the pieces that follow from them. All or nothing.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// In the order of their positions.
    pub events: Vec<Recorded>,
    /// At most one value a piece.
    pub pieces: Vec<PieceWrite>,
    /// Events that were taken for new without a look: if one of them is in the log, nothing is done. Only of sends and
    /// keyed clears, which are found by their ids.
    pub absent: Vec<(StreamName, EventId)>,
}

/// Events for one stream, by somebody who names what the decision rested on.
#[derive(Debug, Clone)]
pub struct Append {
    /// Where to.
    pub stream: StreamName,
    /// The version that the stream must have.
    pub expected: u64,
    /// Other streams of the same conversation and the versions that they must have.
    pub guards: Vec<(StreamKind, u64)>,
    /// The facts and whose they are.
    pub events: Vec<crate::chain::Unsealed>,
}

/// Where an append went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The stream's version after it.
    pub version: u64,
    /// The position of its last event.
    pub position: Position,
}

/// Why one append of several was not done; the others were not hindered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// Somebody else was faster.
    #[error("{stream} stands at version {actual}, not {expected}")]
    Conflict {
        /// The stream or the guard.
        stream: StreamName,
        /// What was named.
        expected: u64,
        /// What stands.
        actual: u64,
    },
    /// The store will not take what is in it.
    #[error("the store refuses this event: {0}")]
    Refused(String),
}

/// Why the log did not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It could not be asked; nothing was done.
    #[error("{doing}: the log is unavailable")]
    Unavailable {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection went while it was committing: done or not, but never half. Ask again with the same ids.
    #[error("{doing}: the outcome is unknown")]
    Unknown {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store will not take something in this batch; nothing of it was done.
    #[error("{doing}: the store refuses the batch")]
    Refused {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What came back makes no sense.
    #[error("{doing}: {what}")]
    Corrupt {
        /// What we were doing.
        doing: &'static str,
        /// What we found.
        what: String,
    },
}

/// The log.
#[async_trait]
pub trait EventStore: Send + Sync + 'static {
    /// What was fixed when it was created.
    fn info(&self) -> &LogInfo;

    /// At most `limit` events of a stream, from a version on, ascending.
    async fn read_stream(
        &self,
        stream: &StreamName,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError>;

    /// At most `limit` events of a shard after a position, ascending and complete.
    async fn read_shard(
        &self,
        shard: Shard,
        after: Position,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError>;

    /// At most `limit` events of a conversation's three streams after a position, ascending and complete: read from
    /// where they are stored, never from memory, since this is what auditors see.
    async fn read_conversation(
        &self,
        conv: &ConvId,
        after: Position,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError>;

    /// At most `limit` conversations after one, ascending by name.
    async fn conversations(&self, after: Option<&ConvId>, limit: u32) -> Result<Vec<ConvId>, StoreError>;

    /// The message with this id, if there is one.
    async fn message(&self, id: MsgId) -> Result<Option<Recorded>, StoreError>;

    /// Where every shard stands, by shard number.
    async fn shard_heads(&self) -> Result<Vec<ShardHead>, StoreError>;

    /// Where one shard stands.
    async fn shard_head(&self, shard: Shard) -> Result<ShardHead, StoreError>;

    /// The position of a conversation's last event, over its three streams.
    async fn conversation_position(&self, conv: &ConvId) -> Result<Position, StoreError>;

    /// The positions of the last events of the message, mark and group stream of each conversation, in the order
    /// asked; at the start where there is none. One cheap probe a stream, in a constant number of reads.
    async fn stream_positions(&self, convs: &[ConvId]) -> Result<Vec<[Position; 3]>, StoreError>;

    /// The first message after a position of each conversation, in the order asked; none where there is none. In a
    /// constant number of reads, whatever the length of the histories.
    async fn first_messages(&self, asked: &[(ConvId, Position)]) -> Result<Vec<Option<Seq>>, StoreError>;

    /// The later facts of conversations: events of their mark and group streams, but no read positions, which
    /// outnumber all others. Conversation by conversation in the order asked, ascending by position; of each at
    /// most `each`, and at most `limit` in all, in a constant number of reads.
    async fn facts_since(&self, asked: &[Since], each: u32, limit: u32) -> Result<Vec<Recorded>, StoreError>;

    /// What commands need, in a constant number of reads, whatever the length of the histories.
    async fn load(&self, shard: Shard, wanted: &[Wanted]) -> Result<Vec<Found>, StoreError>;

    /// Appends if the shard still stands at `seen`. False means that nothing was done: it does not, or an event that was
    /// taken for absent is there, or somebody has the turn; wait for the turn, and look. A batch without events asks only
    /// whether all is as it was taken for.
    async fn append_at(&self, shard: Shard, seen: ShardHead, batch: Batch) -> Result<bool, StoreError>;

    /// Waits for the exclusive turn at a shard. Dropping it without appending gives it back.
    async fn turn(&self, shard: Shard) -> Result<Box<dyn Turn + '_>, StoreError>;

    /// Appends several, each on its own: checks ids, expected versions and guards in a turn.
    async fn append(
        &self,
        shard: Shard,
        appends: Vec<Append>,
        surroundings: &crate::surroundings::Surroundings,
    ) -> Result<Vec<Result<Appended, AppendError>>, StoreError> {
        crate::handler::checked::append(self.turn(shard).await?, shard, appends, surroundings).await
    }

    /// Changes whenever a shard may have grown, here or on another node. A lost wake-up costs time, never an
    /// event: followers also look by themselves.
    fn wake(&self, shard: Shard) -> watch::Receiver<u64>;
}

/// The exclusive turn at one shard: nobody else appends until it ends.
#[async_trait]
pub trait Turn: Send {
    /// Where the shard stands.
    fn head(&self) -> ShardHead;

    /// The conversations that have grown after a position; none if there are more than `limit` events to look at.
    async fn grown_since(&mut self, after: Position, limit: u32) -> Result<Option<Vec<ConvId>>, StoreError>;

    /// As [`EventStore::load`], true until the turn ends.
    async fn load(&mut self, wanted: &[Wanted]) -> Result<Vec<Found>, StoreError>;

    /// Where streams of this shard stand, and pieces of streams of this shard. In a constant number of reads.
    async fn look(
        &mut self,
        streams: &[StreamName],
        pieces: &[(StreamName, String)],
    ) -> Result<Looked, StoreError>;

    /// As [`EventStore::read_stream`], of this shard's streams.
    async fn read_stream(
        &mut self,
        stream: &StreamName,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError>;

    /// Appends and ends the turn. An empty batch only ends it.
    async fn append(self: Box<Self>, batch: Batch) -> Result<(), StoreError>;
}
