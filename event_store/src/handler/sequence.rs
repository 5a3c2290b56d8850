//! Commands that rest on those before them: the lines of an import, where the order of the file is the order of the
//! conversation, also when the log was away in between; and what one connection has under way in one conversation.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use super::limit::OverLimit;

/// Commands of which none is done any more once the outcome of one before it is unknown: those behind it are answered
/// [`Unavailable`](super::CommandError::Unavailable), and all may be sent again in their order. Once one of them was
/// over a limit, so are those behind it.
#[derive(Debug, Clone, Default)]
pub struct Sequence {
    /// The first reason stands.
    broken: Arc<OnceLock<Broken>>,
}

#[derive(Debug, Clone, Copy)]
enum Broken {
    /// The outcome of one of them is unknown.
    Unknown,
    /// One of them was refused.
    OverLimit(OverLimit),
}

impl Sequence {
    /// Is the outcome of one of them unknown?
    pub fn is_broken(&self) -> bool {
        matches!(self.broken.get(), Some(Broken::Unknown))
    }

    /// The limit that one of them was over.
    pub(super) fn over_limit(&self) -> Option<OverLimit> {
        match self.broken.get() {
            Some(Broken::OverLimit(over)) => Some(*over),
            Some(Broken::Unknown) | None => None,
        }
    }

    /// One of them was refused, and its answer is certain.
    pub(super) fn refuse(&self, over: OverLimit) {
        let _ = self.broken.set(Broken::OverLimit(over));
    }

    fn break_off(&self) {
        // After a refusal nothing is appended any more, so there is no order left to lose.
        let _ = self.broken.set(Broken::Unknown);
    }
}

/// Sequences of which a command was over a limit, in a plan that may still come to nothing.
#[derive(Default)]
pub(super) struct Refused(HashMap<*const OnceLock<Broken>, OverLimit>);

impl Refused {
    /// The limit that one of the sequence was over, in this plan or before.
    pub fn of(&self, sequence: &Sequence) -> Option<OverLimit> {
        self.0.get(&Arc::as_ptr(&sequence.broken)).copied().or_else(|| sequence.over_limit())
    }

    pub fn note(&mut self, sequence: &Sequence, over: OverLimit) {
        self.0.entry(Arc::as_ptr(&sequence.broken)).or_insert(over);
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
