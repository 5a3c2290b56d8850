//! What one person saw in a conversation at a moment: from the log alone, up to there, through the same `view`.
//!
//! No read model is asked. The marks and the group's changes are read to that position; of the messages only those
//! that the person had not read, those of the page, and what they quote. Page by page, so that memory does not grow
//! with the history. A body that has been erased since cannot come back: that message shows as expired.

pub(crate) mod shown;
pub(crate) mod told;

use domain::{ConvId, Ms, Replay, Uid};
use event_store::{
    EventStore, Position, Shard, StoreError, StreamName, codec::DecodeError, moment::position_at,
};

use crate::query::{Page, PageLimit, Range, Summary};
pub use shown::{group_of, members_of, read_positions_of};
use told::Told;

/// Of when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// After everything that was appended at this time or before, in unix ms.
    At(Ms),
    /// After the event at this position of the conversation's shard.
    Position(Position),
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The moment, as a position of the conversation's shard.
    pub position: Position,
    /// None for one who was not a member then.
    pub view: Option<(Summary, Page)>,
}

/// Why it cannot be said what was seen.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// Nothing was ever appended to it.
    #[error("there is no conversation {0}")]
    NoSuchConversation(ConvId),
    /// That has not happened yet.
    #[error("the conversation's shard stands at {head}, below that position")]
    BeyondHead {
        /// Where the shard stands.
        head: u64,
    },
    /// The log does not answer.
    #[error("read the log")]
    Log(#[from] StoreError),
    /// The log says something that this binary cannot tell.
    #[error("read event {version} of {stream}")]
    Event {
        /// Its stream.
        stream: StreamName,
        /// Its place there.
        version: u64,
        /// What is wrong with it.
        source: DecodeError,
    },
}

/// What `viewer` saw of a conversation at a moment.
pub async fn as_of(
    store: &dyn EventStore,
    conv: &ConvId,
    viewer: Uid,
    moment: Moment,
    range: Range,
    limit: PageLimit,
) -> Result<Seen, PastError> {
    let position = position_of(store, conv, moment).await?;
    let mut told = Told::new(store, conv);
    told.replay.watch(viewer);
    told.marks_to(position).await?;
    if !told.replay.is_member(viewer) {
        return Ok(Seen { position, view: None });
    }
    told.unread_to(position, viewer).await?;
    let page = shown::page(&mut told, viewer, range, limit).await?;
    let summary = shown::summary(&mut told, viewer).await?;
    Ok(Seen { position, view: Some((summary, page)) })
}

/// A whole conversation as it was after a position: every event is told.
pub async fn retell(store: &dyn EventStore, conv: &ConvId, position: Position) -> Result<Replay, PastError> {
    let mut told = Told::new(store, conv);
    told.marks_to(position).await?;
    told.messages_to(position, |_| {}).await?;
    Ok(told.replay)
}

async fn position_of(store: &dyn EventStore, conv: &ConvId, moment: Moment) -> Result<Position, PastError> {
    if store.conversation_position(conv).await? == Position::START {
        return Err(PastError::NoSuchConversation(conv.clone()));
    }
    let shard = Shard::of(conv, store.info().shards);
    match moment {
        Moment::At(at) => Ok(position_at(store, shard, at).await?),
        Moment::Position(position) => {
            let head = store.shard_head(shard).await?.position;
            if position > head { Err(PastError::BeyondHead { head: head.get() }) } else { Ok(position) }
        }
    }
}
