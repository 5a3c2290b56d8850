//! What can go wrong with a Postgres of our own, in words that say what we were doing.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why our own Postgres could not be found, made, started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum PostgresServerError {
    /// No usable server programs on this machine.
    #[error(
        "find the server programs of PostgreSQL {oldest} or newer (looked in {searched}): install them \
         with `apt-get install postgresql`, name their folder in QUIPU_PG_BIN, or name a running server \
         with --database"
    )]
    NoPrograms {
        /// The oldest major version that will do.
        oldest: u32,
        /// Where we looked, for the reader.
        searched: String,
    },

    /// The cluster exists, but no programs of its major version do.
    #[error(
        "open {cluster}, which PostgreSQL {made_by} made: only {found} is installed; install version \
         {made_by}, or move the data with pg_upgrade"
    )]
    OtherVersion {
        /// The cluster's directory.
        cluster: PathBuf,
        /// Major version that made the cluster.
        made_by: u32,
        /// Major versions that are installed.
        found: String,
    },

    /// Root runs us, and there is nobody to run Postgres as.
    #[error(
        "find a user to run Postgres as, since it refuses root: neither `postgres` nor `nobody` is in /etc/passwd"
    )]
    NoAccount,

    /// A path that belongs to somebody else, where only we should write.
    #[error("use {path} for the socket: it is not a directory of mode 0700 that belongs to user {uid}")]
    ForeignSocketDir {
        /// The directory in question.
        path: PathBuf,
        /// The user id that should own it.
        uid: u32,
    },

    /// The file system said no.
    #[error("{doing}")]
    Io {
        /// What we were doing, with the path.
        doing: String,
        /// What the system said.
        source: io::Error,
    },

    /// `initdb` failed.
    #[error("make a cluster with initdb ({status}): {output}")]
    Initdb {
        /// How it ended.
        status: ExitStatus,
        /// The end of what it printed.
        output: String,
    },

    /// Postgres ended while it started.
    #[error("start Postgres ({status}); the end of {log}: {tail}")]
    Ended {
        /// How it ended, the last time.
        status: ExitStatus,
        /// Its log file.
        log: PathBuf,
        /// The last lines of the log.
        tail: String,
    },

    /// Postgres runs but takes no connection.
    #[error("wait for Postgres to take connections: not ready after {seconds} s, see {log}")]
    NotReady {
        /// How long we waited.
        seconds: u64,
        /// Its log file.
        log: PathBuf,
    },

    /// Another quipu holds the start lock for too long.
    #[error(
        "wait for another quipu that starts or stops the Postgres of {path}: still busy after {seconds} s"
    )]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// How long we waited.
        seconds: u64,
    },

    /// Postgres outlived every signal.
    #[error("stop Postgres: process {pid} still runs after {seconds} s")]
    StillRunning {
        /// The postmaster's process id.
        pid: i32,
        /// How long we waited in all.
        seconds: u64,
    },

    /// The server answered with an error.
    #[error("{doing}")]
    Database {
        /// What we were doing.
        doing: &'static str,
        /// What the server said.
        source: tokio_postgres::Error,
    },
}

/// Puts what we were doing in front of an error of the file system.
pub(super) trait Doing<T> {
    /// Names the action; the text is only made when it failed.
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T, PostgresServerError>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T, PostgresServerError> {
        self.map_err(|source| PostgresServerError::Io { doing: doing(), source })
    }
}
