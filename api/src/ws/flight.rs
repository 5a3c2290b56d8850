//! Requests of one connection that are under way, and how those of one conversation keep their order.
//!
//! Commands of a conversation are handed over in the order in which they came, and once the outcome of one is unknown,
//! or one was over a limit, none of those behind it is done any more. A question waits for the commands before it.

use std::{
    collections::{HashMap, HashSet},
    future::Future,
    sync::Arc,
};

use domain::ConvId;
use event_store::Sequence;
use futures_util::{
    StreamExt,
    future::{BoxFuture, FutureExt, ready},
    stream::FuturesUnordered,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::request::{Request, answer};
use crate::{
    app::{App, answered},
    auth::Caller,
    problem::Problem,
    rest::act::Act,
};

/// Requests of one connection that may be under way; past this its frames are not read. A client that sends a hundred
/// messages at once is not slowed down.
pub const IN_FLIGHT_MAX: usize = 256;

/// A request that will be answered.
type Flight = BoxFuture<'static, Landed>;

/// A request that has been answered.
struct Landed {
    id: String,
    conv: Option<ConvId>,
    text: String,
}

/// Requests under way.
#[derive(Default)]
pub struct Flights {
    ids: HashSet<String>,
    flying: FuturesUnordered<Flight>,
    /// A command for which there is no room yet, or a replay: nothing is read meanwhile.
    starting: Option<BoxFuture<'static, Flight>>,
    lines: HashMap<ConvId, Line>,
}

/// What is under way in one conversation.
#[derive(Default)]
struct Line {
    count: usize,
    sequence: Sequence,
    /// The last command.
    last: Option<Arc<Doing>>,
}

/// A command that is being done. Whoever waits for it asks for a permit; there is none, and in the end it is closed.
struct Doing(Semaphore);

impl Doing {
    fn new() -> Arc<Self> {
        Arc::new(Self(Semaphore::const_new(0)))
    }

    async fn is_over(&self) {
        // There never is a permit: what comes is the end.
        let _ = self.0.acquire().await;
    }
}

/// Held while a command is being done.
struct Done(Arc<Doing>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.0.close();
    }
}

impl Flights {
    /// Is there a request with this id?
    pub fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// May another request be read?
    pub fn has_room(&self) -> bool {
        self.starting.is_none() && self.ids.len() < IN_FLIGHT_MAX
    }

    /// Has everything been answered?
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// A command. It is handed over as soon as there is room for it in its conversation's queue.
    pub fn command<A>(
        &mut self,
        app: &Arc<App>,
        caller: Caller,
        mut request: Request<'_>,
    ) -> Result<(), Problem>
    where
        A: Act + DeserializeOwned + 'static,
    {
        let (conv, key) = (request.conv()?, request.key()?);
        let id = request.id.clone();
        let body: A = request.body()?;
        let app = Arc::clone(app);
        let line = self.lines.entry(conv.clone()).or_default();
        let doing = Doing::new();
        let done = Done(Arc::clone(&doing));
        line.last = Some(doing);
        line.count += 1;
        let sequence = line.sequence.clone();
        self.ids.insert(id.clone());
        self.starting = Some(starting(app, caller, id, conv, key, body, sequence, done).boxed());
        Ok(())
    }

    /// A question about a conversation; it waits for the commands before it.
    pub fn question<F, T>(&mut self, id: String, conv: ConvId, asked: F)
    where
        F: Future<Output = Result<T, Problem>> + Send + 'static,
        T: Serialize + Send + 'static,
    {
        let line = self.lines.entry(conv.clone()).or_default();
        line.count += 1;
        let last = line.last.clone();
        self.ids.insert(id.clone());
        self.flying.push(Box::pin(async move {
            if let Some(last) = last {
                last.is_over().await;
            }
            let text = answer(&id, asked.await);
            Landed { id, conv: Some(conv), text }
        }));
    }

    /// A question about all conversations; it waits for all commands before it.
    pub fn question_of_all<F, T>(&mut self, id: String, asked: F)
    where
        F: Future<Output = Result<T, Problem>> + Send + 'static,
        T: Serialize + Send + 'static,
    {
        let lasts: Vec<_> = self.lines.values().filter_map(|line| line.last.clone()).collect();
        self.ids.insert(id.clone());
        self.flying.push(Box::pin(async move {
            for last in lasts {
                last.is_over().await;
            }
            let text = answer(&id, asked.await);
            Landed { id, conv: None, text }
        }));
    }

    /// Something before whose end no further frame is read.
    pub fn alone<F>(&mut self, id: String, doing: F)
    where
        F: Future<Output = String> + Send + 'static,
    {
        self.ids.insert(id.clone());
        let landed = |text| -> Flight { Box::pin(ready(Landed { id, conv: None, text })) };
        self.starting = Some(doing.map(landed).boxed());
    }

    /// Hands over what has come in, if there is room for it at once, as there almost always is.
    pub fn start(&mut self) {
        if let Some(flight) = self.starting.as_mut().and_then(|starting| starting.now_or_never()) {
            self.starting = None;
            self.flying.push(flight);
        }
    }

    /// The next answer, or none where there is room for the next request now; pends while nothing is under way.
    pub async fn next(&mut self) -> Option<String> {
        tokio::select! {
            flight = started(&mut self.starting) => {
                self.starting = None;
                self.flying.push(flight);
                None
            }
            Some(landed) = self.flying.next(), if !self.flying.is_empty() => Some(self.land(landed)),
        }
    }

    fn land(&mut self, Landed { id, conv, text }: Landed) -> String {
        self.ids.remove(&id);
        if let Some(conv) = conv
            && let Some(line) = self.lines.get_mut(&conv)
        {
            line.count -= 1;
            if line.count == 0 {
                self.lines.remove(&conv);
            }
        }
        text
    }
}

async fn started(starting: &mut Option<BoxFuture<'static, Flight>>) -> Flight {
    match starting {
        Some(starting) => starting.await,
        None => std::future::pending().await,
    }
}

#[expect(clippy::too_many_arguments, reason = "what one command takes along on its way")]
async fn starting<A: Act + 'static>(
    app: Arc<App>,
    caller: Caller,
    id: String,
    conv: ConvId,
    key: Option<Uuid>,
    body: A,
    sequence: Sequence,
    done: Done,
) -> Flight {
    let pending = match body.command(&app, &caller, key).await {
        Ok(command) => {
            let request = app.request(&caller, &conv, command);
            Ok(app.commands.submit_when_free(&sequence, conv.clone(), request).await)
        }
        Err(problem) => Err(problem),
    };
    Box::pin(async move {
        let reply = match pending {
            Ok(pending) => answered(pending.answer().await),
            Err(problem) => Err(problem),
        };
        drop(done);
        let outcome = match reply {
            Ok(reply) => A::answer(&app, &caller, &conv, reply).await,
            Err(problem) => Err(problem),
        };
        Landed { text: answer(&id, outcome), id, conv: Some(conv) }
    })
}
