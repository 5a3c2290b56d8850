//! `quipu audit`: the arguments, and what is printed. Lines go out as they are read; a reader that goes away early ends
//! the command without an error.

use std::{
    error::Error,
    io::{self, BufWriter, Write},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, Subcommand, ValueEnum};
use domain::{ConvId, MsgId};
use event_store::{Action, Position, StreamName};

use super::{Asked, Session, as_of, hold, line::EventLine, replay::Replay, transcript, verify};
use crate::{
    config::Config,
    keeping::program::{EraseArguments, erase},
};

/// What `quipu audit` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print every event of a conversation, recalled and deleted ones too
    Replay(ReplayArguments),
    /// Print what one person saw at a moment
    AsOf(as_of::Arguments),
    /// Print the message with an id
    Message {
        /// In decimal
        #[arg(value_parser = |text: &str| MsgId::parse(text).ok_or("a message id is a decimal number below 2^63"))]
        id: MsgId,
    },
    /// Print who has accessed what
    Accesses {
        /// Only what came after this one
        #[arg(long, default_value_t = 0)]
        after: u64,
        /// At most so many
        #[arg(long)]
        limit: Option<u64>,
    },
    /// Recompute the log's hash chains and checkpoints, or those of an export; exit with 1 where something is wrong
    Verify(verify::VerifyArguments),
    /// Make a signed checkpoint over all streams, and print the newest one
    Checkpoint,
    /// Print the public key that verifies checkpoints and exports
    PublicKey,
    /// Have everything erased that a person has said, and print what was removed where
    Erase(EraseArguments),
    /// Place, lift or show a legal hold
    Hold {
        /// Which of these
        #[command(subcommand)]
        command: hold::Command,
    },
}

/// Of `quipu audit replay`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// Which conversation
    #[arg(long, value_parser = |text: &str| ConvId::parse(text))]
    conv: ConvId,
    /// Only events after this position: where an earlier replay ended
    #[arg(long, default_value_t = 0)]
    after_position: u64,
    /// At most so many events
    #[arg(long)]
    limit: Option<u64>,
    /// For programs or for people
    #[arg(long, value_enum, default_value_t = Format::Ndjson)]
    format: Format,
}

/// How events are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object a line.
    Ndjson,
    /// A transcript.
    Text,
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// No event of it.
    #[error("there is no conversation {0} in this log")]
    NoConversation(ConvId),
    /// No message.
    #[error("there is no message {0} in this log")]
    NoMessage(MsgId),
}

/// Events of the record that are read at once.
const PAGE_EVENTS: u32 = 256;

/// Runs one.
pub async fn run(config: &Config, command: Command) -> Result<ExitCode, Box<dyn Error>> {
    let command = match command {
        Command::Verify(arguments) => return verify::run(config, arguments).await,
        Command::Checkpoint => return verify::checkpoint(config).await,
        Command::PublicKey => return verify::public_key(config),
        command => command,
    };
    let session = Session::open(config).await?;
    let done = within(&session, command).await;
    session.close().await?;
    match done {
        Err(error) if is_closed(&*error) => Ok(ExitCode::SUCCESS),
        done => done.map(|()| ExitCode::SUCCESS),
    }
}

/// A reader that went away early, such as `head`.
fn is_closed(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

async fn within(session: &Session, command: Command) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(io::stdout());
    match command {
        Command::Replay(arguments) => replay(session, arguments, &mut out).await?,
        Command::AsOf(arguments) => as_of::run(session, arguments, &mut out).await?,
        Command::Message { id } => {
            session.record(Action::Message, Asked::about(id)).await?;
            let message = session.store.message(id).await?.ok_or(AuditError::NoMessage(id))?;
            out.write_all(EventLine::from(&message).text().as_bytes())?;
        }
        Command::Erase(arguments) => erase(session, arguments, &mut out).await?,
        Command::Hold { command } => hold::run(session, command, &mut out).await?,
        Command::Accesses { after, limit } => accesses(session, after, limit, &mut out).await?,
        // These open what they need by themselves.
        Command::Verify(_) | Command::Checkpoint | Command::PublicKey => {}
    }
    Ok(out.flush()?)
}

async fn replay(
    session: &Session,
    arguments: ReplayArguments,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let ReplayArguments { conv, after_position, limit, format } = arguments;
    let asked = Asked::about(&conv).with("after_position", Some(after_position)).with("limit", limit);
    session.record(Action::Replay, asked).await?;
    let store = Arc::clone(&session.store);
    let mut replay = Replay::new(store, conv.clone(), Position::new(after_position), limit);
    if !replay.exists().await? {
        return Err(AuditError::NoConversation(conv).into());
    }
    while let Some(page) = replay.next().await? {
        match format {
            Format::Ndjson => {
                for event in &page {
                    out.write_all(EventLine::from(event).text().as_bytes())?;
                }
            }
            Format::Text => {
                for line in transcript::lines(&*session.store, &conv, &page).await? {
                    out.write_all(line.as_bytes())?;
                }
            }
        }
        out.flush()?;
    }
    Ok(())
}

async fn accesses(
    session: &Session,
    after: u64,
    limit: Option<u64>,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let asked = Asked::default().with("after", Some(after)).with("limit", limit);
    session.record(Action::Accesses, asked).await?;
    let (mut from, mut left) = (after.saturating_add(1), limit.unwrap_or(u64::MAX));
    loop {
        let wanted = u32::try_from(left).unwrap_or(u32::MAX).min(PAGE_EVENTS);
        let page = session.store.read_stream(&StreamName::Audit, from, wanted).await?;
        let Some(last) = page.last() else { return Ok(()) };
        from = last.header.version + 1;
        left -= page.len() as u64;
        for event in &page {
            out.write_all(EventLine::from(event).text().as_bytes())?;
        }
    }
}
