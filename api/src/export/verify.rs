//! Verifies an exported conversation with nothing but the file and public keys: no log, no data directory.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use domain::{ConvId, StreamKind};
use ed25519_dalek::VerifyingKey;
use event_store::{
    Shard, StreamName, chain,
    checkpoint::stream_leaf,
    codec, hex,
    merkle::root_of,
    port::StreamHead,
    verify::{Fault, StreamCheck, What},
};

use super::{
    event::EventForm,
    form::{self, Beginning, Contained, FORMAT, LINE_BYTES_MAX, Manifest, ProofForm, Says},
    part::FileError,
};
use crate::audit::{bar::Bar, verify::Heard};

/// Prints what is wrong; exits with 1 where something is.
pub fn command(path: &Path, keys: &[VerifyingKey]) -> Result<ExitCode, FileError> {
    let failed = |doing, source| FileError { doing, path: PathBuf::from(path), source };
    let file = File::open(path).map_err(|source| failed("open", source))?;
    let heard = Heard::new(Bar::new(0));
    let mut check = ExportCheck::new(keys, |fault| heard.tell(fault), |total| heard.bar().expects(total));
    let events = check.read(BufReader::new(file), |events| heard.bar().passed(events));
    let events = events.map_err(|source| failed("read", source))?;
    Ok(heard.verdict(&format!("{}: {events} events", path.display())))
}

/// Where the check of a file stands.
pub struct ExportCheck<'a, F, T> {
    keys: &'a [VerifyingKey],
    fault: F,
    total: T,
    line: u64,
    bytes: u64,
    hasher: blake3::Hasher,
    of: Option<Of>,
    /// The kinds of the lines so far, which come in this order.
    reached: Reached,
    current: Option<StreamCheck>,
    contained: Vec<Contained>,
    /// Was a line found that does not follow on those before it?
    edited: bool,
    manifest: Option<Manifest>,
}

/// What the first line says.
struct Of {
    conv: ConvId,
    beginning: Beginning,
    /// Heads that must come by: what checkpoints have seen, and the ends.
    expected: Vec<(StreamName, StreamHead, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    Nothing,
    Beginning,
    Proofs,
    Events,
    Manifest,
}

impl<'a, F: Fn(&Fault), T: Fn(u64)> ExportCheck<'a, F, T> {
    /// `fault` hears what is wrong, `total` how many events there should be.
    pub fn new(keys: &'a [VerifyingKey], fault: F, total: T) -> Self {
        Self {
            keys,
            fault,
            total,
            line: 0,
            bytes: 0,
            hasher: blake3::Hasher::new(),
            of: None,
            reached: Reached::Nothing,
            current: None,
            contained: vec![],
            edited: false,
            manifest: None,
        }
    }

    /// Reads it to its end. Returns how many events there were.
    pub fn read(&mut self, mut file: impl BufRead, passed: impl Fn(u64)) -> io::Result<u64> {
        let mut events = 0;
        let mut line = vec![];
        loop {
            line.clear();
            (&mut file).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                break;
            }
            self.line += 1;
            if !line.ends_with(b"\n") {
                self.tell(What::Truncated, "it ends in the middle, or is longer than a line may be");
                break;
            }
            match form::read(&line) {
                None => self.tell(What::Export, "it is no line of an export"),
                Some((after, says)) => {
                    if after != form::after(&self.hasher) && !self.edited {
                        // So it is with every line from here on; what else is wrong is found by the chains.
                        self.edited = true;
                        let first = "it was not the first line";
                        let later = "what stands before it is not what was written there";
                        self.tell(What::Export, if self.line > 1 { later } else { first });
                    }
                    if matches!(says, Says::Event(_)) {
                        events += 1;
                        passed(1);
                    }
                    self.says(says);
                }
            }
            if self.reached < Reached::Manifest {
                self.hasher.update(&line);
                self.bytes += line.len() as u64;
            }
        }
        self.end();
        Ok(events)
    }

    fn says(&mut self, says: Says) {
        let kind = match &says {
            Says::Export(_) => Reached::Beginning,
            Says::Proof(_) => Reached::Proofs,
            Says::Event(_) => Reached::Events,
            Says::Manifest(_) => Reached::Manifest,
        };
        let may_repeat = matches!(kind, Reached::Proofs | Reached::Events);
        if kind < self.reached || (kind == self.reached && !may_repeat) {
            self.tell(What::Export, "it does not belong here");
            return;
        }
        if self.of.is_none() && kind > Reached::Beginning {
            if self.reached == Reached::Nothing {
                self.tell(What::Export, "the first line does not say what this is");
            }
            self.reached = kind;
            return;
        }
        self.reached = kind;
        match says {
            Says::Export(beginning) => self.begins(beginning),
            Says::Proof(proof) => self.proves(&proof),
            Says::Event(event) => self.event(&event),
            Says::Manifest(manifest) => {
                // The stream's end is before the manifest.
                self.stream_ends();
                self.manifest(&manifest);
                self.manifest = Some(manifest);
            }
        }
    }

    fn begins(&mut self, beginning: Beginning) {
        if beginning.format != FORMAT {
            self.tell(What::Export, "it has a form that this quipu does not know");
            return;
        }
        let Ok(conv) = ConvId::parse(&beginning.conv_id) else {
            self.tell(What::Export, "it names no conversation");
            return;
        };
        let streams = StreamKind::ALL.map(|kind| StreamName::new(&conv, kind));
        let heads: Option<Vec<StreamHead>> = beginning.streams.iter().map(|it| it.head()).collect();
        let named =
            beginning.streams.iter().map(|it| it.stream.clone()).eq(streams.iter().map(ToString::to_string));
        let Some(heads) = heads.filter(|_| named) else {
            self.tell(What::Export, "it does not say where the conversation's streams stood");
            return;
        };
        (self.total)(heads.iter().map(|it| it.version).fold(0, u64::saturating_add));
        let says = "the first line says".to_owned();
        let expected =
            streams.into_iter().zip(heads).map(|(stream, head)| (stream, head, says.clone())).collect();
        self.of = Some(Of { conv, beginning, expected });
    }

    /// A proof that holds says what must come.
    fn proves(&mut self, proof: &ProofForm) {
        let Some(of) = &self.of else { return };
        let stream =
            of.expected.iter().map(|(stream, ..)| stream).find(|it| it.to_string() == proof.seen.stream);
        let (Some(stream), Some(head), Some(path), Ok(checkpoint)) = (
            stream.cloned(),
            proof.seen.head(),
            proof.path(),
            codec::read_checkpoint(proof.checkpoint.get().as_bytes()),
        ) else {
            self.tell(What::Export, "it is no proof of one of the conversation's streams");
            return;
        };
        let number = checkpoint.unsigned.number;
        if !self.keys.iter().any(|key| checkpoint.is_signed_by(key)) {
            let detail = format!(
                "checkpoint {number} is not signed with a key that is good; it says {}",
                checkpoint.key
            );
            self.tell(What::Signature, detail);
            return;
        }
        let belongs = stream.shard(of.beginning.shards) == Shard::new(proof.shard)
            && checkpoint.unsigned.log_id == of.beginning.log_id;
        let root = root_of(stream_leaf(&proof.seen.stream, &head), &path);
        if !belongs || checkpoint.shard(Shard::new(proof.shard)).is_none_or(|it| it.root != root) {
            let detail = format!("it does not prove that checkpoint {number} has seen this");
            let mut fault = Fault::in_stream(&stream, head.version, What::Rewritten, detail);
            fault.detail = format!("line {}: {}", self.line, fault.detail);
            (self.fault)(&fault);
            return;
        }
        if let Some(of) = &mut self.of {
            of.expected.push((stream, head, format!("checkpoint {number} has seen")));
        }
    }

    fn event(&mut self, form: &EventForm) {
        let Some(of) = &self.of else { return };
        let event = match form.read(&of.conv) {
            Ok(event) => event,
            Err(why) => {
                let detail = format!("line {}: {why}", self.line);
                (self.fault)(&Fault::in_stream(&form.stream, form.version, What::Export, detail));
                return;
            }
        };
        let stream = event.header.stream.clone();
        if self.current.as_ref().is_none_or(|it| *it.stream() != stream) {
            let shards = of.beginning.shards;
            self.stream_ends();
            if self.contained.iter().any(|it| it.stream == form.stream) {
                self.tell(What::Export, "its stream had ended");
            }
            self.current = Some(StreamCheck::new(stream.clone(), Some(shards)));
            let (stream, first_version) = (form.stream.clone(), form.version);
            self.contained.push(Contained { stream, events: 0, first_version, last_version: 0 });
        }
        if let Some(contained) = self.contained.last_mut() {
            contained.events += 1;
            contained.last_version = form.version;
        }
        let head = StreamHead { version: event.header.version, chain: event.header.chain };
        let mut faults = vec![];
        if let Some(of) = &self.of {
            for (_, seen, who) in
                of.expected.iter().filter(|it| it.0 == stream && it.1.version == head.version)
            {
                if seen.chain != head.chain {
                    faults.push(Fault::of(
                        &event.header,
                        What::Rewritten,
                        format!("{who} another event here"),
                    ));
                }
            }
        }
        if let Some(check) = &mut self.current {
            check.next(event.header, Some(chain::body_digest(&event.body)), &mut faults);
        }
        self.tell_of_line(faults);
    }

    /// The faults that the check of a chain tells with the line at which it does so.
    fn tell_of_line(&self, faults: Vec<Fault>) {
        for mut fault in faults {
            fault.detail = format!("line {}: {}", self.line, fault.detail);
            (self.fault)(&fault);
        }
    }

    fn stream_ends(&mut self) {
        let mut faults = vec![];
        let Some(mut check) = self.current.take() else { return };
        check.end(&mut faults);
        self.tell_of_line(faults);
    }

    fn manifest(&self, manifest: &Manifest) {
        let Some(Of { beginning, .. }) = &self.of else { return };
        let wrong = |what: &str| {
            self.tell(What::Export, format!("the manifest says another {what} than the file has"))
        };
        if !manifest.is_signed_by(self.keys) {
            let detail =
                format!("the manifest is not signed with a key that is good; it says {}", manifest.key);
            self.tell(What::Signature, detail);
        }
        if manifest.conv_id != beginning.conv_id || manifest.log_id != beginning.log_id {
            wrong("conversation or log");
        }
        if (manifest.lines, manifest.bytes) != (self.line - 1, self.bytes) {
            wrong("number of lines or bytes");
        }
        if manifest.blake3 != hex::encode(self.hasher.finalize().as_bytes()) {
            wrong("hash");
        }
        let contained = |of: &Contained| {
            let none = Contained { stream: of.stream.clone(), events: 0, first_version: 0, last_version: 0 };
            *self.contained.iter().find(|it| it.stream == of.stream).unwrap_or(&none) == *of
        };
        let named =
            manifest.streams.iter().map(|it| &it.stream).eq(beginning.streams.iter().map(|it| &it.stream));
        if !named || !manifest.streams.iter().all(contained) {
            wrong("number of events");
        }
        let messages = manifest.streams.first().filter(|it| it.events > 0);
        let seqs = (messages.map(|it| it.first_version), messages.map(|it| it.last_version));
        if (manifest.first_seq, manifest.last_seq) != seqs {
            wrong("first or last seq");
        }
        if !manifest.media.is_empty() {
            wrong("number of media");
        }
    }

    /// The file has ended.
    fn end(&mut self) {
        self.stream_ends();
        if self.manifest.is_none() && self.reached < Reached::Manifest {
            let detail = format!("the file ends after line {} without a manifest", self.line);
            (self.fault)(&Fault::new(What::Truncated, detail));
        }
        let Some(of) = &self.of else { return };
        for (stream, head, who) in &of.expected {
            let name = stream.to_string();
            let last = self.contained.iter().find(|it| it.stream == name).map_or(0, |it| it.last_version);
            if last < head.version {
                let detail = format!("it ends at version {last}; {who} version {}", head.version);
                (self.fault)(&Fault::in_stream(name, last + 1, What::Truncated, detail));
            }
        }
    }

    fn tell(&self, what: What, detail: impl std::fmt::Display) {
        (self.fault)(&Fault::new(what, format!("line {}: {detail}", self.line)));
    }
}
