//! Words between nodes that are not worth storing: what one node's people are doing at this moment. Lost ones do no harm.
//!
//! NOTIFY on a channel and a connection of its own, gathered, and never part of an append (see the log's notifier).
//! Knows how words travel, not whom they concern.

use std::{sync::Arc, time::Duration};

use domain::{ConvId, Uid};
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    task::JoinHandle,
    time::sleep,
};
use tokio_postgres::{AsyncMessage, Client, Config, Error, NoTls};

/// Other nodes hear of it at most this much later; one NOTIFY in this time, whatever the load.
const GATHER: Duration = Duration::from_millis(10);
/// The pause before connecting again.
const RECONNECT: Duration = Duration::from_secs(1);
/// Words that may wait; past this they are dropped.
const WAITING_MAX: usize = 1024;
/// A payload of NOTIFY is shorter than 8000 bytes.
const PAYLOAD_BYTES_MAX: usize = 7_900;
const CHANNEL: &str = "quipu_live";

/// Somebody is typing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing {
    /// Where.
    pub conv: ConvId,
    /// Who.
    pub uid: Uid,
    /// Who is to hear of it.
    pub to: Vec<Uid>,
}

/// As it travels, in short: conv_id, uid, whom.
#[derive(Debug, Serialize, Deserialize)]
struct Word(String, u64, Vec<u64>);

/// What one NOTIFY says.
#[derive(Debug, Deserialize)]
struct Payload {
    /// Whose words these are.
    node: u16,
    typing: Vec<Word>,
}

/// The way to the other nodes.
pub struct Bus {
    words: Sender<Typing>,
    task: JoinHandle<()>,
}

impl Bus {
    /// Connects, and connects again, until it is dropped. What other nodes say is given to `hear`.
    pub fn start(database: &Config, node: u16, hear: Arc<dyn Fn(Typing) + Send + Sync>) -> Self {
        let (words, waiting) = channel(WAITING_MAX);
        let task = tokio::spawn(run(database.clone(), node, waiting, hear));
        Self { words, task }
    }

    /// Tells the other nodes, in a moment or not at all.
    pub fn tell(&self, typing: Typing) {
        if self.words.try_send(typing).is_err() {
            metrics::counter!("quipu_bus_dropped_total").increment(1);
        }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(
    database: Config,
    node: u16,
    mut waiting: Receiver<Typing>,
    hear: Arc<dyn Fn(Typing) + Send + Sync>,
) {
    loop {
        if let Err(error) = connected(&database, node, &mut waiting, &*hear).await {
            tracing::debug!(%error, "no word from or to other nodes for the moment");
        }
        sleep(RECONNECT).await;
        // Of another moment.
        while waiting.try_recv().is_ok() {}
    }
}

/// Listens and tells until the connection breaks.
async fn connected(
    database: &Config,
    node: u16,
    waiting: &mut Receiver<Typing>,
    hear: &(dyn Fn(Typing) + Send + Sync),
) -> Result<(), Error> {
    let (client, mut connection) = database.connect(NoTls).await?;
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    let hearing = async {
        while let Some(message) = messages.next().await {
            if let AsyncMessage::Notification(note) = message? {
                read(node, note.payload()).into_iter().for_each(hear);
            }
        }
        Ok(())
    };
    let telling = async {
        client.batch_execute("listen quipu_live").await?;
        tell(&client, node, waiting).await
    };
    // The connection has to be driven for anything to be answered; with either the other ends.
    tokio::select! {
        ended = hearing => ended,
        ended = telling => ended,
    }
}

async fn tell(client: &Client, node: u16, waiting: &mut Receiver<Typing>) -> Result<(), Error> {
    let statement = client.prepare(include_str!("notify.sql")).await?;
    let mut gathered = Vec::new();
    while waiting.recv_many(&mut gathered, WAITING_MAX).await > 0 {
        sleep(GATHER).await;
        while gathered.len() < WAITING_MAX
            && let Ok(typing) = waiting.try_recv()
        {
            gathered.push(typing);
        }
        let payloads = payloads(node, gathered.drain(..));
        client.execute(&statement, &[&CHANNEL, &payloads]).await?;
    }
    Ok(())
}

/// As few as there may be. What does not fit into one by itself is left out.
fn payloads(node: u16, typings: impl Iterator<Item = Typing>) -> Vec<String> {
    let open = format!("{{\"node\":{node},\"typing\":[");
    let mut payloads: Vec<String> = Vec::new();
    for Typing { conv, uid, to } in typings {
        let word = Word(conv.to_string(), uid.get(), to.into_iter().map(Uid::get).collect());
        // Strings and numbers: serialising these into memory cannot fail.
        let word = serde_json::to_string(&word).unwrap_or_default();
        let fits = |length: usize| length + word.len() + 3 <= PAYLOAD_BYTES_MAX;
        match payloads.last_mut() {
            Some(payload) if fits(payload.len()) => {
                payload.push(',');
                payload.push_str(&word);
            }
            _ if fits(open.len()) => payloads.push(format!("{open}{word}")),
            _ => {}
        }
    }
    payloads.iter_mut().for_each(|payload| payload.push_str("]}"));
    payloads
}

/// What another node says. What makes no sense is passed over: it may be from another version.
fn read(node: u16, payload: &str) -> Vec<Typing> {
    let Ok(Payload { node: from, typing }) = serde_json::from_str(payload) else { return vec![] };
    if from == node {
        return vec![];
    }
    let typing = typing.into_iter().filter_map(|Word(conv, uid, to)| {
        let to = to.into_iter().filter_map(|uid| Uid::new(uid).ok()).collect();
        Some(Typing { conv: ConvId::parse(&conv).ok()?, uid: Uid::new(uid).ok()?, to })
    });
    typing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typing(slug: &str, uid: u64, to: impl IntoIterator<Item = u64>) -> Typing {
        let uid_of = |uid| Uid::new(uid).unwrap();
        let conv = ConvId::parse(&format!("grp-{slug}")).unwrap();
        Typing { conv, uid: uid_of(uid), to: to.into_iter().map(uid_of).collect() }
    }

    #[test]
    fn what_is_told_is_heard_by_the_others_in_its_order() {
        let largest = Uid::MAX;
        let told: Vec<_> =
            (1..=200).map(|n| typing(&"x".repeat(64), n, (0..50).map(|k| largest - k))).collect();
        let payloads = payloads(7, told.clone().into_iter());
        assert!(payloads.iter().all(|payload| payload.len() < 8000), "what Postgres takes");
        assert!(payloads.len() < 50, "several words in each");
        let heard: Vec<_> = payloads.iter().flat_map(|payload| read(8, payload)).collect();
        assert_eq!(heard, told);
        assert!(payloads.iter().all(|payload| read(7, payload).is_empty()), "nobody hears themselves");
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_the_rest_is_told() {
        let told = [typing("a", 1, [2]), typing("b", 1, 1..=3000), typing("c", 1, [2])];
        let payloads = payloads(1, told.clone().into_iter());
        let heard: Vec<_> = payloads.iter().flat_map(|payload| read(2, payload)).collect();
        assert_eq!(heard, [told[0].clone(), told[2].clone()]);
    }

    #[test]
    fn what_makes_no_sense_is_passed_over() {
        for odd in ["", "{}", "7", r#"{"node":1}"#, r#"{"node":1,"typing":[["grp-a"]]}"#] {
            assert!(read(2, odd).is_empty(), "{odd}");
        }
        let odd = r#"{"node":1,"typing":[["nowhere",1,[2]],["grp-a",0,[2]],["grp-a",1,[0,2]]],"more":1}"#;
        assert_eq!(read(2, odd), [typing("a", 1, [2])]);
    }
}
