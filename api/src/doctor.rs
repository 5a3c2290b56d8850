//! `quipu doctor`: what a server on this machine would miss, and how to get it. Changes nothing that lasts.

use std::{fmt, fs, path::Path};

use domain::{Ms, snowflake::EPOCH_MS};
use event_store::Clock;
use tokio_postgres::{Client, NoTls};

use crate::{
    cli::chain_of,
    clock::SystemClock,
    config::Config,
    database::Database,
    durability::switched_off,
    keys,
    migrate::{Schema, schema},
    time_text::utc,
};

/// Below this a log soon stops: half a day of a busy server.
const DISK_FREE_LEAST: u64 = 2 << 30;

/// Clocks of nodes may differ by this before messages look out of order in time, in ms.
const CLOCK_SKEW_MAX: Ms = 2000;

/// The oldest PostgreSQL that will do, as server_version_num.
const POSTGRES_OLDEST: i32 = 140_000;

/// What was found.
#[derive(Debug, Default)]
pub struct Report {
    findings: Vec<(&'static str, Result<String, String>)>,
}

impl Report {
    /// Is nothing missing?
    pub fn is_well(&self) -> bool {
        self.findings.iter().all(|(_, finding)| finding.is_ok())
    }

    fn add(&mut self, what: &'static str, finding: Result<String, String>) {
        self.findings.push((what, finding));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, finding) in &self.findings {
            match finding {
                Ok(said) => writeln!(f, "ok       {what}: {said}")?,
                Err(said) => writeln!(f, "MISSING  {what}: {said}")?,
            }
        }
        f.write_str(if self.is_well() { "all is well" } else { "something is missing" })
    }
}

/// Looks at everything, even where something is missing.
pub async fn examine(config: &Config) -> Report {
    let mut report = Report::default();
    report.add("data directory", data(&config.data));
    report.add("disk space", disk(&config.data));
    report.add("token keys", token_keys(config));
    let database = match Database::open(config).await {
        Ok(database) => database,
        Err(error) => {
            report.add("database", Err(chain_of(&error)));
            return report;
        }
    };
    match connect(database.config()).await {
        Ok(client) => {
            report.add("database", version(&client).await);
            report.add("durability", durability(&client).await);
            report.add("schema", schema_version(&client).await);
            report.add("clock", clock(&client).await);
        }
        Err(said) => report.add("database", Err(said)),
    }
    if let Err(error) = database.close(&config.data).await {
        report.add("database's end", Err(chain_of(&error)));
    }
    report
}

fn data(data: &Path) -> Result<String, String> {
    let shown = data.display();
    let probe = data.join(format!("doctor.{}", std::process::id()));
    let written = fs::create_dir_all(data)
        .and_then(|()| fs::write(&probe, b"x"))
        .and_then(|()| fs::remove_file(&probe));
    match written {
        Ok(()) => Ok(format!("{shown} can be written")),
        Err(error) => Err(format!(
            "{shown} cannot be written ({error}); give it to this user, or name another with --data"
        )),
    }
}

fn disk(data: &Path) -> Result<String, String> {
    let stat = rustix::fs::statvfs(data).map_err(|error| format!("cannot be told ({error})"))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let said = format!("{} MiB free under {}", free >> 20, data.display());
    if free < DISK_FREE_LEAST {
        Err(format!("{said}; at least {} MiB are needed", DISK_FREE_LEAST >> 20))
    } else {
        Ok(said)
    }
}

fn token_keys(config: &Config) -> Result<String, String> {
    let tokens = keys::tokens(config, std::sync::Arc::new(SystemClock));
    tokens.map(|_| "there".to_owned()).map_err(|error| chain_of(&error))
}

async fn connect(config: &tokio_postgres::Config) -> Result<Client, String> {
    let connected = config.connect(NoTls).await;
    let (client, connection) = connected.map_err(|error| {
        format!("cannot be reached ({}); start it, or name another with --database", chain_of(&error))
    })?;
    tokio::spawn(connection);
    Ok(client)
}

async fn version(client: &Client) -> Result<String, String> {
    let sql = "select current_setting('server_version_num')::integer, current_setting('server_version')";
    let row = client.query_one(sql, &[]).await.map_err(|error| chain_of(&error))?;
    let (number, said): (i32, String) = (row.get(0), row.get(1));
    if number < POSTGRES_OLDEST {
        Err(format!("PostgreSQL {said}; 14 or newer is needed"))
    } else {
        Ok(format!("PostgreSQL {said}"))
    }
}

async fn durability(client: &Client) -> Result<String, String> {
    let off = switched_off(client).await.map_err(|error| chain_of(&error))?;
    match off.as_slice() {
        [] => Ok("what is acknowledged is on the disk".to_owned()),
        off => Err(format!(
            "{} is off, so a crash of the machine loses messages that were acknowledged; `alter system set … = on`",
            off.join(", ")
        )),
    }
}

async fn schema_version(client: &Client) -> Result<String, String> {
    match schema(client).await.map_err(|error| chain_of(&error))? {
        Schema { found: Some(found), known } if found > known => {
            Err(format!("version {found}, and this quipu knows {known}; use a newer quipu"))
        }
        Schema { found: Some(found), known } if found == known => Ok(format!("version {found}")),
        Schema { found, known } => Ok(format!(
            "version {} of {known}; `quipu migrate` or `quipu serve` bring it up",
            found.unwrap_or(0)
        )),
    }
}

async fn clock(client: &Client) -> Result<String, String> {
    let sql = "select (extract(epoch from clock_timestamp()) * 1000)::bigint";
    let theirs: Ms = client.query_one(sql, &[]).await.map_err(|error| chain_of(&error))?.get(0);
    let ours = SystemClock.now();
    let skew = ours.abs_diff(theirs);
    if ours < EPOCH_MS {
        Err(format!("it is {}; set the clock, message ids begin in 2024", utc(ours)))
    } else if skew > CLOCK_SKEW_MAX.unsigned_abs() {
        Err(format!("it is {skew} ms from the database's; let NTP set both"))
    } else {
        Ok(format!("{}, {skew} ms from the database's", utc(ours)))
    }
}
