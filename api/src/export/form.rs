//! The form of an exported conversation: NDJSON, one object a line, each with the hash of everything before it.
//!
//! First comes where the streams stood when it began, then for each stream the newest checkpoint that speaks of it with
//! the proof that it does, then the events stream by stream, last a signed manifest. docs/decisions/0019.

use std::fmt::Write as _;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use event_store::{
    StreamName, checkpoint, hex,
    merkle::{Hash, Side},
    port::StreamHead,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::event::EventForm;

/// Of this layout.
pub const FORMAT: u32 = 1;

/// The longest line: the largest content that may be configured, escaped at its worst, and a header.
pub const LINE_BYTES_MAX: u64 = 16 << 20;

/// One line. `after` is the beginning of the BLAKE3 of all bytes before it, in hex: whoever takes out, changes or moves
/// a line must change every one after it. Of the others there is exactly one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    after: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    export: Option<Beginning>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<Box<ProofForm>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<Box<EventForm>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    manifest: Option<Manifest>,
}

/// What a line says.
#[derive(Debug)]
pub enum Says {
    /// The first one.
    Export(Beginning),
    /// A checkpoint that speaks of one of the streams.
    Proof(Box<ProofForm>),
    /// An event.
    Event(Box<EventForm>),
    /// The last one.
    Manifest(Manifest),
}

/// A line, with its end, after everything that was hashed so far.
pub fn write(so_far: &blake3::Hasher, says: Says) -> Vec<u8> {
    let (mut export, mut proof, mut event, mut manifest) = (None, None, None, None);
    match says {
        Says::Export(it) => export = Some(it),
        Says::Proof(it) => proof = Some(it),
        Says::Event(it) => event = Some(it),
        Says::Manifest(it) => manifest = Some(it),
    }
    let line = Line { after: after(so_far), export, proof, event, manifest };
    // Plain values and JSON: serialising these into memory cannot fail.
    let mut text = serde_json::to_vec(&line).unwrap_or_default();
    text.push(b'\n');
    text
}

/// What a line says, and the hash that it says everything before it has. None where it is no line of an export.
pub fn read(line: &[u8]) -> Option<(String, Says)> {
    let Line { after, export, proof, event, manifest } = serde_json::from_slice(line).ok()?;
    let says = match (export, proof, event, manifest) {
        (Some(it), None, None, None) => Says::Export(it),
        (None, Some(it), None, None) => Says::Proof(it),
        (None, None, Some(it), None) => Says::Event(it),
        (None, None, None, Some(it)) => Says::Manifest(it),
        _ => return None,
    };
    Some((after, says))
}

/// Of what it is, and how far it goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beginning {
    /// [`FORMAT`].
    pub format: u32,
    /// Which conversation.
    pub conv_id: String,
    /// Of which log.
    pub log_id: Uuid,
    /// In which of its epochs.
    pub epoch: u32,
    /// How many shards it has.
    pub shards: u16,
    /// Where its streams stood when the export began: up to there it goes.
    pub streams: Vec<StreamForm>,
    /// Which program made it.
    pub tool: String,
    /// When it began, in unix ms.
    pub at: i64,
}

/// Where a stream stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamForm {
    /// Its name.
    pub stream: String,
    /// Of its last event; 0 where there is none.
    pub version: u64,
    /// The chain's hash up to there, in hex.
    pub chain: String,
}

/// That a checkpoint has seen a stream.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofForm {
    /// What it has seen.
    pub seen: StreamForm,
    /// The shard whose root the path leads to.
    pub shard: u16,
    /// The hashes beside the stream's leaf and the nodes above it, and on which side they stand.
    pub path: Vec<(SideForm, String)>,
    /// The checkpoint as it stands in the log.
    pub checkpoint: Box<RawValue>,
}

/// As [`Side`].
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideForm {
    /// Before it.
    Left,
    /// After it.
    Right,
}

/// What the file is made of, signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Which conversation.
    pub conv_id: String,
    /// Of which log.
    pub log_id: Uuid,
    /// Lines before this one.
    pub lines: u64,
    /// Bytes before this line.
    pub bytes: u64,
    /// BLAKE3 of these, in hex.
    pub blake3: String,
    /// The first message's; none where there is none.
    pub first_seq: Option<u64>,
    /// The last message's.
    pub last_seq: Option<u64>,
    /// What of each stream is in it.
    pub streams: Vec<Contained>,
    /// Files that belong to the messages. quipu keeps none yet.
    pub media: Vec<String>,
    /// Which program made it.
    pub tool: String,
    /// The name of the key that signed this.
    pub key: String,
    /// Ed25519 over [`Manifest::statement`], in hex.
    pub signature: String,
}

/// What of a stream is in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contained {
    /// Its name.
    pub stream: String,
    /// How many events.
    pub events: u64,
    /// The first one's version; 0 where there is none.
    pub first_version: u64,
    /// The last one's.
    pub last_version: u64,
}

impl StreamForm {
    /// Of a stream.
    pub fn new(stream: &StreamName, head: &StreamHead) -> Self {
        Self { stream: stream.to_string(), version: head.version, chain: hex::encode(&head.chain) }
    }

    /// None where the hash is none.
    pub fn head(&self) -> Option<StreamHead> {
        Some(StreamHead { version: self.version, chain: hex::decode(&self.chain)? })
    }
}

impl ProofForm {
    /// None where a hash is none.
    pub fn path(&self) -> Option<Vec<(Side, Hash)>> {
        let step = |(side, hash): &(SideForm, String)| {
            let side = match side {
                SideForm::Left => Side::Left,
                SideForm::Right => Side::Right,
            };
            Some((side, hex::decode(hash)?))
        };
        self.path.iter().map(step).collect()
    }
}

impl From<Side> for SideForm {
    fn from(side: Side) -> Self {
        match side {
            Side::Left => Self::Left,
            Side::Right => Self::Right,
        }
    }
}

impl Manifest {
    /// The text that is signed.
    pub fn statement(&self) -> String {
        let mut text = format!(
            "quipu export v1\nconversation {}\nlog {}\nlines {}\nbytes {}\nblake3 {}\nseqs {} to {}\ntool {}\n",
            self.conv_id,
            self.log_id.hyphenated(),
            self.lines,
            self.bytes,
            self.blake3,
            self.first_seq.unwrap_or(0),
            self.last_seq.unwrap_or(0),
            self.tool,
        );
        for Contained { stream, events, first_version, last_version } in &self.streams {
            // Writing to a string cannot fail.
            let _ =
                writeln!(text, "stream {stream} events {events} versions {first_version} to {last_version}");
        }
        for media in &self.media {
            let _ = writeln!(text, "media {media}");
        }
        text
    }

    /// Signs it.
    pub fn sign(&mut self, key: &SigningKey) {
        self.key = checkpoint::key_name(&key.verifying_key());
        self.signature = hex::encode(&key.sign(self.statement().as_bytes()).to_bytes());
    }

    /// Did one of these keys sign it?
    pub fn is_signed_by(&self, keys: &[VerifyingKey]) -> bool {
        let Some(signature) = hex::decode(&self.signature) else { return false };
        let (text, signature) = (self.statement(), Signature::from_bytes(&signature));
        keys.iter().any(|key| key.verify_strict(text.as_bytes(), &signature).is_ok())
    }
}

/// The hash of the bytes so far, of which the beginning stands in each line.
pub fn after(hasher: &blake3::Hasher) -> String {
    hex::encode(&hasher.finalize().as_bytes()[..8])
}
