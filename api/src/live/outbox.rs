//! What waits to be written to one connection: its answers, and a bounded number of pushes.
//!
//! Answers are bounded by what may be in flight; pushes by the two limits here. A consumer that is too slow for them
//! finds a `resync` where the first push had no room, and hears pushes again once it has come to it: nothing is
//! dropped in silence, and nobody else waits.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::Uid;
use event_store::{Position, Shard, Vector};
use tokio::{sync::Notify, time::Instant};

use super::{devices::Device, push::Push};
use crate::ws::close::Close;

/// Pushes that may wait for one consumer: some seconds of a busy group, and 100 KiB of queue.
const PUSHES_MAX: usize = 2048;
/// Bytes of pushes that may wait for one consumer; the texts are shared between all who wait for them.
const PUSH_BYTES_MAX: usize = 4 << 20;
/// What a large audience hears is written to a connection no more often than this. A frame that is written alone costs ten
/// times what it costs among others, and nobody reads faster.
pub const PACE: Duration = Duration::from_millis(50);
/// Frames of a replay that are made ahead of the socket.
const REPLAY_AHEAD_MAX: usize = 64;
/// Frames that may as well be lost and wait for one consumer: who is that slow does not need to know who is typing.
const PASSING_MAX: usize = 16;
/// An empty queue keeps room for this many frames: ten thousand idle connections must stay small.
const ROOM_KEPT: usize = 16;

/// Something to be written.
#[derive(Debug, Clone)]
pub enum Frame {
    /// To a request.
    Answer(String),
    /// Something happened.
    Push(Push),
    /// Pushes had no room from here on.
    Resync(Push),
    /// May as well be lost.
    Passing(Arc<str>),
}

/// One connection's queue.
#[derive(Debug)]
pub struct Outbox {
    /// Whose connection it is.
    pub uid: Uid,
    /// On what.
    pub device: Device,
    state: Mutex<State>,
    filled: Notify,
    room: Notify,
    dismissed: Notify,
}

#[derive(Debug)]
struct State {
    frames: VecDeque<Frame>,
    /// Pushes that wait until the connection has said whether it resumes.
    held: Option<VecDeque<(Place, Frame)>>,
    pushes: usize,
    push_bytes: usize,
    /// How many of the frames may as well be lost.
    passing: usize,
    /// What lies at or below it is not pushed here: it was before this connection listened.
    from: Vector,
    lagging: bool,
    /// When frames were last taken to be written.
    taken_at: Option<Instant>,
    /// Somebody is bound to wake it.
    wake_is_due: bool,
    /// It shall end, once what is in flight is answered.
    dismissed: Option<Close>,
    ended: Option<Close>,
}

/// A place in the log.
pub type Place = (Shard, Position);

impl State {
    fn push(&mut self, place: Place, push: &Push, before: &Push) {
        let (shard, position) = place;
        if position <= self.from.at(shard) || self.lagging {
            return;
        }
        let full = self.pushes >= PUSHES_MAX || self.push_bytes + push.text.len() > PUSH_BYTES_MAX;
        let frame = if full {
            self.lagging = true;
            Frame::Resync(before.clone())
        } else {
            self.pushes += 1;
            self.push_bytes += push.text.len();
            Frame::Push(push.clone())
        };
        match &mut self.held {
            Some(held) => held.push_back((place, frame)),
            None => self.frames.push_back(frame),
        }
    }

    fn take(&mut self) -> Option<Next> {
        let Some(frame) = self.frames.pop_front() else {
            self.frames.shrink_to(ROOM_KEPT);
            return self.ended.map(Next::Close);
        };
        match &frame {
            Frame::Push(push) => {
                self.pushes -= 1;
                self.push_bytes -= push.text.len();
            }
            Frame::Passing(_) => self.passing -= 1,
            Frame::Answer(_) | Frame::Resync(_) => {}
        }
        Some(Next::Frame(frame))
    }
}

/// What the writer finds.
#[derive(Debug)]
pub enum Next {
    /// To be written.
    Frame(Frame),
    /// Everything has been written; the connection shall close.
    Close(Close),
}

impl Next {
    /// Of its text.
    fn bytes(&self) -> usize {
        match self {
            Self::Frame(Frame::Answer(text)) => text.len(),
            Self::Frame(Frame::Passing(text)) => text.len(),
            Self::Frame(Frame::Push(push) | Frame::Resync(push)) => push.text.len(),
            Self::Close(_) => 0,
        }
    }
}

impl Outbox {
    /// Listens from a vector on; pushes are held until [`Outbox::release`].
    pub fn new(uid: Uid, device: Device, from: Vector) -> Self {
        let state = State {
            frames: VecDeque::new(),
            held: Some(VecDeque::new()),
            pushes: 0,
            push_bytes: 0,
            passing: 0,
            from,
            lagging: false,
            taken_at: None,
            wake_is_due: false,
            dismissed: None,
            ended: None,
        };
        let state = Mutex::new(state);
        Self { uid, device, state, filled: Notify::new(), room: Notify::new(), dismissed: Notify::new() }
    }

    /// Takes an answer. Whoever asks sees to it that not too many are in flight.
    pub fn answer(&self, text: String) {
        self.with(|state| state.frames.push_back(Frame::Answer(text)));
    }

    /// Takes a push of something at a place in the log, if this connection listens from before it. `before` is a
    /// `resync` whose cursor lies before everything that is being pushed.
    pub fn push(&self, place: Place, push: &Push, before: &Push) {
        self.push_all([(place, push)], before);
    }

    /// As [`Outbox::push`], of several in the order of their places: they cost the connection one wake-up.
    pub fn push_all<'a>(&self, pushes: impl IntoIterator<Item = (Place, &'a Push)>, before: &Push) {
        let mut pushes = pushes.into_iter().peekable();
        if pushes.peek().is_some() {
            self.with(|state| pushes.for_each(|(place, push)| state.push(place, push, before)));
        }
    }

    /// As [`Outbox::push_all`], but a connection that has just been written to is not woken at once. True where it is
    /// now up to the caller to [`Outbox::wake`] it after [`PACE`]; whatever else wakes it takes these pushes along.
    #[must_use]
    pub fn push_paced<'a>(
        &self,
        pushes: impl IntoIterator<Item = (Place, &'a Push)>,
        before: &Push,
        now: Instant,
    ) -> bool {
        let mut pushes = pushes.into_iter().peekable();
        let mut state = self.state();
        if state.ended.is_some() || pushes.peek().is_none() {
            return false;
        }
        pushes.for_each(|(place, push)| state.push(place, push, before));
        if state.wake_is_due {
            return false;
        }
        let rested = state.taken_at.is_none_or(|taken| now.saturating_duration_since(taken) >= PACE);
        state.wake_is_due = !rested;
        drop(state);
        if rested {
            self.filled.notify_one();
        }
        !rested
    }

    /// Has what waits written.
    pub fn wake(&self) {
        self.state().wake_is_due = false;
        self.filled.notify_one();
    }

    /// Takes something that may as well be lost: it is, wherever anything else waits or is missing. So it takes no room
    /// from pushes, is never the cause of a `resync`, and does not come late.
    pub fn pass(&self, text: &Arc<str>) {
        self.with(|state| {
            let is_idle = state.frames.len() == state.passing && state.held.is_none() && !state.lagging;
            if is_idle && state.dismissed.is_none() && state.passing < PASSING_MAX {
                state.passing += 1;
                state.frames.push_back(Frame::Passing(Arc::clone(text)));
            }
        });
    }

    /// Takes a frame of a replay, ahead of what is held; waits while many of them wait.
    pub async fn replay(&self, frame: Frame) {
        loop {
            let room = self.room.notified();
            let waits = {
                let state = self.state();
                state.frames.len() >= REPLAY_AHEAD_MAX && state.ended.is_none()
            };
            if !waits {
                break;
            }
            room.await;
        }
        self.with(|state| {
            if let Frame::Push(push) = &frame {
                state.pushes += 1;
                state.push_bytes += push.text.len();
            }
            state.frames.push_back(frame);
        });
    }

    /// From where on this connection listens.
    pub fn from(&self) -> Vector {
        self.state().from.clone()
    }

    /// Holds pushes back for a replay that is to come before them. True if they were held already.
    pub fn hold(&self) -> bool {
        let mut state = self.state();
        let held = state.held.is_some();
        state.held.get_or_insert_default();
        held
    }

    /// Everything at or below `to` has been replayed: of that, nothing that is held is written a second time.
    pub fn replayed(&self, to: &Vector) {
        let mut state = self.state();
        let State { held, pushes, push_bytes, from, .. } = &mut *state;
        held.get_or_insert_default().retain(|((shard, position), frame)| {
            let Frame::Push(push) = frame else { return true };
            let keep = *position > to.at(*shard);
            if !keep {
                *pushes -= 1;
                *push_bytes -= push.text.len();
            }
            keep
        });
        *from = from.clone().merge(to);
    }

    /// Lets held pushes go.
    pub fn release(&self) {
        self.with(|state| {
            let held = state.held.take().unwrap_or_default();
            state.frames.extend(held.into_iter().map(|(_, frame)| frame));
        });
    }

    /// Listens again, after a resync. What was at or below `from` was not pushed.
    pub(super) fn listen_from(&self, from: Vector) {
        let mut state = self.state();
        state.from = from;
        state.lagging = false;
    }

    /// Asks the connection to end, for a reason that it is told in a frame and in its close.
    pub fn dismiss(&self, close: Close, word: String) {
        self.with(|state| {
            state.frames.push_back(Frame::Answer(word));
            state.dismissed.get_or_insert(close);
        });
        self.dismissed.notify_one();
    }

    /// Waits until it is asked to end.
    pub async fn dismissed(&self) -> Close {
        loop {
            let dismissed = self.dismissed.notified();
            if let Some(close) = self.state().dismissed {
                return close;
            }
            dismissed.await;
        }
    }

    /// Takes nothing more; the connection closes after what waits. The first reason stands.
    pub fn end(&self, close: Close) {
        let mut state = self.state();
        state.ended.get_or_insert(close);
        drop(state);
        self.filled.notify_one();
        self.room.notify_waiters();
    }

    /// Takes nothing more and drops what waits: who has no right to it any more does not get it.
    pub fn end_at_once(&self, close: Close) {
        let mut state = self.state();
        state.frames.clear();
        state.passing = 0;
        state.held = None;
        state.ended = Some(close);
        drop(state);
        self.filled.notify_one();
        self.room.notify_waiters();
    }

    /// Waits until there is something to be written: at least one, then what there is up to so many bytes of texts, or
    /// a little more. Nothing comes behind the end.
    pub async fn next(&self, bytes: usize) -> Vec<Next> {
        loop {
            let some = self.take_some(bytes);
            if !some.is_empty() {
                return some;
            }
            self.filled.notified().await;
        }
    }

    fn take_some(&self, bytes: usize) -> Vec<Next> {
        let mut state = self.state();
        let (mut some, mut taken) = (Vec::new(), 0);
        while taken < bytes
            && let Some(next) = state.take()
        {
            let is_end = matches!(next, Next::Close(_));
            taken += next.bytes();
            some.push(next);
            if is_end {
                break;
            }
        }
        if !some.is_empty() {
            state.taken_at = Some(Instant::now());
        }
        drop(state);
        self.room.notify_waiters();
        some
    }

    /// The next frame, if there is one.
    #[cfg(test)]
    fn take(&self) -> Option<Next> {
        self.state().take()
    }

    fn with(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        if state.ended.is_some() {
            return;
        }
        change(&mut state);
        drop(state);
        self.filled.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here can panic half-way; a poisoned lock holds good frames.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connections are shared between those who write to them.
pub type SharedOutbox = Arc<Outbox>;

#[cfg(test)]
mod tests;
