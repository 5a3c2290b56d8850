//! The database is away for as long as the test wants.

use reqwest::Method;
use serde_json::json;
use tests::Cluster;
use tests::process::until;
use tests::server::{Server, send};
use uuid::Uuid;

const MESSAGES: &str = "/v1/conversations/p2p-1-2/messages";

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_away_all_is_503_and_nothing_is_stored_by_half() {
    let cluster = Cluster::private();
    let server = Server::start_on(tests::log::migrated_on(&cluster).await).await;
    let ana = server.person(1);
    let message = |n: u128| json!({"client_msg_id": Uuid::from_u128(n), "msg_type": 1, "content": "hi"});
    assert_eq!(ana.post(MESSAGES, message(1)).await.status, 201);
    cluster.kill();
    let (sent, read) = tokio::join!(ana.post(MESSAGES, message(2)), ana.get(MESSAGES));
    for answer in [sent, read] {
        assert_eq!(answer.problem(), (503, "unavailable"));
        let retry_after = answer.headers["retry-after"].to_str().unwrap();
        assert!(retry_after.parse::<u32>().unwrap() > 0);
    }
    let ask = async |path| send(server.request(Method::GET, path)).await.status;
    assert_eq!((ask("/readyz").await, ask("/healthz").await), (503, 200));

    cluster.restart();
    until("the server is ready", async || ask("/readyz").await == 200).await;
    // What had no answer is sent again, and so is what had one.
    let again = ana.post(MESSAGES, message(2)).await;
    assert!([200, 201].contains(&again.status), "{again:?}");
    let first = ana.post(MESSAGES, message(1)).await;
    assert_eq!((first.status, &first.json["seq"], &again.json["seq"]), (200, &json!(1), &json!(2)));
    let page = ana.get(MESSAGES).await;
    assert_eq!((&page.json["max_seq"], page.json["items"].as_array().unwrap().len()), (&json!(2), 2));
    server.stop().await;
}
