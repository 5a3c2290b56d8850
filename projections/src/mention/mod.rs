//! Who is named where, so that the first unread mention is an index probe.

use domain::{ConvId, Fact, Flags, Seq};

use crate::write::{Write, column, convs, int};

/// Stands for everybody.
pub(crate) const EVERYBODY: u64 = 0;

/// The mentions of a batch: whom, in which message, by whom.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects(Vec<(ConvId, u64, Seq, u64)>);

impl Effects {
    /// Naming oneself is no mention.
    pub(crate) fn note(&mut self, conv: &ConvId, fact: &Fact) {
        let sender = fact.sender.get();
        let all = (fact.flags.get() & Flags::AT_ALL.get() != 0).then_some(EVERYBODY);
        let named = fact.mentions.iter().map(|uid| uid.get()).filter(|uid| *uid != sender);
        self.0.extend(all.into_iter().chain(named).map(|uid| (conv.clone(), uid, fact.seq, sender)));
    }

    pub(crate) fn writes(self) -> impl Iterator<Item = Write> {
        let columns = [
            convs(self.0.iter().map(|(conv, ..)| conv)),
            column(self.0.iter().map(|(_, uid, ..)| int(*uid))),
            column(self.0.iter().map(|(_, _, seq, _)| int(seq.get()))),
            column(self.0.iter().map(|(.., sender)| int(*sender))),
        ];
        Write::unless_empty(self.0.len(), "note mentions", include_str!("note.sql"), columns).into_iter()
    }
}
