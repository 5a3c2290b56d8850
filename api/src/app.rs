//! What the handlers share. Made once, by `serve` or by a test, and never changed.

use std::{sync::Arc, time::Duration};

use domain::{Command, ConvId, Ms, Reply, Stamp};
use event_store::{
    AccessLog, Clock, CommandError, CommandHandler, Entropy, EventStore, NotificationHandler, Request,
};
use metrics_exporter_prometheus::PrometheusHandle;
use projections::{ReadModels, notification::Inboxes};

use crate::{
    auth::{Caller, Tokens},
    config::{RATE_CONVERSATION, RATE_USER},
    cursor::Cursors,
    keeping::Keeping,
    live::{Feed, typing::Typing},
    measures::Sizes,
    msg_ids::MsgIds,
    presence::Presence,
    problem::Problem,
    rates::{Rate, Rates},
    ready::Checks,
    rebuilds::Rebuilds,
    sync_cursor::SyncCursors,
};

/// Everything that a request may need.
pub struct App {
    /// Takes commands and answers once they are durable.
    pub commands: CommandHandler,
    /// The log, for those who may read it as it is.
    pub store: Arc<dyn EventStore>,
    /// Records who does.
    pub accesses: AccessLog,
    /// Holds, retention and erasure.
    pub keeping: Keeping,
    /// Answers questions, each through the asking person's eyes.
    pub read_models: ReadModels,
    /// Rebuilds read models and tells how they stand.
    pub rebuilds: Arc<Rebuilds>,
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
    /// Passes on who is typing; none where that is switched off.
    pub typing: Option<Typing>,
    /// Knows who is online; none where that is switched off.
    pub presence: Option<Presence>,
    /// How much is too much.
    pub limits: Limits,
    /// How fast is too fast.
    pub rates: Rates,
    /// What must be well for `/readyz` to say so.
    pub checks: Checks,
    /// What `/metrics` asks of Postgres.
    pub sizes: Sizes,
    /// What `/metrics` prints.
    pub metrics: PrometheusHandle,
}

impl App {
    /// Hands a caller's command over and waits until it is durable. Every command of a route comes this way.
    pub async fn command(&self, caller: &Caller, conv: &ConvId, command: Command) -> Result<Reply, Problem> {
        let request = self.request(caller, conv, command);
        answered(self.commands.handle(conv.clone(), request).await)
    }

    /// A caller's command, marked where it comes too early.
    pub fn request(&self, caller: &Caller, conv: &ConvId, command: Command) -> Request {
        Request { over_limit: self.rates.take(caller.uid, conv), ..caller.request(command) }
    }

    /// For a message of the system's own, should a command make one.
    pub async fn stamp(&self) -> Result<Stamp, Problem> {
        Ok(Stamp { msg_id: self.msg_ids.next_in_time().await?, at: self.clock.now() })
    }
}

/// What a command came to; those that were too many are counted.
pub fn answered(reply: Result<Reply, CommandError>) -> Result<Reply, Problem> {
    let limit = match &reply {
        Err(CommandError::OverLimit(over)) => Some(over.limit.name()),
        Err(CommandError::Busy) => Some("queue"),
        Err(CommandError::Rejected(_) | CommandError::Unavailable | CommandError::Refused) | Ok(_) => None,
    };
    if let Some(limit) = limit {
        metrics::counter!("quipu_commands_over_limit_total", "limit" => limit).increment(1);
    }
    Ok(reply?)
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
    /// Commands of one person.
    pub person_rate: Rate,
    /// Everybody's commands in one conversation.
    pub conversation_rate: Rate,
    /// Connections that a person may have of one platform; 0: any number.
    pub devices_per_platform: u32,
    /// How often one person's typing in one conversation is passed on; none: not at all.
    pub typing_every: Option<Duration>,
    /// Is told who is online?
    pub presence: bool,
    /// How often a WebSocket is pinged; one that says nothing for twice as long is dead.
    pub ping_every: Duration,
}

impl Default for Limits {
    /// The contract's: two minutes, 64 KiB, ten thousand. Rates that only a client gone wild comes near.
    fn default() -> Self {
        Self {
            recall_window: 120_000,
            content_bytes: domain::content::CONTENT_BYTES_MAX,
            group_members: 10_000,
            person_rate: Rate::per_second(RATE_USER, 2 * RATE_USER),
            conversation_rate: Rate::per_second(RATE_CONVERSATION, 2 * RATE_CONVERSATION),
            devices_per_platform: 0,
            typing_every: Some(Duration::from_secs(1)),
            presence: false,
            ping_every: Duration::from_secs(30),
        }
    }
}
