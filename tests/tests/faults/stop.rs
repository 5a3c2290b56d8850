//! Ctrl-C in the middle of the work.

use std::sync::Arc;

use tests::process::{Site, until};

use super::{PROGRAM, promises::Promises};

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_server_keeps_its_promises_and_leaves_nothing_running() {
    let site = Arc::new(Site::new(PROGRAM));
    let mut server = site.serve().await;
    let promises = Promises::begin(&site).await;
    let mut talks = promises.talk_to_the_end(&site);
    promises.reach(300).await;
    server.interrupt();
    let ended = server.ended().await;
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(!server.log().contains("are cut off"), "some requests were not answered in time");
    assert_eq!(site.postgres(), None);
    until("no process is left", async || site.residents().is_empty()).await;
    while let Some(talk) = talks.join_next().await {
        talk.unwrap();
    }

    let mut server = site.serve().await;
    site.caught_up().await;
    site.ready().await;
    promises.hold(&site, false).await;
    server.interrupt();
    assert!(server.ended().await.success());
}
