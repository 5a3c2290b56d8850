//! Who there is and who talks where, drawn from one seed before anything happens. No I/O, no time.

use std::collections::BTreeSet;

use crate::chance::{Dice, Zipf};

/// Half of all groups have fewer members.
const GROUP_MEDIAN: f64 = 8.0;
/// How far group sizes spread: the deviation of the logarithm.
const GROUP_SPREAD: f64 = 0.8;
/// A group of fewer is a single chat.
const GROUP_LEAST: usize = 3;
/// One group of so many is a large one.
const LARGE_ONE_OF: usize = 100;
/// Members of a large group, as far as there are people.
const LARGE: usize = 500;
/// Of all conversations, so many are single chats.
const SINGLES: f64 = 0.4;
/// Of all groups, so many show everything to those who come later.
const SHOWING_ALL: f64 = 0.2;
/// Of all groups, in so many people come and go.
const CHURNING: f64 = 0.25;
/// How unevenly people and conversations talk.
pub const TALK_EXPONENT: f64 = 1.1;
/// Runs with other seeds use other people, so that they may follow each other on one server.
const PEOPLE_OF_A_SEED: u64 = 10_000;

/// All that is settled beforehand.
#[derive(Debug, Clone)]
pub struct Plan {
    pub people: Vec<u64>,
    /// The busiest first.
    pub conversations: Vec<Planned>,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    pub conv: String,
    /// Who talks most comes first. A group's owner is the first.
    pub members: Vec<u64>,
    pub kind: Kind,
    /// Do people come and go here?
    pub churns: bool,
}

/// Which sort of conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Single,
    Group { shows_all: bool },
}

impl Plan {
    /// Draws everything.
    pub fn new(seed: u64, people: usize, conversations: usize) -> Self {
        let mut dice = Dice::new(seed, "plan");
        let first = 1_000_000_000 + seed % 1_000_000 * PEOPLE_OF_A_SEED;
        let mut drawn: Vec<u64> = (0..people as u64).map(|n| first + n).collect();
        let people = drawn.clone();
        // Who is known to many is another one with each seed.
        dice.shuffle(&mut drawn);
        let known = Zipf::new(people.len(), TALK_EXPONENT / 2.0);
        let singles = (conversations as f64 * SINGLES) as usize;
        let mut all = single_chats(&mut dice, &drawn, &known, singles);
        let groups = conversations.saturating_sub(all.len());
        all.extend((0..groups).map(|n| group(&mut dice, &drawn, &known, seed, n)));
        dice.shuffle(&mut all);
        Self { people, conversations: all }
    }
}

fn single_chats(dice: &mut Dice, people: &[u64], known: &Zipf, count: usize) -> Vec<Planned> {
    let mut pairs = BTreeSet::new();
    // Few people have few pairs: after so many draws those that there are do.
    for _ in 0..count * 4 {
        let (one, other) = (people[known.draw(dice)], people[dice.below(people.len())]);
        if one != other && pairs.len() < count {
            pairs.insert((one.min(other), one.max(other)));
        }
    }
    let single = |(lo, hi)| {
        let (conv, members) = (format!("p2p-{lo}-{hi}"), vec![lo, hi]);
        Planned { conv, members, kind: Kind::Single, churns: false }
    };
    pairs.into_iter().map(single).collect()
}

fn group(dice: &mut Dice, people: &[u64], known: &Zipf, seed: u64, n: usize) -> Planned {
    let large = n.is_multiple_of(LARGE_ONE_OF);
    let drawn = dice.log_normal(GROUP_MEDIAN, GROUP_SPREAD).round() as usize;
    let size = if large { LARGE } else { drawn.max(GROUP_LEAST) }.min(people.len());
    let mut members: Vec<u64> = Vec::with_capacity(size);
    while members.len() < size {
        // Past half of all people it is quicker to take those who are left.
        if members.len() * 2 >= people.len() {
            let mut left: Vec<u64> = people.iter().copied().filter(|uid| !members.contains(uid)).collect();
            dice.shuffle(&mut left);
            members.extend(left.into_iter().take(size - members.len()));
        } else {
            let uid = people[known.draw(dice)];
            if !members.contains(&uid) {
                members.push(uid);
            }
        }
    }
    dice.shuffle(&mut members);
    let kind = Kind::Group { shows_all: dice.happens(SHOWING_ALL) };
    let churns = dice.happens(CHURNING);
    Planned { conv: format!("grp-pop-{seed:016x}-{n}"), members, kind, churns }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(plan: &Plan) -> Vec<usize> {
        let groups = plan.conversations.iter().filter(|it| it.kind != Kind::Single);
        let mut sizes: Vec<usize> = groups.map(|it| it.members.len()).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn one_seed_is_one_population() {
        let plan = |seed| Plan::new(seed, 50, 100).conversations;
        assert_eq!(plan(1), plan(1));
        assert_ne!(plan(1), plan(2));
    }

    #[test]
    fn groups_are_small_but_for_one_in_a_hundred() {
        let sizes = sizes(&Plan::new(3, 600, 1000));
        assert!((7..=9).contains(&sizes[sizes.len() / 2]), "{}", sizes[sizes.len() / 2]);
        assert_eq!(sizes.iter().filter(|size| **size == LARGE).count(), sizes.len().div_ceil(LARGE_ONE_OF));
        assert!(sizes[0] >= GROUP_LEAST);
    }

    #[test]
    fn nobody_is_in_a_conversation_twice_and_no_pair_talks_in_two() {
        let plan = Plan::new(4, 12, 60);
        let mut convs = BTreeSet::new();
        for planned in &plan.conversations {
            let members: BTreeSet<_> = planned.members.iter().collect();
            assert_eq!(members.len(), planned.members.len(), "{}", planned.conv);
            assert!(convs.insert(&planned.conv), "{} twice", planned.conv);
        }
    }
}
