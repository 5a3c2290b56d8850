//! The command line beside a running server; and a rebuild that is killed with -9 in the middle.

use reqwest::Method;
use serde_json::json;
use tests::process::{Site, until};
use tokio_postgres::Client;

use super::PROGRAM;

/// Messages in each of several conversations.
const MESSAGES: u64 = 40;
const CONVERSATIONS: std::ops::RangeInclusive<u64> = 2..=12;

/// Has moves of generation 2 wait at one shard, for as long as `held` holds it.
const WAIT_THERE: &str = "
    alter function move_checkpoint(text, int, int, bigint, bigint) rename to move_checkpoint_really;
    create function move_checkpoint(of_name text, of_generation int, of_shard int, old bigint, new bigint)
        returns void language plpgsql as $$
    begin
        if of_generation = 2 then
            perform pg_advisory_xact_lock(4711, of_shard);
        end if;
        perform move_checkpoint_really(of_name, of_generation, of_shard, old, new);
    end $$";

async fn numbers(client: &Client) -> (i32, i64) {
    let sql = "select (select generation from projection where name = 'conversation'),
                      (select coalesce(sum(position), 0)::bigint from checkpoint
                        where name = 'conversation' and generation = 2)";
    let row = client.query_one(sql, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_that_was_killed_goes_on_at_its_checkpoints_beside_a_server() {
    let site = Site::new(PROGRAM);
    let _server = site.serve().await;
    let ana = site.person(1);
    for person in CONVERSATIONS {
        for number in 1..=MESSAGES {
            let path = format!("/v1/conversations/p2p-1-{person}/messages");
            let id = uuid::Uuid::from_u128(u128::from(person * 1000 + number));
            let body = json!({"client_msg_id": id, "msg_type": 1, "content": number.to_string()});
            assert_eq!(ana.insist(Method::POST, &path, Some(&body)).await.status, 201);
        }
    }
    site.caught_up().await;
    let client = site.connect().await;
    client.batch_execute(WAIT_THERE).await.unwrap();
    // The last shard that has anything: those before it are done when it waits.
    let last = "select max(shard)::int from log.event where shard < 100";
    let last: i32 = client.query_one(last, &[]).await.unwrap().get(0);
    client.execute("select pg_advisory_lock(4711, $1)", &[&last]).await.unwrap();
    let rebuild = site.start(&["projections", "rebuild", "conversation"]);
    until("the rebuild has come to the last shard", async || {
        let waits = "select from pg_locks where locktype = 'advisory' and classid = 4711 and not granted";
        !client.query(waits, &[]).await.unwrap().is_empty() && numbers(&client).await.1 > 0
    })
    .await;
    let mut second = site.start(&["projections", "rebuild", "conversation"]);
    assert_eq!(second.ended().await.code(), Some(1));
    assert!(
        second.log().contains("being rebuilt, rolled back or dropped by somebody else"),
        "{}",
        second.log()
    );
    rebuild.kill().await;
    let (serving, done) = numbers(&client).await;
    assert!(serving == 1 && done > 0);
    assert_eq!(ana.history("p2p-1-2").await.len() as u64, MESSAGES, "what serves goes on");
    client.execute("select pg_advisory_unlock(4711, $1)", &[&last]).await.unwrap();
    // What it had sent before it died may be done still.
    until("the killed one's connections have ended", async || {
        let held = "select from pg_locks where locktype = 'advisory' and classid in (7173, 4711)";
        client.query(held, &[]).await.unwrap().is_empty()
    })
    .await;
    let (_, done) = numbers(&client).await;
    let mut status = site.start(&["projections", "status"]);
    assert!(status.ended().await.success());
    assert!(status.output().contains("conversation generation 2: interrupted"), "{}", status.output());
    let mut again = site.start(&["projections", "rebuild", "conversation"]);
    assert!(again.ended().await.success(), "{}", again.log());
    let said = again.output();
    assert!(
        said.contains("generations 1 and 2 are the same") && said.contains("generation 2 serves"),
        "{said}"
    );
    let total = MESSAGES * CONVERSATIONS.count() as u64;
    let applied: u64 = said.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(
        applied > 0 && applied + done as u64 == total,
        "{applied} and {done} of {total}: it went on, {said}"
    );
    let mut back = site.start(&["projections", "rollback", "conversation"]);
    assert!(back.ended().await.success() && back.output().contains("generation 1 of conversation serves"));
    let mut dropped = site.start(&["projections", "drop", "conversation"]);
    assert!(
        dropped.ended().await.success() && dropped.output().contains("generation 2 of conversation is gone")
    );
    let mut nothing = site.start(&["projections", "drop", "conversation"]);
    assert_eq!(nothing.ended().await.code(), Some(1), "what serves is never dropped");
    let mut unknown = site.start(&["projections", "rebuild", "search"]);
    assert_eq!(unknown.ended().await.code(), Some(2));
    assert!(unknown.log().contains("unknown_projection"), "{}", unknown.log());
    for person in CONVERSATIONS {
        assert_eq!(ana.history(&format!("p2p-1-{person}")).await.len() as u64, MESSAGES);
    }
}
