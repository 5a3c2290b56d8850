//! What comes in from outside: time and randomness. Only `api` owns real ones; tests bring their own.

use std::sync::Arc;

use domain::Ms;

/// Unix time.
pub trait Clock: Send + Sync + 'static {
    /// Now, in milliseconds. May step back; whoever needs more must see to it.
    fn now(&self) -> Ms;
}

/// Randomness that nobody can guess.
pub trait Entropy: Send + Sync + 'static {
    /// Sixteen bytes, for the salt of one body.
    fn salt(&self) -> [u8; 16];
}

/// Both, as they are handed to the command handler.
#[derive(Clone)]
pub struct Surroundings {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of salts.
    pub entropy: Arc<dyn Entropy>,
}
