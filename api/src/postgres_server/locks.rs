//! The two file locks by which quipu processes share one Postgres: who may start or stop it, and who uses it.
//! The kernel lets go of them when a process dies, however it dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use super::error::{Doing, PostgresServerError};

/// A start may include initdb and a recovery; past this somebody should look.
const START_LOCK_WAIT: Duration = Duration::from_secs(600);

/// Between two tries for the start lock.
const START_LOCK_RETRY: Duration = Duration::from_millis(50);

/// Held while one process starts or stops the server. Dropping it lets the next one in.
#[derive(Debug)]
pub(super) struct StartLock {
    _file: File,
}

impl StartLock {
    /// Waits for its turn.
    pub(super) async fn acquire(path: &Path) -> Result<StartLock, PostgresServerError> {
        let file = open(path)?;
        let locked = async {
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(()),
                    Err(TryLockError::WouldBlock) => tokio::time::sleep(START_LOCK_RETRY).await,
                    Err(TryLockError::Error(error)) => return Err(error),
                }
            }
        };
        match tokio::time::timeout(START_LOCK_WAIT, locked).await {
            Ok(result) => result.doing(|| format!("lock {}", path.display()))?,
            Err(_) => {
                let seconds = START_LOCK_WAIT.as_secs();
                return Err(PostgresServerError::Busy { path: path.to_owned(), seconds });
            }
        }
        Ok(StartLock { _file: file })
    }

    /// Takes its turn if it is free.
    pub(super) fn try_acquire(path: &Path) -> Option<StartLock> {
        let file = open(path).ok()?;
        file.try_lock().ok()?;
        Some(StartLock { _file: file })
    }
}

/// Held for as long as this process uses the server.
#[derive(Debug)]
pub(super) struct UsersLock {
    file: File,
}

impl UsersLock {
    /// Joins the users. Call it under the start lock: then nobody holds it exclusively for long.
    pub(super) fn join(path: &Path, _turn: &StartLock) -> Result<UsersLock, PostgresServerError> {
        let file = open(path)?;
        file.lock_shared().doing(|| format!("lock {}", path.display()))?;
        Ok(UsersLock { file })
    }

    /// Whether nobody else uses the server. The start lock keeps others from joining meanwhile.
    pub(super) fn is_last(&self, _turn: &StartLock) -> Result<bool, PostgresServerError> {
        let doing = || "ask who else uses our Postgres".to_owned();
        let last = match self.file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => return Err(error).doing(doing),
        };
        // The question may cost us our share (the kernel upgrades in two steps), so take it again.
        self.file.lock_shared().doing(doing)?;
        Ok(last)
    }
}

fn open(path: &Path) -> Result<File, PostgresServerError> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .doing(|| format!("open {}", path.display()))
}
