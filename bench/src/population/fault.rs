//! What must not happen, and what has happened of it: counted by kind, the first few of each kept in words.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, PoisonError},
};

/// Of each kind, so many are kept in words; the others are counted.
const KEPT_MAX: usize = 10;

/// A promise that was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Something acknowledged is not there.
    Loss,
    /// One message twice, or one push twice on a connection.
    Duplicate,
    /// Pushes of a conversation out of order, or with a gap.
    Disorder,
    /// Two tell one message differently, or somebody tells what nobody said.
    Contradiction,
    /// The server's unread count, mention or last message is not what the device counts.
    Count,
    /// Something was told to one who must not see it any more.
    Forbidden,
    /// An answer that the contract does not have.
    Answer,
}

impl Kind {
    /// All of them, in the order of a verdict.
    pub const ALL: [Self; 7] = [
        Self::Loss,
        Self::Duplicate,
        Self::Disorder,
        Self::Contradiction,
        Self::Count,
        Self::Forbidden,
        Self::Answer,
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Loss => "losses",
            Self::Duplicate => "duplicates",
            Self::Disorder => "disorders",
            Self::Contradiction => "contradictions",
            Self::Count => "differing counts",
            Self::Forbidden => "seen that should not be",
            Self::Answer => "answers against contract",
        })
    }
}

/// What has happened of it.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Noted>);

/// How often, and the first few in words.
pub type Noted = BTreeMap<Kind, (u64, Vec<String>)>;

impl Faults {
    /// Notes one.
    pub fn note(&self, kind: Kind, what: impl Into<String>) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, kept) = noted.entry(kind).or_default();
        *count += 1;
        if kept.len() < KEPT_MAX {
            kept.push(what.into());
        }
    }

    /// How many there are of all kinds.
    pub fn count(&self) -> u64 {
        self.noted().values().map(|(count, _)| count).sum()
    }

    /// All that was noted.
    pub fn noted(&self) -> Noted {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
