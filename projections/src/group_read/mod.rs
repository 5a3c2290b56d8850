//! How far each member has read. A position only goes up, whatever arrives.

pub(crate) mod query;

use std::collections::BTreeMap;

use domain::{ConvId, Ms, Seq, Uid};

use crate::write::{Write, column, convs, int};

/// The highest positions of a batch, and when they were reached.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects(BTreeMap<(ConvId, Uid), (Seq, Ms)>);

impl Effects {
    /// Reading, sending and joining raise. Of the same position the first report counts.
    pub(crate) fn raise(&mut self, conv: &ConvId, uid: Uid, read_seq: Seq, at: Ms) {
        let stands = self.0.entry((conv.clone(), uid)).or_default();
        if read_seq > stands.0 {
            *stands = (read_seq, at);
        }
    }

    pub(crate) fn writes(mut self) -> impl Iterator<Item = Write> {
        self.0.retain(|_, (seq, _)| *seq > Seq::ZERO);
        let columns = [
            convs(self.0.keys().map(|(conv, _)| conv)),
            column(self.0.keys().map(|(_, uid)| int(uid.get()))),
            column(self.0.values().map(|(seq, _)| int(seq.get()))),
            column(self.0.values().map(|(_, at)| *at)),
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
            effects.raise(&conv, ana, Seq::new(seq), at);
        }
        assert_eq!(effects.0.into_values().collect::<Vec<_>>(), [(Seq::new(5), 50)]);
    }
}
