//! Puts a node together: from a migrated database to an [`App`], and back down in order.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use event_store::{Clock, EventStore, surroundings::Surroundings};
use projections::{Projectors, ProjectorsWatch, notification::Inboxes};
use tokio::task::JoinHandle;
use tokio_postgres::Config;

use crate::{
    app::{App, Limits},
    auth::Tokens,
    cursor::Cursors,
    keeping::{Keeping, policy::Policy, upkeep::Upkeep},
    live::{Feed, typing::Typing},
    measures::{self, Sizes},
    presence::{self, Presence},
    rates::Rates,
    ready::{Check, Checks},
    rebuilds::Rebuilds,
    sync_cursor::SyncCursors,
    writer::{Writer, WriterError},
};

/// Events by which the read models may be behind before a load balancer should hear of it: a second at full load.
const LAG_MAX: u64 = 16_000;

/// Connections whose commands are answered and who have been told may take this long to say goodbye.
const GOODBYE_TIME_MAX: Duration = Duration::from_secs(5);

/// What differs from node to node.
pub struct NodeSettings {
    /// Whose tokens are good.
    pub tokens: Tokens,
    /// How much is too much.
    pub limits: Limits,
    /// A wished instance number.
    pub instance: Option<u16>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// How old what was said may become.
    pub retention: Policy,
}

/// Why a node did not start.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// What takes commands.
    #[error(transparent)]
    Writer(#[from] WriterError),
    /// The read models and what keeps them up with the log.
    #[error("start the projectors")]
    Projectors(#[from] projections::ProjectorsError),
    /// The live feed, or the connections for its sizes.
    #[error("start the live feed and the measures")]
    Live(#[source] event_store::StoreError),
    /// Presence.
    #[error("start presence")]
    Presence(#[source] event_store::StoreError),
    /// The metrics.
    #[error("start the metrics")]
    Metrics(#[from] metrics_exporter_prometheus::BuildError),
}

/// A running node.
pub struct Node {
    app: Arc<App>,
    writer: Writer,
    projectors: Projectors,
    rebuilds: Arc<Rebuilds>,
    keeper: Option<presence::Keeper>,
    upkeep: JoinHandle<()>,
    removals: Upkeep,
}

impl Node {
    /// Opens the log and the read models of a migrated database and starts everything that works on its own.
    pub async fn start(database: &Config, settings: NodeSettings) -> Result<Self, NodeError> {
        let NodeSettings { tokens, limits, instance, clock, retention } = settings;
        let writer = Writer::start(database, Arc::clone(&clock), instance).await?;
        let store = &writer.store;
        let projectors = Projectors::start(database, Arc::clone(store), Arc::clone(&clock)).await?;
        let (read_models, inboxes) = (projectors.read_models(), projectors.inboxes());
        let rebuilds = Arc::new(Rebuilds::new(projectors.watch()));
        let checks: Checks = vec![
            Box::new(LogCheck(Arc::clone(store))),
            Box::new(ProjectorCheck(projectors.watch())),
            Box::new(NotificationCheck { projectors: projectors.watch(), inboxes: inboxes.clone() }),
        ];
        let metrics = measures::recorder()?;
        let upkeep = tokio::spawn(measures::upkeep(metrics.clone()));
        let sync_cursors = Arc::new(SyncCursors::of_log(store.info()));
        let live = Feed::start(store, &read_models, &sync_cursors).await.map_err(NodeError::Live)?;
        let typing = Typing::start(database, writer.instance, &live.hub, limits.typing_every);
        let presence = limits.presence.then(|| Presence::start(database, writer.instance, &live.hub));
        let (presence, keeper) = presence.transpose().map_err(NodeError::Presence)?.unzip();
        let surroundings = Surroundings { clock: Arc::clone(&clock), entropy: Arc::clone(&writer.entropy) };
        let keeping = Keeping::new(database, store, &surroundings).map_err(NodeError::Live)?;
        let sizes = Sizes::new(event_store::postgres::pool(database, 1).map_err(NodeError::Live)?);
        let app = Arc::new(App {
            store: Arc::clone(store),
            accesses: writer.accesses.clone(),
            keeping,
            commands: writer.commands.clone(),
            notifications: writer.notifications.clone(),
            inboxes,
            cursors: Cursors::of_log(store.info().log_id),
            sync_cursors: Arc::clone(&sync_cursors),
            live,
            typing,
            presence,
            read_models,
            rebuilds: Arc::clone(&rebuilds),
            msg_ids: writer.msg_ids.clone(),
            tokens,
            clock,
            entropy: Arc::clone(&writer.entropy),
            rates: Rates::new(limits.person_rate, limits.conversation_rate),
            limits,
            checks,
            sizes,
            metrics,
        });
        let removals =
            Upkeep::start(app.keeping.clone(), app.commands.clone(), app.read_models.clone(), retention);
        tracing::info!(instance = writer.instance, log_id = %store.info().log_id, "started");
        Ok(Self { app, writer, projectors, rebuilds, keeper, upkeep, removals })
    }

    /// What handlers share.
    pub fn app(&self) -> Arc<App> {
        Arc::clone(&self.app)
    }

    /// Ends everything, after the last request. Read models catch up at the next start.
    pub async fn stop(self) {
        let Self { app, writer, projectors, rebuilds, keeper, upkeep, removals } = self;
        // It goes on at the next start.
        drop(removals);
        let hub = Arc::clone(&app.live.hub);
        hub.close();
        if tokio::time::timeout(GOODBYE_TIME_MAX, hub.emptied()).await.is_err() {
            tracing::warn!("some connections did not end in {GOODBYE_TIME_MAX:?} and are cut off");
        }
        drop(app);
        // While the instance number, under which they are written, is still this node's.
        if let Some(keeper) = keeper {
            keeper.stop().await;
        }
        writer.stop().await;
        rebuilds.stop().await;
        projectors.shutdown().await;
        upkeep.abort();
    }
}

struct LogCheck(Arc<dyn EventStore>);

#[async_trait]
impl Check for LogCheck {
    fn name(&self) -> &'static str {
        "log"
    }

    async fn check(&self) -> Result<String, String> {
        let heads = self.0.shard_heads().await.map_err(|error| {
            tracing::warn!(%error, "the log is not ready");
            "it does not answer".to_owned()
        })?;
        let events: u64 = heads.iter().map(|head| head.position.get()).sum();
        Ok(format!("{events} events in {} shards", heads.len()))
    }
}

struct ProjectorCheck(ProjectorsWatch);

#[async_trait]
impl Check for ProjectorCheck {
    fn name(&self) -> &'static str {
        "projections"
    }

    async fn check(&self) -> Result<String, String> {
        let status = self.0.serving().ok_or("it has stopped")?;
        let lag =
            status.shards.iter().map(|it| it.head.get().saturating_sub(it.position.get())).max().unwrap_or(0);
        let failing = status.shards.iter().filter(|it| it.failing).count();
        let parked = status.parked;
        let said =
            format!("at most {lag} events behind, {failing} shards failing, {parked} conversations parked");
        if lag > LAG_MAX || failing > 0 || parked > 0 { Err(said) } else { Ok(said) }
    }
}

struct NotificationCheck {
    projectors: ProjectorsWatch,
    inboxes: Inboxes,
}

#[async_trait]
impl Check for NotificationCheck {
    fn name(&self) -> &'static str {
        "notifications"
    }

    async fn check(&self) -> Result<String, String> {
        if self.projectors.notifications_fail() {
            return Err("the projector fails".to_owned());
        }
        match self.inboxes.skipped().await {
            Ok(0) => Ok("nothing passed over".to_owned()),
            Ok(skipped) => Err(format!("{skipped} events passed over")),
            Err(error) => {
                tracing::warn!(%error, "the read model of notifications is not ready");
                Err("it does not answer".to_owned())
            }
        }
    }
}
