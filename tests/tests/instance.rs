//! Instance numbers: no two processes make message ids under the same one at the same time, whatever dies and
//! whatever the clocks do.

use std::collections::BTreeSet;
use std::sync::Arc;

use deadpool_postgres::Pool;
use domain::{Ms, MsgId};
use quipu::instance::{Instance, InstanceError, WINDOW_MS};
use quipu::migrate::{MigrateError, migrate};
use quipu::msg_ids::MsgIds;
use tests::log::{HandClock, START, migrated};
use tests::{TestDatabase, cluster};
use uuid::Uuid;

struct Machines {
    pool: Pool,
    _database: TestDatabase,
}

impl Machines {
    async fn new() -> Self {
        let database = migrated().await;
        Self { pool: event_store::postgres::pool(&database.config, 4).unwrap(), _database: database }
    }

    async fn claim(&self, owner: u128, now: Ms, wish: Option<u16>) -> Result<Instance, InstanceError> {
        let clock = HandClock::new();
        clock.put(now);
        self.claim_by(owner, &clock, wish).await
    }

    async fn claim_by(
        &self,
        owner: u128,
        clock: &Arc<HandClock>,
        wish: Option<u16>,
    ) -> Result<Instance, InstanceError> {
        Instance::claim(self.pool.clone(), clock.clone(), Uuid::from_u128(owner), wish).await
    }
}

/// As many ids as the window gives, at most `limit`.
fn ids(ids: &MsgIds, limit: usize) -> Vec<MsgId> {
    std::iter::from_fn(|| ids.next().ok()).take(limit).collect()
}

#[tokio::test]
async fn two_claims_get_two_numbers_and_a_wish_for_a_held_one_is_refused() {
    let machines = Machines::new().await;
    let first = machines.claim(1, START, None).await.unwrap();
    let second = machines.claim(2, START, None).await.unwrap();
    assert_eq!((first.number(), second.number()), (0, 1));
    let refused = machines.claim(3, START, Some(1)).await.err();
    assert!(matches!(refused, Some(InstanceError::Held { number: 1 })), "{refused:?}");
    assert!(refused.unwrap().to_string().contains("another process holds it"));
    first.release().await.unwrap();
    assert_eq!(machines.claim(4, START, None).await.unwrap().number(), 0, "a released one is free at once");
    assert_eq!(machines.claim(5, START, Some(1023)).await.unwrap().number(), 1023);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_claims_at_once_get_a_number_each() {
    let machines = Machines::new().await;
    let clock = HandClock::new();
    let claims: Vec<_> = (0..16).map(|owner| machines.claim_by(owner, &clock, None)).collect();
    let claimed = futures_util::future::join_all(claims).await;
    let numbers: BTreeSet<u16> = claimed.into_iter().map(|it| it.unwrap().number()).collect();
    assert_eq!(numbers, (0..16).collect());
}

#[tokio::test]
async fn a_crash_and_a_clock_that_went_back_never_repeat_an_id() {
    let machines = Machines::new().await;
    let crashed = machines.claim(1, START, Some(7)).await.unwrap();
    let mut all = ids(&crashed.ids(), 5000);
    drop(crashed);
    // The next one's clock is past the crashed one's window …
    let second = machines.claim(2, START + WINDOW_MS, Some(7)).await.unwrap();
    all.extend(ids(&second.ids(), 5000));
    second.release().await.unwrap();
    // … and the third one's an hour behind.
    let third = machines.claim(3, START - 3_600_000, Some(7)).await.unwrap();
    all.extend(ids(&third.ids(), 5000));
    assert_eq!(all.len(), 15_000);
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "each is new, and even higher");
}

#[tokio::test]
async fn one_who_was_overtaken_stays_in_its_own_window_and_then_gets_another_number() {
    let machines = Machines::new().await;
    let slow = HandClock::new();
    let mut overtaken = machines.claim_by(1, &slow, None).await.unwrap();
    // A clock that runs ahead thinks that the window is over.
    let fast = machines.claim(2, START + WINDOW_MS, None).await.unwrap();
    assert_eq!((overtaken.number(), fast.number()), (0, 0));
    slow.put(START + WINDOW_MS - 1);
    let last = overtaken.ids().next().unwrap();
    let first = fast.ids().next().unwrap();
    assert!(last.time() < first.time(), "windows do not overlap");
    slow.put(START + WINDOW_MS);
    assert!(overtaken.ids().next().is_err(), "past its window there are no ids");
    overtaken.renew().await.unwrap();
    assert_eq!(overtaken.number(), 1);
    assert!(overtaken.ids().next().is_ok());
}

#[tokio::test]
async fn a_renewed_window_goes_on_and_a_released_one_ends() {
    let machines = Machines::new().await;
    let clock = HandClock::new();
    let mut instance = machines.claim_by(1, &clock, None).await.unwrap();
    let msg_ids = instance.ids();
    for step in 1..10 {
        clock.put(START + step * WINDOW_MS / 2);
        instance.renew().await.unwrap();
        assert!(msg_ids.next().is_ok());
    }
    assert_eq!(instance.number(), 0);
    instance.release().await.unwrap();
    assert!(msg_ids.next().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keeper_renews_as_soon_as_an_id_is_wanted() {
    let machines = Machines::new().await;
    let clock = HandClock::new();
    let instance = machines.claim_by(1, &clock, None).await.unwrap();
    let msg_ids = instance.ids();
    let keeper = instance.keep();
    clock.put(START + 1_000_000);
    assert!(msg_ids.next().is_err(), "the clock has jumped past the window");
    assert!(msg_ids.next_in_time().await.is_ok(), "and the window follows");
    keeper.release().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_is_migrated_once_by_one_of_many_and_a_newer_one_is_refused() {
    let database = cluster().database();
    let (one, other) = tokio::join!(migrate(&database.config), migrate(&database.config));
    let applied = |report: Result<_, MigrateError>| -> usize {
        let report: quipu::migrate::Report = report.unwrap();
        report.applied_migrations().len()
    };
    let (one, other) = (applied(one), applied(other));
    assert!(one.min(other) == 0 && one.max(other) >= 3, "{one} and {other}");
    let newer = "insert into refinery_schema_history
        select 9999, 'later', applied_on, checksum from refinery_schema_history limit 1";
    database.connect().await.batch_execute(newer).await.unwrap();
    let refused = migrate(&database.config).await;
    assert!(matches!(refused, Err(MigrateError::Newer { found: 9999, .. })), "{refused:?}");
}
