//! How each person wants a conversation in their list: pinned, muted.

use std::collections::BTreeMap;

use domain::{ConvId, Settings, Uid};

use crate::write::{Write, column, convs, int};

/// The last settings of a batch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects(BTreeMap<(ConvId, Uid), Settings>);

impl Effects {
    /// The last word counts.
    pub(crate) fn set(&mut self, conv: &ConvId, uid: Uid, settings: Settings) {
        self.0.insert((conv.clone(), uid), settings);
    }

    pub(crate) fn writes(self) -> impl Iterator<Item = Write> {
        let columns = [
            convs(self.0.keys().map(|(conv, _)| conv)),
            column(self.0.keys().map(|(_, uid)| int(uid.get()))),
            column(self.0.values().map(|settings| settings.pinned)),
            column(self.0.values().map(|settings| settings.muted)),
        ];
        Write::unless_empty(self.0.len(), "set settings", include_str!("set.sql"), columns).into_iter()
    }
}
