//! Concurrent sends, while the server and its Postgres are killed and come back.

use std::sync::Arc;
use std::time::Duration;

use tests::dice::Dice;
use tests::process::Site;
use tokio::sync::watch;

use super::{PROGRAM, promises::Promises};

/// What is killed.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Server,
    Postgres,
    Both,
}

/// Each of them this often.
const ROUNDS_EACH: usize = 3;
/// Messages that are acknowledged between two kills, at most; then all is well again for certain.
const BETWEEN_MAX: u64 = 150;
/// The kill comes this much later, at most, so that it falls anywhere between two answers. In ms.
const LATER_MAX_MS: u64 = 40;

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_message_is_there_once_whatever_dies_under_the_senders() {
    let mut dice = Dice::of_this_run();
    let site = Arc::new(Site::new(PROGRAM));
    let mut server = site.serve().await;
    let promises = Promises::begin(&site).await;
    let (stop, stopped) = watch::channel(false);
    let mut talks = promises.talk(&site, &stopped);
    let mut victims = [Victim::Server, Victim::Postgres, Victim::Both].repeat(ROUNDS_EACH);
    dice.shuffle(&mut victims);
    for victim in victims {
        promises.reach(promises.count() + 1 + dice.below(BETWEEN_MAX)).await;
        tokio::time::sleep(Duration::from_millis(dice.below(LATER_MAX_MS))).await;
        if matches!(victim, Victim::Postgres | Victim::Both) {
            site.kill_postgres().await;
        }
        if matches!(victim, Victim::Server | Victim::Both) {
            server.kill().await;
            server = site.serve().await;
        }
    }
    // Healed for certain, and by itself.
    promises.reach(promises.count() + BETWEEN_MAX).await;
    stop.send_replace(true);
    while let Some(talk) = talks.join_next().await {
        talk.unwrap();
    }
    site.caught_up().await;
    site.ready().await;
    promises.hold(&site, true).await;
    server.kill().await;
}
