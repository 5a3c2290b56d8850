//! The life of one connection: frames are read and answered, pushes written, until somebody ends it.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use domain::{ConvId, Ms, Uid};
use event_store::Vector;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio::time::{Instant, Sleep, interval_at, sleep, sleep_until, timeout};

use super::{
    close::Close,
    flight::Flights,
    request::{NoRequest, Op, Request, answer, refusal},
};
use crate::{
    app::App,
    auth::Caller,
    door::page_limit,
    entropy::uuid_v7,
    live::{
        devices::Device,
        outbox::{Frame, Next, Outbox, SharedOutbox},
        resume::resume,
        typing,
    },
    problem::{Code, Problem},
    rest::{lists::ListParams, marks, messages, sync::missed},
    ws::WRITTEN_BYTES,
};

/// The largest frame, in bytes: the contract's.
const FRAME_BYTES_MAX: usize = 1 << 20;
/// Pushes wait this long for a connection's first frame, so that a resume comes before them.
const FIRST_WORD: Duration = Duration::from_secs(1);
/// A peer that takes no byte for this long is dead.
const WRITE_TIME_MAX: Duration = Duration::from_secs(60);
/// What waits to be written, and the goodbye, may take this long once the end is certain.
const GOODBYE_TIME_MAX: Duration = Duration::from_secs(3);
/// What is in flight may take this long to be answered once another device has taken the place.
const LEAVING_TIME_MAX: Duration = Duration::from_secs(5);
/// So long a client may take to answer a close. Until then what it still sends is read, so that the close is not lost.
const LINGER: Duration = Duration::from_secs(1);
/// A token's end is looked for at least this often: the clock may be set.
const EXPIRY_LOOK_MAX: Duration = Duration::from_secs(30);
/// The shortest wait before the next look.
const EXPIRY_LOOK_MIN: Duration = Duration::from_millis(250);

/// Serves a connection to its end.
pub async fn run(app: Arc<App>, caller: Caller, expires_at: Ms, socket: WebSocket) {
    let place =
        app.live.hub.join(caller.uid, Device::new(caller.device.clone()), app.limits.devices_per_platform);
    // From now on: what is in the log already is not news, even where the feed has not come to it yet. Where the log
    // is away, it is told all the same.
    if let Ok(heads) = app.live.store.shard_heads().await {
        place.outbox.replayed(&Vector::new(heads.into_iter().map(|head| head.position).collect()));
    }
    let (mut sink, mut stream) = socket.split();
    metrics::gauge!("quipu_connections").increment(1.0);
    let mut reader = Reader {
        outbox: Arc::clone(&place.outbox),
        flights: Flights::default(),
        heard: Instant::now(),
        holding: true,
        readable: true,
        app: Arc::clone(&app),
        caller,
        expires_at,
    };
    let writing = write(&app, &place.outbox, &mut sink);
    tokio::pin!(writing);
    let close = tokio::select! {
        close = reader.run(&mut stream) => Some(close),
        () = &mut writing => None,
    };
    if let Some(close) = close {
        match close {
            Close::TokenExpired => place.outbox.end_at_once(close),
            _ => place.outbox.end(close),
        }
        // A peer that does not read does not hear why.
        let _ = timeout(GOODBYE_TIME_MAX, writing).await;
        linger(&mut stream, reader.readable).await;
    }
    metrics::gauge!("quipu_connections").decrement(1.0);
}

/// Waits for the client's close; what it says until then is not listened to.
async fn linger(stream: &mut SplitStream<WebSocket>, readable: bool) {
    if readable {
        let _ = timeout(LINGER, async { while let Some(Ok(_)) = stream.next().await {} }).await;
    } else {
        sleep(LINGER).await;
    }
}

struct Reader {
    app: Arc<App>,
    caller: Caller,
    expires_at: Ms,
    outbox: SharedOutbox,
    flights: Flights,
    /// When the peer was last heard of.
    heard: Instant,
    /// Do pushes wait for the first frame?
    holding: bool,
    /// After an error of the protocol nothing more can be read.
    readable: bool,
}

impl Reader {
    async fn run(&mut self, stream: &mut SplitStream<WebSocket>) -> Close {
        let mut closing = self.app.live.hub.closing();
        let mut leaving = closing.borrow_and_update().then_some(Close::GoingAway);
        let too_long = sleep(Duration::ZERO);
        tokio::pin!(too_long);
        let first_word = sleep(FIRST_WORD);
        tokio::pin!(first_word);
        let look = sleep_until(self.next_look());
        tokio::pin!(look);
        loop {
            if let Some(close) = leaving
                && self.flights.is_empty()
            {
                return close;
            }
            let reading = leaving.is_none() && self.flights.has_room();
            if !reading {
                // Who is not listened to cannot be heard.
                self.heard = Instant::now();
            }
            tokio::select! {
                landed = self.flights.next(), if !self.flights.is_empty() => {
                    if let Some(text) = landed && !text.is_empty() {
                        self.outbox.answer(text);
                    }
                }
                message = stream.next(), if reading => {
                    self.heard = Instant::now();
                    match message {
                        Some(Ok(message)) => if let Err(close) = self.take(message) { return close },
                        Some(Err(error)) => {
                            self.readable = false;
                            return Close::of(error);
                        }
                        None => return Close::Gone,
                    }
                }
                _ = closing.changed(), if leaving.is_none() => leaving = Some(Close::GoingAway),
                close = self.outbox.dismissed(), if leaving.is_none() => {
                    leaving = Some(close);
                    too_long.as_mut().reset(Instant::now() + LEAVING_TIME_MAX);
                }
                () = &mut too_long, if leaving.is_some_and(|it| it != Close::GoingAway) => {
                    return leaving.unwrap_or(Close::Gone);
                }
                () = &mut first_word, if self.holding => self.release(),
                () = &mut look => if let Err(close) = self.look(look.as_mut()) { return close },
            }
        }
    }

    /// The token and the peer: are they still good?
    fn look(&self, look: Pin<&mut Sleep>) -> Result<(), Close> {
        if self.has_expired() {
            return Err(Close::TokenExpired);
        }
        if self.heard.elapsed() > self.app.limits.ping_every * 2 {
            return Err(Close::Gone);
        }
        look.reset(self.next_look());
        Ok(())
    }

    fn next_look(&self) -> Instant {
        let left = self.expires_at.saturating_sub(self.app.clock.now());
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        let most = EXPIRY_LOOK_MAX.min(self.app.limits.ping_every);
        Instant::now() + left.clamp(EXPIRY_LOOK_MIN, most.max(EXPIRY_LOOK_MIN))
    }

    fn has_expired(&self) -> bool {
        self.app.clock.now() >= self.expires_at
    }

    fn release(&mut self) {
        self.holding = false;
        self.outbox.release();
    }

    fn take(&mut self, message: Message) -> Result<(), Close> {
        match message {
            Message::Text(text) if text.len() > FRAME_BYTES_MAX => Err(Close::TooLarge),
            Message::Binary(bytes) if bytes.len() > FRAME_BYTES_MAX => Err(Close::TooLarge),
            Message::Binary(_) => Err(Close::Binary),
            Message::Close(_) => Err(Close::Gone),
            // The protocol's implementation has answered it.
            Message::Ping(_) | Message::Pong(_) => Ok(()),
            Message::Text(_) if self.has_expired() => Err(Close::TokenExpired),
            Message::Text(text) => {
                self.ask(text.as_str());
                Ok(())
            }
        }
    }

    fn ask(&mut self, text: &str) {
        let request = match Request::parse(text) {
            Ok(request) => request,
            Err(NoRequest { id, problem }) => {
                self.release();
                return self.outbox.answer(refusal(id.as_deref(), &problem));
            }
        };
        if request.op != Op::Resume && self.holding {
            self.release();
        }
        let id = request.id.clone();
        if self.flights.has(&id) {
            let problem = Problem::new(Code::RequestIdInFlight, "an id is free again with its answer");
            return self.outbox.answer(refusal(Some(&id), &problem));
        }
        match self.dispatch(request) {
            Ok(()) => self.flights.start(),
            Err(problem) => {
                self.release();
                self.outbox.answer(refusal(Some(&id), &problem));
            }
        }
    }

    fn dispatch(&mut self, mut request: Request<'_>) -> Result<(), Problem> {
        let Self { app, flights, .. } = self;
        let correlation_id = uuid_v7(app.clock.now(), &*app.entropy);
        let caller = Caller { correlation_id, ..self.caller.clone() };
        match request.op {
            Op::Send => flights.command::<messages::SendBody>(app, caller, request),
            Op::Recall => flights.command::<messages::RecallBody>(app, caller, request),
            Op::Delete => flights.command::<messages::DeleteBody>(app, caller, request),
            Op::Restore => flights.command::<messages::RestoreBody>(app, caller, request),
            Op::Read => flights.command::<marks::ReadBody>(app, caller, request),
            Op::Clear => flights.command::<marks::ClearBody>(app, caller, request),
            Op::History => {
                let (id, conv) = (request.id.clone(), request.conv()?);
                let params: messages::PageParams = request.body()?;
                let (app, asked) = (Arc::clone(app), conv.clone());
                flights.question(id, conv, async move { params.page(&app, &caller, &asked).await });
                Ok(())
            }
            Op::Resume => {
                let id = request.id.clone();
                let Resume { cursor } = request.body()?;
                self.holding = false;
                let (app, outbox) = (Arc::clone(app), Arc::clone(&self.outbox));
                flights.alone(id.clone(), async move {
                    let text = answer(&id, resume(&app, &outbox, cursor.as_deref()).await);
                    // In this order: the answer's cursor knows nothing of what is held.
                    outbox.answer(text);
                    outbox.release();
                    String::new()
                });
                Ok(())
            }
            Op::Sync => {
                let id = request.id.clone();
                let ListParams { cursor, limit } = request.body()?;
                let limit = page_limit(limit)?;
                let app = Arc::clone(app);
                flights.question_of_all(id, async move {
                    missed(&app, caller.uid, cursor.as_deref(), limit).await
                });
                Ok(())
            }
            Op::Typing => {
                let (id, conv) = (request.id.clone(), request.conv()?);
                let Empty {} = request.body()?;
                let (app, asked, uid) = (Arc::clone(app), conv.clone(), caller.uid);
                flights.question(id, conv, async move { told(&app, asked, uid).await });
                Ok(())
            }
            Op::Ping => {
                let id = request.id.clone();
                let Empty {} = request.body()?;
                self.outbox.answer(answer(&id, Ok(Empty {})));
                Ok(())
            }
        }
    }
}

/// From where on.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Resume {
    /// As it was given; from now on where it is left out.
    cursor: Option<String>,
}

/// Somebody is typing.
async fn told(app: &App, conv: ConvId, uid: Uid) -> Result<Empty, Problem> {
    let typing = app.typing.as_ref().ok_or_else(typing::switched_off)?;
    typing.tell(&app.read_models, conv, uid).await?;
    Ok(Empty {})
}

/// Nothing is asked, nothing is answered.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

/// Writes what waits, until the connection's end has been written, too.
async fn write(app: &App, outbox: &Outbox, sink: &mut SplitSink<WebSocket, Message>) {
    let ping_every = app.limits.ping_every;
    let mut ping = interval_at(Instant::now() + ping_every, ping_every);
    loop {
        let written = tokio::select! {
            some = outbox.next(WRITTEN_BYTES) => in_time(write_all(app, outbox, sink, some)).await,
            _ = ping.tick() => in_time(async {
                sink.send(Message::Ping(Default::default())).await?;
                Ok(false)
            }).await,
        };
        if !matches!(written, Some(Ok(false))) {
            return;
        }
    }
}

async fn in_time<T>(writing: impl Future<Output = T>) -> Option<T> {
    timeout(WRITE_TIME_MAX, writing).await.ok()
}

/// All of these, with one flush. True when that was the end.
async fn write_all(
    app: &App,
    outbox: &Outbox,
    sink: &mut SplitSink<WebSocket, Message>,
    some: Vec<Next>,
) -> Result<bool, axum::Error> {
    let mut ended = false;
    for next in some {
        match next {
            Next::Close(close) => {
                if let Some(frame) = close.frame() {
                    sink.feed(Message::Close(Some(frame))).await?;
                }
                ended = true;
            }
            Next::Frame(frame) => sink.feed(Message::Text(text(app, outbox, frame).into())).await?,
        }
    }
    sink.flush().await?;
    Ok(ended)
}

fn text(app: &App, outbox: &Outbox, frame: Frame) -> String {
    match frame {
        Frame::Answer(text) => text,
        Frame::Passing(text) => text.to_string(),
        Frame::Push(push) => push.frame(&app.sync_cursors, outbox.uid),
        Frame::Resync(push) => {
            app.live.hub.listen_again(outbox);
            push.frame(&app.sync_cursors, outbox.uid)
        }
    }
}
