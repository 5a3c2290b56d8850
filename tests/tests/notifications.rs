//! System notifications from outside: to one, to many, to all; what is unread; what is pushed; and what it costs.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use tests::dice::Dice;
use tests::server::{Answer, Person, Server, send};
use uuid::Uuid;

const NOTIFICATIONS: &str = "/v1/notifications";

async fn tell(server: &Server, to: Value, content: &str) -> u64 {
    let body = json!({"to": to, "category": "news", "content": content});
    let told = server.with_roles(1, &["admin"]).post(NOTIFICATIONS, body).await;
    assert_eq!(told.status, 201, "{told:?}");
    told.json["id"].as_u64().unwrap()
}

async fn keyed(server: &Server, key: Uuid, body: &Value) -> Answer {
    let admin = server.with_roles(1, &["admin"]);
    send(admin.request(Method::POST, NOTIFICATIONS).header("Idempotency-Key", key.to_string()).json(body))
        .await
}

async fn inbox(person: &Person<'_>, query: &str) -> Value {
    let page = person.get(&format!("{NOTIFICATIONS}{query}")).await;
    assert_eq!(page.status, 200, "{page:?}");
    page.json
}

fn ids(inbox: &Value) -> Vec<u64> {
    inbox["items"].as_array().unwrap().iter().map(|item| item["id"].as_u64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_sees_what_is_for_them_and_what_is_for_everybody() {
    let server = Server::start().await;
    tell(&server, json!([7]), "to one").await;
    tell(&server, json!([7, 8]), "to two").await;
    tell(&server, json!("all"), "to all").await;
    let (ana, bo, cy) = (server.person(7), server.person(8), server.person(9));
    assert_eq!(ids(&inbox(&ana, "").await), [1, 2, 3]);
    assert_eq!(ids(&inbox(&bo, "").await), [2, 3]);
    let page = inbox(&cy, "").await;
    let item = &page["items"][0];
    assert_eq!(
        (&item["id"], &item["category"], &item["content"]),
        (&json!(3), &json!("news"), &json!("to all"))
    );
    assert!(item["create_at"].is_i64());
    let rest = (&page["has_more"], &page["max_id"], &page["read_id"], &page["unread"]);
    assert_eq!(rest, (&json!(false), &json!(3), &json!(0), &json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_unread_follows_from_one_watermark() {
    let server = Server::start().await;
    for to in [json!("all"), json!([8]), json!([7]), json!("all"), json!([7, 8])] {
        tell(&server, to, "x").await;
    }
    let ana = server.person(7);
    let unread = async |person: &Person<'_>| inbox(person, "").await["unread"].clone();
    assert_eq!(unread(&ana).await, 4);
    let read = async |id: u64| ana.put("/v1/notifications/read", json!({"read_id": id})).await.json;
    assert_eq!(read(3).await, json!({"read_id": 3, "unread": 2}));
    assert_eq!(read(1).await, json!({"read_id": 3, "unread": 2}), "it only rises");
    // An id that is for others is a place to stand, too.
    assert_eq!(read(4).await, json!({"read_id": 4, "unread": 1}));
    assert_eq!(read(5).await, json!({"read_id": 5, "unread": 0}));
    let beyond = ana.put("/v1/notifications/read", json!({"read_id": 6})).await;
    assert_eq!(beyond.problem(), (422, "read_id_beyond_head"));
    assert_eq!(unread(&server.person(8)).await, 4, "nobody else's watermark moves");
    tell(&server, json!("all"), "x").await;
    assert_eq!(unread(&ana).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inbox_is_paged_in_both_directions() {
    let server = Server::start().await;
    for n in 0..9 {
        tell(&server, if n % 3 == 0 { json!([8]) } else { json!("all") }, "x").await;
    }
    let ana = server.person(7);
    let page = async |query: &str| {
        let page = inbox(&ana, query).await;
        (ids(&page), page["has_more"].as_bool().unwrap())
    };
    assert_eq!(page("?limit=2").await, (vec![8, 9], true), "the newest");
    assert_eq!(page("?limit=2&before_id=8").await, (vec![5, 6], true));
    assert_eq!(page("?limit=2&before_id=5").await, (vec![2, 3], false));
    assert_eq!(page("?limit=2&after_id=0").await, (vec![2, 3], true), "the oldest above it");
    assert_eq!(page("?limit=4&after_id=3").await, (vec![5, 6, 8, 9], false));
    assert_eq!(page("?after_id=3&before_id=8").await, (vec![5, 6], false));
    assert_eq!(page("?after_id=9").await, (vec![], false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_with_its_key_gets_the_first_answer() {
    let server = Server::start().await;
    let (key, body) = (Uuid::from_u128(7), json!({"to": "all", "category": "a", "content": {"n": 1}}));
    let first = keyed(&server, key, &body).await;
    assert_eq!((first.status, &first.json["duplicate"]), (201, &json!(false)));
    let again = keyed(&server, key, &body).await;
    assert_eq!((again.status, &again.json["duplicate"]), (200, &json!(true)));
    assert_eq!((&again.json["id"], &again.json["create_at"]), (&first.json["id"], &first.json["create_at"]));
    let other = json!({"to": "all", "category": "a", "content": {"n": 2}});
    assert_eq!(keyed(&server, key, &other).await.problem(), (409, "idempotency_conflict"));
    // At once, and without a key each is new.
    let (key, together) = (Uuid::from_u128(8), (0..20).map(|_| keyed(&server, Uuid::from_u128(8), &body)));
    let together = futures_util::future::join_all(together).await;
    assert_eq!(together.iter().filter(|it| it.status == 201).count(), 1, "{key}");
    assert_eq!(together.iter().map(|it| it.json["id"].as_u64()).collect::<BTreeSet<_>>().len(), 1);
    let server = Server::start_on(server.stop().await).await;
    assert_eq!(keyed(&server, key, &body).await.status, 200, "after a restart, too");
    tell(&server, json!("all"), "x").await;
    assert_eq!(tell(&server, json!("all"), "x").await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_admin_tells_and_bad_input_is_named() {
    let server = Server::start().await;
    let good = json!({"to": "all", "category": "news", "content": "x"});
    for roles in [&[][..], &["compliance"]] {
        let refused = server.with_roles(7, roles).post(NOTIFICATIONS, good.clone()).await;
        assert_eq!(refused.problem(), (403, "not_allowed"));
    }
    let with = |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    let many: Vec<u64> = (1..=10_001).collect();
    let cases = [
        (with("to", json!([])), (422, "invalid_count")),
        (with("to", json!(many)), (422, "invalid_count")),
        (with("to", json!([0])), (422, "invalid_uid")),
        (with("to", json!("some")), (422, "invalid_body")),
        (with("to", json!(7)), (422, "invalid_body")),
        (with("category", json!("No News")), (422, "invalid_category")),
        (with("category", json!("")), (422, "invalid_category")),
        (with("content", json!("")), (422, "invalid_content")),
        (with("content", json!(7)), (422, "invalid_content")),
        (with("content", json!({})), (422, "invalid_content")),
        (with("content", json!("a\0b")), (422, "invalid_content")),
        (with("content", json!("x".repeat(65_537))), (413, "content_too_large")),
        (with("more", json!(1)), (422, "invalid_body")),
    ];
    let admin = server.with_roles(1, &["admin"]);
    for (body, expected) in cases {
        let text = body.to_string();
        assert_eq!(
            admin.post(NOTIFICATIONS, body).await.problem(),
            expected,
            "{}",
            &text[..text.len().min(99)]
        );
    }
    let key = admin.request(Method::POST, NOTIFICATIONS).header("Idempotency-Key", "x").json(&good);
    assert_eq!(send(key).await.problem(), (400, "invalid_idempotency_key"));
    for query in ["?limit=0", "?limit=201", "?after_id=-1", "?after_id=9007199254740992", "?x=1"] {
        let refused = admin.get(&format!("{NOTIFICATIONS}{query}")).await;
        assert_eq!(refused.problem(), (400, "invalid_parameter"), "{query}");
    }
    let unknown = admin.put("/v1/notifications/read", json!({"read_id": -1})).await;
    assert_eq!(unknown.problem(), (422, "invalid_body"));
    assert_eq!(send(server.request(Method::GET, NOTIFICATIONS)).await.problem(), (401, "unauthorized"));
    assert_eq!(server.events().await, 0);
    assert_eq!(inbox(&admin, "").await["max_id"], 0, "nothing of it was told");
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_it_is_for_hears_of_it_on_all_devices() {
    let server = Server::start().await;
    let (ana, bo) = (server.person(7), server.person(8));
    let (mut phone, mut desk, mut bos) = (ana.connect().await, ana.connect().await, bo.connect().await);
    for socket in [&mut phone, &mut desk, &mut bos] {
        socket.ok("resume", json!({})).await;
    }
    tell(&server, json!([7]), "to one").await;
    tell(&server, json!("all"), "to all").await;
    let heard = |push: &Value| (push["push"].clone(), push["id"].clone(), push["content"].clone());
    for socket in [&mut phone, &mut desk] {
        assert_eq!(heard(&socket.push().await), (json!("notification"), json!(1), json!("to one")));
        assert_eq!(heard(&socket.push().await), (json!("notification"), json!(2), json!("to all")));
    }
    let push = bos.push().await;
    assert_eq!(
        heard(&push),
        (json!("notification"), json!(2), json!("to all")),
        "nothing that is for others"
    );
    assert!(push["cursor"].is_string() && push["category"] == "news" && push["create_at"].is_i64());
    ana.put("/v1/notifications/read", json!({"read_id": 2})).await;
    for socket in [&mut phone, &mut desk] {
        let push = socket.push().await;
        assert_eq!((&push["push"], &push["read_id"]), (&json!("notifications_read"), &json!(2)));
    }
    tell(&server, json!("all"), "more").await;
    assert_eq!(bos.push().await["id"], 3, "a watermark is nobody else's business");
}

#[tokio::test(flavor = "multi_thread")]
async fn to_everybody_is_one_write_whatever_their_number() {
    let server = Server::start().await;
    let client = server.database.connect().await;
    let rows = async || {
        let rows =
            "select (select count(*) from log.event), (select count(*) from notification_g1.notification),
                           (select count(*) from notification_g1.broadcast),
                           (select count(*) from notification_g1.recipient)";
        let row = client.query_one(rows, &[]).await.unwrap();
        [0, 1, 2, 3].map(|column| row.get::<_, i64>(column))
    };
    for person in 1..=50 {
        inbox(&server.person(person), "").await;
    }
    tell(&server, json!("all"), "x").await;
    inbox(&server.person(1), "").await;
    assert_eq!(rows().await, [1, 1, 1, 0]);
    tell(&server, json!((1..=300).collect::<Vec<u64>>()), "x").await;
    inbox(&server.person(1), "").await;
    assert_eq!(rows().await, [2, 2, 1, 300], "to many is one event and a row a person");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_is_in_no_conversation() {
    let server = Server::start().await;
    let ana = server.person(7);
    let cursor = ana.get("/v1/sync").await.json["cursor"].as_str().unwrap().to_owned();
    tell(&server, json!([7]), "to one").await;
    tell(&server, json!("all"), "to all").await;
    ana.put("/v1/notifications/read", json!({"read_id": 1})).await;
    assert_eq!(ana.get("/v1/conversations").await.json["conversations"], json!([]));
    let missed = ana.get(&format!("/v1/sync?cursor={cursor}")).await.json;
    assert_eq!((&missed["conversations"], &missed["has_more"]), (&json!([]), &json!(false)));
    assert_eq!(server.events().await, 0, "the shards of conversations hold nothing of it");
    assert_eq!(ids(&inbox(&ana, "").await), [1, 2]);
}

/// What is told, to whom, and how far each has read, kept as plainly as it can be.
#[derive(Default)]
struct Model {
    told: Vec<Option<BTreeSet<u64>>>,
    read: [u64; 4],
}

impl Model {
    fn of(&self, person: u64) -> Vec<u64> {
        let for_them = |to: &Option<BTreeSet<u64>>| to.as_ref().is_none_or(|to| to.contains(&person));
        (1..).zip(&self.told).filter(|(_, to)| for_them(to)).map(|(id, _)| id).collect()
    }

    fn unread(&self, person: u64) -> usize {
        self.of(person).iter().filter(|id| **id > self.read[person as usize]).count()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_notifications_agree_with_a_naive_model_over_restarts() {
    let mut dice = Dice::of_this_run();
    let mut server = Server::start().await;
    let mut model = Model::default();
    for step in 0..160 {
        match dice.below(10) {
            0..4 => {
                let to: BTreeSet<u64> = (0..1 + dice.below(3)).map(|_| 1 + dice.below(3)).collect();
                let everybody = dice.below(3) == 0;
                let named = if everybody { json!("all") } else { json!(to) };
                let id = tell(&server, named, &format!("{step}")).await;
                model.told.push((!everybody).then_some(to));
                assert_eq!(id as usize, model.told.len(), "step {step}");
            }
            4..7 => {
                let (person, id) = (1 + dice.below(3), dice.below(model.told.len() as u64 + 2));
                let read = server.person(person).put("/v1/notifications/read", json!({"read_id": id})).await;
                let stands = &mut model.read[person as usize];
                if id > *stands && id as usize > model.told.len() {
                    assert_eq!(read.problem(), (422, "read_id_beyond_head"), "step {step}");
                    continue;
                }
                *stands = id.max(*stands);
                let expected = json!({"read_id": *stands, "unread": model.unread(person)});
                assert_eq!(read.json, expected, "step {step}");
            }
            7..9 => {
                let person = 1 + dice.below(3);
                let (after, limit) = (dice.below(model.told.len() as u64 + 1), 1 + dice.below(5) as usize);
                let page = inbox(&server.person(person), &format!("?after_id={after}&limit={limit}")).await;
                let all: Vec<u64> = model.of(person).into_iter().filter(|id| *id > after).collect();
                let expected: Vec<u64> = all.iter().copied().take(limit).collect();
                assert_eq!(
                    (ids(&page), &page["has_more"]),
                    (expected, &json!(all.len() > limit)),
                    "step {step}"
                );
                assert_eq!(page["unread"], model.unread(person), "step {step}");
                assert_eq!(page["max_id"], model.of(person).last().copied().unwrap_or(0), "step {step}");
            }
            _ => server = Server::start_on(server.stop().await).await,
        }
    }
}
