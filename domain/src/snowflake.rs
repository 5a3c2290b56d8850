//! Message ids: 41 bits of time, 10 of instance, 12 of count. Unique, rising on one instance; never an order
//! between messages (that is seq).

use std::fmt;

use crate::ids::{Ms, decimal};

/// 2024-01-01T00:00:00Z. 41 bits of milliseconds last until 2093.
pub const EPOCH_MS: Ms = 1_704_067_200_000;
const INSTANCE_BITS: u32 = 10;
const COUNT_BITS: u32 = 12;
/// Instances that may exist at once.
pub const INSTANCES: u16 = 1 << INSTANCE_BITS;
const COUNT_MAX: u16 = (1 << COUNT_BITS) - 1;

/// A message's id, sent as a decimal string because it does not fit a JavaScript number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MsgId(u64);

impl MsgId {
    /// From its parts; time before the epoch counts as the epoch.
    fn of(at: Ms, instance: u16, count: u16) -> Self {
        let time = u64::try_from(at - EPOCH_MS).unwrap_or(0);
        Self(time << (INSTANCE_BITS + COUNT_BITS) | u64::from(instance) << COUNT_BITS | u64::from(count))
    }

    /// From the stored number. The 64th bit is never used.
    pub const fn new(value: u64) -> Self {
        Self(value & i64::MAX as u64)
    }

    /// Parses decimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        decimal(text).filter(|n| *n <= i64::MAX as u64).map(Self)
    }

    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// When it was made, by its maker's clock (or a little later, see [`Snowflake::next`]).
    pub const fn time(self) -> Ms {
        (self.0 >> (INSTANCE_BITS + COUNT_BITS)) as Ms + EPOCH_MS
    }

    /// Which instance made it, 0..=1023.
    pub const fn instance(self) -> u16 {
        (self.0 >> COUNT_BITS) as u16 & (INSTANCES - 1)
    }

    /// The how-manieth of its millisecond, 0..=4095.
    pub const fn count(self) -> u16 {
        self.0 as u16 & COUNT_MAX
    }
}

impl fmt::Display for MsgId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Makes message ids for one instance, inside a window of time that nobody else holds for that instance.
#[derive(Debug)]
pub struct Snowflake {
    instance: u16,
    last: Ms,
    count: u16,
    until: Ms,
}

/// The window in which this instance may make ids has ended and was not renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the instance number's lease has run out")]
pub struct LeaseOver;

impl Snowflake {
    /// Ids of `instance` with times in `from..until`. `instance` is taken modulo 1024.
    pub fn new(instance: u16, from: Ms, until: Ms) -> Self {
        Self { instance: instance & (INSTANCES - 1), last: from.max(EPOCH_MS) - 1, count: COUNT_MAX, until }
    }

    /// Moves the end of the window; it never goes back.
    pub fn extend(&mut self, until: Ms) {
        self.until = self.until.max(until);
    }

    /// The next id, higher than every one before. A clock that steps back, or more than 4,096 ids in a
    /// millisecond, borrow from the time ahead.
    pub fn next(&mut self, now: Ms) -> Result<MsgId, LeaseOver> {
        let (at, count) = if now > self.last {
            (now, 0)
        } else if self.count < COUNT_MAX {
            (self.last, self.count + 1)
        } else {
            (self.last + 1, 0)
        };
        if at >= self.until {
            return Err(LeaseOver);
        }
        (self.last, self.count) = (at, count);
        Ok(MsgId::of(at, self.instance, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Ms = 1_764_000_000_000;

    #[test]
    fn an_id_tells_its_parts() {
        let mut ids = Snowflake::new(1023, T, T + 10);
        ids.next(T + 3).unwrap();
        let id = ids.next(T + 3).unwrap();
        assert_eq!((id.time(), id.instance(), id.count()), (T + 3, 1023, 1));
        assert_eq!(MsgId::parse(&id.to_string()), Some(id));
    }

    #[test]
    fn the_layout_is_fixed() {
        assert_eq!(MsgId::of(T, 5, 7).get(), 251_376_382_771_220_487);
    }

    #[test]
    fn the_window_is_never_left() {
        let mut ids = Snowflake::new(1, T, T + 1);
        assert!(ids.next(T - 100).is_ok(), "a clock behind the window starts at the window");
        assert_eq!(ids.next(T + 1), Err(LeaseOver));
        ids.extend(T + 5);
        assert!(ids.next(T + 1).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn never_a_repeat_and_never_lower_whatever_the_clock_does(steps in proptest::collection::vec(-50i64..50, 1..5000)) {
            let mut ids = Snowflake::new(3, T, T + 1_000_000);
            let (mut now, mut last) = (T, 0);
            for step in steps {
                now += step;
                let id = ids.next(now).unwrap().get();
                proptest::prop_assert!(id > last);
                last = id;
            }
        }

        #[test]
        fn a_burst_at_one_moment_stays_unique(n in 4000usize..10_000) {
            let mut ids = Snowflake::new(0, T, T + 1000);
            let all: Vec<_> = (0..n).map(|_| ids.next(T).unwrap()).collect();
            proptest::prop_assert!(all.windows(2).all(|w| w[0] < w[1]));
        }
    }
}
