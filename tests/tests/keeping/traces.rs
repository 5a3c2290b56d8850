//! The files of a stopped Postgres before and after: what was said is found, and then nothing of it is.

use std::path::PathBuf;

use reqwest::Method;
use serde_json::{Value, json};
use tests::{
    dice::Dice,
    process::{Person, Process, Site},
    traces::Traces,
};
use uuid::Uuid;

use super::PROGRAM;

const CHAT: &str = "p2p-1-2";

/// Random letters: nobody else says this, and nothing compresses it.
pub fn words(dice: &mut Dice) -> String {
    let letters = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    (0..40).map(|_| char::from(letters[dice.below(letters.len() as u64) as usize])).collect()
}

/// Says it, and answers its seq.
pub async fn say(person: &Person<'_>, conv: &str, text: &str, reply_to: Option<u64>) -> u64 {
    let id = Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("{conv} {} {text}", person.uid).as_bytes());
    let mut body = json!({"client_msg_id": id, "msg_type": 1, "content": text});
    if let Some(seq) = reply_to {
        body["reply_to"] = json!(seq);
    }
    let path = format!("/v1/conversations/{conv}/messages");
    let answer = person.insist(Method::POST, &path, Some(&body)).await;
    assert!(answer.status == 201 || answer.status == 200, "{answer:?}");
    answer.json["seq"].as_u64().unwrap()
}

/// Ends it as Ctrl-C does, and its Postgres with it.
pub async fn stop(site: &Site, mut server: Process) {
    server.interrupt();
    assert!(server.ended().await.success());
    assert_eq!(site.residents(), Vec::<String>::new(), "nobody writes any more");
}

/// What Ana (1) and Bo (2) have said, everywhere where it may lie.
struct Said {
    ana: Vec<String>,
    bo: Vec<String>,
}

/// A single chat with a full bucket and a filling one, and a group that Ana leaves.
async fn talk(site: &Site, dice: &mut Dice) -> Said {
    let (ana, bo) = (site.person(1), site.person(2));
    let mut said = Said { ana: vec![], bo: vec![] };
    let mut anas = |dice: &mut Dice| {
        said.ana.push(words(dice));
        said.ana.last().unwrap().clone()
    };
    let sealed = anas(dice);
    let quoted = say(&ana, CHAT, &sealed, None).await;
    // Longer than two kilobytes, as text and as something that does not compress.
    let long = anas(dice);
    say(&ana, CHAT, &long.repeat(100), None).await;
    let noise: Vec<String> = (0..100).map(|_| anas(dice)).collect();
    say(&ana, CHAT, &noise.concat(), None).await;
    let bos = words(dice);
    say(&bo, CHAT, &bos, Some(quoted)).await;
    said.bo.push(bos);
    for n in 0..98 {
        let (person, text) = if n % 2 == 0 { (&ana, anas(dice)) } else { (&bo, words(dice)) };
        say(person, CHAT, &text, None).await;
        if n % 2 == 1 {
            said.bo.push(text);
        }
    }
    // In the bucket that still fills: one that stays, one that is recalled, one that is deleted and cleared.
    let mut anas = |dice: &mut Dice| {
        said.ana.push(words(dice));
        said.ana.last().unwrap().clone()
    };
    say(&ana, CHAT, &anas(dice), None).await;
    let seq = say(&ana, CHAT, &anas(dice), None).await;
    let recall = format!("/v1/conversations/{CHAT}/messages/{seq}/recall");
    assert_eq!(ana.insist(Method::POST, &recall, None).await.status, 200);
    let seq = say(&ana, CHAT, &anas(dice), None).await;
    let path = format!("/v1/conversations/{CHAT}/messages/delete");
    assert_eq!(bo.insist(Method::POST, &path, Some(&json!({"seqs": [seq]}))).await.status, 200);
    let group = json!({"group_id": "team", "name": "Team", "members": [1], "history": "all"});
    assert_eq!(bo.insist(Method::POST, "/v1/groups", Some(&group)).await.status, 201);
    say(&ana, "grp-team", &anas(dice), None).await;
    let text = words(dice);
    say(&bo, "grp-team", &text, None).await;
    said.bo.push(text);
    let leave = ana.insist(Method::DELETE, "/v1/groups/grp-team/members/1", None).await;
    assert_eq!(leave.status, 200, "{leave:?}");
    said
}

/// The files of the tables in which bodies lie, those of long values too, and their names here.
const PLACES: &str = "select place, pg_relation_filepath(o) from (
      select 'log', inhrelid from pg_inherits where inhparent = 'log.body'::regclass
      union all select 'tail', 'conversation_g1.history_tail'::regclass
      union all select 'buckets', 'conversation_g1.history_bucket'::regclass) as t(place, o)
    union all select 'long ' || place, pg_relation_filepath(c.reltoastrelid) from (
      select 'log', inhrelid from pg_inherits where inhparent = 'log.body'::regclass
      union all select 'buckets', 'conversation_g1.history_bucket'::regclass) as t(place, o)
      join pg_class c on c.oid = o";

/// Which of these texts are in no file, and which are in any.
fn look(site: &Site, texts: &[String]) -> (Vec<String>, Vec<(String, Vec<PathBuf>)>) {
    let found = Traces::of(texts).find(site.data());
    let absent = texts.iter().filter(|text| !found.contains_key(*text)).cloned().collect();
    (absent, found.into_iter().map(|(text, files)| (text, files.into_iter().collect())).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn after_an_erasure_no_file_has_a_word_of_it_and_every_word_of_the_others() {
    let mut dice = Dice::of_this_run();
    let site = Site::new(PROGRAM);
    let server = site.serve().await;
    let said = talk(&site, &mut dice).await;
    site.caught_up().await;
    let database = site.connect().await;
    // Whatever the planner may sample, it has.
    database.batch_execute("analyze").await.unwrap();
    let places = database.query(PLACES, &[]).await.unwrap();
    drop(database);
    stop(&site, server).await;
    let (absent, before) = look(&site, &said.ana);
    assert_eq!(absent, Vec::<String>::new(), "it is found before");
    let files: Vec<&PathBuf> = before.iter().flat_map(|(_, files)| files).collect();
    for row in places {
        let (place, path): (&str, &str) = (row.get(0), row.get(1));
        // A full bucket of this talk is longer than a page: its row has nothing of it.
        if place != "buckets" {
            assert!(files.iter().any(|file| file.ends_with(path)), "the search reaches {place}: {path}");
        }
    }
    assert!(files.iter().any(|file| file.to_string_lossy().contains("pg_wal")), "and the write-ahead log");
    let report = site.run(&["audit", "erase", "--uid", "1", "--reason", "she asked for it"]).await;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["messages"], &report["conversations"]), (&json!(56), &json!(2)), "{report}");
    assert_eq!(report["tables"][0]["table"], "conversation_g2.history_bucket", "built anew: {report}");
    assert_eq!(site.residents(), Vec::<String>::new());
    assert_eq!(look(&site, &said.ana).1, vec![], "nothing is left: {report}");
    assert_eq!(look(&site, &said.bo).0, Vec::<String>::new(), "nobody else's words went");
    // A rebuild brings nothing back, and neither generation has a word.
    site.run(&["projections", "rebuild", "conversation"]).await;
    assert_eq!(look(&site, &said.ana).1, vec![], "built anew from a log without it");
    assert_eq!(look(&site, &said.bo).0, Vec::<String>::new());
    // What people see.
    let server = site.serve().await;
    let bo = site.person(2);
    let history = bo.history(CHAT).await;
    let of_ana = |item: &&Value| item["state"] != "normal";
    let states: Vec<&Value> = history.iter().filter(of_ana).map(|item| &item["state"]).collect();
    assert_eq!((states.len(), history.len()), (55, 105));
    assert!(states.iter().all(|state| *state == "expired" || *state == "deleted"), "{states:?}");
    assert_eq!(history[3]["reply_to"]["state"], "expired");
    assert_eq!(history[3]["reply_to"]["excerpt"], "");
    // A second time there is nothing to be done, and a repeat of what was erased is still a repeat.
    assert_eq!(say(&site.person(1), CHAT, &said.ana[0], None).await, 1);
    let again = site.run(&["audit", "erase", "--uid", "1", "--reason", "once more"]).await;
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap()["messages"], 0);
    stop(&site, server).await;
    assert_eq!(look(&site, &said.ana).1, vec![]);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_retention_no_file_has_what_was_too_old() {
    let mut dice = Dice::of_this_run();
    let site = Site::new(PROGRAM);
    let server = site.serve().await;
    let said = talk(&site, &mut dice).await;
    site.caught_up().await;
    // Let a year go by, for the database.
    let database = site.connect().await;
    let a_year_ago = "select log.ensure_body_month(min(recorded_at) - 31536000000) from log.event;
                      update log.body set recorded_at = recorded_at - 31536000000;
                      update log.event set recorded_at = recorded_at - 31536000000;";
    database.batch_execute(a_year_ago).await.unwrap();
    database.batch_execute("vacuum (full) log.body").await.unwrap();
    drop(database);
    let new = words(&mut dice);
    say(&site.person(1), CHAT, &new, None).await;
    stop(&site, server).await;
    let old = [said.ana, said.bo].concat();
    assert_eq!(look(&site, &old).0, Vec::<String>::new(), "it is found before");
    let would: Value = serde_json::from_str(&site.run(&["retention", "--dry-run"]).await).unwrap();
    assert_eq!((&would["single"]["messages"], &would["single"]["conversations"]), (&json!(105), &json!(1)));
    assert_eq!(would["group"]["conversations"], 1);
    assert_eq!(look(&site, &old).0, Vec::<String>::new(), "a dry run takes nothing");
    // Beside the generation that serves another one is kept, so that no third one is built.
    site.run(&["projections", "rebuild", "conversation"]).await;
    let report: Value = serde_json::from_str(&site.run(&["retention", "--days", "30"]).await).unwrap();
    assert_eq!(report["tables"].as_array().unwrap().len(), 4, "of both generations: {report}");
    let taken = would["single"]["messages"].as_u64().unwrap() + would["group"]["messages"].as_u64().unwrap();
    assert_eq!(report["messages"], taken, "{report}");
    assert_eq!(look(&site, &old).1, vec![], "nothing is left: {report}");
    assert_eq!(look(&site, &[new]).0, Vec::<String>::new(), "what is young stays");
    let server = site.serve().await;
    let bo = site.person(2);
    let page = bo.get(&format!("/v1/conversations/{CHAT}/messages")).await;
    assert_eq!((&page["min_seq"], page["items"].as_array().unwrap().len()), (&json!(106), 1));
    let summary = bo.get(&format!("/v1/conversations/{CHAT}")).await;
    assert_eq!((&summary["unread"], &summary["last_message"]["seq"]), (&json!(1), &json!(106)));
    let again: Value = serde_json::from_str(&site.run(&["retention", "--days", "30"]).await).unwrap();
    assert_eq!((&again["messages"], &again["months"]), (&json!(0), &json!([])));
    stop(&site, server).await;
}
