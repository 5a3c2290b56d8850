//! Removals that are killed in the middle, and removals while people go on talking.

use std::{sync::Arc, time::Duration};

use domain::{Hold, PersonCommand, Reason, ids::Sender};
use event_store::{Body, EventStore, Persons, StreamName, chain, persons::by_system};
use reqwest::Method;
use serde_json::{Value, json};
use tests::{
    dice::Dice,
    log::{chat, postgres_log, surroundings, uid},
    process::{Process, Site, until},
};
use tokio::{sync::watch, task::JoinHandle};
use uuid::Uuid;

use super::{
    PROGRAM,
    traces::{say, words},
};

const CHAT: &str = "p2p-1-2";
/// How often each is killed.
const KILLS: usize = 5;
/// How much later a kill comes at most, in ms, than the first word of the work.
const LATER_MAX_MS: u64 = 600;

/// Bo goes on talking, to Ana and to Cy, until he is told to stop; answers what was acknowledged.
fn talking(site: &Arc<Site>, stop: &watch::Receiver<bool>) -> JoinHandle<Vec<(&'static str, u64, String)>> {
    let (site, stop) = (Arc::clone(site), stop.clone());
    tokio::spawn(async move {
        let (bo, mut said) = (site.person(2), Vec::new());
        for n in 0u64.. {
            if *stop.borrow() {
                return said;
            }
            let conv = if n % 2 == 0 { CHAT } else { "p2p-2-3" };
            let text = format!("word {n} of Bo");
            said.push((conv, say(&bo, conv, &text, None).await, text));
        }
        said
    })
}

/// Kills it some moments after it has begun. Answers whether it was still at it.
async fn kill_in_the_middle(mut process: Process, first_word: &str, dice: &mut Dice) -> bool {
    until("the work begins", async || process.log().contains(first_word) || !process.output().is_empty())
        .await;
    tokio::time::sleep(Duration::from_millis(dice.below(LATER_MAX_MS))).await;
    let in_the_middle = !process.has_ended();
    process.kill().await;
    in_the_middle
}

/// Every event of this chat verifies; answers how many bodies are gone.
async fn chain_holds(site: &Site) -> usize {
    let log = postgres_log(&site.database()).await;
    let mut gone = 0;
    for kind in [domain::StreamKind::Message, domain::StreamKind::Mark] {
        let stream = StreamName::new(&chat(1, 2), kind);
        let (mut previous, mut next) = ([0; 32], 1);
        loop {
            let page = log.read_stream(&stream, next, 500).await.expect("every event has a body or a digest");
            for event in &page {
                let link = chain::link(&previous, &event.header, &chain::body_digest(&event.body));
                assert_eq!(link, event.header.chain, "{stream} {}", event.header.version);
                previous = link;
                gone += usize::from(matches!(event.body, Body::Erased { .. }));
            }
            let Some(last) = page.last() else { break };
            next = last.header.version + 1;
        }
    }
    gone
}

async fn everything_of_bo_is_there(site: &Site, said: &[(&str, u64, String)]) {
    let bo = site.person(2);
    for conv in [CHAT, "p2p-2-3"] {
        let path = format!("/v1/conversations/{conv}");
        let mut items: Vec<Value> = Vec::new();
        let min = bo.get(&path).await["min_seq"].as_u64().unwrap();
        loop {
            let after = items.last().map_or(min - 1, |item| item["seq"].as_u64().unwrap());
            let page = bo.get(&format!("{path}/messages?after_seq={after}&limit=200")).await;
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            if page["has_more"] == false {
                break;
            }
        }
        for (_, seq, text) in said.iter().filter(|(of, ..)| *of == conv) {
            let item = &items[(seq - min) as usize];
            assert_eq!((&item["seq"], &item["content"]), (&json!(seq), &json!(text)), "{conv}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_that_is_killed_goes_on_and_takes_nobody_elses_words() {
    let mut dice = Dice::of_this_run();
    let site = Arc::new(Site::new(PROGRAM));
    let server = site.serve().await;
    let ana = site.person(1);
    for _ in 0..250 {
        say(&ana, CHAT, &words(&mut dice), None).await;
    }
    let (stop, stopped) = watch::channel(false);
    let talk = talking(&site, &stopped);
    let mut in_the_middle = 0;
    for _ in 0..KILLS {
        let erasing = site.start(&["audit", "erase", "--uid", "1", "--reason", "killed"]);
        in_the_middle += usize::from(kill_in_the_middle(erasing, "erasing what", &mut dice).await);
    }
    assert!(in_the_middle > 0, "none was killed in the middle of its work");
    let report = site.run(&["audit", "erase", "--uid", "1", "--reason", "to its end"]).await;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["messages"].is_u64(), "{report}");
    stop.send_replace(true);
    let said = talk.await.unwrap();
    assert!(said.len() > 20, "Bo has gone on talking");
    assert_eq!(chain_holds(&site).await, 250);
    everything_of_bo_is_there(&site, &said).await;
    let history = site.person(2).history(CHAT).await;
    assert_eq!(history.iter().filter(|item| item["state"] == "expired").count(), 250);
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_that_was_asked_for_is_ended_by_whoever_serves_next() {
    let mut dice = Dice::of_this_run();
    let site = Arc::new(Site::new(PROGRAM));
    let server = site.serve().await;
    for _ in 0..10 {
        say(&site.person(1), CHAT, &words(&mut dice), None).await;
    }
    // Asked for beside the server, which does not hear of it.
    let store: Arc<dyn EventStore> = Arc::new(postgres_log(&site.database()).await);
    let persons = Persons::new(&store, &surroundings());
    let reason = Reason::parse("she asked").unwrap();
    let asked = PersonCommand::Erase(Hold { by: Sender::System, reason, at: 1 });
    persons.handle(uid(1), &by_system(Uuid::nil()), &asked).await.unwrap();
    server.kill().await;
    let server = site.serve().await;
    until("the erasure is over", async || {
        persons
            .state(uid(1))
            .await
            .is_ok_and(|state| state.erasure.is_some_and(|erasure| erasure.done.is_some()))
    })
    .await;
    assert_eq!(chain_holds(&site).await, 10);
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retention_that_is_killed_goes_on_and_takes_nothing_young() {
    let mut dice = Dice::of_this_run();
    let site = Arc::new(Site::new(PROGRAM));
    let server = site.serve().await;
    let ana = site.person(1);
    for n in 0..250 {
        say(&ana, if n % 5 == 0 { "p2p-1-3" } else { CHAT }, &words(&mut dice), None).await;
    }
    site.caught_up().await;
    // A year goes by, for what stands in the database.
    let a_year_ago = "select log.ensure_body_month(min(recorded_at) - 31536000000) from log.event;
                      update log.body set recorded_at = recorded_at - 31536000000;
                      update log.event set recorded_at = recorded_at - 31536000000;";
    site.connect().await.batch_execute(a_year_ago).await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let talk = talking(&site, &stopped);
    let mut in_the_middle = 0;
    for _ in 0..KILLS {
        let retaining = site.start(&["retention", "--days", "30"]);
        in_the_middle += usize::from(kill_in_the_middle(retaining, "retention takes", &mut dice).await);
    }
    assert!(in_the_middle > 0, "none was killed in the middle of its work");
    site.run(&["retention", "--days", "30"]).await;
    stop.send_replace(true);
    let said = talk.await.unwrap();
    assert!(said.len() > 20, "Bo has gone on talking");
    let min = site.person(2).get(&format!("/v1/conversations/{CHAT}")).await["min_seq"].clone();
    assert_eq!(min, 201);
    let page = ana.insist(Method::GET, "/v1/conversations/p2p-1-3/messages", None).await.json;
    assert_eq!((&page["min_seq"], &page["items"]), (&json!(51), &json!([])));
    let left =
        "select count(*) from log.event e join log.body b on b.shard = e.shard and b.position = e.position
                 where e.event_type = 1 and e.actor = 1";
    assert_eq!(site.connect().await.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
    everything_of_bo_is_there(&site, &said).await;
    server.kill().await;
}
