//! How far each person has cleared a history, and up to where a conversation is out of their list: one number each,
//! whatever the history's length.

use std::collections::BTreeMap;

use domain::{ConvId, Seq, Uid};

use crate::write::{Write, column, convs, int};

/// One person's watermarks.
#[derive(Debug, Default, PartialEq)]
struct Marks {
    cleared: Seq,
    hidden: Option<Seq>,
}

/// The highest watermarks of a batch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects(BTreeMap<(ConvId, Uid), Marks>);

impl Effects {
    /// A watermark only goes up.
    pub(crate) fn clear(&mut self, conv: &ConvId, uid: Uid, up_to: Seq) {
        let marks = self.0.entry((conv.clone(), uid)).or_default();
        marks.cleared = marks.cleared.max(up_to);
    }

    /// What is hidden is cleared, too.
    pub(crate) fn hide(&mut self, conv: &ConvId, uid: Uid, up_to: Seq) {
        self.clear(conv, uid, up_to);
        let marks = self.0.entry((conv.clone(), uid)).or_default();
        marks.hidden = marks.hidden.max(Some(up_to));
    }

    pub(crate) fn writes(self) -> impl Iterator<Item = Write> {
        let columns = [
            convs(self.0.keys().map(|(conv, _)| conv)),
            column(self.0.keys().map(|(_, uid)| int(uid.get()))),
            column(self.0.values().map(|marks| int(marks.cleared.get()))),
            column(self.0.values().map(|marks| marks.hidden.map(|seq| int(seq.get())))),
        ];
        Write::unless_empty(self.0.len(), "raise watermarks", include_str!("raise.sql"), columns).into_iter()
    }
}
