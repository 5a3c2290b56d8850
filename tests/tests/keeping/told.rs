//! What devices hear of removals: by push, by resume, by sync.

use domain::{Command, Seq, ids::Sender};
use serde_json::{Value, json};
use tests::log::{chat, group, request, uid};
use tests::server::{Person, Server};
use tests::socket::Socket;

const CHAT: &str = "p2p-1-2";

async fn say(person: &Person<'_>, conv: &str, text: &str, reply_to: Option<u64>) {
    let id = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, format!("{conv} {text}").as_bytes());
    let mut body = json!({"client_msg_id": id, "msg_type": 1, "content": text});
    if let Some(seq) = reply_to {
        body["reply_to"] = json!(seq);
    }
    assert_eq!(person.post(&format!("/v1/conversations/{conv}/messages"), body).await.status, 201);
}

async fn erase(server: &Server, conv: domain::ConvId, of: u64, seqs: &[u64]) {
    let seqs = seqs.iter().map(|seq| Seq::new(*seq)).collect();
    let command = Command::Erase { uid: uid(of), seqs, by: Sender::System };
    server.commands.handle(conv, request(command)).await.unwrap();
}

async fn expire(server: &Server, up_to: u64) {
    let command = Command::Expire { up_to_seq: Seq::new(up_to) };
    server.commands.handle(chat(1, 2), request(command)).await.unwrap();
}

async fn listening(server: &Server, person: u64) -> Socket {
    let mut socket = server.person(person).connect().await;
    socket.ok("resume", json!({})).await;
    socket
}

fn without_cursor(mut push: Value) -> Value {
    push.as_object_mut().unwrap().remove("cursor");
    push
}

#[tokio::test(flavor = "multi_thread")]
async fn both_hear_which_messages_are_gone() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    for text in ["one", "two", "three"] {
        say(&ana, CHAT, text, None).await;
    }
    let since = bo.get("/v1/sync").await.json["cursor"].as_str().unwrap().to_owned();
    let resume_from = listening(&server, 2).await.ok("resume", json!({})).await["cursor"].clone();
    let (mut a, mut b) = (listening(&server, 1).await, listening(&server, 2).await);
    erase(&server, chat(1, 2), 1, &[1, 3]).await;
    expire(&server, 1).await;
    let erased = json!({"push": "expired", "conv_id": CHAT, "seqs": [1, 3]});
    let expired = json!({"push": "expired", "conv_id": CHAT, "min_seq": 2});
    for device in [&mut a, &mut b] {
        assert_eq!(without_cursor(device.push().await), erased);
        assert_eq!(without_cursor(device.push().await), expired);
    }
    // Who was away hears of what it could still see.
    let sync = bo.get(&format!("/v1/sync?cursor={since}")).await.json;
    let entry = &sync["conversations"][0];
    assert_eq!((&entry["changes"]["expired"], &entry["min_seq"]), (&json!([3]), &json!(2)), "{entry}");
    assert_eq!((&entry["unread"], &entry["last_message"]["seq"]), (&json!(1), &json!(2)));
    let mut late = server.person(2).connect().await;
    let resumed = late.ok("resume", json!({"cursor": resume_from})).await;
    assert_eq!(resumed["replayed"], 2);
    let only = json!({"push": "expired", "conv_id": CHAT, "seqs": [3]});
    assert_eq!(without_cursor(late.push().await), only);
    assert_eq!(without_cursor(late.push().await), expired);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_came_later_hears_nothing_of_what_was_before() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    let body = json!({"group_id": "g", "name": "g", "members": [2], "history": "joined"});
    assert_eq!(bo.post("/v1/groups", body).await.status, 201, "Bo founds, Cy comes later");
    assert_eq!(bo.post("/v1/groups/grp-g/members", json!({"uids": [1]})).await.status, 200);
    say(&ana, "grp-g", "before", None).await;
    assert_eq!(bo.post("/v1/groups/grp-g/members", json!({"uids": [3]})).await.status, 200);
    say(&ana, "grp-g", "after", None).await;
    let seqs: Vec<u64> = bo.get("/v1/conversations/grp-g/messages").await.json["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["sender_id"] == 1)
        .map(|item| item["seq"].as_u64().unwrap())
        .collect();
    let (mut b, mut c) = (listening(&server, 2).await, listening(&server, 3).await);
    erase(&server, group("g"), 1, &seqs).await;
    assert_eq!(b.push().await["seqs"], json!(seqs));
    assert_eq!(c.push().await["seqs"], json!([seqs[1]]));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_of_what_is_gone_is_blank() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(1), server.person(2));
    say(&ana, CHAT, "secret", None).await;
    say(&bo, CHAT, "what?", Some(1)).await;
    erase(&server, chat(1, 2), 1, &[1]).await;
    let mut device = listening(&server, 2).await;
    say(&bo, CHAT, "again", Some(1)).await;
    let pushed = device.push().await["item"]["reply_to"].take();
    let page = ana.get(&format!("/v1/conversations/{CHAT}/messages")).await.json;
    for quote in [&pushed, &page["items"][1]["reply_to"], &page["items"][2]["reply_to"]] {
        assert_eq!((&quote["state"], &quote["excerpt"]), (&json!("expired"), &json!("")), "{quote}");
        assert!(!quote.to_string().contains("secret"));
    }
    server.stop().await;
}
