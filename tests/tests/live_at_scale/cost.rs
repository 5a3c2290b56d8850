//! What a send costs: as many rows and as many bytes of WAL in a group of ten thousand as in one of ten.

use std::collections::BTreeMap;

use serde_json::json;
use tests::Cluster;
use tests::log::migrated_on;
use tests::server::Server;
use tokio_postgres::Client;

use crate::{found, history, say, text};

/// Sends over which the bytes are counted.
const SENDS: u64 = 20;

/// Rows that transactions from `since` on have left, by table; not those by which a node claims its number.
async fn rows_since(client: &Client, since: i64) -> BTreeMap<String, i64> {
    let tables = "select format('%I.%I', schemaname, tablename) from pg_tables
                   where schemaname not in ('pg_catalog', 'information_schema') and tablename <> 'instance'";
    let mut rows = BTreeMap::new();
    for table in client.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        let sql = format!("select count(*) from only {table} where xmin::text::bigint >= $1");
        let count: i64 = client.query_one(&sql, &[&since]).await.unwrap().get(0);
        if count > 0 {
            // Bodies lie in a partition a month.
            rows.insert(if table.starts_with("log.body") { "log.body".into() } else { table }, count);
        }
    }
    rows
}

async fn wal(client: &Client) -> i64 {
    let written = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint";
    client.query_one(written, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_send_writes_does_not_grow_with_the_members() {
    // Of its own: WAL is a whole cluster's. It writes no full pages, whose number would depend on checkpoints.
    let cluster = Cluster::throw_away();
    let server = Server::start_on(migrated_on(&cluster).await).await;
    let client = server.database.connect().await;
    client.batch_execute("alter system set autovacuum = off").await.unwrap();
    client.batch_execute("select pg_reload_conf()").await.unwrap();
    let mut written = vec![];
    for (slug, members) in [("ten", 10), ("city", 10_000)] {
        let group = found(&server, slug, members).await;
        let path = format!("/v1/conversations/{group}/messages");
        // What is asked afterwards has waited for the read models, so that each send is projected by itself.
        let projected = async |seq: u64| assert_eq!(history(&server, 1, &group, seq - 1).await.len(), 1);
        projected(say(&server, 1, &group, "the first of this group").await).await;
        let mut rows = vec![];
        for at_all in [false, true] {
            let now = "select pg_current_xact_id()::text::bigint";
            let since: i64 = client.query_one(now, &[]).await.unwrap().get(0);
            let mut message = text("to all");
            message["at_all"] = json!(at_all);
            let sent = server.person(1).post(&path, message).await;
            projected(sent.json["seq"].as_u64().unwrap()).await;
            rows.push(rows_since(&client, since).await);
        }
        let before = wal(&client).await;
        for n in 0..SENDS {
            projected(say(&server, 1 + n % 5, &group, &format!("message {n:03}")).await).await;
        }
        written.push((rows, (wal(&client).await - before) / SENDS as i64));
    }
    let [(of_ten, bytes_of_ten), (of_city, bytes_of_city)] = &written[..] else { panic!("two groups") };
    let names = [
        "log.event",
        "log.body",
        "conversation_g1.history_tail",
        "conversation_g1.head",
        // How far the sender has read: their own message.
        "conversation_g1.group_read",
        "public.checkpoint",
    ];
    let plain: BTreeMap<String, i64> = names.iter().map(|&name| (name.to_owned(), 1)).collect();
    let mut at_all = plain.clone();
    at_all.insert("conversation_g1.mention".into(), 1);
    assert_eq!(of_ten, &[plain, at_all]);
    assert_eq!(of_city, of_ten);
    assert!(*bytes_of_city < 2 * bytes_of_ten, "{bytes_of_city} and {bytes_of_ten} bytes of WAL a send");
    server.stop().await;
}
