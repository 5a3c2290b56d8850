//! What has been done so far, counted by many at once.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts; each says what it counts.
#[derive(Debug, Default)]
pub struct Tally {
    /// Sends that were answered with a seq.
    pub acked: Count,
    /// Of them, those that the server had already: sent again after an answer that never came.
    pub repeated: Count,
    /// Sends that were refused, because the sender was not in the group any more.
    pub refused: Count,
    /// Pushes of every kind.
    pub pushes: Count,
    /// Connections that came about.
    pub connections: Count,
    /// Connections that broke without the device's doing.
    pub broken: Count,
    /// Returns by resume.
    pub resumes: Count,
    /// Syncs, each with all its pages.
    pub syncs: Count,
    /// Times that the server said "resync".
    pub resyncs: Count,
    /// Recalls that were answered.
    pub recalls: Count,
    /// Messages deleted for one person.
    pub deletes: Count,
    /// Read positions that were answered.
    pub reads: Count,
    /// People who came into a group or went.
    pub moves: Count,
    /// Questions by people who had just been removed, all refused as they must be.
    pub refusals: Count,
    /// Conversations whose numbers were compared with the device's own.
    pub compared: Count,
    /// Of them, those with something unread.
    pub unread: Count,
    /// Comparisons that were given up because things kept changing.
    pub unsettled: Count,
    /// Groups that a device still showed although its person was out: nobody had told it.
    pub ghosts: Count,
    /// Rebuilds of read models that came to their end.
    pub rebuilds: Count,
    /// Kills with -9.
    pub kills: Count,
}

/// One of them.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// One more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
