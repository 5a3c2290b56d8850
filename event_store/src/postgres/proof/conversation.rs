//! Recomputes one conversation, so many events at a time.

use domain::{ConvId, StreamKind};
use ed25519_dalek::VerifyingKey;

use super::{
    super::rows::Stored,
    covering::{Covering, covering},
    reader::LogReader,
};
use crate::{
    port::{StoreError, StreamHead},
    recorded::StreamName,
    verify::{Fault, StreamCheck, What},
};

/// Pages of 1,000 events that are checked at a time: a second or two where nothing is in memory.
const PAGES_MAX: usize = 20;

/// Where to go on: after a version of one of the three streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyFrom {
    /// In which stream.
    pub kind: StreamKind,
    /// The last version that was checked.
    pub version: u64,
}

/// What was found.
#[derive(Debug)]
pub struct ConversationProof {
    /// Events that were checked this time.
    pub events: u64,
    /// Of the streams that were looked at to their end: where they stand.
    pub heads: Vec<(StreamName, StreamHead)>,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// The newest checkpoint of each stream that has one. Only where it went to the end.
    pub covered: Vec<Covering>,
    /// Where to go on; none where it went to the end.
    pub next: Option<VerifyFrom>,
}

/// Checks the three streams' chains from a place on, and at the end whether checkpoints agree and are signed with one
/// of the keys, if there are any. None where nothing was ever appended to the conversation.
pub async fn verify_conversation(
    reader: &LogReader,
    conv: &ConvId,
    keys: &[VerifyingKey],
    from: Option<VerifyFrom>,
) -> Result<Option<ConversationProof>, StoreError> {
    let shards = Some(reader.info().shards);
    let mut proof =
        ConversationProof { events: 0, heads: vec![], faults: vec![], covered: vec![], next: None };
    let mut pages = 0;
    let mut is_known = false;
    for kind in StreamKind::ALL {
        if from.is_some_and(|from| (kind as i64) < from.kind as i64) {
            continue;
        }
        let stream = StreamName::new(conv, kind);
        let Some(stream_id) = reader.stream_id(&stream).await? else { return Ok(None) };
        let mut check = StreamCheck::new(stream.clone(), shards);
        if let Some(from) = from.filter(|from| from.kind == kind && from.version > 0) {
            let known = reader.events(&stream, from.version, 1).await?;
            let known = known.first().filter(|it| it.header.version == from.version);
            if known.is_none() {
                let detail = "it was there when the events before it were checked";
                proof.faults.push(Fault::in_stream(&stream, from.version, What::Missing, detail));
            }
            let chain = known.map_or([0; 32], |it| it.header.chain);
            check = StreamCheck::after(stream.clone(), shards, StreamHead { version: from.version, chain });
        }
        let mut place = Some((stream_id, check.head().version));
        while let Some(after) = place {
            if pages == PAGES_MAX {
                check.end(&mut proof.faults);
                proof.next = Some(VerifyFrom { kind, version: after.1 });
                return Ok(Some(proof));
            }
            let each = &mut |_, stored: Stored| {
                proof.events += 1;
                match stored {
                    Stored::Event { header, digest } => check.next(header, digest, &mut proof.faults),
                    Stored::Nameless { .. } => proof.faults.extend(stored.nameless()),
                }
            };
            place = reader.streams(after, stream_id + 1, each).await?;
            pages += 1;
        }
        check.end(&mut proof.faults);
        is_known |= check.head().version > 0;
        if check.head().version > 0 {
            proof.heads.push((stream, check.head()));
        }
    }
    if !is_known && from.is_none() {
        return Ok(None);
    }
    for (stream, _) in proof.heads.clone() {
        if let Some(covering) = covering(reader, &stream).await? {
            if !covering.agrees {
                let number = covering.checkpoint.unsigned.number;
                let detail = format!("checkpoint {number} has seen another event here");
                proof.faults.push(Fault::in_stream(&stream, covering.head.version, What::Rewritten, detail));
            }
            if !keys.is_empty() && !keys.iter().any(|key| covering.checkpoint.is_signed_by(key)) {
                let number = covering.checkpoint.unsigned.number;
                let detail = "it is not signed with a key that is good";
                let checkpoint = StreamName::Checkpoint;
                proof.faults.push(Fault::in_stream(&checkpoint, number, What::Signature, detail));
            }
            proof.covered.push(covering);
        }
    }
    Ok(Some(proof))
}
