//! A conversation whose queue is full: the socket that wants to send there is not read any more, and hears no 429;
//! other sockets go on.

use domain::ConvId;
use event_store::{Shard, shard::SHARDS};
use serde_json::json;
use tests::log;
use tests::process::until;
use tests::server::Server;

use crate::{say, text};

/// What one conversation's queue takes, beside the one that is being appended.
const WAITING_MAX: u64 = 1024;
/// More than waits in the socket itself.
const BEHIND: u64 = 40;

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_stops_the_reading_of_that_socket_and_of_no_other() {
    let server = Server::start().await;
    let full = log::chat(1, 2);
    let shard = Shard::of(&full, SHARDS);
    let elsewhere =
        (3..).map(|peer| log::chat(3, peer)).find(|conv| Shard::of(conv, SHARDS) != shard).unwrap();
    // Another node has the turn at the shard and keeps it, for less than anybody would give up.
    let holder = server.database.connect().await;
    holder.execute("select pg_advisory_lock(7171, $1)", &[&i32::from(shard.get())]).await.unwrap();
    let submit = |n| server.commands.submit(full.clone(), log::send(1, n)).unwrap();
    let mut taken = vec![submit(1)];
    until("the first one is at the lock", async || {
        let waits = "select from pg_locks where locktype = 'advisory' and classid = 7171 and not granted";
        holder.query_opt(waits, &[]).await.unwrap().is_some()
    })
    .await;
    taken.extend((2..=WAITING_MAX + 1).map(submit));
    let conv: &ConvId = &full;
    let (mut ana, mut cy) = (server.person(1).connect().await, server.person(3).connect().await);
    let mut ids = vec![];
    for n in 0..BEHIND {
        ids.push(ana.begin("send", text(conv.as_str(), &format!("{n}"))).await);
    }
    ids.push(ana.begin("ping", json!({})).await);
    assert_eq!(say(&mut cy, elsewhere.as_str(), "others go on").await, 1);
    holder.execute("select pg_advisory_unlock(7171, $1)", &[&i32::from(shard.get())]).await.unwrap();
    for (id, n) in ids.iter().zip(WAITING_MAX + 2..) {
        let answer = ana.answer(id).await;
        let done = answer["ok"]["seq"].as_u64().unwrap_or_default();
        assert_eq!(done, if n < WAITING_MAX + 2 + BEHIND { n } else { 0 }, "in the order sent: {answer}");
        assert!(answer["error"].is_null(), "{answer}");
    }
    for pending in taken {
        pending.answer().await.unwrap();
    }
    server.stop().await;
}
