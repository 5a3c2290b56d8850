//! Chance that can be had again: seeded, and the seed is printed.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Names the seed of a run that shall be had again.
pub const SEED_VARIABLE: &str = "QUIPU_TEST_SEED";

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// From the seed that QUIPU_TEST_SEED names, else from one of this run; it is printed, and shown where the test
    /// fails.
    #[expect(clippy::print_stderr, reason = "who wants to have it again needs the seed")]
    pub fn of_this_run() -> Self {
        let named = std::env::var(SEED_VARIABLE).ok();
        let seed = match named {
            Some(seed) => seed.parse().unwrap_or_else(|error| panic!("read {SEED_VARIABLE}: {error}")),
            None => RandomState::new().build_hasher().finish(),
        };
        eprintln!("{SEED_VARIABLE}={seed}");
        Self(seed)
    }

    /// From this seed.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    /// One of these, of which there is one at least.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }

    /// Brings them into any order.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for end in (1..all.len()).rev() {
            all.swap(end, self.below(end as u64 + 1) as usize);
        }
    }
}
