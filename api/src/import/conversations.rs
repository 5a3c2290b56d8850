//! Where a line belongs: its conversation, its place among the lines of its time, and the id that it gives its
//! message. Everything here follows from the file alone, so that a second run names every line the same.
//!
//! Equal lines stand within one time of one conversation, so only that time's lines are remembered, by their id.

use std::{collections::HashMap, num::NonZeroUsize, path::PathBuf};

use domain::{ConvId, EventId, GroupSlug, Source, ids::Ms};
use lru::LruCache;

use super::{
    ImportError,
    line::{Kind, Line},
    lines::Place,
    pairs::Pairs,
    refusal::Reason,
};

/// Conversations that may be open at once, that is, interleaved in one file; about 200 bytes each. One that comes
/// back after so many others is placed as if it began there: equal lines before and after count as one.
const OPEN_MAX: NonZeroUsize = NonZeroUsize::new(16_384).unwrap();
/// Different lines of one time that are remembered, over all open conversations; about 50 bytes each.
pub const EQUALS_MAX: usize = 262_144;

/// Where a line belongs.
#[derive(Debug)]
pub(super) struct Placed {
    pub conv: ConvId,
    pub source: Source,
    /// Its message's, if it is one.
    pub id: EventId,
}

/// Why a line has no place.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// It is refused, and the import goes on.
    #[error(transparent)]
    Refused(#[from] Reason),
    /// The import cannot go on.
    #[error(transparent)]
    Failed(#[from] ImportError),
}

pub(super) struct Conversations<'a> {
    pairs: Pairs<'a>,
    open: LruCache<(Kind, String), Open>,
    /// Lengths of all `equals` together.
    remembered: usize,
    /// From which name each group has come.
    groups: LruCache<ConvId, String>,
}

/// A conversation of the file that is being read.
struct Open {
    conv: ConvId,
    file: usize,
    /// The time of its last line.
    at: Ms,
    /// Lines of that time.
    lines: u64,
    /// By the id that the first of its equals has: how many there were.
    equals: HashMap<EventId, u64>,
}

impl<'a> Conversations<'a> {
    pub fn of(files: &'a [PathBuf]) -> Self {
        let (open, groups) = (LruCache::new(OPEN_MAX), LruCache::new(OPEN_MAX));
        Self { pairs: Pairs::of(files), open, remembered: 0, groups }
    }

    /// To be called once for each line, in order.
    pub fn place(&mut self, line: &Line<'_>, place: Place) -> Result<Placed, Fault> {
        let key = (line.kind, line.conv.clone().into_owned());
        let mut open = match self.open.pop(&key) {
            Some(open) => {
                self.remembered -= open.equals.len();
                open
            }
            None => Open::new(self.conversation_of(line, place)?, place.file),
        };
        if open.file != place.file {
            // Two exports may use one name for different chats.
            let is_other = line.kind == Kind::Single && !open.conv.has_party(line.sender);
            let conv = if is_other { self.conversation_of(line, place)? } else { open.conv };
            open = Open::new(conv, place.file);
        }
        let placed = open.place(line);
        self.keep(key, open);
        Ok(placed?)
    }

    fn keep(&mut self, key: (Kind, String), open: Open) {
        self.remembered += open.equals.len();
        if let Some((_, evicted)) = self.open.push(key, open) {
            self.remembered -= evicted.equals.len();
        }
        while self.remembered > EQUALS_MAX
            && let Some((_, evicted)) = self.open.pop_lru()
        {
            self.remembered -= evicted.equals.len();
        }
    }

    fn conversation_of(&mut self, line: &Line<'_>, place: Place) -> Result<ConvId, Fault> {
        match line.kind {
            Kind::Single => Ok(self.pairs.chat_of(&line.conv, line.sender, place)?),
            Kind::Group => {
                let slug = GroupSlug::from_foreign_name(&line.conv).map_err(Reason::from)?;
                let conv = ConvId::group(&slug);
                let other = self.groups.put(conv.clone(), line.conv.clone().into_owned());
                if let Some(other) = other.filter(|other| *other != line.conv) {
                    tracing::warn!(%conv, "{other:?} and {:?} are one group", line.conv);
                }
                Ok(conv)
            }
        }
    }
}

impl Open {
    fn new(conv: ConvId, file: usize) -> Self {
        Self { conv, file, at: Ms::MIN, lines: 0, equals: HashMap::new() }
    }

    fn place(&mut self, line: &Line<'_>) -> Result<Placed, Reason> {
        if line.ts < self.at {
            return Err(Reason::TsGoesDown { last: self.at });
        }
        if line.ts > self.at {
            (self.at, self.lines, self.equals) = (line.ts, 0, HashMap::new());
        }
        // Refused lines count, too: what is refused may change with the settings, the place of others may not.
        let source = Source { conv: line.conv.clone().into_owned(), at: line.ts, nth: self.lines };
        self.lines += 1;
        let id =
            |occurrence| EventId::imported(&source, line.sender, &line.line_type, occurrence, &line.text);
        let first = id(1);
        if self.equals.len() >= EQUALS_MAX && !self.equals.contains_key(&first) {
            return Err(Reason::TooManyEquals);
        }
        let occurrence = self.equals.entry(first).or_insert(0);
        *occurrence += 1;
        let id = if *occurrence == 1 { first } else { id(*occurrence) };
        let conv = self.conv.clone();
        if line.kind == Kind::Single && !conv.has_party(line.sender) {
            return Err(Reason::NotOneOfTwo { conv });
        }
        Ok(Placed { conv, source, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(conversations: &mut Conversations<'_>, conv: &str, ts: Ms, text: &str) -> Result<Placed, Fault> {
        let line = serde_json::json!(
            {"conv": conv, "kind": "group", "sender": 1, "ts": ts, "type": "text", "text": text}
        );
        conversations.place(&Line::parse(line.to_string().as_bytes()).unwrap(), Place::default())
    }

    #[test]
    fn what_is_remembered_is_bounded_whatever_the_file() {
        let mut conversations = Conversations::of(&[]);
        for n in 0..20_000 {
            place(&mut conversations, &format!("c{n}"), 5, "x").unwrap();
        }
        assert_eq!((conversations.open.len(), conversations.remembered), (OPEN_MAX.get(), OPEN_MAX.get()));
        for n in 0..EQUALS_MAX {
            place(&mut conversations, "one time", 5, &n.to_string()).unwrap();
        }
        assert!(matches!(
            place(&mut conversations, "one time", 5, "one more"),
            Err(Fault::Refused(Reason::TooManyEquals))
        ));
        assert!(place(&mut conversations, "one time", 5, "0").is_ok(), "an equal of one that is known");
        assert_eq!((conversations.open.len(), conversations.remembered), (1, EQUALS_MAX));
        place(&mut conversations, "one time", 6, "later").unwrap();
        assert_eq!(conversations.remembered, 1);
    }
}
