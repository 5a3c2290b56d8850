//! Settings: from flags, the environment and a TOML file, in that order. Checked here, once.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, ValueEnum};
use domain::{Ms, snowflake::INSTANCES};
use serde::Deserialize;

use crate::{
    app::Limits,
    keeping::policy::{Policy, PolicyError, PolicyFile},
    rates::Rate,
};

/// Where `serve` listens if nobody says otherwise: this machine only.
const LISTEN: &str = "127.0.0.1:7300";

/// The largest content that may be configured, in bytes: media go elsewhere, and a row of the log stays a row.
const CONTENT_BYTES_MAX: usize = 1024 * 1024;

/// The highest rate that may be configured, in commands a second, and the largest burst: more than a node does.
const RATE_MAX: u32 = 1_000_000;

/// Commands a second if nobody says otherwise: so many that only a client gone wild comes near.
pub const RATE_USER: u32 = 10_000;
/// As above, of all in one conversation: as many as a node does.
pub const RATE_CONVERSATION: u32 = 20_000;

/// The most devices of one platform that may be configured for a person, if there is to be a limit.
const DEVICES_MAX: u32 = 1000;

/// The most members that may be configured for a group: what the domain's pieces have been sized for.
const GROUP_MEMBERS_MAX: u32 = 100_000;

/// Seconds between two checkpoints if nobody says otherwise.
pub const CHECKPOINT_EVERY_S: u32 = 3600;
/// The longest time between two checkpoints that may be configured: a month.
const CHECKPOINT_EVERY_S_MAX: u32 = 31 * 86_400;

/// What is common to all commands.
#[derive(Debug, Clone, Default, Args)]
pub struct CommonArgs {
    /// A TOML file with settings by their long names, with _ for -
    #[arg(long, global = true, env = "QUIPU_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory: secret, and a PostgreSQL of our own where no database is named [default: ./quipu-data]
    #[arg(long, global = true, env = "QUIPU_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The database, as a URL; DATABASE_URL does as well
    #[arg(long, global = true, env = "QUIPU_DATABASE", hide_env_values = true, value_name = "URL")]
    pub database: Option<String>,
    /// Signs and checks HS256 tokens, at least 32 bytes [default: the one in DATA/secret]
    #[arg(long, global = true, env = "QUIPU_JWT_SECRET", hide_env_values = true, value_name = "TEXT")]
    pub jwt_secret: Option<String>,
    /// The Ed25519 key that signs checkpoints and exports, in PEM [default: the one in DATA/audit.key]
    #[arg(long, global = true, env = "QUIPU_AUDIT_KEY", value_name = "FILE")]
    pub audit_key: Option<PathBuf>,
    /// How logs look [default: human on a terminal, else JSON]
    #[arg(long, global = true, env = "QUIPU_LOG_FORMAT", value_enum)]
    pub log_format: Option<LogFormat>,
    /// An instance number, 0 to 1023, instead of the lowest free one
    #[arg(long, global = true, env = "QUIPU_INSTANCE", value_name = "N")]
    pub instance: Option<u16>,
}

/// What only `serve` has.
#[derive(Debug, Clone, Default, Args)]
pub struct ServeArgs {
    /// Where to listen [default: 127.0.0.1:7300]
    #[arg(long, env = "QUIPU_LISTEN", value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// PEM files of RSA or Ed25519 public keys whose tokens are accepted
    #[arg(long, env = "QUIPU_JWT_PUBLIC_KEY", value_name = "FILE", value_delimiter = ',')]
    pub jwt_public_key: Vec<PathBuf>,
    /// How long after sending the sender may recall, in seconds; 0 means for ever [default: 120]
    #[arg(long, env = "QUIPU_RECALL_WINDOW_S", value_name = "SECONDS")]
    pub recall_window_s: Option<u32>,
    /// The largest content of a message, in bytes [default: 65536]
    #[arg(long, env = "QUIPU_CONTENT_BYTES_MAX", value_name = "BYTES")]
    pub content_bytes_max: Option<usize>,
    /// Members that a group may have [default: 10000]
    #[arg(long, env = "QUIPU_GROUP_MEMBERS_MAX", value_name = "N")]
    pub group_members_max: Option<u32>,
    /// Commands a second that one person may give, on this node; 0: any number [default: 10000]
    #[arg(long, env = "QUIPU_RATE_USER", value_name = "N")]
    pub rate_user: Option<u32>,
    /// Commands that a person may give at once, after a rest [default: twice the rate]
    #[arg(long, env = "QUIPU_RATE_USER_BURST", value_name = "N")]
    pub rate_user_burst: Option<u32>,
    /// Commands a second in one conversation, whoever gives them, on this node; 0: any number [default: 20000]
    #[arg(long, env = "QUIPU_RATE_CONVERSATION", value_name = "N")]
    pub rate_conversation: Option<u32>,
    /// Commands in one conversation at once, after a rest [default: twice the rate]
    #[arg(long, env = "QUIPU_RATE_CONVERSATION_BURST", value_name = "N")]
    pub rate_conversation_burst: Option<u32>,
    /// WebSockets that a person may have open with devices of one platform, on this node; 0: any number [default: 0]
    #[arg(long, env = "QUIPU_DEVICES_PER_PLATFORM", value_name = "N")]
    pub devices_per_platform: Option<u32>,
    /// Seconds between two conversations that are compared with their log, on this node; 0: none are [default: 5]
    #[arg(long, env = "QUIPU_VERIFY_EVERY_S", value_name = "SECONDS")]
    pub verify_every_s: Option<u32>,
    /// How often a signed checkpoint is made where something has changed, in seconds; 0: never [default: 3600]
    #[arg(long, env = "QUIPU_CHECKPOINT_EVERY_S", value_name = "SECONDS")]
    pub checkpoint_every_s: Option<u32>,
    /// Is told who is typing? [default: true]
    #[arg(long, env = "QUIPU_TYPING", value_name = "BOOL")]
    pub typing: Option<bool>,
    /// Is told who is online, to those who talk with them? [default: false]
    #[arg(long, env = "QUIPU_PRESENCE", value_name = "BOOL")]
    pub presence: Option<bool>,
    /// Does what is too old go by itself? What is too old stands in the file's table `retention` [default: false]
    #[arg(long, env = "QUIPU_RETENTION", value_name = "BOOL")]
    pub retention: Option<bool>,
    /// How old what was said may become, in days; 0: any age [default: 183]
    #[arg(long, env = "QUIPU_RETENTION_DAYS", value_name = "DAYS")]
    pub retention_days: Option<u32>,
}

/// How logs look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Human,
    /// One object a line.
    Json,
}

/// The same settings in a file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    data: Option<PathBuf>,
    database: Option<String>,
    jwt_secret: Option<String>,
    audit_key: Option<PathBuf>,
    log_format: Option<LogFormat>,
    instance: Option<u16>,
    listen: Option<String>,
    #[serde(default)]
    jwt_public_key: Vec<PathBuf>,
    recall_window_s: Option<u32>,
    content_bytes_max: Option<usize>,
    group_members_max: Option<u32>,
    rate_user: Option<u32>,
    rate_user_burst: Option<u32>,
    rate_conversation: Option<u32>,
    rate_conversation_burst: Option<u32>,
    devices_per_platform: Option<u32>,
    verify_every_s: Option<u32>,
    checkpoint_every_s: Option<u32>,
    typing: Option<bool>,
    presence: Option<bool>,
    #[serde(default)]
    retention: PolicyFile,
}

/// What stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The data directory.
    pub data: PathBuf,
    /// A database that somebody else runs.
    pub database: Option<String>,
    /// A secret that was named; else the data directory has one.
    pub jwt_secret: Option<String>,
    /// Files of public keys.
    pub jwt_public_keys: Vec<PathBuf>,
    /// A key for checkpoints that was named; else the data directory has one.
    pub audit_key: Option<PathBuf>,
    /// How often a checkpoint is made; none for never.
    pub checkpoint_every: Option<Duration>,
    /// None: human on a terminal, else JSON.
    pub log_format: Option<LogFormat>,
    /// A wished instance number.
    pub instance: Option<u16>,
    /// host:port.
    pub listen: String,
    /// How much is too much.
    pub limits: Limits,
    /// How old what was said may become.
    pub retention: Policy,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No such file, or no right to it.
    #[error("read the configuration {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Not TOML, or unknown settings.
    #[error("read the configuration {path}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: Box<toml::de::Error>,
    },
    /// Of the table `retention`.
    #[error("configure retention")]
    Retention(#[from] PolicyError),
    /// Outside its bounds.
    #[error("configure {name}: it is {from} to {to}")]
    Bounds {
        /// The setting.
        name: &'static str,
        /// The least.
        from: u64,
        /// The most.
        to: u64,
    },
}

impl Config {
    /// Flags and environment (clap has merged these) before the file before the defaults.
    pub fn load(common: CommonArgs, serve: ServeArgs) -> Result<Self, ConfigError> {
        let file = match &common.config {
            Some(path) => read(path)?,
            None => File::default(),
        };
        Self::merge(common, serve, std::env::var("DATABASE_URL").ok(), file)
    }

    fn merge(
        common: CommonArgs,
        serve: ServeArgs,
        database_url: Option<String>,
        file: File,
    ) -> Result<Self, ConfigError> {
        // A variable that is set to nothing is a way to unset it.
        let named = |text: Option<String>| text.filter(|text| !text.is_empty());
        let defaults = Limits::default();
        let recall_window_s = serve.recall_window_s.or(file.recall_window_s);
        let content_bytes =
            serve.content_bytes_max.or(file.content_bytes_max).unwrap_or(defaults.content_bytes);
        let group_members =
            serve.group_members_max.or(file.group_members_max).unwrap_or(defaults.group_members);
        let instance = common.instance.or(file.instance);
        let devices_per_platform =
            serve.devices_per_platform.or(file.devices_per_platform).unwrap_or(defaults.devices_per_platform);
        bounds("devices_per_platform", devices_per_platform.into(), 0, DEVICES_MAX.into())?;
        let checkpoint_every_s =
            serve.checkpoint_every_s.or(file.checkpoint_every_s).unwrap_or(CHECKPOINT_EVERY_S);
        bounds("checkpoint_every_s", checkpoint_every_s.into(), 0, CHECKPOINT_EVERY_S_MAX.into())?;
        let typing = serve.typing.or(file.typing).unwrap_or(true);
        let person_rate = rate(
            ["rate_user", "rate_user_burst"],
            serve.rate_user.or(file.rate_user).unwrap_or(RATE_USER),
            serve.rate_user_burst.or(file.rate_user_burst),
        )?;
        let conversation_rate = rate(
            ["rate_conversation", "rate_conversation_burst"],
            serve.rate_conversation.or(file.rate_conversation).unwrap_or(RATE_CONVERSATION),
            serve.rate_conversation_burst.or(file.rate_conversation_burst),
        )?;
        bounds("instance", instance.unwrap_or(0).into(), 0, u64::from(INSTANCES) - 1)?;
        bounds("content_bytes_max", content_bytes as u64, 1, CONTENT_BYTES_MAX as u64)?;
        bounds("group_members_max", group_members.into(), 1, GROUP_MEMBERS_MAX.into())?;
        Ok(Self {
            data: common.data.or(file.data).unwrap_or_else(|| "quipu-data".into()),
            database: named(common.database).or(named(database_url)).or(named(file.database)),
            jwt_secret: named(common.jwt_secret).or(named(file.jwt_secret)),
            jwt_public_keys: if serve.jwt_public_key.is_empty() {
                file.jwt_public_key
            } else {
                serve.jwt_public_key
            },
            audit_key: common.audit_key.or(file.audit_key),
            checkpoint_every: Some(checkpoint_every_s)
                .filter(|it| *it > 0)
                .map(|it| Duration::from_secs(it.into())),
            log_format: common.log_format.or(file.log_format),
            instance,
            listen: named(serve.listen).or(named(file.listen)).unwrap_or_else(|| LISTEN.into()),
            limits: Limits {
                recall_window: recall_window_s.map_or(defaults.recall_window, |it| Ms::from(it) * 1000),
                content_bytes,
                group_members,
                person_rate,
                conversation_rate,
                devices_per_platform,
                presence: serve.presence.or(file.presence).unwrap_or(defaults.presence),
                verify_every: match serve.verify_every_s.or(file.verify_every_s) {
                    Some(0) => None,
                    Some(seconds) => Some(Duration::from_secs(seconds.into())),
                    None => defaults.verify_every,
                },
                typing_every: defaults.typing_every.filter(|_| typing),
                ..defaults
            },
            retention: Policy::merge(serve.retention, serve.retention_days, file.retention)?,
        })
    }
}

fn rate(names: [&'static str; 2], per_s: u32, burst: Option<u32>) -> Result<Rate, ConfigError> {
    let burst = burst.unwrap_or(per_s.saturating_mul(2).clamp(1, RATE_MAX));
    bounds(names[0], per_s.into(), 0, RATE_MAX.into())?;
    bounds(names[1], burst.into(), 1, RATE_MAX.into())?;
    Ok(Rate::per_second(per_s, burst))
}

fn bounds(name: &'static str, value: u64, from: u64, to: u64) -> Result<(), ConfigError> {
    if (from..=to).contains(&value) { Ok(()) } else { Err(ConfigError::Bounds { name, from, to }) }
}

fn read(path: &Path) -> Result<File, ConfigError> {
    let named = || path.to_owned();
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: named(), source })?;
    toml::from_str(&text).map_err(|source| ConfigError::Parse { path: named(), source: Box::new(source) })
}

#[cfg(test)]
mod tests;
