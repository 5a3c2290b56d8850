//! `quipu audit verify`, `checkpoint` and `public-key`: the arguments, and what is printed.

use std::{
    error::Error,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::available_parallelism,
};

use clap::Args;
use domain::ConvId;
use ed25519_dalek::VerifyingKey;
use event_store::{
    Action,
    checkpoint::Checkpoint,
    codec,
    postgres::{
        pool,
        proof::{LogReader, Made, Scope, Watch, make_checkpoint, newest, verify, verify_conversation},
    },
    verify::Fault,
};

use super::{
    Asked, Session,
    bar::Bar,
    key::{self, AuditKeyError},
    program::AuditError,
};
use crate::{config::Config, export};

/// Streams and shards that are read at once, at most: each has a connection.
const WORKERS_MAX: usize = 8;
/// The largest file of a checkpoint, in bytes: some kilobytes for a log with many shards.
const CHECKPOINT_BYTES_MAX: u64 = 1 << 20;
/// Faults that are printed; the others are only counted. A log of which each event was altered is known by then.
const FAULTS_MAX: u64 = 10_000;

/// Of `quipu audit verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Only this conversation; without it the whole log
    #[arg(long, value_parser = |text: &str| ConvId::parse(text), conflicts_with = "export")]
    conv: Option<ConvId>,
    /// A file made by `quipu export --conv`, instead of a log: needs nothing but it and --public-key
    #[arg(long, value_name = "FILE", requires = "public_key")]
    export: Option<PathBuf>,
    /// Whose signatures are good; may be given more than once [default: that of the data directory's key]
    #[arg(long, value_name = "PEM")]
    public_key: Vec<PathBuf>,
    /// A checkpoint that was kept elsewhere, as `quipu audit checkpoint` prints it: the log must contain it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["export", "conv"])]
    trust: Vec<PathBuf>,
}

/// Why a file says nothing.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// No such file, or no right to it.
    #[error("read the checkpoint {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Too large.
    #[error("read the checkpoint {path}: it is larger than {CHECKPOINT_BYTES_MAX} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Something else.
    #[error("read the checkpoint {path}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: codec::DecodeError,
    },
}

/// A log, a conversation or a file. Exits with 1 where something is wrong.
pub async fn run(config: &Config, arguments: VerifyArguments) -> Result<ExitCode, Box<dyn Error>> {
    let keys = arguments.public_key.iter().map(|path| key::public_key(path));
    let mut keys: Vec<VerifyingKey> = keys.collect::<Result<_, AuditKeyError>>()?;
    if let Some(file) = &arguments.export {
        return Ok(export::verify::command(file, &keys)?);
    }
    if keys.is_empty() {
        keys.extend(key::known_key(config)?);
    }
    let trusted = arguments.trust.iter().map(|path| trusted(path)).collect::<Result<Vec<_>, _>>()?;
    let session = Session::open(config).await?;
    let verified = match &arguments.conv {
        Some(conv) => of_conversation(&session, conv, &keys).await,
        None => of_log(&session, Scope { keys, trusted, workers: workers() }).await,
    };
    session.close().await?;
    verified
}

fn workers() -> usize {
    available_parallelism().map_or(2, usize::from).clamp(2, WORKERS_MAX)
}

fn trusted(path: &Path) -> Result<Checkpoint, TrustError> {
    let of = || path.to_owned();
    let read = |source| TrustError::Read { path: of(), source };
    if fs::metadata(path).map_err(read)?.len() > CHECKPOINT_BYTES_MAX {
        return Err(TrustError::TooLarge { path: of() });
    }
    let text = fs::read(path).map_err(read)?;
    codec::read_checkpoint(&text).map_err(|source| TrustError::Malformed { path: of(), source })
}

/// Prints faults as they come.
pub(crate) struct Heard {
    bar: Bar,
    faults: AtomicU64,
}

impl Heard {
    pub fn new(bar: Bar) -> Self {
        Self { bar, faults: AtomicU64::new(0) }
    }

    pub fn bar(&self) -> &Bar {
        &self.bar
    }

    pub fn tell(&self, fault: &Fault) {
        if self.faults.fetch_add(1, Ordering::Relaxed) < FAULTS_MAX {
            // A reader that went away early still gets the exit code.
            self.bar.aside(|| drop(writeln!(io::stdout(), "{fault}")));
        }
    }

    /// The last line, and how the command ends.
    pub fn verdict(&self, looked_at: &str) -> ExitCode {
        self.bar.finish();
        let faults = self.faults.load(Ordering::Relaxed);
        let (said, code) = match faults {
            0 => ("no fault".to_owned(), ExitCode::SUCCESS),
            1 => ("1 fault".to_owned(), ExitCode::FAILURE),
            _ => (format!("{faults} faults"), ExitCode::FAILURE),
        };
        let _ = writeln!(io::stdout(), "{looked_at}: {said}");
        code
    }
}

impl Watch for Heard {
    fn expects(&self, events: u64) {
        self.bar.expects(events.saturating_mul(2));
    }

    fn passed(&self, events: u64) {
        self.bar.passed(events);
    }

    fn fault(&self, fault: Fault) {
        self.tell(&fault);
    }
}

async fn of_log(session: &Session, scope: Scope) -> Result<ExitCode, Box<dyn Error>> {
    session.record(Action::Verify, Asked::default()).await?;
    let reader = reader(session, scope.workers + 1)?;
    let heard = Arc::new(Heard::new(Bar::new(0)));
    let watch: Arc<dyn Watch> = heard.clone();
    let verified = verify(&reader, &scope, &watch).await;
    heard.bar.finish();
    let verified = verified?;
    let signatures = match scope.keys.len() {
        0 => ", whose signatures were not looked at: there is no public key",
        _ => "",
    };
    Ok(heard.verdict(&format!(
        "{} events in {} streams, {} checkpoints{signatures}",
        verified.events, verified.streams, verified.checkpoints
    )))
}

async fn of_conversation(
    session: &Session,
    conv: &ConvId,
    keys: &[VerifyingKey],
) -> Result<ExitCode, Box<dyn Error>> {
    session.record(Action::Verify, Asked::about(conv)).await?;
    let reader = reader(session, 2)?;
    let heard = Heard::new(Bar::new(session.store.conversation_position(conv).await?.get()));
    let (mut from, mut events, mut covered) = (None, 0, vec![]);
    loop {
        let none = || AuditError::NoConversation(conv.clone());
        let proof = verify_conversation(&reader, conv, keys, from).await?.ok_or_else(none)?;
        proof.faults.iter().for_each(|fault| heard.tell(fault));
        heard.bar.passed(proof.events);
        events += proof.events;
        covered.extend(proof.covered);
        from = proof.next;
        if from.is_none() {
            break;
        }
    }
    for it in &covered {
        let (number, version) = (it.checkpoint.unsigned.number, it.head.version);
        let agrees = if it.agrees { "agrees" } else { "does not agree" };
        let _ = writeln!(io::stdout(), "{} up to version {version}: checkpoint {number} {agrees}", it.stream);
    }
    Ok(heard.verdict(&format!("{conv}, {events} events")))
}

/// Makes a checkpoint and prints the newest one.
pub async fn checkpoint(config: &Config) -> Result<ExitCode, Box<dyn Error>> {
    let key = key::signing_key(config)?;
    let session = Session::open(config).await?;
    let made = async {
        let reader = reader(&session, 2)?;
        loop {
            match make_checkpoint(&reader, &*session.store, &key, &session.surroundings).await? {
                Made::Checkpoint { more: true, .. } => {}
                Made::Checkpoint { checkpoint, more: false } => return Ok(Some(*checkpoint)),
                Made::NothingNew | Made::AnotherNode => break,
            }
        }
        Ok::<_, Box<dyn Error>>(newest(&reader).await?)
    };
    let made = made.await;
    session.close().await?;
    match made? {
        Some(checkpoint) => {
            let json = codec::encode_checkpoint(&checkpoint).body;
            writeln!(io::stdout(), "{}", String::from_utf8_lossy(&json))?;
        }
        None => writeln!(io::stderr(), "there is nothing to be seen by a checkpoint yet")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the public half of the key that signs.
pub fn public_key(config: &Config) -> Result<ExitCode, Box<dyn Error>> {
    write!(io::stdout(), "{}", key::public_pem(&key::signing_key(config)?))?;
    Ok(ExitCode::SUCCESS)
}

/// Over connections of its own.
pub(crate) fn reader(session: &Session, connections: usize) -> Result<LogReader, Box<dyn Error>> {
    let pool = pool(session.database(), connections)?;
    Ok(LogReader::new(pool, session.store.info().clone()))
}
