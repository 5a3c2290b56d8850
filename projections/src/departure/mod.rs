//! Which groups a person has left, and where in the shard's order: so that a device that was away hears of it.
//! Who comes back keeps the row; membership says whether it still counts.

use std::collections::BTreeMap;

use domain::{ConvId, Uid};
use event_store::Position;

use crate::write::{Write, column, convs, int};

pub(crate) const DEPARTURES: &str = include_str!("departures.sql");

/// The last departures of a batch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects(BTreeMap<(Uid, ConvId), Position>);

impl Effects {
    /// Left or was removed.
    pub(crate) fn note(&mut self, conv: &ConvId, uid: Uid, position: Position) {
        self.0.insert((uid, conv.clone()), position);
    }

    pub(crate) fn writes(self) -> impl Iterator<Item = Write> {
        let columns = [
            column(self.0.keys().map(|(uid, _)| int(uid.get()))),
            convs(self.0.keys().map(|(_, conv)| conv)),
            column(self.0.values().map(|position| int(position.get()))),
        ];
        Write::unless_empty(self.0.len(), "note departures", include_str!("note.sql"), columns).into_iter()
    }
}
