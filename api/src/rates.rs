//! Token buckets for commands: one a person, one a conversation. Only counts; a command that comes too early is handed
//! on with a mark, because a repeat is recognised before limits (see `event_store::OverLimit`).
//!
//! The buckets are this node's: behind a load balancer a person has one on every node.

use std::{
    hash::Hash,
    num::{NonZeroU32, NonZeroUsize},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use domain::{ConvId, Uid};
use event_store::{Limit, OverLimit};
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::StateStore,
};
use lru::LruCache;

/// Buckets that are remembered of each kind, about 100 bytes each. Past this the one that was longest out of use is
/// forgotten, which is to its owner's advantage: a bucket that is not remembered is full.
const BUCKETS_MAX: NonZeroUsize = NonZeroUsize::new(100_000).unwrap();

/// A bucket's measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// A token comes back this often; zero: no limit.
    pub every: Duration,
    /// Commands that may come at once after a rest; at least 1.
    pub burst: u32,
}

impl Rate {
    /// No limit.
    pub const OFF: Self = Self { every: Duration::ZERO, burst: 1 };

    /// So many tokens a second come back; 0: no limit.
    pub const fn per_second(tokens: u32, burst: u32) -> Self {
        let every = match 1_000_000_000_u64.checked_div(tokens as u64) {
            Some(nanos) => Duration::from_nanos(nanos),
            None => Duration::ZERO,
        };
        Self { every, burst }
    }
}

/// The buckets of people and of conversations.
pub struct Rates<C: Clock = DefaultClock> {
    people: Option<Buckets<Uid, C>>,
    conversations: Option<Buckets<ConvId, C>>,
}

impl Rates {
    /// Full buckets.
    pub fn new(person: Rate, conversation: Rate) -> Self {
        Self::with_clock(person, conversation, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Rates<C> {
    fn with_clock(person: Rate, conversation: Rate, clock: C) -> Self {
        let people = Buckets::new(person, clock.clone());
        Self { people, conversations: Buckets::new(conversation, clock) }
    }

    /// Takes a token from both buckets. One who is over their own limit takes nothing from the conversation's, so that
    /// nobody uses up what is there for all.
    pub fn take(&self, person: Uid, conv: &ConvId) -> Option<OverLimit> {
        let over = |limit, retry_after_s| OverLimit { limit, retry_after_s };
        let early = self.people.as_ref().and_then(|buckets| buckets.take(&person));
        early.map(|wait| over(Limit::Person, wait)).or_else(|| {
            let early = self.conversations.as_ref().and_then(|buckets| buckets.take(conv));
            early.map(|wait| over(Limit::Conversation, wait))
        })
    }
}

/// Token buckets by key.
pub struct Buckets<K: Hash + Eq + Clone, C: Clock = DefaultClock> {
    limiter: RateLimiter<K, Store<K>, C, NoOpMiddleware<C::Instant>>,
}

impl<K: Hash + Eq + Clone, C: Clock> Buckets<K, C> {
    /// Full buckets; none where there is no limit.
    pub fn new(rate: Rate, clock: C) -> Option<Self> {
        let burst = NonZeroU32::new(rate.burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(rate.every)?.allow_burst(burst);
        let store = Store(Mutex::new(LruCache::new(BUCKETS_MAX)));
        Some(Self { limiter: RateLimiter::new(quota, store, clock) })
    }

    /// Takes a token. Where there is none: the seconds until there is one, at least 1, rounded up.
    pub fn take(&self, key: &K) -> Option<u32> {
        let early = self.limiter.check_key(key).err()?;
        let wait = early.wait_time_from(self.limiter.clock().now());
        let seconds = u32::try_from(wait.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u32::MAX);
        Some(seconds.max(1))
    }
}

/// When each bucket is full again. The store that governor brings grows until somebody tidies it up; this one has a
/// bound at any moment.
struct Store<K: Hash + Eq>(Mutex<LruCache<K, Nanos>>);

impl<K: Hash + Eq + Clone> StateStore for Store<K> {
    type Key = K;

    fn measure_and_replace<T, F, E>(&self, key: &K, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        // What is measured under the lock does not panic; a poisoned lock holds good buckets.
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(key) {
            let (outcome, full_at) = measure(Some(*bucket))?;
            *bucket = full_at;
            return Ok(outcome);
        }
        let (outcome, full_at) = measure(None)?;
        buckets.put(key.clone(), full_at);
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn uid(n: u64) -> Uid {
        Uid::new(n).unwrap()
    }

    fn conv(name: &str) -> ConvId {
        ConvId::parse(&format!("grp-{name}")).unwrap()
    }

    fn rate(per_s: u32, burst: u32) -> Rate {
        Rate::per_second(per_s, burst)
    }

    #[test]
    fn after_the_burst_there_is_one_token_for_each_part_of_a_second() {
        let clock = FakeRelativeClock::default();
        let rates = Rates::with_clock(rate(10, 3), Rate::OFF, clock.clone());
        let taken = |times| (0..times).filter(|_| rates.take(uid(1), &conv("a")).is_none()).count();
        assert_eq!(taken(10), 3);
        clock.advance(Duration::from_millis(99));
        assert_eq!(taken(10), 0);
        clock.advance(Duration::from_millis(1));
        assert_eq!(taken(10), 1);
        clock.advance(Duration::from_secs(3600));
        assert_eq!(taken(10), 3, "a bucket holds no more than the burst");
    }

    #[test]
    fn the_wait_is_told_in_whole_seconds_and_is_at_least_one() {
        let clock = FakeRelativeClock::default();
        let wait = |per_s, burst, after: u64| {
            let rates = Rates::with_clock(rate(per_s, burst), Rate::OFF, clock.clone());
            (0..burst).for_each(|_| assert_eq!(rates.take(uid(1), &conv("a")), None));
            clock.advance(Duration::from_millis(after));
            rates.take(uid(1), &conv("a")).map(|over| over.retry_after_s)
        };
        assert_eq!(wait(1000, 5, 0), Some(1));
        assert_eq!(wait(1, 1, 0), Some(1));
        assert_eq!(wait(1, 1, 999), Some(1));
        assert_eq!(wait(1, 1, 1000), None);
    }

    #[test]
    fn everybody_and_every_conversation_has_a_bucket_of_their_own() {
        let rates = Rates::with_clock(rate(1, 2), rate(1, 3), FakeRelativeClock::default());
        let over = |person, name| rates.take(uid(person), &conv(name)).map(|over| over.limit);
        assert_eq!([over(1, "a"), over(1, "a"), over(1, "a")], [None, None, Some(Limit::Person)]);
        assert_eq!(over(1, "b"), Some(Limit::Person), "in whichever conversation");
        assert_eq!([over(2, "a"), over(3, "a")], [None, Some(Limit::Conversation)]);
        assert_eq!(over(3, "b"), None, "another conversation is not concerned");
    }

    #[test]
    fn who_is_over_their_own_limit_takes_nothing_from_the_conversation() {
        let rates = Rates::with_clock(rate(1, 1), rate(1, 2), FakeRelativeClock::default());
        for _ in 0..10 {
            rates.take(uid(1), &conv("a"));
        }
        assert_eq!(rates.take(uid(2), &conv("a")), None);
    }

    #[test]
    fn zero_is_no_limit() {
        let rates = Rates::new(Rate::OFF, Rate::OFF);
        assert!((0..10_000).all(|_| rates.take(uid(1), &conv("a")).is_none()));
    }

    #[test]
    fn only_so_many_buckets_are_remembered() {
        let few = Store(Mutex::new(LruCache::new(NonZeroUsize::new(2).unwrap())));
        let quota = Quota::per_second(NonZeroU32::MIN);
        let buckets = Buckets { limiter: RateLimiter::new(quota, few, FakeRelativeClock::default()) };
        assert_eq!([1, 2, 1, 3].map(|key| buckets.take(&key)), [None, None, Some(1), None]);
        // 2 was longest out of use.
        assert_eq!([1, 2].map(|key| buckets.take(&key)), [Some(1), None]);
    }
}
