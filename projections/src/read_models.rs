//! The query side of the read models about conversations: asks the generation that serves.

use std::sync::Arc;

use domain::{ConvId, Seq, Uid};
use event_store::{EventStore, Position};

use crate::{
    audience::{Audience, Listeners},
    generation::Generation,
    progress::Progress,
    query::{
        GroupRow, ListPlace, MemberRow, Page, PageLimit, QueryError, Quote, Range, ReadPosition, Readers,
        Summary, SummaryPage,
    },
    reader::Reader,
    serving::Serving,
    sync::{SyncFrom, SyncPage},
};

/// The query side. Cheap to clone.
#[derive(Clone)]
pub struct ReadModels(pub(crate) Serving<Reader>);

impl ReadModels {
    /// Of one generation, whichever serves. `progress` is the projector's, where it works in this process; else the
    /// checkpoints are looked at. Those of [`crate::Projectors`] follow the generation that serves.
    pub fn new(store: Arc<dyn EventStore>, generation: Generation, progress: Option<Arc<Progress>>) -> Self {
        Self(Serving::fixed(Reader::new(store, generation, progress, false)))
    }

    /// A page of a history.
    pub async fn page(
        &self,
        conv: &ConvId,
        viewer: Uid,
        range: Range,
        limit: PageLimit,
    ) -> Result<Page, QueryError> {
        self.0.ask(|reader| async move { reader.page(conv, viewer, range, limit).await }).await
    }

    /// Pages of several histories, at one moment. The inner errors are a range's own.
    pub async fn pages(
        &self,
        viewer: Uid,
        ranges: &[(ConvId, Range)],
    ) -> Result<Vec<Result<Page, QueryError>>, QueryError> {
        self.0.ask(|reader| async move { reader.pages(viewer, ranges).await }).await
    }

    /// A conversation as one member sees it. A single chat that nobody has used is there, too.
    pub async fn summary(&self, conv: &ConvId, viewer: Uid) -> Result<Summary, QueryError> {
        self.0.ask(|reader| async move { reader.summary(conv, viewer).await }).await
    }

    /// A group's own facts, as a member sees them.
    pub async fn group(&self, conv: &ConvId, viewer: Uid) -> Result<GroupRow, QueryError> {
        self.0.ask(|reader| async move { reader.group(conv, viewer).await }).await
    }

    /// One's conversations: pinned ones first, then the newest activity, then by id. Parked ones are left out, and
    /// hidden ones until their next message.
    pub async fn summaries(
        &self,
        viewer: Uid,
        limit: PageLimit,
        after: Option<ListPlace>,
    ) -> Result<SummaryPage, QueryError> {
        let after = &after;
        self.0.ask(|reader| async move { reader.summaries(viewer, limit, after.clone()).await }).await
    }

    /// What a person's device has missed. One probe a membership, and what has changed.
    pub async fn sync(&self, viewer: Uid, from: SyncFrom, limit: PageLimit) -> Result<SyncPage, QueryError> {
        let from = &from;
        self.0.ask(|reader| async move { reader.sync(viewer, from.clone(), limit).await }).await
    }

    /// How far one member has read.
    pub async fn read_position(&self, conv: &ConvId, uid: Uid) -> Result<ReadPosition, QueryError> {
        self.0.ask(|reader| async move { reader.read_position(conv, uid).await }).await
    }

    /// How far the members after a uid have read, ascending by uid.
    pub async fn read_positions(
        &self,
        conv: &ConvId,
        viewer: Uid,
        after: Option<Uid>,
        limit: PageLimit,
    ) -> Result<Vec<ReadPosition>, QueryError> {
        self.0.ask(|reader| async move { reader.read_positions(conv, viewer, after, limit).await }).await
    }

    /// Who has read a message.
    pub async fn readers(
        &self,
        conv: &ConvId,
        viewer: Uid,
        seq: Seq,
        after: Option<Uid>,
        limit: PageLimit,
    ) -> Result<Readers, QueryError> {
        self.0.ask(|reader| async move { reader.readers(conv, viewer, seq, after, limit).await }).await
    }

    /// The members after a uid, ascending by uid.
    pub async fn members(
        &self,
        conv: &ConvId,
        viewer: Uid,
        after: Option<Uid>,
        limit: PageLimit,
    ) -> Result<Vec<MemberRow>, QueryError> {
        self.0.ask(|reader| async move { reader.members(conv, viewer, after, limit).await }).await
    }

    /// Who is in a group, at `at` or later.
    pub async fn audience(&self, conv: &ConvId, at: Position) -> Result<Audience, QueryError> {
        self.0.ask(|reader| async move { reader.audience(conv, at).await }).await
    }

    /// Who would hear a member of a group speak; at most so many members are named.
    pub async fn listeners(&self, conv: &ConvId, speaker: Uid, most: usize) -> Result<Listeners, QueryError> {
        self.0.ask(|reader| async move { reader.listeners(conv, speaker, most).await }).await
    }

    /// Those of these people who are in a conversation with somebody now, ascending.
    pub async fn acquaintances(&self, viewer: Uid, people: &[Uid]) -> Result<Vec<Uid>, QueryError> {
        self.0.ask(|reader| async move { reader.acquaintances(viewer, people).await }).await
    }

    /// How a quoted message looks to these people, at `at` or later; those who see the same stand together.
    pub async fn quotes(
        &self,
        conv: &ConvId,
        at: Position,
        quoted: Seq,
        people: &[Uid],
    ) -> Result<Vec<(Quote, Vec<Uid>)>, QueryError> {
        self.0.ask(|reader| async move { reader.quotes(conv, at, quoted, people).await }).await
    }
}
