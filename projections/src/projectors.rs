//! Keeps a node abreast of which generations there are: one projector for each live one, and questions answered by
//! the one that serves. Other processes switch and drop; here it is noticed within a second, or as soon as a question
//! finds its generation gone.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use event_store::{Clock, EventStore};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_postgres::Config;

use crate::{
    effects::chain_of,
    generation::{Generation, OpenError},
    generations::{GenerationError, Generations, State},
    notification::{InboxReader, Inboxes, NotificationProjector},
    progress::Progress,
    projection::Projection,
    projector::{Projector, ProjectorHandle, SHARDS_AT_ONCE, StartError, Status},
    read_models::ReadModels,
    reader::Reader,
    serving::Serving,
};

/// How late a node notices a switch.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Connections for questions about conversations: each takes milliseconds.
const QUERY_CONNECTIONS: usize = 16;
/// Connections of each projector of conversations: no more of its shards work at a time.
const PROJECTOR_CONNECTIONS: usize = SHARDS_AT_ONCE;
/// Connections for the notifications of a generation: its projector's and a few questions'.
const NOTIFICATION_CONNECTIONS: usize = 4;

/// Why nothing was started, or a look failed.
#[derive(Debug, thiserror::Error)]
pub enum ProjectorsError {
    /// Which generations there are is not known.
    #[error(transparent)]
    Generations(#[from] GenerationError),
    /// One does not open.
    #[error("open the read models")]
    Open(#[from] OpenError),
    /// A projector does not start.
    #[error("start a projector")]
    Start(#[from] StartError),
    /// There is no generation that serves.
    #[error("no generation of the read models serves")]
    NoneServes,
}

/// Events a second that the generations have passed of late, by read models and generation.
pub type Rates = BTreeMap<(Projection, i32), f64>;

/// Everything that a node runs for its read models.
pub struct Projectors {
    shared: Arc<Shared>,
    read_models: ReadModels,
    inboxes: Inboxes,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// What the task tells the others.
struct Shared {
    generations: Generations,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    /// Of the projector of conversations that serves; none where everything has stopped.
    serving: Option<(i32, Arc<Progress>)>,
    notifications_fail: bool,
    rates: Rates,
}

impl Projectors {
    /// Opens the read models of a migrated database and keeps them up with the log.
    pub async fn start(
        config: &Config,
        store: Arc<dyn EventStore>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ProjectorsError> {
        let generations = Generations::new(config, store, clock)?;
        let shared = Arc::new(Shared { generations, told: Mutex::default() });
        let mut lookout = Lookout {
            shared: Arc::clone(&shared),
            conversations: BTreeMap::new(),
            notifications: BTreeMap::new(),
            reader: None,
            inboxes: None,
            sampled: None,
        };
        lookout.look().await?;
        let (Some((_, reader)), Some((_, inboxes))) = (&lookout.reader, &lookout.inboxes) else {
            return Err(ProjectorsError::NoneServes);
        };
        let look = Arc::new(Notify::new());
        let read_models = ReadModels(Serving::following(reader.subscribe(), Arc::clone(&look)));
        let inboxes = Inboxes(Serving::following(inboxes.subscribe(), Arc::clone(&look)));
        let stop = watch::Sender::new(false);
        let task = tokio::spawn(lookout.run(look, stop.subscribe()));
        Ok(Self { shared, read_models, inboxes, stop, task })
    }

    /// What answers about conversations.
    pub fn read_models(&self) -> ReadModels {
        self.read_models.clone()
    }

    /// What answers about notifications.
    pub fn inboxes(&self) -> Inboxes {
        self.inboxes.clone()
    }

    /// A look at how they do, for /readyz and operators.
    pub fn watch(&self) -> ProjectorsWatch {
        ProjectorsWatch(Arc::clone(&self.shared))
    }

    /// Lets each projector end its batch, and waits for it.
    pub async fn shutdown(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the lookout for generations panicked");
        }
    }
}

/// Looks at running projectors, also when they have stopped.
#[derive(Clone)]
pub struct ProjectorsWatch(Arc<Shared>);

impl ProjectorsWatch {
    /// Of the projector of conversations whose generation serves; none once it has stopped.
    pub fn serving(&self) -> Option<Status> {
        let told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.serving.as_ref().map(|(number, progress)| Status::of(*number, progress))
    }

    /// Does the projector of notifications fail whose generation serves?
    pub fn notifications_fail(&self) -> bool {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner).notifications_fail
    }

    /// Events a second of late.
    pub fn rates(&self) -> Rates {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner).rates.clone()
    }

    /// What one does with generations.
    pub fn generations(&self) -> Generations {
        self.0.generations.clone()
    }
}

/// What generations have passed, over all shards.
type Stands = BTreeMap<(Projection, i32), u64>;

/// Starts and ends projectors. There is only one that writes here.
struct Lookout {
    shared: Arc<Shared>,
    conversations: BTreeMap<i32, ProjectorHandle>,
    notifications: BTreeMap<i32, NotificationProjector>,
    /// What answers, and of which generation it is.
    reader: Option<(i32, watch::Sender<Arc<Reader>>)>,
    inboxes: Option<(i32, watch::Sender<Arc<InboxReader>>)>,
    /// Where generations stood, and when.
    sampled: Option<(Instant, Stands)>,
}

impl Lookout {
    async fn run(mut self, look: Arc<Notify>, mut stop: watch::Receiver<bool>) {
        let mut was_failing = false;
        while !*stop.borrow() {
            tokio::select! {
                _ = stop.changed() => break,
                () = look.notified() => {}
                () = sleep(LOOK_EVERY) => {}
            }
            let looked = self.look().await;
            let failing = looked.is_err();
            if let Err(error) = looked
                && !was_failing
            {
                tracing::warn!(error = chain_of(&error), "which generations there are is not known");
            }
            was_failing = failing;
        }
        self.told(|told| told.serving = None);
        let all = self.conversations.into_values().map(ProjectorHandle::shutdown);
        futures_util::future::join_all(all).await;
        for projector in self.notifications.into_values() {
            projector.shutdown().await;
        }
    }

    /// Starts what is live and does not run, switches what answers, ends what has gone: in this order.
    async fn look(&mut self) -> Result<(), ProjectorsError> {
        let statuses = self.shared.generations.known().await?;
        let mut live = Vec::new();
        for status in &statuses {
            let (key, serves) = ((status.projection, status.number), status.state == State::Serving);
            if serves || status.state == State::Kept {
                live.push(key);
                self.start(status.projection, status.number).await?;
            }
            if serves {
                metrics::gauge!("quipu_generation_serving", "projection" => status.projection.name())
                    .set(f64::from(status.number));
                self.serve(status.projection, status.number)?;
            }
        }
        self.end_others(&live).await;
        for projection in Projection::ALL {
            let of = || statuses.iter().filter(move |status| status.projection == projection);
            let building = of().any(|status| status.state == State::Building);
            metrics::gauge!("quipu_generations", "projection" => projection.name()).set(of().count() as f64);
            metrics::gauge!("quipu_rebuild_running", "projection" => projection.name())
                .set(f64::from(u8::from(building)));
        }
        let stands: Stands =
            statuses.iter().map(|status| ((status.projection, status.number), status.passed)).collect();
        self.sample(stands);
        Ok(())
    }

    async fn start(&mut self, projection: Projection, number: i32) -> Result<(), ProjectorsError> {
        let Generations { store, clock, .. } = &self.shared.generations;
        let (store, clock) = (Arc::clone(store), Arc::clone(clock));
        match projection {
            Projection::Conversation if !self.conversations.contains_key(&number) => {
                let generation = self.open(projection, number, PROJECTOR_CONNECTIONS)?;
                self.conversations.insert(number, Projector::start(store, generation, clock).await?);
            }
            Projection::Notification if !self.notifications.contains_key(&number) => {
                let generation = self.open(projection, number, NOTIFICATION_CONNECTIONS)?;
                let projector = NotificationProjector::start(store, generation, clock).await?;
                self.notifications.insert(number, projector);
            }
            Projection::Conversation | Projection::Notification => {}
        }
        Ok(())
    }

    /// Has questions answered by a generation whose projector runs.
    fn serve(&mut self, projection: Projection, number: i32) -> Result<(), ProjectorsError> {
        let store = Arc::clone(&self.shared.generations.store);
        match projection {
            Projection::Conversation => {
                let progress = self.conversations.get(&number).ok_or(ProjectorsError::NoneServes)?.progress();
                if self.reader.as_ref().is_none_or(|(stands, _)| *stands != number) {
                    let generation = self.open(projection, number, QUERY_CONNECTIONS)?;
                    let reader = Reader::new(store, generation, Some(Arc::clone(&progress)), true);
                    put(&mut self.reader, number, reader);
                    tracing::info!(projection = projection.name(), generation = number, "serving");
                }
                self.told(|told| told.serving = Some((number, progress)));
            }
            Projection::Notification => {
                let projector = self.notifications.get(&number).ok_or(ProjectorsError::NoneServes)?;
                let (passed, failing) = (projector.passed(), projector.failing());
                if self.inboxes.as_ref().is_none_or(|(stands, _)| *stands != number) {
                    let generation = self.open(projection, number, NOTIFICATION_CONNECTIONS)?;
                    put(&mut self.inboxes, number, InboxReader::new(store, generation, passed));
                    tracing::info!(projection = projection.name(), generation = number, "serving");
                }
                self.told(|told| told.notifications_fail = failing);
            }
        }
        Ok(())
    }

    async fn end_others(&mut self, live: &[(Projection, i32)]) {
        let gone = |projection: Projection, number: &i32| !live.contains(&(projection, *number));
        let of = Projection::Conversation;
        for (_, projector) in self.conversations.extract_if(.., |number, _| gone(of, number)) {
            // Whoever waits for it asks the one that serves.
            projector.progress().end();
            projector.shutdown().await;
        }
        let of = Projection::Notification;
        for (_, projector) in self.notifications.extract_if(.., |number, _| gone(of, number)) {
            projector.shutdown().await;
        }
    }

    fn sample(&mut self, stands: Stands) {
        let now = Instant::now();
        if let Some((then, before)) = &self.sampled {
            let seconds = now.saturating_duration_since(*then).as_secs_f64().max(0.001);
            let rate = |(key, at): (&(Projection, i32), &u64)| {
                let passed = at.saturating_sub(before.get(key).copied().unwrap_or(*at));
                (*key, passed as f64 / seconds)
            };
            let rates = stands.iter().map(rate).collect();
            self.told(|told| told.rates = rates);
        }
        self.sampled = Some((now, stands));
    }

    fn open(
        &self,
        projection: Projection,
        number: i32,
        connections: usize,
    ) -> Result<Generation, ProjectorsError> {
        Ok(self.shared.generations.open(projection, number, connections)?)
    }

    fn told(&self, tell: impl FnOnce(&mut Told)) {
        tell(&mut self.shared.told.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Questions that are under way end with the reader that they have.
fn put<R>(place: &mut Option<(i32, watch::Sender<Arc<R>>)>, number: i32, reader: R) {
    match place {
        Some((stands, sender)) => {
            *stands = number;
            sender.send_replace(Arc::new(reader));
        }
        None => *place = Some((number, watch::Sender::new(Arc::new(reader)))),
    }
}
