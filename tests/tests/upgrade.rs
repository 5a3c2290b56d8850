//! The upgrade drill: a database that older binaries wrote, events in their first forms among them, is opened by this
//! one. What people saw they still see, their cursors go on, and so does service.

use reqwest::Method;
use serde_json::{Value, json};
use tests::server::{Person, Server};
use tests::{TestDatabase, cluster};

/// The database, and what people saw in it.
const LOG: &str = include_str!("../golden/upgrade/log.sql");
const ANSWERS: &str = include_str!("../golden/upgrade/answers.json");

const PEOPLE: [u64; 3] = [1, 2, 3];

async fn old_database() -> TestDatabase {
    let database = cluster().database();
    database.connect().await.batch_execute(LOG).await.expect("load the old database");
    database
}

async fn upgraded() -> Server {
    let database = old_database().await;
    let report = quipu::migrate::migrate(&database.config).await.expect("migrate");
    assert!(!report.applied_migrations().is_empty(), "it is older than this binary");
    Server::start_on(database).await
}

fn answers(person: u64) -> Value {
    let answers: Value = serde_json::from_str(ANSWERS).unwrap();
    answers[person.to_string()].clone()
}

/// Is everything of `old` in `new`? Newer answers may say more.
fn has(new: &Value, old: &Value, place: &str) {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            for (name, old) in old {
                has(new.get(name).unwrap_or(&Value::Null), old, &format!("{place}.{name}"));
            }
        }
        (Value::Array(new), Value::Array(old)) => {
            assert_eq!(new.len(), old.len(), "{place}");
            for (n, (new, old)) in new.iter().zip(old).enumerate() {
                has(new, old, &format!("{place}[{n}]"));
            }
        }
        (new, old) => assert_eq!(new, old, "{place}"),
    }
}

async fn ok(person: &Person<'_>, path: &str) -> Value {
    let answer = person.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.json
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_saw_they_still_see() {
    let server = upgraded().await;
    for number in PEOPLE {
        let (person, old) = (server.person(number), answers(number));
        for (conv, page) in old["histories"].as_object().unwrap() {
            // What was said and recalled after the answers were written down changes two of them.
            let after = match conv.as_str() {
                "p2p-1-2" => {
                    format!("?after_seq={}&before_seq=121&limit=200", page["min_seq"].as_u64().unwrap() - 1)
                }
                "grp-new" => "?before_seq=2&limit=200".to_owned(),
                _ => "?limit=200".to_owned(),
            };
            let new = ok(&person, &format!("/v1/conversations/{conv}/messages{after}")).await;
            let items = page["items"].as_array().unwrap();
            let unchanged = if conv == "grp-new" { &items[..1] } else { items };
            has(&new["items"], &json!(unchanged), &format!("{number} in {conv}"));
            assert_eq!(new["min_seq"], page["min_seq"], "{number} in {conv}");
        }
        let list = ok(&person, "/v1/conversations?limit=200").await;
        let ids = |list: &Value| -> Vec<String> {
            let mut ids: Vec<String> = list["conversations"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["conv_id"].as_str().unwrap().to_owned())
                .collect();
            ids.sort();
            ids
        };
        assert_eq!(ids(&list), ids(&old["list"]), "{number}");
        for entry in old["list"]["conversations"].as_array().unwrap() {
            let conv = entry["conv_id"].as_str().unwrap();
            if ["p2p-1-2", "grp-new"].contains(&conv) {
                continue;
            }
            has(
                &ok(&person, &format!("/v1/conversations/{conv}")).await,
                entry,
                &format!("{number}: {conv}"),
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_cursors_go_on_where_they_stood() {
    let server = upgraded().await;
    for number in PEOPLE {
        let (person, old) = (server.person(number), answers(number));
        let cursor = old["sync"]["cursor"].as_str().unwrap();
        let sync = ok(&person, &format!("/v1/sync?cursor={cursor}")).await;
        assert_eq!(sync["reset"], Value::Null, "{number}");
        let mut told: Vec<(String, Value)> = sync["conversations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (it["conv_id"].as_str().unwrap().to_owned(), it["changes"]["recalled"].clone()))
            .collect();
        told.sort_by(|one, other| one.0.cmp(&other.0));
        let recalled = ("grp-new".to_owned(), json!([2]));
        let said = told.iter().find(|(conv, _)| conv == "p2p-1-2");
        assert_eq!(said.is_some(), number != 3, "{number}: {told:?}");
        assert_eq!(told.first(), Some(&recalled), "{number}: {told:?}");
        assert_eq!(told.len(), if number == 3 { 1 } else { 2 }, "{number}: {told:?}");
        // And the cursor of a list.
        if let Some(cursor) = old["page1"]["cursor"].as_str() {
            let next = ok(&person, &format!("/v1/conversations?limit=200&cursor={cursor}")).await;
            assert!(!next["conversations"].as_array().unwrap().is_empty(), "{number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn service_goes_on() {
    let server = upgraded().await;
    let (ana, bo) = (server.person(1), server.person(2));
    let old = &answers(1)["histories"]["p2p-1-2"]["items"];
    let last = &old[old.as_array().unwrap().len() - 1];
    // A repeat of what an older binary took gets its first answer.
    let again = json!({
        "client_msg_id": last["client_msg_id"], "msg_type": last["msg_type"], "content": last["content"],
    });
    let repeated = server.person(last["sender_id"].as_u64().unwrap());
    let repeated = repeated.post("/v1/conversations/p2p-1-2/messages", again).await;
    assert_eq!((repeated.status, &repeated.json["seq"]), (200, &last["seq"]));
    let body =
        json!({"client_msg_id": "01a22dfb-8ba7-7140-bf2a-a2a2eafcc5c8", "msg_type": 1, "content": "new"});
    let sent = ana.post("/v1/conversations/p2p-1-2/messages", body).await;
    assert_eq!((sent.status, &sent.json["seq"]), (201, &json!(122)));
    assert_eq!(ok(&bo, "/v1/conversations/p2p-1-2").await["max_seq"], 122);
    let renamed = ana.request(Method::PATCH, "/v1/groups/grp-old").json(&json!({"name": "Newer"}));
    assert_eq!(renamed.send().await.unwrap().status(), 200);
    assert_eq!(ok(&ana, "/v1/groups/grp-old").await["name"], "Newer");
    // Every event of then and now is read by auditors.
    let auditor = server.with_roles(9, &["compliance"]);
    let forms = async |conv: &str| -> Vec<(String, u64)> {
        let path = format!("/v1/audit/conversations/{conv}/events");
        let text = auditor.request(Method::GET, &path).send().await.unwrap().text().await.unwrap();
        let line = |line: &str| -> (String, u64) {
            let line: Value = serde_json::from_str(line).unwrap();
            (line["event"].as_str().unwrap().to_owned(), line["schema_version"].as_u64().unwrap())
        };
        text.lines().map(line).filter(|(event, _)| event != "MessageSent").collect()
    };
    let of = |forms: &[(&str, u64)]| {
        forms.iter().map(|(event, form)| ((*event).to_owned(), *form)).collect::<Vec<_>>()
    };
    let old = of(&[
        ("GroupCreated", 1),
        ("MembersJoined", 1),
        ("MembersJoined", 1),
        ("MemberLeft", 1),
        ("GroupChanged", 1),
    ]);
    assert_eq!(forms("grp-old").await, old);
}
