//! Checkpoints that serving nodes make by themselves.

use std::sync::Arc;
use std::time::Duration;

use event_store::EventStore;
use event_store::postgres::pool;
use event_store::postgres::proof::{LogReader, newest};
use event_store::surroundings::Surroundings;
use quipu::audit::checkpointer::{Checkpointer, Settings};
use quipu::clock::SystemClock;
use reqwest::Method;
use serde_json::json;
use tests::log::{CountingEntropy, chat, postgres_log, send};
use tests::process::{Site, until};

use uuid::Uuid;

use crate::program::PROGRAM;
use crate::world::{World, key};

async fn number(world: &World) -> u64 {
    newest(&world.reader).await.unwrap().map_or(0, |it| it.unsigned.number)
}

/// Of two nodes that look all the time.
async fn checkpointers(world: &World) -> Vec<Checkpointer> {
    let mut checkpointers = vec![];
    for _ in 0..2 {
        let store: Arc<dyn EventStore> = Arc::new(postgres_log(&world.database.config).await);
        let reader = LogReader::new(pool(&world.database.config, 2).unwrap(), store.info().clone());
        let surroundings =
            Surroundings { clock: Arc::new(SystemClock), entropy: Arc::new(CountingEntropy::default()) };
        let settings = Settings { key: key(), every: Some(Duration::from_millis(5)) };
        checkpointers.extend(Checkpointer::start(&reader, &store, surroundings, settings));
    }
    checkpointers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_grows_is_verified_meanwhile() {
    let world = World::new().await;
    let checkpointers = checkpointers(&world).await;
    let handler = world.handler.clone();
    let mut talk = tokio::spawn(async move {
        for n in 1000..1400 {
            handler.handle(chat(1, 2 + n % 7), send(1, n)).await.unwrap();
        }
    });
    let mut rounds = 0;
    while !talk.is_finished() || rounds == 0 {
        assert_eq!(world.verify().await, [], "round {rounds}");
        rounds += 1;
    }
    (&mut talk).await.unwrap();
    for checkpointer in checkpointers {
        checkpointer.stop().await;
    }
    assert_eq!(world.verify().await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_make_one_row_of_checkpoints_and_none_where_nothing_happens() {
    let world = World::new().await;
    let checkpointers = checkpointers(&world).await;
    assert_eq!(checkpointers.len(), 2);
    for n in 20..25 {
        let before = number(&world).await;
        world.say(1, 2, n).await;
        until("a checkpoint is made", async || number(&world).await > before).await;
    }
    for checkpointer in checkpointers {
        checkpointer.stop().await;
    }
    // Each of the seven or eight has seen something; whatever the two did at once is one.
    let made = number(&world).await;
    assert!((5..=12).contains(&(made - 2)), "{made} checkpoints for five messages");
    assert_eq!(world.verify().await, []);
    let every = Settings { key: key(), every: None };
    assert!(Checkpointer::start(&world.reader, &world.store, world.surroundings.clone(), every).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_makes_them_and_is_verified_and_exported_from_beside_it() {
    let site = Site::new(PROGRAM);
    let server = site.serve().await;
    let body = json!({"client_msg_id": Uuid::nil(), "msg_type": 1, "content": "hi"});
    let path = "/v1/conversations/p2p-1-2/messages";
    assert_eq!(site.person(1).insist(Method::POST, path, Some(&body)).await.status, 201);
    server.kill().await;
    // The next one finds that it is time.
    let server = site.serve().await;
    let sql = site.connect().await;
    until("the server makes a checkpoint", async || {
        let made = "select from log.event where event_type = 43";
        sql.query_opt(made, &[]).await.unwrap().is_some()
    })
    .await;
    let mut verify = site.start(&["audit", "verify"]);
    assert_eq!(verify.ended().await.code(), Some(0), "{}", verify.output());
    assert!(verify.output().contains("1 checkpoints: no fault"), "{}", verify.output());
    let out = site.scratch().join("chat.ndjson");
    let mut export = site.start(&["export", "--conv", "p2p-1-2", "--out", out.to_str().unwrap()]);
    assert_eq!(export.ended().await.code(), Some(0), "{}", export.output());
    let me = site.scratch().join("me");
    let mut export = site.start(&["export", "--uid", "2", "--out", me.to_str().unwrap(), "--format", "html"]);
    assert_eq!(export.ended().await.code(), Some(0), "{}", export.output());
    assert!(
        export.output().contains("what 2 may see: messages 1, conversations 1, notifications 0"),
        "{}",
        export.output()
    );
    site.ready().await;
    server.kill().await;
}
