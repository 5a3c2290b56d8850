//! The server's main process: is it there, start it, wait until it takes connections, stop it.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::process::{Child, Command};
use tokio_postgres::NoTls;
use tokio_postgres::error::SqlState;

use super::cluster::{self, USER, tail};
use super::error::{Doing, PostgresServerError};
use super::layout::Layout;
use super::programs::Programs;
use super::settings::{PORT, Settings};

/// Between two looks at a server that starts or stops.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// A recovery replays at most max_wal_size (4 GB) twice over; a slow disk needs minutes for that.
const READY_WAIT: Duration = Duration::from_secs(600);

/// Tries to start before the error goes to the caller. After a kill -9 the first ones fail while the old
/// server's processes still hold its shared memory.
const START_TRIES_MAX: u32 = 5;

/// The wait after the first failed try; each later one is twice as long (6 s in all).
const START_RETRY_FIRST: Duration = Duration::from_millis(200);

/// How long each way of stopping may take, from the kindest on. A fast stop writes a checkpoint first.
const STOP_STEPS: [(Signal, Duration); 3] = [
    (Signal::INT, Duration::from_secs(60)),
    (Signal::QUIT, Duration::from_secs(10)),
    (Signal::KILL, Duration::from_secs(5)),
];

/// How long one connection may take to come about, on a socket of this machine.
const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// The log is set aside past this many bytes, when the server starts; one old log is kept.
const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How much of the log goes into an error.
const LOG_TAIL_BYTES: usize = 2_000;

/// The process id of the server that runs on this cluster, if one does.
pub(super) fn running(cluster: &Path) -> Option<Pid> {
    let text = fs::read_to_string(pid_file(cluster)).ok()?;
    let pid = Pid::from_raw(text.lines().next()?.trim().parse().ok()?)?;
    works_in(pid, cluster).then_some(pid)
}

/// A postmaster works in its cluster's directory, so a number that another process got since is told apart.
/// Of a zombie no directory can be read.
fn works_in(pid: Pid, cluster: &Path) -> bool {
    if !Path::new("/proc/self/cwd").exists() {
        return test_kill_process(pid).is_ok();
    }
    fs::read_link(format!("/proc/{}/cwd", pid.as_raw_nonzero())).is_ok_and(|dir| dir == cluster)
}

/// Makes sure that the server runs and takes connections. Call it under the start lock. A server that runs
/// already keeps its settings.
pub(super) async fn ensure_running(
    layout: &Layout,
    programs: &Programs,
    settings: Settings,
) -> Result<(), PostgresServerError> {
    let mut retry = START_RETRY_FIRST;
    let mut tries = 0;
    loop {
        // One that turns out to be on its way out, or dies under our eyes, is followed by another.
        if running(&layout.cluster).is_some() && wait_ready(layout, None).await?.is_none() {
            return Ok(());
        }
        cluster::write_settings(layout, programs, settings).await?;
        layout.make_socket_dir()?;
        let mut child = spawn(layout, programs)?;
        let Some(status) = wait_ready(layout, Some(&mut child)).await? else {
            return Ok(());
        };
        tries += 1;
        if tries == START_TRIES_MAX {
            let log = layout.log.clone();
            return Err(PostgresServerError::Ended { status, tail: log_tail(&log), log });
        }
        tokio::time::sleep(retry).await;
        retry *= 2;
    }
}

/// Starts the server in a process group of its own: the Ctrl-C of a terminal is for quipu, which stops the
/// server when it has drained.
fn spawn(layout: &Layout, programs: &Programs) -> Result<Child, PostgresServerError> {
    let log = open_log(&layout.log)?;
    let also = log.try_clone().doing(|| "share the log of Postgres".into())?;
    let mut command = Command::new(programs.folder.join("postgres"));
    layout.account.run(&mut command);
    command
        .arg("-D")
        .arg(&layout.cluster)
        .stdin(Stdio::null())
        .stdout(Stdio::from(log))
        .stderr(Stdio::from(also))
        .process_group(0)
        .spawn()
        .doing(|| format!("run postgres in {}", programs.folder.display()))
}

fn open_log(path: &Path) -> Result<File, PostgresServerError> {
    if fs::metadata(path).is_ok_and(|entry| entry.len() > LOG_BYTES_MAX) {
        fs::rename(path, path.with_extension("log.old")).doing(|| format!("set {} aside", path.display()))?;
    }
    OpenOptions::new().create(true).append(true).open(path).doing(|| format!("open {}", path.display()))
}

fn log_tail(path: &Path) -> String {
    let mut end = Vec::new();
    let read = File::open(path).and_then(|mut log| {
        let start = log.metadata()?.len().saturating_sub(LOG_TAIL_BYTES as u64 + 1);
        log.seek(SeekFrom::Start(start))?;
        log.take(LOG_TAIL_BYTES as u64 + 1).read_to_end(&mut end)
    });
    match read {
        Ok(_) => tail(&end, LOG_TAIL_BYTES),
        Err(error) => format!("(cannot be read: {error})"),
    }
}

/// Waits until the server takes connections: `None`. Or until it is gone: how it ended, where we know.
async fn wait_ready(
    layout: &Layout,
    mut child: Option<&mut Child>,
) -> Result<Option<ExitStatus>, PostgresServerError> {
    let waiting = async {
        loop {
            if connects(layout).await? {
                return Ok(None);
            }
            match child.as_mut() {
                Some(child) => {
                    if let Some(status) = child.try_wait().doing(|| "watch Postgres start".into())? {
                        return Ok(Some(status));
                    }
                }
                None if running(&layout.cluster).is_none() => return Ok(Some(ExitStatus::default())),
                None => {}
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    match tokio::time::timeout(READY_WAIT, waiting).await {
        Ok(outcome) => outcome,
        Err(_) => {
            Err(PostgresServerError::NotReady { seconds: READY_WAIT.as_secs(), log: layout.log.clone() })
        }
    }
}

/// True: it takes connections. False: not yet, or no more. An error: it answers, and will not let us in.
async fn connects(layout: &Layout) -> Result<bool, PostgresServerError> {
    match config(layout, "postgres").connect(NoTls).await {
        Ok(_) => Ok(true),
        // Nobody listens yet, or the server is in a state that passes: starting, stopping, recovering, full.
        Err(error) if error.code().is_none_or(passes) => Ok(false),
        Err(source) => Err(PostgresServerError::Database { doing: "connect to our Postgres", source }),
    }
}

fn passes(code: &SqlState) -> bool {
    [SqlState::CANNOT_CONNECT_NOW, SqlState::TOO_MANY_CONNECTIONS, SqlState::ADMIN_SHUTDOWN].contains(code)
}

/// How to reach `database` on this server.
pub(super) fn config(layout: &Layout, database: &str) -> tokio_postgres::Config {
    let mut config = tokio_postgres::Config::new();
    config.host_path(&layout.socket_dir).port(PORT).user(USER).dbname(database).connect_timeout(CONNECT_WAIT);
    config
}

/// Stops the server: kindly, then less so. Call it under the start lock.
pub(super) async fn stop(cluster: &Path) -> Result<(), PostgresServerError> {
    let Some(pid) = running(cluster) else {
        return Ok(());
    };
    let mut seconds = 0;
    for (signal, wait) in STOP_STEPS {
        // Where it is gone already the signal fails, and the look below finds that out.
        let _ = kill_process(pid, signal);
        let gone = async {
            while works_in(pid, cluster) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        if tokio::time::timeout(wait, gone).await.is_ok() {
            return Ok(());
        }
        seconds += wait.as_secs();
        tracing::warn!(?signal, seconds, "Postgres does not stop");
    }
    Err(PostgresServerError::StillRunning { pid: pid.as_raw_nonzero().get(), seconds })
}

/// Asks the server to stop and does not wait.
pub(super) fn ask_to_stop(cluster: &Path) {
    if let Some(pid) = running(cluster) {
        let _ = kill_process(pid, Signal::INT);
    }
}

/// Removes a pid file whose number now belongs to another process: Postgres would take that one for a server
/// on this cluster and refuse to start. Where the number is free Postgres sees to it itself.
pub(super) fn forget_stranger(cluster: &Path) {
    let path = pid_file(cluster);
    let Ok(text) = fs::read_to_string(&path) else {
        return;
    };
    let pid = text.lines().next().and_then(|line| Pid::from_raw(line.trim().parse().ok()?));
    if pid.is_some_and(|pid| test_kill_process(pid).is_ok() && !works_in(pid, cluster)) {
        tracing::warn!(path = %path.display(), ?pid, "the pid file names a process that is no server of ours");
        let _ = fs::remove_file(&path);
    }
}

fn pid_file(cluster: &Path) -> std::path::PathBuf {
    cluster.join("postmaster.pid")
}
