//! The chain of one stream, recomputed event by event, in constant memory.
//!
//! Where an event does not follow from the one before it, the next ones tell why: if its successor follows from the
//! hash as stored, a field or the body was altered; if from the hash as computed, the hash was; if a later event
//! follows in its place, the two were swapped. So up to [`DOUBT_MAX`] events are kept before it is said.

use crate::{
    chain::link,
    port::StreamHead,
    recorded::{Header, Position, StreamName},
    verify::{Fault, What},
};

/// Events that are looked at to find out what has happened to one; a few hundred bytes each.
const DOUBT_MAX: usize = 64;

/// An event without its body.
struct Row {
    header: Header,
    digest: [u8; 32],
}

impl Row {
    fn link_after(&self, previous: &[u8; 32]) -> [u8; 32] {
        link(previous, &self.header, &self.digest)
    }

    fn follows(&self, previous: &[u8; 32]) -> bool {
        self.link_after(previous) == self.header.chain
    }

    fn follows_as(&self, previous: &[u8; 32], version: u64) -> bool {
        link(previous, &Header { version, ..self.header.clone() }, &self.digest) == self.header.chain
    }
}

/// What came since an event did not follow from the one before it.
struct Doubt {
    before: [u8; 32],
    rows: Vec<Row>,
}

/// Where the check of one stream stands.
pub struct StreamCheck {
    stream: StreamName,
    /// None where there is no shard to be right, as in an export.
    shards: Option<u16>,
    head: StreamHead,
    position: Position,
    doubt: Option<Doubt>,
}

impl StreamCheck {
    /// Before the first event. `shards` is how many the log has; without it the events' shard is not looked at.
    pub fn new(stream: StreamName, shards: Option<u16>) -> Self {
        Self::after(stream, shards, StreamHead::default())
    }

    /// After an event that was found good.
    pub fn after(stream: StreamName, shards: Option<u16>, head: StreamHead) -> Self {
        Self { stream, shards, head, position: Position::START, doubt: None }
    }

    /// Of which stream.
    pub fn stream(&self) -> &StreamName {
        &self.stream
    }

    /// Where it stands: the last event's version and hash as stored.
    pub fn head(&self) -> StreamHead {
        self.head
    }

    /// The next event of the stream, by version. `digest` is that of its body; none where body and digest are gone.
    pub fn next(&mut self, header: Header, digest: Option<[u8; 32]>, faults: &mut Vec<Fault>) {
        let version = header.version;
        if version != self.head.version + 1 {
            self.end(faults);
            let from = self.head.version + 1;
            let detail = if version < from {
                format!("version {version} comes after version {}", self.head.version)
            } else if version == from + 1 {
                "there is no such event".to_owned()
            } else {
                format!("there is no event of the versions {from} to {}", version - 1)
            };
            faults.push(Fault::in_stream(&self.stream, from.min(version), What::Missing, detail));
        }
        let is_next = version == self.head.version + 1;
        let before = std::mem::replace(&mut self.head, StreamHead { version, chain: header.chain }).chain;
        self.check_shard(&header, faults);
        let Some(digest) = digest else {
            self.end(faults);
            let detail = "neither its body nor the digest of an erased one is there";
            faults.push(Fault::of(&header, What::BodyMissing, detail));
            self.position = self.position.max(header.position);
            return;
        };
        let row = Row { header, digest };
        if self.doubt.is_some() {
            self.resolve(row, faults);
        } else if !is_next || row.follows(&before) {
            self.check_order(&row.header, faults);
        } else {
            self.doubt = Some(Doubt { before, rows: vec![row] });
        }
    }

    /// The stream has no more events.
    pub fn end(&mut self, faults: &mut Vec<Fault>) {
        let Some(Doubt { rows, .. }) = self.doubt.take() else { return };
        let mut previous: Option<&Row> = None;
        for row in &rows {
            if previous.is_none_or(|previous| !row.follows(&previous.header.chain)) {
                faults.push(Fault::of(
                    &row.header,
                    What::Altered,
                    "it does not follow from the event before it",
                ));
            }
            self.position = self.position.max(row.header.position);
            previous = Some(row);
        }
    }

    /// One more event after one that did not follow.
    fn resolve(&mut self, row: Row, faults: &mut Vec<Fault>) {
        let Some(doubt) = &mut self.doubt else { return };
        let first = &doubt.rows[0];
        let says = match () {
            () if doubt.rows.len() == 1 && row.follows(&first.header.chain) => {
                Some("a field of its header, its salt or its body is not what was appended")
            }
            () if doubt.rows.len() == 1 && row.follows(&first.link_after(&doubt.before)) => {
                Some("its chain hash is not what was appended")
            }
            () => None,
        };
        if let Some(says) = says {
            faults.push(Fault::of(&first.header, What::Altered, says));
            self.position = first.header.position.max(self.position);
            self.doubt = None;
            self.check_order(&row.header, faults);
            return;
        }
        let swapped = row.follows_as(&doubt.before, first.header.version);
        doubt.rows.push(row);
        if swapped {
            self.swapped(faults);
        } else if doubt.rows.len() >= DOUBT_MAX {
            self.end(faults);
        }
    }

    /// The last event of the doubt belongs where the first one stands.
    fn swapped(&mut self, faults: &mut Vec<Fault>) {
        let Some(Doubt { mut rows, .. }) = self.doubt.take() else { return };
        let Some(last) = rows.pop() else { return };
        let first = rows.remove(0);
        let (here, there) = (first.header.version, last.header.version);
        faults.push(Fault::of(
            &first.header,
            What::Swapped,
            format!("what belongs here stands at version {there}"),
        ));
        let mut previous = last.header.chain;
        for row in &rows {
            if !row.follows(&previous) {
                faults.push(Fault::of(
                    &row.header,
                    What::Altered,
                    "it does not follow from the event before it",
                ));
            }
            previous = row.header.chain;
            self.position = self.position.max(row.header.position);
        }
        let detail = if first.follows_as(&previous, there) {
            self.head.chain = first.header.chain;
            format!("what belongs here stands at version {here}")
        } else {
            format!("it belongs at version {here}, and what belongs here is not there")
        };
        faults.push(Fault::of(&last.header, What::Swapped, detail));
        self.position = self.position.max(first.header.position).max(last.header.position);
    }

    fn check_shard(&self, header: &Header, faults: &mut Vec<Fault>) {
        let Some(shards) = self.shards else { return };
        let belongs = self.stream.shard(shards);
        if header.shard != belongs {
            let detail = format!("its stream belongs in shard {}", belongs.get());
            faults.push(Fault::of(header, What::Misplaced, detail));
        }
    }

    /// Along a stream, positions go up.
    fn check_order(&mut self, header: &Header, faults: &mut Vec<Fault>) {
        if header.position <= self.position {
            let detail = format!("an earlier version stands at position {}", self.position.get());
            faults.push(Fault::of(header, What::Misplaced, detail));
        }
        self.position = self.position.max(header.position);
    }
}

#[cfg(test)]
mod tests;
