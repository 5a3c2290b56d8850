//! Takes out one conversation: every event of its streams, with what proves them. Form: `form.rs`.

use std::{
    error::Error,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use domain::{ConvId, StreamKind};
use ed25519_dalek::SigningKey;
use event_store::{
    Action, EventStore, StoreError, StreamName, codec, hex,
    port::StreamHead,
    postgres::proof::{Covering, LogReader, covering},
};
use serde_json::value::RawValue;

use super::{
    TOOL,
    event::EventForm,
    form::{self, Beginning, Contained, FORMAT, LINE_BYTES_MAX, Manifest, ProofForm, Says, StreamForm},
    part::{FileError, Part},
};
use crate::{
    audit::{Asked, Session, bar::Bar, key, verify::reader},
    config::Config,
};

/// Events that are read at once; with the largest contents that are usual, some 16 MB.
const PAGE_EVENTS: u32 = 256;

/// Why there is no export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// No event of it.
    #[error("there is no conversation {0} in this log")]
    NoConversation(ConvId),
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The log.
    #[error("read the conversation")]
    Log(#[from] StoreError),
    /// A part that is there is of something else.
    #[error("go on with {path}: it is not the beginning of an export of {conv} from this log")]
    OtherPart {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        conv: ConvId,
    },
}

/// Says at the end what there is, also where there is nothing to do any more.
pub async fn command(config: &Config, conv: &ConvId, out: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let file = if out.is_dir() { out.join(format!("{conv}.ndjson")) } else { out.to_owned() };
    if file.exists() {
        writeln!(io::stdout(), "{} is complete; a newer one wants another name", file.display())?;
        return Ok(ExitCode::SUCCESS);
    }
    let key = key::signing_key(config)?;
    let session = Session::open(config).await?;
    let done = async {
        session.record(Action::ExportConversation, Asked::about(conv)).await?;
        let reader = reader(&session, 2)?;
        let at = session.surroundings.clock.now();
        let export = Export { store: &*session.store, reader: &reader, key: &key, conv, at };
        Ok::<_, Box<dyn Error>>(export.write(&file).await?)
    };
    let done = done.await;
    session.close().await?;
    if let Some(Manifest { lines, streams, .. }) = done? {
        let events: u64 = streams.iter().map(|it| it.events).sum();
        writeln!(
            io::stdout(),
            "{}: {events} events of {conv} in {lines} lines and a manifest",
            file.display()
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn line(part: &mut Part, says: Says) -> Result<(), FileError> {
    let line = form::write(&part.hasher, says);
    part.line(&line)
}

/// What it is made from.
pub struct Export<'a> {
    /// The log.
    pub store: &'a dyn EventStore,
    /// The same on disk, for the proofs.
    pub reader: &'a LogReader,
    /// Signs the manifest.
    pub key: &'a SigningKey,
    /// Which conversation.
    pub conv: &'a ConvId,
    /// Now.
    pub at: i64,
}

/// Where an interrupted one stands.
#[derive(Default)]
struct Resumed {
    beginning: Option<Beginning>,
    /// The streams that have their proof.
    proofs: Vec<String>,
    /// Events of each stream so far, in the order of the beginning.
    events: Vec<(String, u64, u64)>,
    manifest: Option<Manifest>,
    is_odd: bool,
}

impl Export<'_> {
    /// Writes the file; none where it is there already.
    pub async fn write(&self, file: &Path) -> Result<Option<Manifest>, ExportError> {
        let mut resumed = Resumed::default();
        let part = Part::open(file, LINE_BYTES_MAX, |line| resumed.note(line))?;
        let Some(mut part) = part else { return Ok(None) };
        let beginning = match resumed.beginning.take() {
            Some(beginning) => beginning,
            None => {
                let beginning = self.beginning().await?;
                line(&mut part, Says::Export(beginning.clone()))?;
                beginning
            }
        };
        let info = self.store.info();
        if resumed.is_odd || beginning.conv_id != self.conv.as_str() || beginning.log_id != info.log_id {
            return Err(ExportError::OtherPart { path: file.to_owned(), conv: self.conv.clone() });
        }
        if let Some(manifest) = resumed.manifest {
            part.finish()?;
            return Ok(Some(manifest));
        }
        if resumed.events.is_empty() {
            self.proofs(&mut part, &beginning, &resumed.proofs).await?;
        }
        let bar = Bar::new(beginning.streams.iter().map(|it| it.version).sum());
        let mut contained = vec![];
        for (of, kind) in beginning.streams.iter().zip(StreamKind::ALL) {
            let there = resumed.events.iter().find(|(stream, ..)| *stream == of.stream);
            let (mut events, mut last) = there.map_or((0, 0), |(_, events, last)| (*events, *last));
            bar.passed(events);
            let stream = StreamName::new(self.conv, kind);
            while last < of.version {
                let page = self.store.read_stream(&stream, last + 1, PAGE_EVENTS).await?;
                let page = page.iter().filter(|it| it.header.version <= of.version);
                let before = events;
                for event in page {
                    line(&mut part, Says::Event(Box::new(EventForm::from(event))))?;
                    (events, last) = (events + 1, event.header.version);
                }
                part.flush()?;
                bar.passed(events - before);
                if events == before {
                    // The log has lost its end; whoever verifies this hears of it.
                    break;
                }
            }
            let first_version = if events == 0 { 0 } else { last + 1 - events };
            let stream = of.stream.clone();
            contained.push(Contained { stream, events, first_version, last_version: last });
        }
        bar.finish();
        let manifest = self.manifest(&part, &beginning, contained);
        line(&mut part, Says::Manifest(manifest.clone()))?;
        part.finish()?;
        Ok(Some(manifest))
    }

    async fn beginning(&self) -> Result<Beginning, ExportError> {
        let mut streams = vec![];
        for kind in StreamKind::ALL {
            let stream = StreamName::new(self.conv, kind);
            let head = self.reader.stream_head(&stream).await?;
            streams.push(StreamForm::new(&stream, &head));
        }
        if streams.iter().all(|it| it.version == 0) {
            return Err(ExportError::NoConversation(self.conv.clone()));
        }
        let info = self.store.info();
        Ok(Beginning {
            format: FORMAT,
            conv_id: self.conv.to_string(),
            log_id: info.log_id,
            epoch: info.epoch,
            shards: info.shards,
            streams,
            tool: TOOL.to_owned(),
            at: self.at,
        })
    }

    /// Those of checkpoints that have seen no more than the export has.
    async fn proofs(
        &self,
        part: &mut Part,
        beginning: &Beginning,
        there: &[String],
    ) -> Result<(), ExportError> {
        for (of, kind) in beginning.streams.iter().zip(StreamKind::ALL) {
            if there.contains(&of.stream) {
                continue;
            }
            if let Some(covering) = covering(self.reader, &StreamName::new(self.conv, kind)).await?
                && covering.head.version <= of.version
            {
                line(part, Says::Proof(Box::new(proof(&covering))))?;
            }
        }
        Ok(())
    }

    fn manifest(&self, part: &Part, beginning: &Beginning, streams: Vec<Contained>) -> Manifest {
        let messages = streams.first().filter(|it| it.events > 0);
        let mut manifest = Manifest {
            conv_id: beginning.conv_id.clone(),
            log_id: beginning.log_id,
            lines: part.lines,
            bytes: part.bytes,
            blake3: hex::encode(part.hasher.finalize().as_bytes()),
            first_seq: messages.map(|it| it.first_version),
            last_seq: messages.map(|it| it.last_version),
            streams,
            media: vec![],
            tool: TOOL.to_owned(),
            key: String::new(),
            signature: String::new(),
        };
        manifest.sign(self.key);
        manifest
    }
}

fn proof(covering: &Covering) -> ProofForm {
    let head: &StreamHead = &covering.head;
    let body = codec::encode_checkpoint(&covering.checkpoint).body;
    let checkpoint = RawValue::from_string(String::from_utf8_lossy(&body).into_owned());
    ProofForm {
        seen: StreamForm::new(&covering.stream, head),
        shard: covering.shard.get(),
        path: covering.path.iter().map(|(side, hash)| ((*side).into(), hex::encode(hash))).collect(),
        checkpoint: checkpoint.unwrap_or_default(),
    }
}

impl Resumed {
    fn note(&mut self, line: &[u8]) {
        match form::read(line).map(|(_, says)| says) {
            _ if self.manifest.is_some() => self.is_odd = true,
            Some(Says::Export(beginning)) => self.beginning = Some(beginning),
            Some(Says::Proof(proof)) => self.proofs.push(proof.seen.stream),
            Some(Says::Event(event)) => match self.events.last_mut() {
                Some((stream, events, last)) if *stream == event.stream => {
                    (*events, *last) = (*events + 1, event.version);
                }
                _ => self.events.push((event.stream, 1, event.version)),
            },
            Some(Says::Manifest(manifest)) => self.manifest = Some(manifest),
            None => self.is_odd = true,
        }
    }
}
