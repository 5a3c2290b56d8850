//! Who the two people of a single chat are, found by looking ahead in the files with a second reader.
//!
//! Each line is looked at at most once on the way, and nothing is kept of it but who has spoken where.

use std::{borrow::Cow, num::NonZeroUsize, path::PathBuf};

use domain::{ConvId, Uid};
use lru::LruCache;
use serde::Deserialize;

use super::{
    ImportError,
    line::Kind,
    lines::{Lines, Place},
};

/// How many lines of other conversations are passed, after the last line of this one, before its only speaker
/// counts as alone. A conversation that stands in one piece is looked through to its end, however long it is.
pub const LOOK_AHEAD_LINES: u64 = 4096;
/// Conversations met on the way that are remembered: more than can be met in one look.
const SEEN_MAX: NonZeroUsize = NonZeroUsize::new(2 * LOOK_AHEAD_LINES as usize).unwrap();

pub(super) struct Pairs<'a> {
    files: &'a [PathBuf],
    ahead: Lines<'a>,
    seen: LruCache<String, Seen>,
}

/// Who has spoken in a conversation between the line that is imported and the one that is looked at.
struct Seen {
    first: Uid,
    second: Option<Uid>,
    /// The index of its last line so far.
    last: u64,
}

/// As much of a line as is of interest here.
#[derive(Deserialize)]
struct Speaker<'a> {
    #[serde(borrow)]
    conv: Cow<'a, str>,
    kind: Kind,
    sender: u64,
}

impl<'a> Pairs<'a> {
    pub fn of(files: &'a [PathBuf]) -> Self {
        Self { files, ahead: Lines::of(files), seen: LruCache::new(SEEN_MAX) }
    }

    /// The single chat that `conv` is, whose line at `place` is by `sender`: their own notes if nobody else
    /// speaks in it.
    pub fn chat_of(&mut self, conv: &str, sender: Uid, place: Place) -> Result<ConvId, ImportError> {
        let was_met = self.seen.get(conv).is_some_and(|seen| seen.has(sender));
        if !was_met || self.ahead.next_index() <= place.index {
            self.ahead = Lines::after(self.files, place);
            self.seen.clear();
            self.seen.put(conv.to_owned(), Seen { first: sender, second: None, last: place.index });
        }
        loop {
            let (second, last) =
                self.seen.peek(conv).map_or((None, 0), |seen| (seen.other(sender), seen.last));
            if let Some(second) = second {
                return Ok(ConvId::single(sender, second));
            }
            let passed = self.ahead.next_index().saturating_sub(last + 1);
            if passed > LOOK_AHEAD_LINES || !self.look_at_next()? {
                return Ok(ConvId::single(sender, sender));
            }
        }
    }

    /// False at the end of the files.
    fn look_at_next(&mut self) -> Result<bool, ImportError> {
        let Some(found) = self.ahead.next()? else { return Ok(false) };
        // What cannot be read is refused when its turn comes.
        let speaker = found.bytes.and_then(|bytes| serde_json::from_slice::<Speaker<'_>>(bytes).ok());
        let Some(Speaker { conv, kind: Kind::Single, sender }) = speaker else { return Ok(true) };
        let Ok(sender) = Uid::new(sender) else { return Ok(true) };
        let last = found.place.index;
        match self.seen.get_mut(&*conv) {
            Some(seen) => {
                seen.last = last;
                if sender != seen.first {
                    seen.second.get_or_insert(sender);
                }
            }
            None => drop(self.seen.put(conv.into_owned(), Seen { first: sender, second: None, last })),
        }
        Ok(true)
    }
}

impl Seen {
    fn has(&self, uid: Uid) -> bool {
        self.first == uid || self.second == Some(uid)
    }

    fn other(&self, uid: Uid) -> Option<Uid> {
        if self.second == Some(uid) { Some(self.first) } else { self.second }
    }
}
