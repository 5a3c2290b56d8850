//! What all devices of a run share.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::mpsc;

use super::{
    deed::Deed,
    fault::{Faults, Kind},
    ledger::Ledger,
    plan::Plan,
    tally::Tally,
};
use crate::client::{Address, ClientError, token};

/// One run.
pub struct World {
    pub seed: u64,
    pub plan: Plan,
    pub address: Address,
    pub secret: String,
    /// How many times faster than in life everything goes.
    pub speed: f64,
    /// How many devices each person has.
    pub devices: usize,
    pub ledger: Ledger,
    pub faults: Arc<Faults>,
    pub tally: Tally,
}

impl World {
    /// A token of this person on this device.
    pub fn token(&self, uid: u64, device: &str) -> Result<String, ClientError> {
        token::sign(&self.secret, uid, device)
    }

    /// Notes a fault.
    pub fn fault(&self, kind: Kind, what: impl Into<String>) {
        self.faults.note(kind, what);
    }
}

/// Deeds that may wait for one device.
pub const DEEDS_MAX: usize = 64;

/// How the traffic reaches a device.
#[derive(Debug, Clone)]
pub struct Handle {
    deeds: mpsc::Sender<Deed>,
    connected: Arc<AtomicBool>,
}

impl Handle {
    /// A handle and what belongs to it on the device.
    pub fn new() -> (Self, mpsc::Receiver<Deed>, Arc<AtomicBool>) {
        let (deeds, received) = mpsc::channel(DEEDS_MAX);
        let connected = Arc::new(AtomicBool::new(false));
        (Self { deeds, connected: Arc::clone(&connected) }, received, connected)
    }

    /// Is it connected just now?
    pub fn is_connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }

    /// Tells the device to do something; one that has too much to do already does not.
    pub fn tell(&self, deed: Deed) -> bool {
        self.deeds.try_send(deed).is_ok()
    }
}
