//! Where a message lives in the history: buckets of 100. Four pure functions and the bits of one bucket.

use crate::ids::Seq;

/// Messages in a bucket. Part of the data: it is stored when the log is created, and a binary with another one
/// refuses to start.
pub const BUCKET_SIZE: u64 = 100;

/// A bucket's number, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket(u64);

impl Bucket {
    /// By its number, from 0.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The bucket that holds this message. `seq` is from 1.
    pub const fn of(seq: Seq) -> Self {
        Self(seq.get().saturating_sub(1) / BUCKET_SIZE)
    }

    /// The message's place in its bucket, 0..=99. `seq` is from 1.
    pub const fn slot(seq: Seq) -> u8 {
        (seq.get().saturating_sub(1) % BUCKET_SIZE) as u8
    }

    /// The message at a place of this bucket.
    pub const fn seq_at(self, slot: u8) -> Seq {
        Seq::new(self.0 * BUCKET_SIZE + slot as u64 + 1)
    }

    /// The last seq that this bucket takes; the bucket is full when it comes.
    pub const fn last_seq(self) -> Seq {
        self.seq_at((BUCKET_SIZE - 1) as u8)
    }

    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// One bit for each place of a bucket: which of its messages one person has deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bits(u128);

impl Bits {
    /// No bit set.
    pub const EMPTY: Self = Self(0);

    /// From the low [`BUCKET_SIZE`] bits; the others are dropped.
    pub const fn new(bits: u128) -> Self {
        Self(bits & ((1 << BUCKET_SIZE) - 1))
    }

    /// The bits as a number, slot 0 lowest.
    pub const fn get(self) -> u128 {
        self.0
    }

    /// Is this place's bit set?
    pub const fn has(self, slot: u8) -> bool {
        self.0 >> slot & 1 == 1
    }

    /// Sets or unsets one bit.
    pub fn set(&mut self, slot: u8, on: bool) {
        let bit = Self::new(1 << slot).0;
        if on { self.0 |= bit } else { self.0 &= !bit }
    }

    /// How many are set.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The places that are set, ascending.
    pub fn slots(self) -> impl Iterator<Item = u8> {
        (0..BUCKET_SIZE as u8).filter(move |slot| self.has(*slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_of_the_first_buckets() {
        let place = |seq| (Bucket::of(Seq::new(seq)).get(), Bucket::slot(Seq::new(seq)));
        assert_eq!(place(0), (0, 0), "before the first is not a message; it must not underflow");
        assert_eq!(place(1), (0, 0));
        assert_eq!(place(100), (0, 99));
        assert_eq!(place(101), (1, 0));
        assert_eq!(Bucket::new(0).last_seq(), Seq::new(100));
        assert_eq!(Bucket::new(1).seq_at(0), Seq::new(101));
    }

    proptest::proptest! {
        #[test]
        fn addressing_is_a_bijection(seq in 1..=Seq::MAX / 2) {
            let seq = Seq::new(seq);
            let (bucket, slot) = (Bucket::of(seq), Bucket::slot(seq));
            proptest::prop_assert!(u64::from(slot) < BUCKET_SIZE);
            proptest::prop_assert_eq!(bucket.seq_at(slot), seq);
        }

        #[test]
        fn every_place_has_one_seq(bucket in 0u64..1 << 50, slot in 0u8..100) {
            let seq = Bucket::new(bucket).seq_at(slot);
            proptest::prop_assert_eq!((Bucket::of(seq).get(), Bucket::slot(seq)), (bucket, slot));
        }
    }
}
