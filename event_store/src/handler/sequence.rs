//! Commands that rest on those before them, as the lines of an import do: the order of the file is the order of
//! the conversation, also when the log was away in between.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Commands of which none is done any more once the outcome of one before it is unknown: those behind it are
/// answered [`Unavailable`](super::CommandError::Unavailable), and all may be sent again in their order.
#[derive(Debug, Clone, Default)]
pub struct Sequence {
    broken: Arc<AtomicBool>,
}

impl Sequence {
    /// Is the outcome of one of them unknown?
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    fn break_off(&self) {
        self.broken.store(true, Ordering::Release);
    }
}

/// Breaks these sequences when dropped, unless all of them were answered: a worker may panic half-way.
pub(super) struct Unanswered(Vec<Sequence>);

impl Unanswered {
    pub fn new<'a>(sequences: impl IntoIterator<Item = &'a Sequence>) -> Self {
        Self(sequences.into_iter().cloned().collect())
    }

    pub fn answered(mut self) {
        self.0.clear();
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.0.iter().for_each(Sequence::break_off);
    }
}
