//! The order of one shard: positions dense from 1, and a time that never goes down.

use domain::Ms;

use crate::{
    port::ShardHead,
    recorded::Position,
    shard::Shard,
    verify::{Fault, What},
};

/// Where the check of one shard stands.
pub struct ShardCheck {
    shard: Shard,
    head: ShardHead,
}

impl ShardCheck {
    /// Before the first event.
    pub fn new(shard: Shard) -> Self {
        Self { shard, head: ShardHead::default() }
    }

    /// Where it stands.
    pub fn head(&self) -> ShardHead {
        self.head
    }

    /// The next event of the shard, by position.
    pub fn next(&mut self, position: Position, recorded_at: Ms, faults: &mut Vec<Fault>) {
        self.missing_up_to(position, faults);
        if recorded_at < self.head.recorded_at {
            let detail = format!("recorded at {recorded_at}, after one of {}", self.head.recorded_at);
            faults.push(Fault::in_shard(self.shard, position, What::Altered, detail));
        }
        self.head = ShardHead { position, recorded_at: recorded_at.max(self.head.recorded_at) };
    }

    /// There is nothing between where it stands and the position before this one.
    fn missing_up_to(&self, position: Position, faults: &mut Vec<Fault>) {
        let (from, to) = (self.head.position.get() + 1, position.get().saturating_sub(1));
        if from <= to {
            let detail = if from == to {
                "there is no event at this position".to_owned()
            } else {
                format!("there is no event at the positions {from} to {to}")
            };
            faults.push(Fault::in_shard(self.shard, Position::new(from), What::Missing, detail));
        }
    }

    /// The shard has no more events; somebody has seen one at `seen`.
    pub fn end(&self, seen: Position, faults: &mut Vec<Fault>) {
        if seen > self.head.position {
            let detail = format!("the shard ends here, but a checkpoint has seen position {}", seen.get());
            let position = Position::new(self.head.position.get() + 1);
            faults.push(Fault::in_shard(self.shard, position, What::Truncated, detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(events: &[(u64, Ms)], seen: u64) -> Vec<(u64, What)> {
        let (mut check, mut faults) = (ShardCheck::new(Shard::new(3)), vec![]);
        for (position, at) in events {
            check.next(Position::new(*position), *at, &mut faults);
        }
        check.end(Position::new(seen), &mut faults);
        faults.iter().map(|it| (it.position.unwrap(), it.what)).collect()
    }

    #[test]
    fn a_whole_shard_has_no_faults() {
        assert_eq!(faults(&[], 0), []);
        assert_eq!(faults(&[(1, 5), (2, 5), (3, 9)], 3), []);
    }

    #[test]
    fn gaps_times_that_go_back_and_an_early_end_are_named() {
        assert_eq!(faults(&[(2, 5)], 2), [(1, What::Missing)]);
        assert_eq!(faults(&[(1, 5), (4, 6)], 0), [(2, What::Missing)]);
        assert_eq!(faults(&[(1, 5), (2, 4), (3, 4)], 0), [(2, What::Altered), (3, What::Altered)]);
        assert_eq!(faults(&[(1, 5)], 4), [(2, What::Truncated)]);
    }
}
