//! Every conversation that a person is or ever was in: what a hold on them covers, and where they may have spoken.

use std::collections::BTreeSet;

use domain::{ConvId, Uid};
use tokio_postgres::types::ToSql;

use crate::{
    departure::DEPARTURES,
    member::query::{MEMBERSHIPS, MEMBERSHIPS_AT_ONCE},
    query::QueryError,
    read_models::ReadModels,
    reader::Reader,
    snapshot::Ask,
    write::int,
};

impl ReadModels {
    /// A page of them behind one, ascending by id, from read models that have passed the log's heads of this moment;
    /// empty once there are no more.
    pub async fn ever_in(&self, person: Uid, after: Option<&ConvId>) -> Result<Vec<ConvId>, QueryError> {
        self.0.ask(|reader| async move { reader.ever_in(person, after).await }).await
    }
}

impl Reader {
    pub(crate) async fn ever_in(
        &self,
        person: Uid,
        after: Option<&ConvId>,
    ) -> Result<Vec<ConvId>, QueryError> {
        let doing = "read where somebody is or was";
        let (uid, most) = (int(person.get()), MEMBERSHIPS_AT_ONCE as i64);
        let behind = after.map_or("", ConvId::as_str);
        let params: [&(dyn ToSql + Sync); 3] = [&uid, &behind, &most];
        let (snapshot, _, _, here) = self.abreast(doing, Ask { sql: MEMBERSHIPS, params: &params }).await?;
        let [left] = snapshot.ask([Ask { sql: DEPARTURES, params: &params }]).await?;
        let mut convs = BTreeSet::new();
        let mut bound: Option<ConvId> = None;
        for rows in [&here, &left] {
            let mut last = None;
            for row in rows {
                let text: &str = row.try_get(0).map_err(|error| snapshot.failed(error))?;
                let conv = ConvId::parse(text).map_err(|error| snapshot.failed(error))?;
                convs.insert(conv.clone());
                last = Some(conv);
            }
            // Where one list goes on, the other is good only as far.
            if rows.len() == MEMBERSHIPS_AT_ONCE {
                bound = bound.into_iter().chain(last).min();
            }
        }
        Ok(convs.into_iter().filter(|conv| bound.as_ref().is_none_or(|bound| conv <= bound)).collect())
    }
}
