//! What the handlers ask of the read models. A trait, so that they can be tested without a database.

use async_trait::async_trait;
use domain::{ConvId, Ms, Seq, Uid};
use projections::query::{
    MemberRow, Page, PageLimit, QueryError, Range, ReadPosition, Readers, Summary, SummaryPage,
};

/// The questions; each answer is one moment, seen through the viewer's eyes.
#[async_trait]
pub trait Queries: Send + Sync + 'static {
    /// A page of a history.
    async fn page(&self, conv: &ConvId, viewer: Uid, range: Range, limit: PageLimit) -> Result<Page, QueryError>;

    /// One conversation.
    async fn summary(&self, conv: &ConvId, viewer: Uid) -> Result<Summary, QueryError>;

    /// The viewer's conversations, newest activity first.
    async fn summaries(
        &self,
        viewer: Uid,
        limit: PageLimit,
        after: Option<(Ms, ConvId)>,
    ) -> Result<SummaryPage, QueryError>;

    /// How far the members have read, ascending by uid.
    async fn read_positions(
        &self,
        conv: &ConvId,
        viewer: Uid,
        after: Option<Uid>,
        limit: PageLimit,
    ) -> Result<Vec<ReadPosition>, QueryError>;

    /// Who has read a message.
    async fn readers(
        &self,
        conv: &ConvId,
        viewer: Uid,
        seq: Seq,
        after: Option<Uid>,
        limit: PageLimit,
    ) -> Result<Readers, QueryError>;

    /// Who is in a group, ascending by uid.
    async fn members(
        &self,
        conv: &ConvId,
        viewer: Uid,
        after: Option<Uid>,
        limit: PageLimit,
    ) -> Result<Vec<MemberRow>, QueryError>;
}
