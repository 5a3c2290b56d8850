//! One row a conversation: its newest seq and activity, and a group's own facts.

pub(crate) mod query;

use std::collections::BTreeMap;

use domain::{ConvId, GroupChange, History, Invite, Ms, Seq};

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
pub(crate) struct Effects {
    raised: BTreeMap<ConvId, Change>,
    /// What owners have changed, and whether the group is over.
    changed: BTreeMap<ConvId, (GroupChange, bool)>,
    /// What retention has taken.
    expired: BTreeMap<ConvId, Seq>,
}

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

    /// A group is otherwise now. No activity.
    pub(crate) fn change_group(&mut self, conv: &ConvId, change: GroupChange) {
        let (stands, _) = self.changed.entry(conv.clone()).or_default();
        stands.name = change.name.or(stands.name.take());
        stands.history = change.history.or(stands.history);
        stands.mute_all = change.mute_all.or(stands.mute_all);
        stands.invite = change.invite.or(stands.invite);
    }

    /// A group is over.
    pub(crate) fn dissolve(&mut self, conv: &ConvId) {
        self.changed.entry(conv.clone()).or_default().1 = true;
    }

    /// Everything up to here is gone. No activity.
    pub(crate) fn expire(&mut self, conv: &ConvId, up_to: Seq) {
        let stands = self.expired.entry(conv.clone()).or_default();
        *stands = up_to.max(*stands);
    }

    fn change(&mut self, conv: &ConvId, at: Ms) -> &mut Change {
        let change = self.raised.entry(conv.clone()).or_default();
        change.updated_at = change.updated_at.max(at);
        change
    }

    pub(crate) fn writes(self) -> impl Iterator<Item = Write> {
        let Self { raised, changed, expired } = self;
        let kind = |conv: &ConvId| if conv.is_group() { "group" } else { "single" };
        let columns = [
            convs(raised.keys()),
            column(raised.keys().map(kind)),
            column(raised.values().map(|change| change.name.clone())),
            column(raised.values().map(|change| change.history.map(History::name))),
            column(raised.values().map(|change| int(change.max_seq.get()))),
            column(raised.values().map(|change| change.updated_at)),
        ];
        let raise = Write::unless_empty(raised.len(), "raise heads", include_str!("raise.sql"), columns);
        let columns = [
            convs(changed.keys()),
            column(changed.values().map(|(change, _)| change.name.clone())),
            column(changed.values().map(|(change, _)| change.history.map(History::name))),
            column(changed.values().map(|(change, _)| change.mute_all)),
            column(changed.values().map(|(change, _)| change.invite.map(Invite::name))),
            column(changed.values().map(|(_, dissolved)| *dissolved)),
        ];
        let change = Write::unless_empty(changed.len(), "change groups", include_str!("change.sql"), columns);
        let columns = [convs(expired.keys()), column(expired.values().map(|seq| int(seq.get())))];
        let expire =
            Write::unless_empty(expired.len(), "expire histories", include_str!("expire.sql"), columns);
        // A group that is founded and changed in one batch is founded first.
        raise.into_iter().chain(change).chain(expire)
    }
}
