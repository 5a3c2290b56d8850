//! Reads a conversation's events page by page: constant memory and no long transaction, whatever its length.

use std::sync::Arc;

use domain::ConvId;
use event_store::{EventStore, Position, Recorded, StoreError};

/// Events read at once; with the largest bodies some 20 MB.
const PAGE_EVENTS: u32 = 256;

/// A reading under way.
pub struct Replay {
    store: Arc<dyn EventStore>,
    conv: ConvId,
    after: Position,
    /// How many may still come.
    left: u64,
    over: bool,
}

impl Replay {
    /// Begins after a position; at most `limit` events, or all.
    pub fn new(store: Arc<dyn EventStore>, conv: ConvId, after: Position, limit: Option<u64>) -> Self {
        Self { store, conv, after, left: limit.unwrap_or(u64::MAX), over: false }
    }

    /// The next page; none when it is over. What is appended meanwhile comes, too.
    pub async fn next(&mut self) -> Result<Option<Vec<Recorded>>, StoreError> {
        let wanted = u32::try_from(self.left).unwrap_or(u32::MAX).min(PAGE_EVENTS);
        if self.over || wanted == 0 {
            return Ok(None);
        }
        let page = self.store.read_conversation(&self.conv, self.after, wanted).await?;
        self.left = self.left.saturating_sub(page.len() as u64);
        self.over = page.len() < wanted as usize;
        let Some(last) = page.last() else { return Ok(None) };
        self.after = last.header.position;
        Ok(Some(page))
    }

    /// Is there such a conversation at all?
    pub async fn exists(&self) -> Result<bool, StoreError> {
        Ok(self.store.conversation_position(&self.conv).await? > Position::START)
    }
}
