//! One row a conversation: its newest seq and activity, and what a group is called.

use std::collections::BTreeMap;

use domain::{ConvId, History, Ms, Seq};

use crate::write::{Write, column, convs, int};

/// What a batch changes of a conversation's row.
#[derive(Debug, Default, PartialEq)]
struct Change {
    name: Option<String>,
    history: Option<History>,
    max_seq: Seq,
    updated_at: Ms,
}

/// The heads of a batch.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects(BTreeMap<ConvId, Change>);

impl Effects {
    /// A message came.
    pub(crate) fn grow(&mut self, conv: &ConvId, seq: Seq, at: Ms) {
        let change = self.change(conv, at);
        change.max_seq = change.max_seq.max(seq);
    }

    /// A group was founded.
    pub(crate) fn found(&mut self, conv: &ConvId, name: &str, history: History, at: Ms) {
        let change = self.change(conv, at);
        (change.name, change.history) = (Some(name.to_owned()), Some(history));
    }

    fn change(&mut self, conv: &ConvId, at: Ms) -> &mut Change {
        let change = self.0.entry(conv.clone()).or_default();
        change.updated_at = change.updated_at.max(at);
        change
    }

    pub(crate) fn writes(self) -> impl Iterator<Item = Write> {
        let kind = |conv: &ConvId| if conv.is_group() { "group" } else { "single" };
        let columns = [
            convs(self.0.keys()),
            column(self.0.keys().map(kind)),
            column(self.0.values().map(|change| change.name.clone())),
            column(self.0.values().map(|change| change.history.map(History::name))),
            column(self.0.values().map(|change| int(change.max_seq.get()))),
            column(self.0.values().map(|change| change.updated_at)),
        ];
        Write::unless_empty(self.0.len(), "raise heads", include_str!("raise.sql"), columns).into_iter()
    }
}
