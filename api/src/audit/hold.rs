//! `quipu audit hold`: legal holds at the command line, recorded as over REST.

use std::{error::Error, io::Write};

use clap::{Args, Subcommand};
use domain::{Command as Asking, ConvId, Hold, PersonCommand, PersonReply, Reason, Reply, Sender, Uid};
use event_store::{Action, CommandHandler, Request, postgres::holds::HoldOn};

use super::{Asked, Session};
use crate::{keeping::Keeping, rest::audit::holds::HoldAnswer};

/// Holds that are read at once.
const PAGE: u32 = 200;

/// What can be done with holds.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Place one: nothing that was said there goes while it stands
    Place(Change),
    /// Lift it
    Lift(Change),
    /// Print the one that stands
    Show(On),
    /// Print all that stand, one a line
    List,
}

/// On what.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct On {
    /// A conversation
    #[arg(long, value_parser = |text: &str| ConvId::parse(text))]
    conv: Option<ConvId>,
    /// A person
    #[arg(long, value_parser = Uid::parse)]
    uid: Option<Uid>,
}

/// On what, and why.
#[derive(Debug, Args)]
pub struct Change {
    #[command(flatten)]
    on: On,
    /// Why: 1 to 500 characters
    #[arg(long, value_parser = Reason::parse)]
    reason: Reason,
}

/// Why a hold was not shown.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// None stands.
    #[error("no hold stands there")]
    None,
    /// The clap group asks for one of them.
    #[error("--conv or --uid is due")]
    Nowhere,
}

impl On {
    fn subject(self) -> Result<HoldOn, HoldError> {
        let person = self.uid.map(HoldOn::Person);
        self.conv.map(HoldOn::Conversation).or(person).ok_or(HoldError::Nowhere)
    }
}

/// Runs one.
pub async fn run(session: &Session, command: Command, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let keeping = Keeping::new(session.database(), &session.store, &session.surroundings)?;
    match command {
        Command::Place(Change { on, reason }) => {
            let on = on.subject()?;
            let asked = Asked::about(name(&on)).with("reason", Some(reason.as_str()));
            session.record(Action::PlaceHold, asked).await?;
            let hold = place(session, &keeping, &on, reason).await?;
            line(out, &on, &hold)?;
        }
        Command::Lift(Change { on, reason }) => {
            let on = on.subject()?;
            let asked = Asked::about(name(&on)).with("reason", Some(reason.as_str()));
            session.record(Action::LiftHold, asked).await?;
            let lifted = lift(session, &keeping, &on, reason).await?;
            writeln!(out, "{}", if lifted { "lifted" } else { "no hold stood there" })?;
        }
        Command::Show(on) => {
            let on = on.subject()?;
            session.record(Action::ShowHold, Asked::about(name(&on))).await?;
            line(out, &on, &keeping.hold(&on).await?.ok_or(HoldError::None)?)?;
        }
        Command::List => {
            session.record(Action::ShowHold, Asked::default()).await?;
            let mut after = String::new();
            loop {
                let page = keeping.holds(&after, PAGE).await?;
                for (on, hold) in &page {
                    line(out, on, hold)?;
                }
                let Some((last, _)) = page.last() else { break };
                after = last.cord();
            }
        }
    }
    Ok(())
}

fn name(on: &HoldOn) -> String {
    crate::rest::audit::holds::name(on)
}

fn line(out: &mut impl Write, on: &HoldOn, hold: &Hold) -> Result<(), Box<dyn Error>> {
    Ok(writeln!(out, "{}", serde_json::to_string(&HoldAnswer::new(on, hold))?)?)
}

async fn place(
    session: &Session,
    keeping: &Keeping,
    on: &HoldOn,
    reason: Reason,
) -> Result<Hold, Box<dyn Error>> {
    let (by, at) = (Sender::System, session.surroundings.clock.now());
    match on {
        HoldOn::Conversation(conv) => match command(session, conv, Asking::Hold { by, reason, at }).await? {
            Reply::Held(hold) => Ok(hold),
            _ => Err("a hold was answered with something else".into()),
        },
        HoldOn::Person(uid) => {
            let command = PersonCommand::Hold(Hold { by, reason, at });
            match keeping.persons.handle(*uid, &session.accessor(), &command).await? {
                PersonReply::Held(hold) => Ok(hold),
                _ => Err("a hold was answered with something else".into()),
            }
        }
    }
}

async fn lift(
    session: &Session,
    keeping: &Keeping,
    on: &HoldOn,
    reason: Reason,
) -> Result<bool, Box<dyn Error>> {
    let (by, at) = (Sender::System, session.surroundings.clock.now());
    match on {
        HoldOn::Conversation(conv) => {
            Ok(command(session, conv, Asking::Lift { by, reason, at }).await? == Reply::Lifted(true))
        }
        HoldOn::Person(uid) => {
            let command = PersonCommand::Lift(Hold { by, reason, at });
            let reply = keeping.persons.handle(*uid, &session.accessor(), &command).await?;
            Ok(reply == PersonReply::Lifted(true))
        }
    }
}

async fn command(session: &Session, conv: &ConvId, command: Asking) -> Result<Reply, Box<dyn Error>> {
    let handler = CommandHandler::start(&session.store, &session.surroundings);
    let accessor = session.accessor();
    let (device, correlation_id) = (accessor.device, accessor.correlation_id);
    let request = Request { command, device, correlation_id, over_limit: None };
    let reply = handler.handle(conv.clone(), request).await;
    handler.drain().await;
    Ok(reply?)
}
