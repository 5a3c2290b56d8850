//! The record of accesses: who asked for what, and whether it was given; written before the answer goes out.

use serde_json::{Value, json};
use tests::server::{Person, Server};

async fn record(auditor: &Person<'_>) -> Vec<Value> {
    let request = auditor.request(reqwest::Method::GET, "/v1/audit/accesses?limit=200");
    let text = request.send().await.unwrap().text().await.unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const ASKED: [(&str, &str, &str); 2] = [
    ("/v1/audit/conversations/p2p-1-2/events?limit=3", "replay", "p2p-1-2"),
    ("/v1/audit/messages/77", "message", "77"),
];

#[tokio::test(flavor = "multi_thread")]
async fn each_access_is_recorded_and_each_refusal() {
    let server = Server::start().await;
    let (auditor, nosy) = (server.with_roles(9, &["compliance"]), server.person(1));
    for (path, ..) in ASKED {
        assert_eq!(nosy.get(path).await.problem(), (403, "not_allowed"));
        assert_eq!(auditor.get(path).await.status, 404, "there is nothing");
    }
    assert_eq!(nosy.get("/v1/audit/accesses").await.problem(), (403, "not_allowed"));
    let told = record(&auditor).await;
    let mut expected = vec![];
    for (_, action, subject) in ASKED {
        for (who, allowed) in [(1, false), (9, true)] {
            expected.push((json!(who), json!(action), json!(subject), json!(allowed)));
        }
    }
    for (who, allowed) in [(1, false), (9, true)] {
        expected.push((json!(who), json!("accesses"), Value::Null, json!(allowed)));
    }
    let fields = |line: &Value| {
        let body = &line["body"];
        (line["actor"].clone(), body["action"].clone(), body["subject"].clone(), body["allowed"].clone())
    };
    assert_eq!(told.iter().map(fields).collect::<Vec<_>>(), expected);
    assert_eq!(told[0]["body"]["detail"], json!({"limit": 3}));
    assert!(told.iter().zip(1..).all(|(line, version)| line["version"] == version), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_recorded_is_not_given() {
    let server = Server::start().await;
    let auditor = server.with_roles(9, &["compliance"]);
    let admin = server.database.connect().await;
    // Whatever is appended to the log's own shard is refused from now on.
    let refuse = "create function refuse() returns trigger language plpgsql as $$
                      begin raise exception 'no' using errcode = '23514'; end $$;
                  create trigger refuse before insert on log.event for each row
                      when (new.event_type = 42) execute function refuse()";
    admin.batch_execute(refuse).await.unwrap();
    for (path, ..) in ASKED {
        assert_eq!(auditor.get(path).await.problem(), (503, "unavailable"), "{path}");
    }
    admin.batch_execute("drop trigger refuse on log.event").await.unwrap();
    assert_eq!(auditor.get(ASKED[0].0).await.problem(), (404, "conversation_not_found"));
    assert_eq!(record(&auditor).await.len(), 2, "what failed before left nothing half done");
}
