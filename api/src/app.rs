//! What the handlers share. Made once, by `serve` or by a test, and never changed.

use std::{sync::Arc, time::Duration};

use domain::{Ms, Stamp};
use event_store::{Clock, CommandHandler, Entropy, NotificationHandler};
use metrics_exporter_prometheus::PrometheusHandle;
use projections::{ReadModels, notification::Inboxes};

use crate::{
    auth::Tokens, cursor::Cursors, live::Feed, measures::Sizes, msg_ids::MsgIds, problem::Problem,
    ready::Checks, sync_cursor::SyncCursors,
};

/// Everything that a request may need.
pub struct App {
    /// Takes commands and answers once they are durable.
    pub commands: CommandHandler,
    /// Answers questions, each through the asking person's eyes.
    pub read_models: ReadModels,
    /// Takes commands about notifications.
    pub notifications: NotificationHandler,
    /// Answers what is in whose inbox.
    pub inboxes: Inboxes,
    /// Gives new messages their ids.
    pub msg_ids: MsgIds,
    /// Knows whose token is good.
    pub tokens: Tokens,
    /// Tells the time of commands.
    pub clock: Arc<dyn Clock>,
    /// Gives request ids and the ids of groups that come without one.
    pub entropy: Arc<dyn Entropy>,
    /// Writes and reads the opaque cursors of paged lists.
    pub cursors: Cursors,
    /// Writes and reads the cursors of sync, resume and pushes.
    pub sync_cursors: Arc<SyncCursors>,
    /// Who is connected, and what is pushed to them.
    pub live: Feed,
    /// How much is too much.
    pub limits: Limits,
    /// What must be well for `/readyz` to say so.
    pub checks: Checks,
    /// What `/metrics` asks of Postgres.
    pub sizes: Sizes,
    /// What `/metrics` prints.
    pub metrics: PrometheusHandle,
}

impl App {
    /// For a message of the system's own, should a command make one.
    pub async fn stamp(&self) -> Result<Stamp, Problem> {
        Ok(Stamp { msg_id: self.msg_ids.next_in_time().await?, at: self.clock.now() })
    }
}

/// Bounds that the configuration may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long after sending the sender may recall, in milliseconds; 0 means for ever.
    pub recall_window: Ms,
    /// The largest content, in bytes.
    pub content_bytes: usize,
    /// Members that a group may have.
    pub group_members: u32,
    /// How often a WebSocket is pinged; one that says nothing for twice as long is dead.
    pub ping_every: Duration,
}

impl Default for Limits {
    /// The contract's: two minutes, 64 KiB, ten thousand.
    fn default() -> Self {
        Self {
            recall_window: 120_000,
            content_bytes: domain::content::CONTENT_BYTES_MAX,
            group_members: 10_000,
            ping_every: Duration::from_secs(30),
        }
    }
}
