//! What `standing.sql` is asked, and how its rows are read.

use domain::{ConvId, Uid};
use tokio_postgres::{Error, Row, types::ToSql};

use super::Standing;
use crate::{CONVERSATION, write::int};

/// The parameters of `standing.sql`.
pub(crate) struct Asked<'a> {
    convs: &'a [ConvId],
    texts: Vec<&'a str>,
    peers: Vec<Option<i64>>,
    viewer: i64,
    generation: i32,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(convs: &'a [ConvId], viewer: Uid, generation: i32) -> Self {
        Self {
            convs,
            texts: convs.iter().map(ConvId::as_str).collect(),
            peers: convs.iter().map(|conv| conv.peer_of(viewer).map(|peer| int(peer.get()))).collect(),
            viewer: int(viewer.get()),
            generation,
        }
    }

    pub(crate) fn params(&self) -> [&(dyn ToSql + Sync); 5] {
        [&self.texts, &self.viewer, &self.peers, &CONVERSATION, &self.generation]
    }

    /// Rows come in any order.
    pub(crate) fn read(&self, rows: &[Row]) -> Result<Vec<Standing>, Error> {
        let mut standings = Vec::with_capacity(rows.len());
        for row in rows {
            let text: &str = row.try_get(0)?;
            if let Some(conv) = self.convs.iter().find(|conv| conv.as_str() == text) {
                standings.push(Standing::read(conv.clone(), row)?);
            }
        }
        Ok(standings)
    }
}
