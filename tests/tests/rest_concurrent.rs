//! Many at once over real sockets: a thousand sends into one conversation, and more than its queue holds.

use std::collections::BTreeSet;

use domain::{ConvId, Reply};
use event_store::{Pending, Shard, shard::SHARDS};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::log::{chat, client_msg_id, send};
use tests::process::until;
use tests::server::{Answer, Person, Server};

/// Connections, each of a member of the group.
const CONNECTIONS: u64 = 50;
/// Messages of each.
const EACH: u64 = 20;
/// Commands that wait in one conversation before the next one is told to come later.
const WAITING_MAX: u64 = 1024;

fn message(sender: u64, n: u64) -> Value {
    json!({"client_msg_id": client_msg_id(sender, n).get().to_string(), "msg_type": 1, "content": format!("message {n} of {sender}")})
}

/// Every item of a history, page by page; one for each seq.
async fn history(person: &Person<'_>, conv: &str) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    loop {
        let after = items.len();
        let path = format!("/v1/conversations/{conv}/messages?limit=200&after_seq={after}");
        let page = person.get(&path).await;
        assert_eq!(page.status, 200, "{page:?}");
        for item in page.json["items"].as_array().unwrap() {
            items.push(item.clone());
            assert_eq!(item["seq"], items.len());
        }
        if page.json["has_more"] == false {
            return items;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_sends_over_fifty_connections_get_a_seq_each_and_keep_it() {
    const MESSAGES: &str = "/v1/conversations/grp-crowd/messages";
    let server = Server::start().await;
    let members: Vec<u64> = (1..=CONNECTIONS).collect();
    let body = json!({"group_id": "crowd", "name": "Crowd", "members": members});
    assert_eq!(server.person(1).post("/v1/groups", body).await.status, 201);
    let people: Vec<_> = members.iter().map(|&uid| server.person(uid).on_own_connection()).collect();
    let all = async || -> Vec<Vec<Answer>> {
        join_all(people.iter().zip(&members).map(async |(person, &uid)| {
            let mut answers = Vec::new();
            for n in 1..=EACH {
                answers.push(person.post(MESSAGES, message(uid, n)).await);
            }
            answers
        }))
        .await
    };
    let first = all().await;
    let seqs = |answers: &[Answer]| -> Vec<u64> {
        answers.iter().map(|answer| answer.json["seq"].as_u64().unwrap()).collect()
    };
    for answers in &first {
        assert!(answers.iter().all(|it| it.status == 201 && it.json["duplicate"] == false), "{answers:?}");
        assert!(seqs(answers).is_sorted(), "one sender's messages are in the order of sending");
    }
    let all_seqs: BTreeSet<u64> = first.iter().flat_map(|answers| seqs(answers)).collect();
    // The first message tells of the founding.
    assert!(all_seqs.into_iter().eq(2..=CONNECTIONS * EACH + 1));

    for (answers, first) in all().await.iter().zip(&first) {
        for (again, first) in answers.iter().zip(first) {
            let mut expected = first.json.clone();
            expected["duplicate"] = json!(true);
            assert_eq!((again.status, &again.json), (200, &expected));
        }
    }
    let items = history(&people[0], "grp-crowd").await;
    assert_eq!(items.len() as u64, CONNECTIONS * EACH + 1);
    for (answers, &uid) in first.iter().zip(&members) {
        for (answer, n) in answers.iter().zip(1..) {
            let item = &items[answer.json["seq"].as_u64().unwrap() as usize - 1];
            assert_eq!(item["client_msg_id"], client_msg_id(uid, n).get().to_string());
            assert_eq!((&item["msg_id"], &item["sender_id"]), (&answer.json["msg_id"], &json!(uid)));
        }
    }
    server.stop().await;
}

/// The chats of person 1 in this shard, or in others.
fn chats(in_shard: impl Fn(Shard) -> bool) -> impl Iterator<Item = (u64, ConvId)> {
    (2..).map(|other| (other, chat(1, other))).filter(move |(_, conv)| in_shard(Shard::of(conv, SHARDS)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_conversation_says_so_loses_nothing_and_stops_nobody_else() {
    const TOO_MANY: u64 = 40;
    let server = Server::start().await;
    let ana = server.person(1);
    let shard = Shard::new(3);
    let (_, full) = chats(|it| it == shard).next().unwrap();
    let (_, beside) = chats(|it| it == shard).nth(1).unwrap();
    let (_, elsewhere) = chats(|it| it != shard).next().unwrap();
    let messages = |conv: &ConvId| format!("/v1/conversations/{conv}/messages");

    // Another node has the turn at the shard and keeps it, for less than anybody would give up.
    let holder = server.database.connect().await;
    holder.execute("select pg_advisory_lock(7171, $1)", &[&i32::from(shard.get())]).await.unwrap();
    let submit = |n| -> Pending { server.commands.submit(full.clone(), send(1, n)).unwrap() };
    let mut taken = vec![submit(1)];
    until("the first one is at the lock", async || {
        let waits = "select from pg_locks where locktype = 'advisory' and classid = 7171 and not granted";
        holder.query_opt(waits, &[]).await.unwrap().is_some()
    })
    .await;
    taken.extend((2..=WAITING_MAX + 1).map(submit));
    let later = WAITING_MAX + 2..WAITING_MAX + 2 + TOO_MANY;
    let path = messages(&full);
    for refused in join_all(later.clone().map(|n| ana.post(&path, message(1, n)))).await {
        assert_eq!(refused.problem(), (429, "too_many_requests"));
        assert!(refused.headers["retry-after"].to_str().unwrap().parse::<u32>().unwrap() > 0);
    }
    // Others go on: at once in another shard, and when their turn comes in this one.
    assert_eq!(ana.post(&messages(&elsewhere), message(1, 1)).await.status, 201);
    let path_beside = messages(&beside);
    let waiting = ana.post(&path_beside, message(1, 1));
    let (waiting, _) = tokio::join!(waiting, async {
        holder.execute("select pg_advisory_unlock(7171, $1)", &[&i32::from(shard.get())]).await.unwrap();
    });
    assert_eq!(waiting.status, 201);

    for (pending, n) in taken.into_iter().zip(1..) {
        match pending.answer().await {
            Ok(Reply::Sent(sent)) => assert_eq!((sent.seq.get(), sent.duplicate), (n, false)),
            other => panic!("message {n} was taken: {other:?}"),
        }
    }
    let items = history(&ana, full.as_str()).await;
    assert_eq!(items.len() as u64, WAITING_MAX + 1, "what was refused is not there");
    for (item, n) in items.iter().zip(1..) {
        assert_eq!(item["client_msg_id"], client_msg_id(1, n).get().to_string());
    }
    for n in later {
        let again = ana.post(&path, message(1, n)).await;
        assert_eq!((again.status, &again.json["seq"]), (201, &json!(n)));
    }
    server.stop().await;
}
