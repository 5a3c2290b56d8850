//! Killed while it starts for the first time, again and again: in the middle of making a cluster, a database, a
//! schema.

use std::time::Duration;

use reqwest::Method;
use rustix::process::{Signal, kill_process};
use serde_json::json;
use tests::dice::Dice;
use tests::process::Site;
use uuid::Uuid;

use super::PROGRAM;

const ROUNDS: usize = 8;
/// Longer than a first start takes on a quiet machine. In ms.
const START_MS: u64 = 2500;

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_that_was_killed_is_followed_by_a_good_one() {
    let mut dice = Dice::of_this_run();
    let site = Site::new(PROGRAM);
    for _ in 0..ROUNDS {
        let server = site.start(&["serve", "--listen", "127.0.0.1:0"]);
        tokio::time::sleep(Duration::from_millis(dice.below(START_MS))).await;
        if let Some(postgres) = site.postgres().filter(|_| dice.below(2) == 0) {
            // It may just have ended.
            let _ = kill_process(postgres, Signal::KILL);
        }
        server.kill().await;
    }
    let mut server = site.serve().await;
    site.ready().await;
    let body = json!({"client_msg_id": Uuid::from_u128(1), "msg_type": 1, "content": "hi"});
    let path = "/v1/conversations/p2p-1-2/messages";
    let sent = site.person(1).insist(Method::POST, path, Some(&body)).await;
    assert_eq!((sent.status, &sent.json["seq"]), (201, &json!(1)));
    server.interrupt();
    assert!(server.ended().await.success());
    assert_eq!(site.postgres(), None);
}
