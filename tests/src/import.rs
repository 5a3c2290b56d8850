//! Imports into a log in memory, with ids that no two runs share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::{Event, EventId, MsgId, StreamKind};
use event_store::memory::MemoryEventStore;
use event_store::{CommandHandler, EventStore, Position, Recorded, Shard};
use quipu::import::{Counts, Outcome, Refusal, Report, Target, run};
use tokio::sync::watch;
use uuid::Uuid;

use crate::log::node;

/// Events that are read at once.
const PAGE: u32 = 1000;

/// A log in memory and its handler.
pub fn memory_node() -> (Arc<dyn EventStore>, CommandHandler) {
    node(MemoryEventStore::new(Uuid::from_u128(1)))
}

/// What an import has said.
#[derive(Debug, Default)]
pub struct Heard {
    /// Each refusal.
    pub refusals: Vec<Refusal>,
    /// The last progress: counts and bytes.
    pub last: Option<(Counts, u64)>,
    /// Stops the import when this many lines have been read and progress is reported.
    pub stop_at: Option<(u64, watch::Sender<bool>)>,
}

impl Report for Heard {
    fn refused(&mut self, refusal: &Refusal) {
        self.refusals.push(refusal.clone());
    }

    fn progress(&mut self, counts: &Counts, bytes: u64) {
        self.last = Some((*counts, bytes));
        if let Some((lines, stop)) = &self.stop_at
            && counts.lines >= *lines
        {
            stop.send_replace(true);
        }
    }
}

/// One run over these files, from beginning to end.
pub async fn import(files: &[PathBuf], handler: &CommandHandler) -> (Outcome, Vec<Refusal>) {
    let mut heard = Heard::default();
    let (_keep, stop) = watch::channel(false);
    let outcome = import_until(files, handler, &mut heard, &stop).await;
    (outcome, heard.refusals)
}

/// One run that may be stopped.
pub async fn import_until(
    files: &[PathBuf],
    handler: &CommandHandler,
    report: &mut dyn Report,
    stop: &watch::Receiver<bool>,
) -> Outcome {
    static LAST_ID: AtomicU64 = AtomicU64::new(0);
    let mut next_msg_id = || Ok(MsgId::new(LAST_ID.fetch_add(1, Ordering::Relaxed) + 1));
    let correlation_id = Uuid::from_u128(8);
    let target =
        Target { handler, next_msg_id: &mut next_msg_id, content_bytes_max: 64 * 1024, correlation_id };
    run(files, target, report, stop).await
}

/// Writes lines into a file of this name.
pub fn file(folder: &Path, name: &str, lines: &[String]) -> PathBuf {
    let path = folder.join(name);
    let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    std::fs::write(&path, text).expect("write an export");
    path
}

/// A line of an export.
pub fn line(conv: &str, kind: &str, sender: u64, ts: i64, line_type: &str, text: &str) -> String {
    serde_json::json!({"conv": conv, "kind": kind, "sender": sender, "ts": ts, "type": line_type, "text": text})
        .to_string()
}

/// All events, shard by shard, in their order.
pub async fn events(store: &dyn EventStore) -> Vec<Recorded> {
    let mut events = Vec::new();
    for shard in Shard::all(store.info().shards) {
        let mut after = Position::START;
        loop {
            let page = store.read_shard(shard, after, PAGE).await.expect("read the log");
            let Some(last) = page.last() else { break };
            after = last.header.position;
            events.extend(page);
        }
    }
    events
}

/// What an event is, without the ids and salts that differ from run to run.
pub type Fact = (String, StreamKind, u64, EventId, Event);

/// The log as facts: in order of conversation, stream and version.
pub async fn facts(store: &dyn EventStore) -> Vec<Fact> {
    let mut facts: Vec<Fact> = events(store).await.iter().map(fact).collect();
    facts.sort_by(|a, b| (&a.0, a.1, a.2).cmp(&(&b.0, b.1, b.2)));
    facts
}

fn fact(recorded: &Recorded) -> Fact {
    let mut event = recorded.event().expect("decode an event");
    if let Event::MessageSent { msg_id, .. } = &mut event {
        *msg_id = MsgId::new(0);
    }
    let header = &recorded.header;
    (header.stream.cord().into_owned(), event.stream(), header.version, header.event_id, event)
}
