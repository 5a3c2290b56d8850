//! Tells followers, here and on other nodes, that a shard has grown. Carries no data: a lost wake-up costs time,
//! never an event.
//!
//! A node says its name with it, so that it does not wake itself a second time, and forgets of a shard in which
//! another node has appended what it has in memory: its followers read the log.
//!
//! NOTIFY is never part of an append, where it would serialise the commits of all shards; it is gathered and sent
//! on a connection of its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::Pool;
use futures_util::{StreamExt, stream};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};
use tokio_postgres::{AsyncMessage, Config, NoTls};

use super::recent::Recent;
use crate::shard::Shard;

/// Other nodes hear of new events at most this much later; one NOTIFY in this time, whatever the load.
const GATHER: Duration = Duration::from_millis(10);
/// The pause before listening again after the connection broke.
const RECONNECT: Duration = Duration::from_secs(1);
const CHANNEL: &str = "quipu_log";

pub(super) struct Notifier {
    shared: Arc<Shared>,
    tasks: [JoinHandle<()>; 2],
}

/// One place for each shard, by its number, and a last one for the shard of the log's own streams.
struct Shared {
    wakes: Vec<watch::Sender<u64>>,
    grown: Vec<AtomicBool>,
    some_grown: Notify,
    recent: Arc<Recent>,
    /// The name of this node: the process of Postgres that listens for it. 0 until there is one, and then it hears
    /// itself, which costs a look.
    node: AtomicI32,
}

impl Shared {
    fn wake(&self, place: usize) {
        if let Some(wake) = self.wakes.get(place) {
            wake.send_modify(|count| *count = count.wrapping_add(1));
        }
    }
}

impl Shared {
    /// Another node has appended: `name:place,place…`.
    fn heard(&self, payload: &str) {
        let Some((node, places)) = payload.split_once(':') else { return };
        if node.parse() == Ok(self.node.load(Ordering::Acquire)) {
            return;
        }
        for place in places.split(',').filter_map(|place| place.parse().ok()) {
            // In this order: who is woken must not find what is not all of it.
            self.recent.forget(place);
            self.wake(place);
        }
    }

    fn anything_may_have_come(&self) {
        for place in 0..self.wakes.len() {
            self.recent.forget(place);
            self.wake(place);
        }
    }
}

impl Notifier {
    pub fn start(pool: Pool, config: Config, shards: u16, recent: Arc<Recent>) -> Self {
        let shared = Arc::new(Shared {
            wakes: (0..=shards).map(|_| watch::Sender::new(0)).collect(),
            grown: (0..=shards).map(|_| AtomicBool::new(false)).collect(),
            some_grown: Notify::new(),
            recent,
            node: AtomicI32::new(0),
        });
        let tasks =
            [tokio::spawn(tell(Arc::clone(&shared), pool)), tokio::spawn(hear(Arc::clone(&shared), config))];
        Self { shared, tasks }
    }

    pub fn subscribe(&self, shard: Shard) -> watch::Receiver<u64> {
        // A shard is always one of this log's; another one gets a receiver that never changes.
        self.shared
            .wakes
            .get(shard.place(self.shared.wakes.len()))
            .map_or_else(|| watch::channel(0).1, watch::Sender::subscribe)
    }

    /// This node has appended to a shard: its own followers hear of it at once.
    pub fn grown(&self, shard: Shard) {
        let place = shard.place(self.shared.wakes.len());
        self.shared.wake(place);
        if let Some(grown) = self.shared.grown.get(place) {
            grown.store(true, Ordering::Release);
            self.shared.some_grown.notify_one();
        }
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn tell(shared: Arc<Shared>, pool: Pool) {
    loop {
        shared.some_grown.notified().await;
        tokio::time::sleep(GATHER).await;
        let grown = |(place, grown): (usize, &AtomicBool)| {
            grown.swap(false, Ordering::AcqRel).then(|| place.to_string())
        };
        let places = shared.grown.iter().enumerate().filter_map(grown).collect::<Vec<_>>().join(",");
        let places = format!("{}:{places}", shared.node.load(Ordering::Acquire));
        let Ok(client) = pool.get().await else { continue };
        if let Err(error) = client.execute("select pg_notify($1, $2)", &[&CHANNEL, &places]).await {
            tracing::debug!(%error, "could not tell other nodes; they look by themselves");
        }
    }
}

async fn hear(shared: Arc<Shared>, config: Config) {
    loop {
        if let Err(error) = listen(&shared, &config).await {
            tracing::debug!(%error, "cannot hear other nodes for the moment; followers look by themselves");
        }
        tokio::time::sleep(RECONNECT).await;
    }
}

async fn listen(shared: &Shared, config: &Config) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = config.connect(NoTls).await?;
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    let listening = client.batch_execute("listen quipu_log");
    let hearing = async {
        while let Some(message) = messages.next().await {
            if let AsyncMessage::Notification(note) = message? {
                shared.heard(note.payload());
            }
        }
        Ok(())
    };
    // The connection has to be driven for LISTEN to be answered; then what may have been missed is looked at.
    let listening = async {
        listening.await?;
        let named = client.query_one("select pg_backend_pid()", &[]).await?;
        shared.node.store(named.get(0), Ordering::Release);
        shared.anything_may_have_come();
        Ok(())
    };
    tokio::try_join!(listening, hearing).map(drop)
}
