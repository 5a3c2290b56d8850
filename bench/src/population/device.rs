//! One device of one person: it connects, catches up, does what it is told, listens, and vanishes without a word.
//! What it knows is its replica; what it has not been answered yet it says again on its next connection.

mod act;
mod answers;
mod catch_up;
mod compare;
mod listen;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    deed::{Act, Deed, What},
    fault::Kind,
    ledger::Tick,
    order::Order,
    replica::Replica,
    world::{Handle, World},
};
use crate::{
    chance::Dice,
    client::{
        ANSWER_TIME_MAX, ClientError,
        rest::Rest,
        socket::{Heard, Socket},
        wire::Problem,
    },
};

/// How long a device stays connected, on average, in seconds of life.
const ONLINE_MEAN_S: f64 = 600.0;
/// How long it is away.
const AWAY_MEAN_S: f64 = 60.0;
/// Of all absences, so many are long.
const LONG_ABSENCES: f64 = 0.1;
/// How long those are.
const LONG_ABSENCE_S: (f64, f64) = (600.0, 2400.0);
/// How long an unread message waits for its person, on average.
const VISIT_MEAN_S: f64 = 60.0;
/// Of all (person, conversation), in so many the person looks at what comes.
const CARED_FOR: f64 = 0.7;
/// Commands without an answer, of one device.
const PENDING_MAX: usize = 32;
/// Between two attempts to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(250);
/// A server that cannot be reached for so long does not come back.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(180);
/// After "not now" a device waits so long.
const NOT_NOW_PAUSE: Duration = Duration::from_millis(500);

/// Why a device gave up.
#[derive(Debug, thiserror::Error)]
#[error("device {device}: the server could not be reached for {} s", CONNECT_TIME_MAX.as_secs())]
pub struct Unreachable {
    device: String,
    source: ClientError,
}

/// One device.
pub struct Device {
    /// For the verdict.
    pub name: String,
    pub uid: u64,
    pub replica: Replica,
    number: usize,
    world: Arc<World>,
    dice: Dice,
    token: String,
    /// Up to where the device knows everything.
    cursor: Option<String>,
    deeds: mpsc::Receiver<Deed>,
    connected: Arc<AtomicBool>,
    pending: BTreeMap<u64, Pending>,
    acts: u64,
    /// When the question started whose answer is being read.
    asked: Tick,
    visits: HashMap<String, Instant>,
}

/// A command that has not been answered.
struct Pending {
    act: Act,
    /// How often it was handed to a server.
    tries: u32,
}

/// One connection of it.
struct Connection {
    socket: Socket,
    rest: Rest,
    order: Order,
    /// When it began to listen.
    opened: Tick,
    /// Does the device know all that came before the pushes of this connection, so that their cursors count?
    whole: bool,
    /// Pushes are missing.
    resync: bool,
    /// Conversations of which an earlier connection broke off before all was fetched: the device knows that it does not
    /// have them whole.
    incomplete: BTreeSet<String>,
    /// Groups that the person may not be in any more.
    doubtful: BTreeSet<String>,
    /// Groups that the person has come into since the last page of a sync was asked for.
    joined: BTreeSet<String>,
    flying: BTreeSet<u64>,
    again_at: Option<Instant>,
    asked: u64,
}

impl Device {
    /// The n-th device of a person, which knows nothing yet.
    pub fn new(world: &Arc<World>, uid: u64, number: usize) -> Result<(Self, Handle), ClientError> {
        let (handle, deeds, connected) = Handle::new();
        let name = format!("{uid}/{number}");
        let device = Self {
            uid,
            replica: Replica::new(uid),
            number,
            dice: Dice::new(world.seed, &format!("device {name}")),
            token: world.token(uid, &format!("device-{number}"))?,
            world: Arc::clone(world),
            name,
            cursor: None,
            deeds,
            connected,
            pending: BTreeMap::new(),
            acts: 0,
            asked: 0,
            visits: HashMap::new(),
        };
        Ok((device, handle))
    }

    /// Lives until the end is called and everything that it has said is answered.
    pub async fn live(mut self, mut ending: watch::Receiver<bool>) -> Result<Self, Unreachable> {
        // Not all at the same instant.
        let begin = self.dice.part() * ONLINE_MEAN_S / 10.0;
        let begin = self.in_life(begin);
        self.wait(begin, &mut ending).await;
        loop {
            let mut connection = self.connect().await?;
            self.connected.store(true, Ordering::Relaxed);
            let ended = self.session(&mut connection, &mut ending).await;
            self.connected.store(false, Ordering::Relaxed);
            self.part(&connection, ended);
            drop(connection);
            if *ending.borrow() {
                if self.is_quiet() {
                    return Ok(self);
                }
                continue;
            }
            let long = self.dice.happens(LONG_ABSENCES);
            let (least, most) = LONG_ABSENCE_S;
            let away = match long {
                true => least + (most - least) * self.dice.part(),
                false => self.dice.exponential(AWAY_MEAN_S),
            };
            let away = self.in_life(away);
            self.wait(away, &mut ending).await;
        }
    }

    /// When nobody talks any more: comes back once more, in whichever way, and is compared with the server.
    pub async fn reckon(&mut self) -> Result<(), Unreachable> {
        let mut c = self.connect().await?;
        let ended = match self.catch_up(&mut c).await {
            Ok(()) => self.compare_strictly(&mut c).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &ended {
            self.fault(Kind::Answer, format!("at the end: {error:?}"));
        }
        self.part(&c, ended);
        Ok(())
    }

    fn is_quiet(&self) -> bool {
        self.pending.is_empty() && self.deeds.is_empty()
    }

    /// Seconds of life, at the speed of this run.
    fn in_life(&self, seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds / self.world.speed)
    }

    /// Sleeps, or until the end is called.
    async fn wait(&self, time: Duration, ending: &mut watch::Receiver<bool>) {
        tokio::select! {
            () = sleep(time) => {}
            _ = ending.wait_for(|ending| *ending) => {}
        }
    }

    /// Connects, as often as it takes.
    async fn connect(&self) -> Result<Connection, Unreachable> {
        let give_up = Instant::now() + CONNECT_TIME_MAX;
        loop {
            match timeout(ANSWER_TIME_MAX, Socket::connect(&self.world.address, &self.token)).await {
                Ok(Ok(socket)) => {
                    self.world.tally.connections.add();
                    return Ok(self.opened(socket));
                }
                failed if Instant::now() > give_up => {
                    let source =
                        failed.map_or(ClientError::Silence, |it| it.err().unwrap_or(ClientError::Closed));
                    return Err(Unreachable { device: self.name.clone(), source });
                }
                _ => sleep(CONNECT_PAUSE).await,
            }
        }
    }

    fn opened(&self, socket: Socket) -> Connection {
        Connection {
            socket,
            rest: Rest::new(&self.world.address, &self.token),
            order: Order::default(),
            opened: self.world.ledger.tick(),
            whole: false,
            resync: false,
            incomplete: self.replica.incomplete(),
            doubtful: BTreeSet::new(),
            joined: BTreeSet::new(),
            flying: BTreeSet::new(),
            again_at: None,
            asked: 0,
        }
    }

    /// The connection is over, by the device's own doing or not.
    fn part(&self, connection: &Connection, ended: Result<(), ClientError>) {
        for (kind, what) in connection.order.end() {
            self.world.fault(kind, format!("{}: {what}", self.name));
        }
        match ended {
            Ok(()) => {}
            Err(error @ ClientError::Shape { .. }) => {
                self.world.fault(Kind::Answer, format!("{}: {error:?}", self.name));
            }
            Err(_) => self.world.tally.broken.add(),
        }
    }

    /// From catching up to vanishing.
    async fn session(
        &mut self,
        c: &mut Connection,
        ending: &mut watch::Receiver<bool>,
    ) -> Result<(), ClientError> {
        self.catch_up(c).await?;
        self.say_again(c).await?;
        if !*ending.borrow() {
            self.compare(c, ending).await?;
        }
        let online = self.dice.exponential(ONLINE_MEAN_S);
        let vanish_at = Instant::now() + self.in_life(online);
        loop {
            if *ending.borrow() && self.is_quiet() {
                return Ok(());
            }
            let running = !*ending.borrow();
            let (visit_at, again_at) = (self.next_visit().filter(|_| running), c.again_at);
            tokio::select! {
                heard = c.socket.next() => self.take(c, heard?),
                Some(deed) = self.deeds.recv(), if self.pending.len() < PENDING_MAX => self.act(c, deed).await?,
                () = until(visit_at) => self.visit(c).await?,
                () = until(again_at) => self.say_again(c).await?,
                () = sleep_until(vanish_at), if running => return Ok(()),
                _ = ending.changed(), if running => {}
            }
            if c.resync {
                self.sync(c).await?;
            }
            if !c.doubtful.is_empty() || self.replica.kept.values().any(|kept| !kept.known) {
                self.settle(c).await?;
            }
        }
    }

    /// Asks over the WebSocket and waits for the answer; what comes meanwhile is taken in.
    async fn ask<T: DeserializeOwned>(
        &mut self,
        c: &mut Connection,
        op: &str,
        fields: Value,
    ) -> Result<Result<T, Problem>, ClientError> {
        c.asked += 1;
        let id = format!("q{}", c.asked);
        c.socket.ask(&id, op, fields).await?;
        loop {
            let heard =
                timeout(ANSWER_TIME_MAX, c.socket.next()).await.map_err(|_| ClientError::Silence)??;
            match heard {
                Heard::Answer(of, outcome) if of == id => {
                    let answer = outcome.map(|raw| serde_json::from_str(raw.get()));
                    return match answer {
                        Ok(Ok(answer)) => Ok(Ok(answer)),
                        Ok(Err(source)) => {
                            Err(ClientError::Shape { what: "an answer on a WebSocket", source })
                        }
                        Err(problem) => Ok(Err(problem)),
                    };
                }
                heard => self.take(c, heard),
            }
        }
    }

    fn next_visit(&self) -> Option<Instant> {
        self.visits.values().min().copied()
    }

    /// The person looks at the conversations that are due: one read position each.
    async fn visit(&mut self, c: &mut Connection) -> Result<(), ClientError> {
        let now = Instant::now();
        let due: Vec<String> =
            self.visits.iter().filter(|(_, at)| **at <= now).map(|(conv, _)| conv.clone()).collect();
        for conv in due {
            self.visits.remove(&conv);
            let Some(kept) = self.replica.kept.get(&conv) else { continue };
            let seq = kept.max_seq;
            if seq > kept.read_seq {
                self.command(c, Act { conv, what: What::Read { seq } }).await?;
            }
        }
        Ok(())
    }

    /// Something new is there: will the person look at it, on this device?
    fn notice(&mut self, conv: &str) {
        let Some(kept) = self.replica.kept.get(conv) else { return };
        if kept.max_seq <= kept.read_seq || self.visits.contains_key(conv) {
            return;
        }
        let mut taste = Dice::new(self.world.seed, &format!("{} looks at {conv}", self.uid));
        if taste.happens(CARED_FOR) && taste.below(self.world.devices) == self.number {
            let time = self.dice.exponential(VISIT_MEAN_S);
            self.visits.insert(conv.to_owned(), Instant::now() + self.in_life(time));
        }
    }
}

/// Sleeps until then; for ever where there is no then.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
