//! Verification from outside: what the command line prints and how it ends, and what a server notices by itself.

use std::sync::Arc;
use std::time::Duration;

use event_store::EventStore;
use projections::Generation;
use projections::verify::Verifier;
use quipu::Limits;
use reqwest::Method;
use serde_json::json;
use tests::log::postgres_log;
use tests::process::{self, Site};
use tests::server::Server;
use uuid::Uuid;

/// The number of the one series of this name.
fn metric(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

async fn metrics(server: &Server) -> String {
    server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_notices_a_drift_by_itself_stays_ready_and_sees_that_it_is_healed() {
    let limits = Limits { verify_every: Some(Duration::from_millis(5)), ..Limits::default() };
    let server = Server::start_with(limits).await;
    for n in 1..=5_u64 {
        let body = json!({"client_msg_id": Uuid::from_u128(n.into()), "msg_type": 1, "content": "x"});
        let path = format!("/v1/conversations/p2p-1-{}/messages", n + 1);
        assert_eq!(server.person(1).post(&path, body).await.status, 201);
    }
    let compared = async || metric(&metrics(&server).await, "quipu_projection_compared_total").unwrap_or(0.0);
    let drift = async || metric(&metrics(&server).await, "quipu_projection_drift");
    process::until("every conversation has been compared", async || compared().await > 10.0).await;
    assert_eq!(drift().await, Some(0.0));
    let client = server.database.connect().await;
    let raise = "update conversation_g1.head set max_seq = max_seq + 1 where conv_id = 'p2p-1-4'";
    client.batch_execute(raise).await.unwrap();
    process::until("the drift is noticed", async || drift().await.is_some_and(|drift| drift > 0.0)).await;
    assert_eq!(server.person(1).get("/readyz").await.status, 200);
    client.batch_execute(&raise.replace('+', "-")).await.unwrap();
    process::until("its end is noticed", async || drift().await == Some(0.0)).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_names_each_drift_and_ends_with_1() {
    let site = Site::new(env!("CARGO_BIN_EXE_quipu-child"));
    let mut serve = site.serve().await;
    let ana = site.person(1);
    for n in 1..=120_u64 {
        let body =
            json!({"client_msg_id": Uuid::from_u128(n.into()), "msg_type": 1, "content": format!("{n}")});
        let path = format!("/v1/conversations/p2p-1-{}/messages", 2 + n % 3);
        assert_eq!(ana.insist(Method::POST, &path, Some(&body)).await.status, 201);
    }
    let verify = |rest: &[&str]| site.start(&[&["projections", "verify"], rest].concat());
    // Beside the running server, whatever it has projected so far.
    let ends: [(&[&str], &str); 3] = [
        (&["--all"], "compared 3 of 3 conversations with 120 messages: 0 drifts"),
        (&["--sample", "2"], "compared 2 of 2 conversations with 80 messages: 0 drifts"),
        (&[], "compared 3 of 3 conversations"),
    ];
    site.caught_up().await;
    for (rest, expected) in ends {
        let mut clean = verify(rest);
        assert_eq!(clean.ended().await.code(), Some(0), "{}{}", clean.output(), clean.log());
        assert!(clean.output().contains(expected), "{}", clean.output());
    }
    serve.interrupt();
    assert!(serve.ended().await.success());
    // And without one.
    let mut nobody = verify(&["--conv", "grp-none"]);
    assert_eq!(nobody.ended().await.code(), Some(1));
    assert!(nobody.log().contains("there is no conversation grp-none"), "{}", nobody.log());
    for wrong in [&["--all", "--sample", "5"][..], &["--sample", "0"], &["--conv", "p2p"], &["--conv"]] {
        assert_eq!(verify(wrong).ended().await.code(), Some(2), "{wrong:?}");
    }
    let mut serve = site.serve().await;
    let client = site.connect().await;
    let spoilt = "delete from conversation_g1.history_tail where conv_id = 'p2p-1-3' and seq = 7";
    assert_eq!(client.execute(spoilt, &[]).await.unwrap(), 1);
    let mut found = verify(&["--all"]);
    assert_eq!(found.ended().await.code(), Some(1), "{}", found.log());
    let output = found.output();
    assert!(output.contains("drift: p2p-1-3: history, seq 7: expected a message, found nothing"), "{output}");
    assert!(output.contains("drift: p2p-1-3 of 1: page, seq 7"), "{output}");
    let mut elsewhere = verify(&["--conv", "p2p-1-2"]);
    assert_eq!(elsewhere.ended().await.code(), Some(0), "{}", elsewhere.output());
    serve.interrupt();
    assert!(serve.ended().await.success());
    process::until("nothing is left", async || site.residents().is_empty()).await;
}

/// As `tests/tests/upgrade.rs` opens it.
const OLD_DATABASE: &str = include_str!("../golden/upgrade/log.sql");

#[tokio::test(flavor = "multi_thread")]
async fn what_an_older_binary_has_projected_is_no_drift() {
    let database = tests::cluster().database();
    database.connect().await.batch_execute(OLD_DATABASE).await.expect("load the old database");
    quipu::migrate::migrate(&database.config).await.expect("migrate");
    let store: Arc<dyn EventStore> = Arc::new(postgres_log(&database.config).await);
    let verifier = Verifier::new(Arc::clone(&store), Generation::serving(&database.config, 1).await.unwrap());
    let convs = store.conversations(None, 100).await.unwrap();
    assert!(convs.len() > 3, "{convs:?}");
    for conv in convs {
        let verified = verifier.conversation(&conv, 0).await.unwrap();
        assert_eq!((verified.drifts.count, verified.parked), (0, false), "{:#?}", verified.drifts.told);
    }
}
