//! How far each person has cleared a history: one number, whatever its length.

use std::collections::BTreeMap;

use domain::{ConvId, Seq, Uid};

use crate::write::{Write, column, convs, int};

/// The highest watermarks of a batch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects(BTreeMap<(ConvId, Uid), Seq>);

impl Effects {
    /// A watermark only goes up.
    pub(crate) fn raise(&mut self, conv: &ConvId, uid: Uid, cleared: Seq) {
        let stands = self.0.entry((conv.clone(), uid)).or_default();
        *stands = cleared.max(*stands);
    }

    pub(crate) fn writes(self) -> impl Iterator<Item = Write> {
        let columns = [
            convs(self.0.keys().map(|(conv, _)| conv)),
            column(self.0.keys().map(|(_, uid)| int(uid.get()))),
            column(self.0.values().map(|seq| int(seq.get()))),
        ];
        Write::unless_empty(self.0.len(), "raise watermarks", include_str!("raise.sql"), columns).into_iter()
    }
}
