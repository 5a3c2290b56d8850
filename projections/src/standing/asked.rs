//! What `standing.sql` is asked, and how its rows are read.

use std::collections::HashMap;

use domain::{ConvId, Uid};
use event_store::Shard;
use tokio_postgres::{Error, Row, types::ToSql};

use super::Standing;
use crate::{CONVERSATION, write::int};

/// The parameters of `standing.sql`.
pub(crate) struct Asked<'a> {
    convs: &'a [ConvId],
    texts: Vec<&'a str>,
    peers: Vec<Option<i64>>,
    shards: Vec<i32>,
    viewer: i64,
    generation: i32,
}

impl<'a> Asked<'a> {
    /// `shards`: how many the log has.
    pub(crate) fn new(convs: &'a [ConvId], viewer: Uid, generation: i32, shards: u16) -> Self {
        Self {
            convs,
            texts: convs.iter().map(ConvId::as_str).collect(),
            peers: convs.iter().map(|conv| conv.peer_of(viewer).map(|peer| int(peer.get()))).collect(),
            shards: convs.iter().map(|conv| Shard::of(conv, shards).get().into()).collect(),
            viewer: int(viewer.get()),
            generation,
        }
    }

    pub(crate) fn params(&self) -> [&(dyn ToSql + Sync); 6] {
        [&self.texts, &self.viewer, &self.peers, &CONVERSATION, &self.generation, &self.shards]
    }

    /// Rows come in any order.
    pub(crate) fn read(&self, rows: &[Row]) -> Result<Vec<Standing>, Error> {
        let convs: HashMap<&str, &ConvId> = self.texts.iter().copied().zip(self.convs).collect();
        let mut standings = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(conv) = convs.get(row.try_get::<_, &str>(0)?) {
                standings.push(Standing::read(ConvId::clone(conv), row)?);
            }
        }
        Ok(standings)
    }
}
