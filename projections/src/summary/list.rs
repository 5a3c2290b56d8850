//! A page of somebody's list: which conversations stand on it, in which order, and where the next page begins.

use std::cmp::Reverse;

use domain::{ConvId, Uid};

use super::summaries;
use crate::{
    member::query::{self as member, Place},
    query::{ListPlace, PageLimit, QueryError, SummaryPage},
    reader::Reader,
    snapshot::Ask,
    standing::{STANDING, Standing},
};

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

impl Reader {
    /// One's conversations: pinned ones first, then the newest activity, then by id. Parked ones are left out, and
    /// hidden ones until their next message.
    pub(crate) async fn summaries(
        &self,
        viewer: Uid,
        limit: PageLimit,
        after: Option<ListPlace>,
    ) -> Result<SummaryPage, QueryError> {
        let (snapshot, memberships) = self.memberships("list conversations", viewer).await?;
        let after = after.map(|ListPlace { pinned, at, conv }| Place::new(pinned, at, conv));
        let (generation, wanted) = (self.generation().number(), limit.get() as usize);
        let (convs, last) = if memberships.len() <= wanted {
            // All of them fit: where they stand says which are shown, and in which order.
            let conv = |row: &tokio_postgres::Row| Ok::<_, BoxedError>(ConvId::parse(row.try_get(0)?)?);
            let convs = memberships.iter().map(conv).collect::<Result<Vec<_>, _>>();
            (convs.map_err(|error| snapshot.failed(error))?, None)
        } else {
            let inbox = member::inbox(&snapshot, viewer, generation, memberships, after.clone(), wanted + 1);
            // One more than fits, to know whether there is a next page.
            let mut places = inbox.await?;
            let more = places.len() > wanted;
            places.truncate(wanted);
            let convs = places.iter().map(|Place(_, _, conv)| conv.clone()).collect();
            (convs, places.pop().filter(|_| more))
        };
        let asked = self.asked(&convs, viewer);
        let [rows] = snapshot.ask([Ask { sql: STANDING, params: &asked.params() }]).await?;
        let mut standings = asked.read(&rows).map_err(|error| snapshot.failed(error))?;
        let place = |it: &Standing| Place::new(it.settings.pinned, it.updated_at(), it.conv.clone());
        standings.retain(|it| it.is_listed() && after.as_ref().is_none_or(|after| place(it) > *after));
        standings.sort_by_cached_key(place);
        let next = last.map(|Place(Reverse(pinned), Reverse(at), conv)| ListPlace { pinned, at, conv });
        Ok(SummaryPage { conversations: summaries(&snapshot, viewer, &standings).await?, next })
    }
}
