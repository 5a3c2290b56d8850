//! A node on a database, random traffic through it, and its read models as rows.

use std::sync::Arc;

use domain::{
    Caller, Category, Command, Content, ConvId, Flags, GroupName, History, MsgId, Notification,
    NotificationCommand, NotificationContent, NotificationId, Recipients, Send, Seq,
};
use event_store::{
    CommandHandler, EventStore, NotificationHandler, NotificationRequest, postgres::PostgresEventStore,
};
use projections::{
    Projection, Projectors,
    generations::{GenerationError, Generations, State},
    rebuild::{Rebuild, Report},
};
use serde_json::json;
use tests::{
    TestDatabase,
    dice::Dice,
    log::{
        HandClock, START, chat, client_msg_id, group, migrated, postgres_log, request, stamp, surroundings,
        uid,
    },
    process::until,
};
use tokio::sync::watch;
use tokio_postgres::Config;
use uuid::Uuid;

/// People of a random world, from 1.
pub const PEOPLE: u64 = 5;

/// A node without HTTP.
pub struct World {
    pub database: TestDatabase,
    pub store: Arc<dyn EventStore>,
    pub commands: CommandHandler,
    pub notifications: NotificationHandler,
    pub projectors: Projectors,
    sent: u64,
}

impl World {
    pub async fn new() -> Self {
        let database = migrated().await;
        let log: PostgresEventStore = postgres_log(&database.config).await;
        let store: Arc<dyn EventStore> = Arc::new(log);
        let commands = CommandHandler::start(&store, &surroundings());
        let notifications = NotificationHandler::start(&store, &surroundings());
        let projectors = start(&database.config, &store).await;
        Self { database, store, commands, notifications, projectors, sent: 0 }
    }

    pub fn generations(&self) -> Generations {
        self.generations_by(&self.database.config)
    }

    pub fn generations_by(&self, config: &Config) -> Generations {
        Generations::new(config, Arc::clone(&self.store), HandClock::new()).unwrap()
    }

    /// By a process of its own.
    pub async fn generations_elsewhere(&self) -> Generations {
        let log: Arc<dyn EventStore> = Arc::new(postgres_log(&self.database.config).await);
        Generations::new(&self.database.config, log, HandClock::new()).unwrap()
    }

    pub fn conversations() -> Vec<ConvId> {
        let groups = ["a", "b"].map(group);
        let chats = [chat(1, 2), chat(2, 3), chat(4, 4)];
        groups.into_iter().chain(chats).collect()
    }

    /// Commands of all kinds, of whoever may or may not; refusals are traffic, too.
    pub async fn traffic(&mut self, dice: &mut Dice, commands: u64) {
        for conv in Self::conversations().iter().filter(|conv| conv.is_group()) {
            let members = (2..PEOPLE).map(uid).collect();
            let (owner, name, history) = (uid(1), GroupName::parse("Team").unwrap(), History::Joined);
            let create = Command::CreateGroup { owner, name, members, history, limit: 100, stamp: stamp() };
            // In later rounds it is there already.
            let _ = self.commands.handle(conv.clone(), request(create)).await;
        }
        let convs = Self::conversations();
        let mut asked = Vec::new();
        for _ in 0..commands {
            let (conv, who) = (dice.one(&convs).clone(), uid(1 + dice.below(PEOPLE)));
            let seq = Seq::new(1 + dice.below(self.sent / convs.len() as u64 + 1));
            self.sent += 1;
            let command = match dice.below(40) {
                0 => Command::Recall { seq, by: Caller { uid: who, admin: false }, at: START, window: 0 },
                1 => Command::Delete { uid: who, seqs: vec![seq] },
                2 => Command::Restore { uid: who, seqs: vec![seq] },
                3..=5 => Command::Read { uid: who, read_seq: seq, at: START },
                6 => Command::Clear { uid: who, up_to_seq: Some(seq), key: None },
                7 => Command::Settle { uid: who, pinned: Some(dice.below(2) == 0), muted: None },
                8 => Command::AddMembers { by: uid(1), uids: vec![who], limit: 100, stamp: stamp() },
                9 => Command::RemoveMember { by: uid(1), uid: who, stamp: stamp() },
                10 => Command::Hide { uid: who, up_to_seq: Some(seq), key: None },
                _ => self.says(who.get(), dice),
            };
            asked.push(self.commands.handle(conv, request(command)));
            // Some of them at once.
            if dice.below(20) == 0 {
                futures_util::future::join_all(asked.drain(..)).await;
            }
        }
        futures_util::future::join_all(asked).await;
    }

    fn says(&self, sender: u64, dice: &mut Dice) -> Command {
        let all = dice.below(10) == 0 && sender == 1;
        Command::Send(Send {
            client_msg_id: client_msg_id(sender, self.sent),
            msg_id: MsgId::new(self.sent),
            sender: uid(sender),
            content: Content::text(&format!("message {}", self.sent), 70_000).unwrap(),
            flags: if all { Flags::AT_ALL } else { Flags::NONE },
            mentions: if dice.below(5) == 0 { vec![uid(1 + dice.below(PEOPLE))] } else { vec![] },
            reply_to: None,
            at: START,
        })
    }

    /// To one and to all in turns, and some of them are read.
    pub async fn tell(&self, notifications: u64) {
        for number in 1..=notifications {
            let to = match number % 3 {
                0 => Recipients::All,
                _ => Recipients::people(vec![uid(1 + number % PEOPLE)]).unwrap(),
            };
            let content = NotificationContent::parse(&json!(format!("notification {number}")), 1000).unwrap();
            let notification = Notification { to, category: Category::parse("news").unwrap(), content };
            let key = Uuid::from_u128(u128::from(number));
            self.command(NotificationCommand::Post { notification, by: uid(1), at: START, key }).await;
            if number % 7 == 0 {
                let (uid, read_id) = (uid(1 + number % PEOPLE), NotificationId::new(number / 2));
                self.command(NotificationCommand::Read { uid, read_id, at: START }).await;
            }
        }
    }

    async fn command(&self, command: NotificationCommand) {
        let request = NotificationRequest { command, device: None, correlation_id: Uuid::from_u128(7) };
        self.notifications.handle(request).await.unwrap();
    }

    /// Waits until the live generations have passed every event of the log.
    pub async fn caught_up(&self, projection: Projection) {
        let generations = self.generations();
        until("the read models have caught up", async || {
            let all = generations.status().await.unwrap();
            let mut live = all.iter().filter(|it| matches!(it.state, State::Serving | State::Kept));
            live.all(|status| status.projection != projection || status.lag() == 0)
        })
        .await;
    }

    /// Every row of a generation, as text.
    pub async fn rows(&self, projection: Projection, generation: i32) -> Vec<String> {
        let client = self.database.connect().await;
        let schema = format!("{}_g{generation}", projection.name());
        let tables = client.query("select name from tables_of($1)", &[&schema]).await.unwrap();
        let mut rows = Vec::new();
        for table in tables.iter().map(|row| row.get::<_, String>(0)) {
            let sql = format!("select t::text from {schema}.{table} t order by 1");
            let of = client.query(&sql, &[]).await.unwrap();
            rows.extend(of.iter().map(|row| format!("{table} {}", row.get::<_, String>(0))));
        }
        rows
    }

    /// Changes rows behind everybody's back.
    pub async fn corrupt(&self, sql: &str) -> u64 {
        self.database.connect().await.execute(sql, &[]).await.unwrap()
    }

    /// The generation that serves, and the other one.
    pub async fn numbers(&self, projection: Projection) -> (i32, Option<i32>) {
        let all = self.generations().status().await.unwrap();
        let mut of = all.iter().filter(|status| status.projection == projection).map(|status| status.number);
        (of.next().unwrap(), of.next())
    }
}

pub async fn start(config: &Config, store: &Arc<dyn EventStore>) -> Projectors {
    Projectors::start(config, Arc::clone(store), HandClock::new()).await.unwrap()
}

/// Builds, compares and switches.
pub async fn rebuild(generations: &Generations, projection: Projection) -> Result<Report, GenerationError> {
    let never = watch::Sender::new(false);
    Rebuild::begin(generations, projection).await?.run(false, &mut |_| {}, &never.subscribe()).await
}
