//! Where somebody stands in a whole log: one position a shard.

use crate::{recorded::Position, shard::Shard};

/// A position for every shard of a log, by shard number. What lies at or below it is known to its holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector(Vec<Position>);

impl Vector {
    /// Before the first event of every shard.
    pub fn start(shards: u16) -> Self {
        Self(vec![Position::START; usize::from(shards)])
    }

    /// By shard number.
    pub fn new(positions: Vec<Position>) -> Self {
        Self(positions)
    }

    /// How many shards it speaks of.
    pub fn shards(&self) -> u16 {
        self.0.len() as u16
    }

    /// Where it stands in a shard; at the start of one that it does not know.
    pub fn at(&self, shard: Shard) -> Position {
        self.0.get(usize::from(shard.get())).copied().unwrap_or(Position::START)
    }

    /// Moves one component up to at least this. A shard that it does not know is passed over.
    pub fn raise(&mut self, shard: Shard, position: Position) {
        if let Some(stands) = self.0.get_mut(usize::from(shard.get())) {
            *stands = position.max(*stands);
        }
    }

    /// Moves one component down to at most this.
    pub fn lower(&mut self, shard: Shard, position: Position) {
        if let Some(stands) = self.0.get_mut(usize::from(shard.get())) {
            *stands = position.min(*stands);
        }
    }

    /// What both know.
    #[must_use]
    pub fn min(mut self, other: &Self) -> Self {
        self.iter().for_each(|(shard, _)| self.lower(shard, other.at(shard)));
        self
    }

    /// What either knows.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        self.iter().for_each(|(shard, _)| self.raise(shard, other.at(shard)));
        self
    }

    /// Does it know something in any shard that the other does not? A cursor that is ahead of its log is from
    /// before a restore.
    pub fn is_ahead_of(&self, other: &Self) -> bool {
        self.iter().any(|(shard, position)| position > other.at(shard))
    }

    /// Its components, by shard number.
    pub fn iter(&self) -> impl Iterator<Item = (Shard, Position)> + use<> {
        let positions = self.0.clone();
        (0..).map(Shard::new).zip(positions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(positions: [u64; 3]) -> Vector {
        Vector::new(positions.map(Position::new).to_vec())
    }

    #[test]
    fn what_both_know_and_what_either_knows() {
        let (a, b) = (vector([1, 5, 3]), vector([2, 4, 3]));
        assert_eq!(a.clone().min(&b), vector([1, 4, 3]));
        assert_eq!(a.clone().merge(&b), vector([2, 5, 3]));
        assert!(a.is_ahead_of(&b) && b.is_ahead_of(&a));
        assert!(!a.is_ahead_of(&a) && !a.clone().min(&b).is_ahead_of(&a));
        assert!(a.is_ahead_of(&Vector::start(3)) && !Vector::start(3).is_ahead_of(&a));
    }

    #[test]
    fn one_component_moves_alone() {
        let mut it = vector([1, 5, 3]);
        it.raise(Shard::new(0), Position::new(9));
        it.raise(Shard::new(1), Position::new(2));
        it.lower(Shard::new(2), Position::new(2));
        it.raise(Shard::new(7), Position::new(2));
        assert_eq!(it, vector([9, 5, 2]));
    }
}
