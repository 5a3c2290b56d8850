//! `quipu export --uid`: what somebody may see, all of it and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use tests::corpus;
use tests::server::{Person, Server};
use uuid::Uuid;

use crate::program::Program;
use crate::world::World;

const RTL: &str = "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202e}abc\u{202c} \u{645}\u{631}\u{62d}\u{628}\u{627}";
const CJK: &str = "\u{7fa4}\u{804a}\n\u{4f60}\u{597d}, \u{65e5}\u{672c}\u{8a9e} \u{d55c}\u{ad6d}\u{c5b4}";
const EVIL: &str = "<script>alert(1)</script><img src=x onerror=alert(1)> & \"quoted\" 'too'";
/// Lines of each file of the corpus that are said, too.
const OF_EACH_FILE: usize = 60;

async fn say(person: &Person<'_>, conv: &str, content: &str) -> u64 {
    say_as(person, conv, 1, &json!(content), None).await
}

async fn say_as(
    person: &Person<'_>,
    conv: &str,
    msg_type: u64,
    content: &Value,
    reply_to: Option<u64>,
) -> u64 {
    let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{conv}/{content}").as_bytes());
    let body = json!({"client_msg_id": id, "msg_type": msg_type, "content": content, "reply_to": reply_to});
    let sent = person.post(&format!("/v1/conversations/{conv}/messages"), body).await;
    assert!([200, 201].contains(&sent.status), "{sent:?}");
    sent.json["seq"].as_u64().unwrap()
}

async fn done(person: &Person<'_>, method: Method, path: &str, body: Value) -> Value {
    let request = person.request(method, path).json(&body).send().await.unwrap();
    assert!(request.status().is_success(), "{path}: {}", request.status());
    request.json().await.unwrap_or_default()
}

/// Whatever a person may come to see or not to see.
async fn lives(server: &Server) {
    let (ana, bo) = (&server.person(1), &server.person(2));
    for text in [RTL, CJK, EVIL, "kept"] {
        say(ana, "p2p-1-2", text).await;
    }
    let recalled = say(bo, "p2p-1-2", "zq-hidden recalled").await;
    say_as(ana, "p2p-1-2", 1, &json!("what did you say?"), Some(recalled)).await;
    done(bo, Method::POST, &format!("/v1/conversations/p2p-1-2/messages/{recalled}/recall"), json!({})).await;
    let deleted = say(bo, "p2p-1-2", "zq-hidden deleted").await;
    done(ana, Method::POST, "/v1/conversations/p2p-1-2/messages/delete", json!({"seqs": [deleted]})).await;
    let image = json!({"url": "https://example.org/a.png?x=1&y=2", "size": 5, "width": 1, "height": 1});
    say_as(bo, "p2p-1-2", 2, &image, None).await;
    // Cleared, and then something new.
    say(bo, "p2p-2-3", "zq-hidden of others").await;
    say(ana, "p2p-1-4", "zq-hidden cleared").await;
    done(ana, Method::POST, "/v1/conversations/p2p-1-4/clear", json!({})).await;
    say(ana, "p2p-1-4", "after the clearing").await;
    let group =
        |id: &str, members: Value| json!({"group_id": id, "name": format!("{id} {RTL}"), "members": members});
    done(bo, Method::POST, "/v1/groups", group("left", json!([1]))).await;
    say(bo, "grp-left", "zq-hidden of a group that was left").await;
    done(ana, Method::DELETE, "/v1/groups/grp-left/members/1", json!({})).await;
    done(bo, Method::POST, "/v1/groups", group("late", json!([3]))).await;
    say(bo, "grp-late", "zq-hidden before joining").await;
    done(bo, Method::POST, "/v1/groups/grp-late/members", json!({"uids": [1]})).await;
    say(bo, "grp-late", "after joining").await;
    let admin = server.with_roles(8, &["admin"]);
    for (to, content) in
        [(json!([1]), "for ana"), (json!([2]), "zq-hidden for bo"), (json!("all"), "for all")]
    {
        done(
            &admin,
            Method::POST,
            "/v1/notifications",
            json!({"to": to, "category": "news", "content": content}),
        )
        .await;
    }
    for file in corpus::files().unwrap_or_default() {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        for said in lines.filter_map(|line| line["text"].as_str().map(str::to_owned)).take(OF_EACH_FILE) {
            let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, said.as_bytes());
            let body = json!({"client_msg_id": id, "msg_type": 1, "content": said});
            // Some of it no conversation takes.
            ana.post("/v1/conversations/p2p-1-5/messages", body).await;
        }
    }
}

/// What the person's own client would get, by conversation.
async fn seen(person: &Person<'_>) -> BTreeMap<String, Vec<Value>> {
    let list = person.get("/v1/conversations?limit=200").await.json;
    let mut seen = BTreeMap::new();
    for conversation in list["conversations"].as_array().unwrap() {
        let conv = conversation["conv_id"].as_str().unwrap();
        let mut items = vec![];
        let mut after = 0;
        loop {
            let path = format!("/v1/conversations/{conv}/messages?after_seq={after}&limit=50");
            let page = person.get(&path).await.json;
            let more: Vec<Value> = page["items"].as_array().unwrap().clone();
            after = more.last().map_or(after, |it| it["seq"].as_u64().unwrap());
            items.extend(more);
            if page["has_more"] == false {
                break;
            }
        }
        seen.insert(conv.to_owned(), items);
    }
    seen
}

fn json_lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// By conversation, checked against manifest and list.
fn exported(out: &Path) -> BTreeMap<String, Vec<Value>> {
    let hash = |file: &Value| {
        let bytes = fs::read(out.join(file["file"].as_str().unwrap())).unwrap();
        assert_eq!(file["bytes"], bytes.len());
        assert_eq!(file["blake3"], blake3::hash(&bytes).to_hex().as_str());
    };
    let manifest: Value = serde_json::from_slice(&fs::read(out.join("manifest.json")).unwrap()).unwrap();
    manifest["files"].as_array().unwrap().iter().for_each(hash);
    assert_eq!((&manifest["media"], &manifest["parked"]), (&json!([]), &json!(0)));
    let mut all = BTreeMap::new();
    for listed in json_lines(&out.join("conversations.ndjson")).into_iter().skip(1) {
        hash(&listed);
        let items = json_lines(&out.join(listed["file"].as_str().unwrap()));
        let seq = |item: Option<&Value>| item.map_or(Value::Null, |it| it["seq"].clone());
        assert_eq!(
            (&listed["items"], &listed["first_seq"], &listed["last_seq"]),
            (&json!(items.len()), &seq(items.first()), &seq(items.last()))
        );
        for state in ["normal", "recalled", "deleted", "expired"] {
            assert_eq!(listed[state], items.iter().filter(|it| it["state"] == state).count());
        }
        all.insert(listed["conv_id"].as_str().unwrap().to_owned(), items);
    }
    assert_eq!(manifest["conversations"], all.len());
    assert_eq!(manifest["items"], all.values().map(Vec::len).sum::<usize>());
    all
}

fn files(out: &Path) -> Vec<PathBuf> {
    let entries =
        |folder: &Path| fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect::<Vec<_>>();
    [entries(out), entries(&out.join("messages"))].concat().into_iter().filter(|it| it.is_file()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_exactly_what_the_persons_own_client_gets() {
    let database = World::migrated().await;
    let program = Program::at(&database.url);
    let server = Server::start_on(database).await;
    lives(&server).await;
    let seen = seen(&server.person(1)).await;
    assert!(["p2p-1-2", "p2p-1-4", "grp-late"].iter().all(|it| seen.contains_key(*it)), "{:?}", seen.keys());
    let out = program.path("ana");
    let arguments = ["export", "--uid", "1", "--out", out.to_str().unwrap(), "--format", "html"];
    // Beside a server, and without one.
    let ended = program.run(&arguments).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(exported(&out), seen);
    let told: Vec<Value> = json_lines(&out.join("notifications.ndjson"));
    assert_eq!(told.iter().map(|it| &it["content"]).collect::<Vec<_>>(), ["for ana", "for all"]);
    for path in files(&out) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("zq-hidden"), "{}", path.display());
    }
    let accesses = program.run(&["audit", "accesses"]).await.out;
    assert!(accesses.contains("\"action\":\"export_person\",\"subject\":\"1\""), "{accesses}");
    let again = program.run(&arguments).await;
    assert!(again.code == Some(0) && again.out.contains("is complete"), "{again:?}");
    let other = ["export", "--uid", "2", "--out", out.to_str().unwrap()];
    let refused = program.run(&other).await;
    assert!(refused.code == Some(1) && refused.err.contains("it is not an export of 2"), "{refused:?}");
    let _database = server.stop().await;
    let (bo, nobody) = (program.path("bo"), program.path("nobody"));
    let ended = program.run(&["export", "--uid", "2", "--out", bo.to_str().unwrap()]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(exported(&bo)["grp-left"].iter().any(|it| it["content"] == "zq-hidden of a group that was left"));
    let ended = program.run(&["export", "--uid", "77", "--out", nobody.to_str().unwrap()]).await;
    assert!(ended.code == Some(0) && exported(&nobody).is_empty(), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_pages_show_every_script_and_run_none() {
    let database = World::migrated().await;
    let program = Program::at(&database.url);
    let server = Server::start_on(database).await;
    lives(&server).await;
    let out = program.path("ana");
    let ended =
        program.run(&["export", "--uid", "1", "--out", out.to_str().unwrap(), "--format", "html"]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let all = exported(&out);
    let pages: Vec<PathBuf> =
        files(&out).into_iter().filter(|it| it.extension().is_some_and(|it| it == "html")).collect();
    assert_eq!(pages.len(), all.len() + 1);
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"));
        for foreign in ["<script", "<img", "<link", "<iframe", "src=", "@import", "url("] {
            let told = text.replace("&lt;img src=x", "");
            assert!(!markup(&told).contains(foreign), "{foreign} in {}", page.display());
        }
    }
    let page = fs::read_to_string(out.join("messages/p2p-1-2.html")).unwrap();
    for shown in [RTL, CJK] {
        assert!(page.contains(&format!("<p dir=\"auto\">{shown}</p>")), "{shown}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; &amp; &quot;quoted&quot; &#39;too&#39;"));
    assert!(page.contains("<a href=\"https://example.org/a.png?x=1&amp;y=2\" rel=\"noreferrer noopener\">"));
    assert!(page.contains("recalled</p>") && page.contains("deleted by you"));
    let index = fs::read_to_string(out.join("index.html")).unwrap();
    for conv in all.keys() {
        assert!(index.contains(&format!("href=\"messages/{conv}.html\"")), "{conv}");
    }
}

/// What stands between `<` and `>`: the browser takes nothing else for more than text.
fn markup(text: &str) -> String {
    text.split('<').skip(1).filter_map(|it| it.split('>').next()).map(|it| format!("<{it}>")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_export_of_a_person_goes_on() {
    let database = World::migrated().await;
    let program = Program::at(&database.url);
    let server = Server::start_on(database).await;
    lives(&server).await;
    let out = program.path("ana");
    let arguments = ["export", "--uid", "1", "--out", out.to_str().unwrap()];
    assert_eq!(program.run(&arguments).await.code, Some(0));
    let whole = exported(&out);
    let list = fs::read_to_string(out.join("conversations.ndjson")).unwrap();
    let first: Value = serde_json::from_str(list.lines().nth(1).unwrap()).unwrap();
    let chat = out.join("messages/p2p-1-2.ndjson");
    let said = fs::read(&chat).unwrap();
    for cut in [0, 1, said.len() / 2, said.len() - 1, said.len()] {
        // The list had come as far as its first conversation and a half, that chat as far as this.
        fs::remove_file(out.join("manifest.json")).unwrap();
        fs::remove_file(out.join("conversations.ndjson")).unwrap();
        let ends: Vec<usize> = list.match_indices('\n').map(|(at, _)| at + 1).collect();
        fs::write(out.join("conversations.ndjson.part"), &list[..ends[1] + 9]).unwrap();
        if first["conv_id"] != "p2p-1-2" {
            fs::remove_file(&chat).unwrap();
            fs::write(out.join("messages/p2p-1-2.ndjson.part"), &said[..cut]).unwrap();
        }
        let ended = program.run(&arguments).await;
        assert_eq!(ended.code, Some(0), "{cut}: {ended:?}");
        assert_eq!(exported(&out), whole, "{cut}");
        assert!(files(&out).iter().all(|it| it.extension().is_some_and(|it| it != "part")));
    }
    // All but the manifest was there.
    fs::remove_file(out.join("manifest.json")).unwrap();
    assert_eq!(program.run(&arguments).await.code, Some(0));
    assert_eq!(exported(&out), whole);
}
