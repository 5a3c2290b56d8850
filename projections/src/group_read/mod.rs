//! How far each member has read. A position only goes up, whatever arrives.

pub(crate) mod query;

use std::collections::BTreeMap;

use domain::{ConvId, Ms, Seq, Uid};
use event_store::Position;

use crate::write::{Write, column, convs, int};

/// The highest positions of a batch, when they were reached, and which event said so.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects(BTreeMap<(ConvId, Uid), (Seq, Ms, Position)>);

impl Effects {
    /// Reading, sending and joining raise. Of the same position the first report counts.
    pub(crate) fn raise(&mut self, conv: &ConvId, uid: Uid, read_seq: Seq, at: Ms, by: Position) {
        let stands = self.0.entry((conv.clone(), uid)).or_default();
        if read_seq > stands.0 {
            *stands = (read_seq, at, by);
        }
    }

    pub(crate) fn writes(mut self) -> impl Iterator<Item = Write> {
        self.0.retain(|_, (seq, ..)| *seq > Seq::ZERO);
        let columns = [
            convs(self.0.keys().map(|(conv, _)| conv)),
            column(self.0.keys().map(|(_, uid)| int(uid.get()))),
            column(self.0.values().map(|(seq, ..)| int(seq.get()))),
            column(self.0.values().map(|(_, at, _)| *at)),
            column(self.0.values().map(|(.., by)| int(by.get()))),
        ];
        Write::unless_empty(self.0.len(), "raise read positions", include_str!("raise.sql"), columns)
            .into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_only_goes_up() {
        let (conv, ana) = (ConvId::parse("grp-a").unwrap(), Uid::new(1).unwrap());
        let mut effects = Effects::default();
        for (seq, at) in [(5, 50), (3, 60), (5, 70)] {
            let by = Position::new(at as u64);
            effects.raise(&conv, ana, Seq::new(seq), at, by);
        }
        assert_eq!(effects.0.into_values().collect::<Vec<_>>(), [(Seq::new(5), 50, Position::new(50))]);
    }
}
