//! Retention: exactly what is older than it may be, and nothing that a hold covers.

use std::sync::Arc;

use domain::{Command, Content, EventId, Hold, Import, MsgId, PersonCommand, Reason, Seq, ids::Sender};
use event_store::{
    EventStore,
    persons::by_system,
    postgres::{
        holds::HoldOn,
        pool,
        removal::{Spared, digests, months},
    },
    surroundings::Surroundings,
};
use projections::{Generation, ReadModels};
use quipu::keeping::{Keeping, policy::Policy, removal::Depth, report::Report};
use serde_json::{Value, json};
use tests::log::{CountingEntropy, START, chat, group, postgres_log, request, send, uid};
use tests::server::Server;
use uuid::Uuid;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// A server, and what works on its database beside it.
struct World {
    server: Server,
    keeping: Keeping,
    read_models: ReadModels,
}

impl World {
    async fn start() -> Self {
        let server = Server::start().await;
        let config = &server.database.config;
        let store: Arc<dyn EventStore> = Arc::new(postgres_log(config).await);
        let entropy = Arc::new(CountingEntropy::default());
        let surroundings = Surroundings { clock: server.clock.clone(), entropy };
        let keeping = Keeping::new(config, &store, &surroundings).unwrap();
        let read_models = ReadModels::new(store, Generation::serving(config, 4).await.unwrap(), None);
        Self { server, keeping, read_models }
    }

    async fn say(&self, conv: &domain::ConvId, sender: u64, numbers: std::ops::Range<u64>) {
        for n in numbers {
            self.server.commands.handle(conv.clone(), send(sender, n)).await.unwrap();
        }
    }

    async fn found(&self, slug: &str, members: &[u64]) {
        let body = json!({"group_id": slug, "name": slug, "members": members, "history": "all"});
        assert_eq!(self.server.person(1).post("/v1/groups", body).await.status, 201);
    }

    async fn retain(&self, policy: &Policy) -> Report {
        let commands = &self.server.commands;
        self.keeping.retain(commands, &self.read_models, policy, Depth::InPassing, None).await.unwrap()
    }

    async fn numbers(&self, conv: &str) -> (u64, u64) {
        let summary = self.server.person(1).get(&format!("/v1/conversations/{conv}")).await.json;
        (summary["min_seq"].as_u64().unwrap(), summary["max_seq"].as_u64().unwrap())
    }

    /// Messages of a conversation whose bodies are in the log.
    async fn bodies(&self, conv: &str) -> i64 {
        let sql = "select count(*) from log.conversation c
                     join log.event e on e.stream_id = c.conv_no * 8
                     join log.body b on b.shard = e.shard and b.position = e.position
                    where c.conv_id = $1";
        self.server.database.connect().await.query_one(sql, &[&conv]).await.unwrap().get(0)
    }

    async fn hold_person(&self, of: u64, on: bool) {
        let it = Hold { by: Sender::System, reason: Reason::parse("case").unwrap(), at: START };
        let command = if on { PersonCommand::Hold(it) } else { PersonCommand::Lift(it) };
        self.keeping.persons.handle(uid(of), &by_system(Uuid::nil()), &command).await.unwrap();
    }

    async fn hold(&self, conv: domain::ConvId, on: bool) {
        let (by, reason, at) = (Sender::System, Reason::parse("case").unwrap(), START);
        let command = if on { Command::Hold { by, reason, at } } else { Command::Lift { by, reason, at } };
        self.server.commands.handle(conv, request(command)).await.unwrap();
    }
}

fn days(days: u32) -> Policy {
    Policy::default().with_days(days)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recorded_before_goes_and_nothing_else() {
    let world = World::start().await;
    for slug in ["a", "own", "kept"] {
        world.found(slug, &[2]).await;
        world.say(&group(slug), 2, 1..5).await;
    }
    world.say(&chat(1, 2), 2, 1..151).await;
    world.say(&chat(1, 3), 3, 1..4).await;
    world.server.clock.put(START + 10 * DAY);
    world.say(&chat(1, 2), 2, 151..181).await;
    // Old chats that are imported now are as old as their import.
    let content = Content::text("from 2001", 100).unwrap();
    let (id, msg_id, sender) = (EventId::new(Uuid::from_u128(1)), MsgId::new(1), uid(4));
    let old = Import::Message { id, msg_id, sender, content, at: 1_000_000_000_000 };
    world.server.commands.handle(chat(1, 4), request(Command::Import(old))).await.unwrap();
    let mut policy = days(5);
    policy.groups = [("grp-own".to_owned(), 20), ("grp-kept".to_owned(), 0)].into();
    let [single, groups] = world.keeping.would_go(&world.read_models, &policy).await.unwrap();
    assert_eq!((single.conversations, single.messages), (2, 153));
    assert_eq!((groups.conversations, groups.messages), (1, 5), "its founding is a message, too");
    assert_eq!(world.numbers("p2p-1-2").await, (1, 180), "a look takes nothing");
    let report = world.retain(&policy).await;
    assert_eq!((report.messages, report.conversations, report.held_count), (158, 3, 0));
    assert_eq!(report.bytes, single.bytes + groups.bytes);
    assert_eq!(report.months.iter().map(|month| month.removed).sum::<u64>(), 158);
    for (conv, min_seq, bodies) in [
        ("p2p-1-2", 151, 30),
        ("p2p-1-3", 4, 0),
        ("p2p-1-4", 1, 1),
        ("grp-a", 6, 0),
        ("grp-own", 1, 5),
        ("grp-kept", 1, 5),
    ] {
        assert_eq!((world.numbers(conv).await.0, world.bodies(conv).await), (min_seq, bodies), "{conv}");
    }
    let page =
        world.server.person(1).get("/v1/conversations/p2p-1-2/messages?after_seq=0&limit=1").await.json;
    assert_eq!(page["items"][0]["seq"], 151);
    let summary = world.server.person(1).get("/v1/conversations/p2p-1-2").await.json;
    assert_eq!(summary["unread"], 30);
    let again = world.retain(&policy).await;
    assert_eq!((again.messages, again.months), (0, vec![]));
    assert_eq!(world.retain(&days(0)).await.messages, 0, "0 is for ever");
    world.server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_on_a_person_keeps_every_conversation_they_are_or_were_in() {
    let world = World::start().await;
    world.found("left", &[3]).await;
    world.found("other", &[2]).await;
    let left = world.server.person(3).delete("/v1/groups/grp-left/members/3").await;
    assert_eq!(left.status, 200, "{left:?}");
    world.say(&chat(1, 3), 1, 1..4).await;
    world.say(&chat(1, 2), 1, 1..4).await;
    world.hold_person(3, true).await;
    world.server.clock.put(START + 10 * DAY);
    let report = world.retain(&days(5)).await;
    let mut held = report.held.clone();
    held.sort();
    assert_eq!(held, ["grp-left", "p2p-1-3"]);
    assert_eq!((world.numbers("p2p-1-3").await.0, world.numbers("grp-left").await.0), (1, 1));
    assert_eq!((world.numbers("p2p-1-2").await.0, world.bodies("grp-other").await), (4, 0));
    world.hold_person(3, false).await;
    assert_eq!(world.retain(&days(5)).await.held_count, 0);
    assert_eq!((world.numbers("p2p-1-3").await.0, world.bodies("p2p-1-3").await), (4, 0));
    world.server.stop().await;
}

/// The event is there, the digests too: what a hold finds in the log stays in the log.
#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_comes_before_the_removal_keeps_the_bodies() {
    let world = World::start().await;
    let pool = pool(&world.server.database.config, 2).unwrap();
    world.say(&chat(1, 2), 1, 1..6).await;
    world.say(&chat(1, 3), 1, 1..6).await;
    world.say(&chat(3, 4), 4, 1..6).await;
    for conv in [chat(1, 2), chat(1, 3), chat(3, 4)] {
        let expire = Command::Expire { up_to_seq: Seq::new(3) };
        world.server.commands.handle(conv.clone(), request(expire)).await.unwrap();
        assert_eq!(digests::note_up_to(&pool, &conv, Seq::new(3)).await.unwrap().messages, 3);
    }
    world.hold(chat(1, 2), true).await;
    world.hold_person(3, true).await;
    let report = world.retain(&days(5)).await;
    assert_eq!(report.months.len(), 1);
    assert_eq!((report.months[0].removed, report.months[0].spared), (0, 9));
    assert_eq!(world.retain(&days(5)).await.months, vec![], "nothing has changed: nothing is written anew");
    world.hold(chat(1, 2), false).await;
    assert_eq!(world.retain(&days(5)).await.months[0].removed, 3);
    world.hold_person(3, false).await;
    assert_eq!(world.retain(&days(5)).await.months[0].removed, 6);
    for conv in ["p2p-1-2", "p2p-1-3", "p2p-3-4"] {
        assert_eq!(world.bodies(conv).await, 2, "{conv}");
    }
    world.server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_comes_while_a_month_is_written_anew_ends_that() {
    let world = World::start().await;
    let pool = pool(&world.server.database.config, 3).unwrap();
    world.say(&chat(1, 2), 1, 1..6).await;
    let expire = Command::Expire { up_to_seq: Seq::new(3) };
    world.server.commands.handle(chat(1, 2), request(expire)).await.unwrap();
    digests::note_up_to(&pool, &chat(1, 2), Seq::new(3)).await.unwrap();
    let before = Spared::new(&pool, &[]).await.unwrap();
    let month = months::due(&pool, &before).await.unwrap()[0];
    world.hold(chat(1, 2), true).await;
    assert_eq!(months::rewrite(&pool, month, 16, &before, START).await.unwrap(), None);
    assert_eq!(world.bodies("p2p-1-2").await, 5, "nothing was taken");
    // And whoever places one waits until a removal's last step is over.
    let admin = world.server.database.connect().await;
    admin.batch_execute("begin; select pg_advisory_xact_lock_shared(7174, 0)").await.unwrap();
    let moment = std::time::Duration::from_millis(500);
    let mut placing = Box::pin(world.hold_person(7, true));
    assert!(tokio::time::timeout(moment, &mut placing).await.is_err(), "it is not answered yet");
    assert_eq!(world.keeping.hold(&HoldOn::Person(uid(7))).await.unwrap(), None);
    admin.batch_execute("commit").await.unwrap();
    placing.await;
    assert!(world.keeping.hold(&HoldOn::Person(uid(7))).await.unwrap().is_some());
    world.server.stop().await;
}

/// Whoever reads for long keeps the last step away, which lets everybody else through meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_in_the_way_is_waited_for_and_nobody_else_waits() {
    let world = World::start().await;
    world.say(&chat(1, 2), 1, 1..51).await;
    world.server.clock.put(START + 10 * DAY);
    let reader = world.server.database.connect().await;
    reader.batch_execute("begin; select from log.body limit 1").await.unwrap();
    let policy = days(5);
    let mut retaining = Box::pin(world.retain(&policy));
    let talk = async {
        // Behind every try of the last step, some of these wait, and go through.
        for n in 0..30 {
            world.say(&chat(1, 2), 2, n..n + 1).await;
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        report = &mut retaining => panic!("the reader was not waited for: {report:?}"),
        () = talk => {}
    }
    reader.batch_execute("commit").await.unwrap();
    let report = retaining.await;
    assert_eq!((report.messages, report.months[0].removed), (50, 50));
    assert_eq!((world.numbers("p2p-1-2").await, world.bodies("p2p-1-2").await), ((51, 80), 30));
    world.server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_month_is_dropped_and_a_young_one_is_not() {
    let world = World::start().await;
    world.say(&chat(1, 2), 1, 1..3).await;
    let partitions = async || {
        let sql = "select coalesce(string_agg(inhrelid::regclass::text, ' ' order by 1), '') from pg_inherits
                    where inhparent = 'log.body'::regclass";
        let client = world.server.database.connect().await;
        client.query_one(sql, &[]).await.unwrap().get::<_, String>(0)
    };
    let first = partitions().await;
    // Only messages: nobody has joined or read anything.
    assert!(!first.contains(' '), "one month: {first}");
    world.server.clock.put(START + 100 * DAY);
    let events: Value = json!(world.retain(&days(5)).await.months);
    assert_eq!(events[0]["removed"], 2, "{events}");
    // The expiry itself stands in the new month.
    let second = partitions().await;
    assert!(!second.is_empty() && !second.contains(&first), "{first}: {second}");
    world.say(&chat(1, 2), 1, 3..5).await;
    assert_eq!(world.numbers("p2p-1-2").await, (3, 4));
    world.server.stop().await;
}
