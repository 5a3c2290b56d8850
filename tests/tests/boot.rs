//! What a start costs does not grow with the log: it reads where the shards stand, and nothing of what was said.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use tests::log::{chat, say};
use tests::server::Server;

/// Rows of the log and of the read models that were read on this database since its counters were reset.
const ROWS_READ: &str = "
    select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint
      from pg_stat_user_tables
     where schemaname = 'log' or schemaname like 'conversation_g%'";

/// Conversations that the messages are spread over, so that every shard has some.
const CONVERSATIONS: u64 = 40;
/// Sends at a time: no line of a conversation gets full.
const IN_FLIGHT: usize = 256;

/// Grows a log by messages, lets the read models pass them, and counts what the next start reads.
async fn rows_read_at_a_start_after(server: Server, messages: u64) -> (Server, i64) {
    let send = |n: u64| {
        let (person, text) = (1 + n % CONVERSATIONS, format!("message {n}"));
        // Which number does not matter, as long as no two are the same.
        server.commands.handle(chat(person, 1000), say(person, (messages << 20) + n, &text))
    };
    let mut sent = stream::iter((0..messages).map(send)).buffered(IN_FLIGHT);
    while let Some(answer) = sent.next().await {
        answer.expect("sent");
    }
    drop(sent);
    let page = server.person(1).get("/v1/conversations").await;
    assert_eq!(page.status, 200, "the read models have passed everything");
    let database = server.stop().await;
    let admin = database.connect().await;
    admin.batch_execute("select pg_stat_reset()").await.unwrap();
    let server = Server::start_on(database).await.stop().await;
    // What a connection has counted arrives when it closes, or a moment later.
    let mut stands = -1;
    loop {
        let rows: i64 = admin.query_one(ROWS_READ, &[]).await.unwrap().get(0);
        if rows == stands {
            return (Server::start_on(server).await, rows);
        }
        stands = rows;
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_reads_no_more_of_a_long_log_than_of_a_short_one() {
    let server = Server::start().await;
    let (server, short) = rows_read_at_a_start_after(server, 400).await;
    let (_server, long) = rows_read_at_a_start_after(server, 8000).await;
    assert!(long < short + 200, "{short} rows after 400 messages, {long} after 8,400");
}
