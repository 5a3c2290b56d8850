//! Chance that can be had again: one seed, and from it a stream of its own for everybody who draws.

use std::f64::consts::TAU;

use uuid::{Builder, Uuid};

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// From this seed, for the drawer with this name. Who draws more or less does not change what others draw.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut dice = Self(seed);
        for byte in name.bytes() {
            dice.0 = dice.number() ^ u64::from(byte);
        }
        dice
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Any number below `end`; 0 where that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % (end.max(1) as u64)) as usize
    }

    /// Any number from 0 to 1, without 1.
    pub fn part(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True so often, from 0 (never) to 1 (always).
    pub fn happens(&mut self, probability: f64) -> bool {
        self.part() < probability
    }

    /// One of these, if there is one.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// Brings them into any order.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for end in (1..all.len()).rev() {
            all.swap(end, self.below(end + 1));
        }
    }

    /// Log-normal: half of all draws lie below the median; `spread` is the deviation of the logarithm.
    pub fn log_normal(&mut self, median: f64, spread: f64) -> f64 {
        // Box and Muller; 1 - part is never 0.
        let radius = (-2.0 * (1.0 - self.part()).ln()).sqrt();
        median * (spread * radius * (TAU * self.part()).cos()).exp()
    }

    /// How long until something happens that happens once in `mean` on average.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.part()).ln()
    }

    /// A UUID of version 4.
    pub fn uuid(&mut self) -> Uuid {
        let bytes = (u128::from(self.number()) << 64 | u128::from(self.number())).to_be_bytes();
        Builder::from_random_bytes(bytes).into_uuid()
    }
}

/// Few are drawn often and many seldom: the n-th with a weight of 1 / n^exponent.
#[derive(Debug, Clone)]
pub struct Zipf(Vec<f64>);

impl Zipf {
    /// Over the places 0 to `count`, without `count`.
    pub fn new(count: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        let weight = |place: usize| 1.0 / (place as f64 + 1.0).powf(exponent);
        Self(
            (0..count)
                .map(|place| {
                    sum += weight(place);
                    sum
                })
                .collect(),
        )
    }

    /// A place; 0 where there is none.
    pub fn draw(&self, dice: &mut Dice) -> usize {
        let Some(sum) = self.0.last() else { return 0 };
        let drawn = dice.part() * sum;
        self.0.partition_point(|reached| *reached <= drawn).min(self.0.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_draws_the_same_and_another_something_else() {
        let draw = |seed, name: &str| Dice::new(seed, name).number();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn half_of_a_log_normal_lies_below_its_median() {
        let mut dice = Dice::new(7, "half");
        let below = (0..10_000).filter(|_| dice.log_normal(8.0, 1.0) < 8.0).count();
        assert!((4_700..5_300).contains(&below), "{below}");
    }

    #[test]
    fn the_first_place_is_drawn_as_often_as_its_weight_says() {
        let (zipf, mut dice) = (Zipf::new(100, 1.1), Dice::new(7, "zipf"));
        let mut drawn = [0u32; 100];
        (0..10_000).for_each(|_| drawn[zipf.draw(&mut dice)] += 1);
        assert!((2_000..3_000).contains(&drawn[0]), "{}", drawn[0]);
        assert!(drawn[0] > drawn[1] && drawn[1] > drawn[9]);
    }
}
