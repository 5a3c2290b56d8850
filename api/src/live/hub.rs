//! Who is connected to this node, and how far each shard has been pushed to them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{Seq, Uid};
use event_store::{Position, Shard, Vector};
use tokio::sync::watch;

use super::outbox::{Outbox, SharedOutbox};

/// The connections of one node.
#[derive(Debug)]
pub struct Hub {
    state: Mutex<State>,
    /// True once the node is going down.
    closing: watch::Sender<bool>,
    /// How many are connected.
    count: watch::Sender<usize>,
}

#[derive(Debug)]
struct State {
    people: HashMap<Uid, Vec<SharedOutbox>>,
    /// Up to here is pushed or being pushed: who connects now does not get all of it.
    begun: Vector,
    /// Up to here everything is queued to every connection.
    done: Vector,
}

/// A member who is connected, once for each connection.
#[derive(Debug, Clone)]
pub struct Target {
    /// The member.
    pub uid: Uid,
    /// The head when they joined.
    pub joined: Seq,
    /// The connection.
    pub outbox: SharedOutbox,
}

/// A connection's place in the hub, which it leaves when this is dropped.
pub struct Place {
    hub: Arc<Hub>,
    /// What waits for it.
    pub outbox: SharedOutbox,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.hub.leave(&self.outbox);
    }
}

impl Hub {
    /// Pushes what comes after a vector.
    pub fn new(from: Vector) -> Arc<Self> {
        let state = State { people: HashMap::new(), begun: from.clone(), done: from };
        let (closing, count) = (watch::Sender::new(false), watch::Sender::new(0));
        Arc::new(Self { state: Mutex::new(state), closing, count })
    }

    /// A new connection. It listens from what is not yet being pushed.
    pub fn join(self: &Arc<Self>, uid: Uid) -> Place {
        let mut state = self.state();
        let outbox = Arc::new(Outbox::new(uid, state.begun.clone()));
        state.people.entry(uid).or_default().push(Arc::clone(&outbox));
        self.count.send_modify(|count| *count += 1);
        drop(state);
        Place { hub: Arc::clone(self), outbox }
    }

    fn leave(&self, outbox: &SharedOutbox) {
        let mut state = self.state();
        if let Some(outboxes) = state.people.get_mut(&outbox.uid) {
            outboxes.retain(|it| !Arc::ptr_eq(it, outbox));
            if outboxes.is_empty() {
                state.people.remove(&outbox.uid);
            }
        }
        self.count.send_modify(|count| *count -= 1);
    }

    /// A consumer that was too slow has come to its resync and listens again.
    pub fn listen_again(&self, outbox: &Outbox) {
        // Under the lock, so that nothing begins between the look and the listening.
        let state = self.state();
        outbox.listen_from(state.begun.clone());
    }

    /// From now on what is at or below `to` is being pushed.
    pub(super) fn begin(&self, shard: Shard, to: Position) {
        self.state().begun.raise(shard, to);
    }

    /// What is at or below `to` is queued to every connection.
    pub(super) fn end(&self, shard: Shard, to: Position) {
        self.state().done.raise(shard, to);
    }

    /// As begin and end in one, if nobody is connected.
    pub(super) fn skip_if_nobody(&self, shard: Shard, to: Position) -> bool {
        let mut state = self.state();
        let nobody = state.people.is_empty();
        if nobody {
            state.begun.raise(shard, to);
            state.done.raise(shard, to);
        }
        nobody
    }

    /// Up to where everything is queued to every connection.
    pub fn done(&self) -> Vector {
        self.state().done.clone()
    }

    /// Is nobody connected?
    pub(super) fn is_empty(&self) -> bool {
        self.state().people.is_empty()
    }

    /// The connections of these people.
    pub(super) fn of(&self, people: impl IntoIterator<Item = (Uid, Seq)>) -> Vec<Target> {
        let state = self.state();
        let target = |(uid, joined)| {
            let outboxes = state.people.get(&uid)?.iter();
            Some(outboxes.map(move |outbox| Target { uid, joined, outbox: Arc::clone(outbox) }))
        };
        people.into_iter().filter_map(target).flatten().collect()
    }

    /// All connections.
    pub(super) fn everybody(&self) -> Vec<Target> {
        let state = self.state();
        let target =
            |outbox: &SharedOutbox| Target { uid: outbox.uid, joined: Seq::ZERO, outbox: Arc::clone(outbox) };
        state.people.values().flatten().map(target).collect()
    }

    /// The connections of the members of a group: whichever are fewer are gone through.
    pub(super) fn of_members(&self, members: &HashMap<Uid, Seq>) -> Vec<Target> {
        let connected: Option<Vec<Uid>> = {
            let state = self.state();
            (state.people.len() < members.len()).then(|| state.people.keys().copied().collect())
        };
        match connected {
            Some(connected) => {
                self.of(connected.into_iter().filter_map(|uid| Some((uid, *members.get(&uid)?))))
            }
            None => self.of(members.iter().map(|(uid, joined)| (*uid, *joined))),
        }
    }

    /// Tells every connection that the node is going down.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Becomes true when the node is going down.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Resolves once nobody is connected.
    pub async fn emptied(&self) {
        // The sender is in here, so there is always an answer.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here can panic half-way; a poisoned lock holds good connections.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
