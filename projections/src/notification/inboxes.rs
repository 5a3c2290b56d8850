//! The query side of notifications: asks the generation that serves.

use domain::Uid;

use super::query::{Bounds, Inbox, InboxReader, InboxStanding};
use crate::{
    query::{PageLimit, QueryError},
    serving::Serving,
};

/// The query side. Cheap to clone.
#[derive(Clone)]
pub struct Inboxes(pub(crate) Serving<InboxReader>);

impl Inboxes {
    /// A page of what is for a person.
    pub async fn page(&self, uid: Uid, bounds: Bounds, limit: PageLimit) -> Result<Inbox, QueryError> {
        self.0.ask(|reader| async move { reader.page(uid, bounds, limit).await }).await
    }

    /// Where a person stands.
    pub async fn standing(&self, uid: Uid) -> Result<InboxStanding, QueryError> {
        self.0.ask(|reader| async move { reader.standing(uid).await }).await
    }

    /// How many events of notifications this read model has passed over.
    pub async fn skipped(&self) -> Result<u64, QueryError> {
        self.0.ask(|reader| async move { reader.skipped().await }).await
    }
}
