//! The command line: which commands there are, and what each prints. What they do is elsewhere.

use std::{
    error::Error,
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, Parser, Subcommand};
use domain::{MsgId, Uid};
use event_store::Clock;

use crate::{
    audit, auth,
    clock::SystemClock,
    config::{CommonArgs, Config, ServeArgs},
    database::Database,
    doctor, export, generations, import, keeping, keys, logging,
    migrate::migrate,
    serve,
    time_text::{parse_seconds, utc},
    writer::Writer,
};

/// The message backend of a chat product, built on a log of events.
#[derive(Debug, Parser)]
#[command(name = "quipu", version)]
struct Cli {
    #[command(flatten)]
    common: CommonArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve until SIGINT or SIGTERM
    Serve(ServeArgs),
    /// Bring the database's schema up to this version
    Migrate,
    /// Import conversations from NDJSON files
    Import(import::Arguments),
    /// Look at the read models, compare them with the log, rebuild them from it, roll back, drop
    Projections {
        #[command(subcommand)]
        action: generations::Action,
    },
    /// Say what is missing, and how to get it
    Doctor,
    /// Print a bearer token, signed with the secret of that server
    Token(TokenArgs),
    /// What compliance asks of the log; each access is recorded
    Audit {
        #[command(subcommand)]
        command: audit::program::Command,
    },
    /// Take out a conversation for compliance, or what one person may see; each is recorded
    Export(export::Arguments),
    /// Let what is too old go; see the table `retention` of the configuration
    Retention(keeping::program::RetentionArguments),
    /// Play people against a server, as any client would, and judge it
    Bench {
        #[command(subcommand)]
        mode: quipu_bench::Mode,
    },
    /// Say what a message id tells: its time, its instance, its count
    MsgId {
        /// In decimal
        #[arg(value_parser = |text: &str| MsgId::parse(text).ok_or("a message id is a decimal number below 2^63"))]
        id: MsgId,
    },
}

#[derive(Debug, Args)]
struct TokenArgs {
    /// Whose it is
    #[arg(long, value_parser = Uid::parse)]
    uid: Uid,
    /// admin or compliance; may be given more than once
    #[arg(long)]
    role: Vec<String>,
    /// Stands in the events that are made with this token; at most 64 bytes
    #[arg(long)]
    device: Option<String>,
    /// How long it is good: 90s, 15m, 24h, 7d
    #[arg(long, default_value = "24h", value_parser = parse_seconds)]
    ttl: u64,
}

/// Runs the command of this process's arguments.
pub fn main() -> ExitCode {
    let Cli { common, command } = Cli::parse();
    match run(common, command) {
        Ok(code) => code,
        Err(error) => {
            // Where standard error is closed, nobody is there to be told.
            let _ = writeln!(io::stderr(), "quipu: {}", chain_of(&*error));
            ExitCode::FAILURE
        }
    }
}

fn run(common: CommonArgs, command: Command) -> Result<ExitCode, Box<dyn Error>> {
    let serve_args = match &command {
        Command::Serve(args) => args.clone(),
        Command::Migrate
        | Command::Import(_)
        | Command::Projections { .. }
        | Command::Doctor
        | Command::Token(_)
        | Command::Audit { .. }
        | Command::Export(_)
        | Command::Retention(_)
        | Command::Bench { .. }
        | Command::MsgId { .. } => ServeArgs::default(),
    };
    let config = Config::load(common, serve_args)?;
    logging::start(config.log_format);
    match command {
        Command::Serve(_) => runtime()?.block_on(serve::run(config))?,
        Command::Migrate => say(&runtime()?.block_on(migrated(&config))?)?,
        Command::Retention(arguments) => {
            return runtime()?.block_on(keeping::program::retention(&config, arguments));
        }
        Command::Import(arguments) => return runtime()?.block_on(imported(&config, &arguments)),
        Command::Projections { action } => {
            return runtime()?.block_on(generations::command(&config, &action));
        }
        Command::Doctor => {
            let report = runtime()?.block_on(doctor::examine(&config));
            say(&report.to_string())?;
            return Ok(if report.is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Command::Token(args) => {
            let (secret, device) = (keys::secret(&config)?, args.device.as_deref());
            say(&auth::sign(&secret, args.uid, &args.role, device, SystemClock.now(), args.ttl)?)?;
        }
        Command::Audit { command } => return runtime()?.block_on(audit::program::run(&config, command)),
        Command::Export(arguments) => return runtime()?.block_on(export::command(&config, arguments)),
        Command::Bench { mode } => return bench(&config, &mode),
        Command::MsgId { id } => {
            let (time, instance, count) = (id.time(), id.instance(), id.count());
            say(&format!("time      {} ({time})\ninstance  {instance}\ncount     {count}", utc(time)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn migrated(config: &Config) -> Result<String, Box<dyn Error>> {
    let database = Database::open(config).await?;
    let report = migrate(database.config()).await;
    database.close(&config.data).await?;
    let report = report?;
    let mut text = String::new();
    for migration in report.applied_migrations() {
        writeln!(text, "applied {migration}")?;
    }
    text.push_str("the schema is up to date");
    Ok(text)
}

/// With a Postgres of its own, it shares the one of a running `serve`, or starts it for as long as it takes.
async fn imported(config: &Config, arguments: &import::Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let database = Database::open(config).await?;
    let outcome = import_into(&database, config, arguments).await;
    database.close(&config.data).await?;
    outcome
}

async fn import_into(
    database: &Database,
    config: &Config,
    arguments: &import::Arguments,
) -> Result<ExitCode, Box<dyn Error>> {
    migrate(database.config()).await?;
    let writer = Writer::start(database.config(), Arc::new(SystemClock), config.instance).await?;
    let msg_ids = writer.msg_ids.clone();
    let target = import::Target {
        handler: &writer.commands,
        next_msg_id: &mut || msg_ids.next(),
        content_bytes_max: config.limits.content_bytes,
        correlation_id: writer.id(),
    };
    let outcome = import::command(arguments, target).await;
    writer.stop().await;
    Ok(outcome?)
}

/// Against the server that was named, whose secret this configuration knows, or one of the bench's own.
fn bench(config: &Config, mode: &quipu_bench::Mode) -> Result<ExitCode, Box<dyn Error>> {
    let elsewhere = match mode.url() {
        Some(url) => {
            let mut store = vec!["--data".into(), config.data.clone().into()];
            if let Some(url) = &config.database {
                store.extend(["--database".into(), url.into()]);
            }
            Some(quipu_bench::Elsewhere { url: url.to_owned(), secret: keys::secret(config)?, store })
        }
        None => None,
    };
    Ok(runtime()?.block_on(mode.run(elsewhere, &mut io::stdout()))?)
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// A reader that went away early, such as `head`, is no error.
fn say(text: &str) -> io::Result<()> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        said => said,
    }
}

/// What we were doing and, after colons, what went wrong.
pub(crate) fn chain_of(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {error}");
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn common_options_stand_before_or_after_the_command() {
        for args in [["quipu", "--data", "x", "migrate"], ["quipu", "migrate", "--data", "x"]] {
            assert_eq!(Cli::try_parse_from(args).unwrap().common.data, Some("x".into()));
        }
        assert!(Cli::try_parse_from(["quipu", "token", "--uid", "0"]).is_err());
        assert!(Cli::try_parse_from(["quipu", "token", "--uid", "7", "--ttl", "soon"]).is_err());
    }
}
