//! Notifications that are posted while the server and its Postgres are killed and come back.

use std::collections::BTreeMap;
use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use tests::dice::Dice;
use tests::process::Site;
use tokio::sync::watch;
use uuid::Uuid;

use super::PROGRAM;

/// Operators who post at the same time.
const OPERATORS: u64 = 4;
/// Kills, of the server and of Postgres in turn.
const KILLS: u64 = 6;
/// Notifications that are acknowledged between two kills, at most.
const BETWEEN_MAX: u64 = 40;
/// Who reads them.
const PERSON: u64 = 7;

/// Posts until `stop` is true, insisting on each; returns what was acknowledged, by id.
async fn post(
    site: Arc<Site>,
    operator: u64,
    count: watch::Sender<u64>,
    stop: watch::Receiver<bool>,
) -> BTreeMap<u64, String> {
    let admin = site.with_roles(operator, &["admin"]);
    let mut told = BTreeMap::new();
    for n in 1u64.. {
        if *stop.borrow() {
            break;
        }
        let content = format!("{n} of {operator}");
        let to = if n % 2 == 0 { json!("all") } else { json!([PERSON]) };
        let body = json!({"to": to, "category": "news", "content": content});
        let key = Uuid::from_u128(u128::from(operator) << 64 | u128::from(n));
        let answer = admin.insist_as(Some(key), Method::POST, "/v1/notifications", Some(&body)).await;
        assert!([200, 201].contains(&answer.status), "{answer:?}");
        assert_eq!(told.insert(answer.json["id"].as_u64().unwrap(), content), None, "an id is given once");
        count.send_modify(|count| *count += 1);
    }
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_notification_is_in_the_inbox_once_whatever_dies_meanwhile() {
    let mut dice = Dice::of_this_run();
    let site = Arc::new(Site::new(PROGRAM));
    let mut server = site.serve().await;
    let (count, stop) = (watch::Sender::new(0), watch::Sender::new(false));
    let operators: Vec<_> = (1..=OPERATORS)
        .map(|operator| tokio::spawn(post(Arc::clone(&site), operator, count.clone(), stop.subscribe())))
        .collect();
    let mut counts = count.subscribe();
    let mut reach = async |more: u64| {
        let wanted = *count.borrow() + more;
        let reached = tokio::time::timeout(tests::process::PATIENCE, counts.wait_for(|it| *it >= wanted));
        assert!(reached.await.is_ok(), "stuck");
    };
    for kill in 0..KILLS {
        reach(1 + dice.below(BETWEEN_MAX)).await;
        if kill % 2 == 0 {
            server.kill().await;
            server = site.serve().await;
        } else {
            site.kill_postgres().await;
        }
    }
    reach(BETWEEN_MAX).await;
    stop.send_replace(true);
    let mut told = BTreeMap::new();
    for operator in operators {
        told.extend(operator.await.unwrap());
    }
    assert!(told.keys().copied().eq(1..=told.len() as u64), "ids are dense: {told:?}");
    let person = site.person(PERSON);
    let mut inbox: Vec<Value> = Vec::new();
    loop {
        let after = inbox.last().map_or(0, |item| item["id"].as_u64().unwrap());
        let page = person.get(&format!("/v1/notifications?after_id={after}&limit=200")).await;
        inbox.extend(page["items"].as_array().unwrap().iter().cloned());
        if page["has_more"] == false {
            assert_eq!(page["unread"], told.len(), "each counts once");
            break;
        }
    }
    let seen = inbox.iter().map(|item| (item["id"].as_u64().unwrap(), item["content"].as_str().unwrap()));
    assert!(seen.eq(told.iter().map(|(id, content)| (*id, content.as_str()))), "{told:?}");
    server.kill().await;
}
