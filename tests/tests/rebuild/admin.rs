//! The admin's address: a rebuild that runs in the server, and what is refused.

use serde_json::{Value, json};
use tests::{
    process::until,
    server::{Person, Server},
};
use uuid::Uuid;

const PROJECTIONS: &str = "/v1/admin/projections";

async fn all(admin: &Person<'_>) -> Value {
    let answer = admin.get(PROJECTIONS).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json
}

/// The generations of one group of read models.
fn of<'a>(all: &'a Value, name: &str) -> &'a Value {
    let found = all["projections"].as_array().unwrap().iter().find(|projection| projection["name"] == name);
    found.unwrap()
}

async fn serves(admin: &Person<'_>, name: &str, generation: i32) {
    until("a generation serves", async || of(&all(admin).await, name)["serving"] == generation).await;
}

async fn say(person: &Person<'_>, number: u128) {
    let body = json!({"client_msg_id": Uuid::from_u128(number), "msg_type": 1, "content": "x"});
    assert_eq!(person.post("/v1/conversations/p2p-1-2/messages", body).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_rebuilds_rolls_back_and_drops_while_two_nodes_serve() {
    let server = Server::start().await;
    let other = server.beside(quipu::Limits::default()).await;
    let (admin, ana, there) = (server.with_roles(9, &["admin"]), server.person(1), other.person(2));
    for number in 0..150 {
        say(&ana, number).await;
    }
    let before = all(&admin).await;
    let conversation = of(&before, "conversation");
    let serving = &conversation["generations"][0];
    assert_eq!((&conversation["serving"], &serving["state"]), (&json!(1), &json!("serving")));
    assert_eq!(serving["shards"].as_array().unwrap().len(), 16);
    assert_eq!((&serving["head"], &serving["parked"]), (&json!(150), &json!(0)));
    assert!(serving["events_per_second"].is_number() && serving["lag"].is_u64());
    let cursor = there.get("/v1/sync").await.json["cursor"].as_str().unwrap().to_owned();
    let begun = admin.post(&format!("{PROJECTIONS}/conversation/rebuild"), json!({})).await;
    assert_eq!(begun.status, 202);
    assert_eq!(begun.json, json!({"name": "conversation", "generation": 2}));
    serves(&admin, "conversation", 2).await;
    let kept = of(&all(&admin).await, "conversation")["generations"][1].clone();
    assert_eq!((&kept["generation"], &kept["state"]), (&json!(1), &json!("kept")));
    // The right to build goes with the connection, a moment after the switch.
    let again = async || admin.post(&format!("{PROJECTIONS}/conversation/rebuild"), json!({})).await;
    until("another is refused as long as an earlier one is kept", async || {
        again().await.problem() == (409, "generation_left")
    })
    .await;
    say(&ana, 1000).await;
    let page = there.get("/v1/conversations/p2p-1-2/messages?limit=200").await;
    assert_eq!((page.status, &page.json["max_seq"]), (200, &json!(151)));
    let done = async |what: &str| admin.post(&format!("{PROJECTIONS}/conversation/{what}"), json!({})).await;
    assert_eq!(done("rollback").await.json, json!({"name": "conversation", "generation": 1}));
    until("the other one is dropped", async || done("drop").await.status == 200).await;
    for person in [&ana, &there] {
        let page = person.get("/v1/conversations/p2p-1-2/messages?limit=200").await;
        assert_eq!((page.status, &page.json["max_seq"]), (200, &json!(151)));
    }
    let sync = there.get(&format!("/v1/sync?cursor={cursor}")).await;
    assert_eq!((sync.status, &sync.json["conversations"][0]["max_seq"]), (200, &json!(151)));
    assert_eq!(sync.json["reset"], Value::Null, "a cursor from before is good");
    until("nothing is left to drop", async || done("drop").await.problem() == (409, "no_other_generation"))
        .await;
    let metrics = tests::server::send(server.request(reqwest::Method::GET, "/metrics")).await;
    assert_eq!(metrics.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_named() {
    let server = Server::start().await;
    let (admin, ana) = (server.with_roles(9, &["admin"]), server.person(1));
    for what in ["rebuild", "rollback", "drop"] {
        let path = format!("{PROJECTIONS}/conversation/{what}");
        assert_eq!(ana.post(&path, json!({})).await.problem(), (403, "not_allowed"), "{what}");
        let unknown = format!("{PROJECTIONS}/search/{what}");
        assert_eq!(admin.post(&unknown, json!({})).await.problem(), (404, "unknown_projection"), "{what}");
    }
    assert_eq!(ana.get(PROJECTIONS).await.problem(), (403, "not_allowed"));
    let malformed = format!("{PROJECTIONS}/conversation/rebuild?check=perhaps");
    assert_eq!(admin.post(&malformed, json!({})).await.problem(), (400, "invalid_parameter"));
    // Somebody else holds the right, in whichever process.
    let holder = server.database.connect().await;
    holder.execute("select pg_advisory_lock(7173, hashtext('conversation'))", &[]).await.unwrap();
    for what in ["rebuild", "rollback", "drop"] {
        let path = format!("{PROJECTIONS}/conversation/{what}");
        assert_eq!(admin.post(&path, json!({})).await.problem(), (409, "rebuild_running"), "{what}");
    }
    drop(holder);
    until("a check builds and does not switch", async || {
        admin.post(&format!("{PROJECTIONS}/notification/rebuild?check=true"), json!({})).await.status == 202
    })
    .await;
    until("it was compared", async || {
        of(&all(&admin).await, "notification")["generations"][1]["phase"] == "compared"
    })
    .await;
    assert_eq!(of(&all(&admin).await, "notification")["serving"], 1);
    until("the check has ended", async || {
        admin.post(&format!("{PROJECTIONS}/notification/rollback"), json!({})).await.problem()
            == (409, "no_other_generation")
    })
    .await;
    assert_eq!(admin.post(&format!("{PROJECTIONS}/notification/drop"), json!({})).await.status, 200);
}
