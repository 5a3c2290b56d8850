//! A server of the tool's own: this process's binary as `serve` on a fresh data directory, killed and started again.

use std::{
    ffi::OsString,
    fs::{self, File, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    net::TcpListener,
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

use crate::client::{Address, rest::is_ready};

/// A start may make a database first, or recover one, on a busy machine.
const START_TIME_MAX: Duration = Duration::from_secs(120);
/// A clean stop takes its Postgres along.
const STOP_TIME_MAX: Duration = Duration::from_secs(60);
/// Between two looks whether it is ready.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Lines of a panic start like this, wherever they end up.
const PANIC: &str = "panicked at";

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum OwnServerError {
    /// A directory, a file or a process.
    #[error("{doing}")]
    Io {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: io::Error,
    },
    /// It ended before it was ready.
    #[error("the server ended before it was ready ({status}); its log is {log}")]
    Ended {
        /// How it ended.
        status: ExitStatus,
        /// Where it says why.
        log: PathBuf,
    },
    /// It did not become ready.
    #[error("the server was not ready after {} s; its log is {log}", START_TIME_MAX.as_secs())]
    NotReady {
        /// Where it may say why.
        log: PathBuf,
    },
}

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> OwnServerError {
    move |source| OwnServerError::Io { doing, source }
}

/// The settings of the tool are not those of the processes that it starts.
pub fn without_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("QUIPU_") || text == "DATABASE_URL" {
            command.env_remove(&name);
        }
    }
}

/// The server, running or killed.
pub struct OwnServer {
    program: PathBuf,
    place: PathBuf,
    pub address: Address,
    child: Option<Child>,
}

impl OwnServer {
    /// Starts one in a new directory with this name below the system's for temporary files.
    pub async fn start(name: &str) -> Result<Self, OwnServerError> {
        let program = std::env::current_exe().map_err(failed("find this program"))?;
        let temporary = std::env::temp_dir().canonicalize();
        let place = temporary.map_err(failed("find a place for data"))?.join(name);
        fs::create_dir(&place).map_err(failed("make a place for data"))?;
        // Postgres may run as another user.
        let open = fs::set_permissions(&place, Permissions::from_mode(0o755));
        open.map_err(failed("open the place for data"))?;
        fs::create_dir(place.join("data")).map_err(failed("make a data directory"))?;
        // Free now; taken again by each start.
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed("find a free port"))?;
        let port = listener.local_addr().map_err(failed("find a free port"))?.port();
        drop(listener);
        let url = format!("http://127.0.0.1:{port}");
        let address =
            Address::of_url(&url).ok_or_else(|| failed("name a port")(io::ErrorKind::Other.into()))?;
        let mut server = Self { program, place, address, child: None };
        server.start_again().await?;
        Ok(server)
    }

    /// Starts it on the data that it has, and waits until it is ready.
    pub async fn start_again(&mut self) -> Result<(), OwnServerError> {
        let log = || File::options().create(true).append(true).open(self.log_path());
        let (out, err) = (
            log().map_err(failed("open the server's log"))?,
            log().map_err(failed("open the server's log"))?,
        );
        let mut command = Command::new(&self.program);
        without_settings(&mut command);
        let listen = self.address.as_str().to_owned();
        command.args(["serve", "--listen", &listen, "--log-format", "json", "--data"]).arg(self.data());
        command.current_dir(self.data()).stdin(Stdio::null()).stdout(out).stderr(err);
        // A signal for the tool is the tool's to pass on.
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(failed("start the server"))?;
        let give_up = Instant::now() + START_TIME_MAX;
        loop {
            if let Some(status) = child.try_wait().map_err(failed("look at the server"))? {
                return Err(OwnServerError::Ended { status, log: self.log_path() });
            }
            if is_ready(&self.address).await {
                break;
            }
            if Instant::now() > give_up {
                self.child = Some(child);
                return Err(OwnServerError::NotReady { log: self.log_path() });
            }
            sleep(LOOK_EVERY).await;
        }
        self.child = Some(child);
        Ok(())
    }

    /// Kills it with -9; its Postgres is not asked.
    pub async fn kill(&mut self) -> Result<(), OwnServerError> {
        if let Some(mut child) = self.child.take() {
            child.kill().await.map_err(failed("kill the server"))?;
        }
        Ok(())
    }

    /// Asks it to stop; true if it did so in order and in time.
    pub async fn stop(&mut self) -> Result<bool, OwnServerError> {
        let Some(mut child) = self.child.take() else { return Ok(true) };
        let pid = child.id().and_then(|id| Pid::from_raw(id.try_into().unwrap_or(0)));
        if let Some(pid) = pid {
            kill_process(pid, Signal::TERM).map_err(|error| failed("stop the server")(error.into()))?;
        }
        match timeout(STOP_TIME_MAX, child.wait()).await {
            Ok(status) => Ok(status.map_err(failed("wait for the server's end"))?.success()),
            Err(_) => {
                child.kill().await.map_err(failed("kill the server"))?;
                Ok(false)
            }
        }
    }

    /// The secret that it made for its data.
    pub fn secret(&self) -> Result<String, OwnServerError> {
        let text =
            fs::read_to_string(self.data().join("secret")).map_err(failed("read the server's secret"))?;
        Ok(text.trim().to_owned())
    }

    /// Panics that stand in its log.
    pub fn panics(&self) -> Vec<String> {
        let log = fs::read(self.log_path()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        log.lines().filter(|line| line.contains(PANIC)).map(str::to_owned).collect()
    }

    /// The options by which a command of quipu finds its log.
    pub fn store(&self) -> Vec<OsString> {
        vec!["--data".into(), self.data().into()]
    }

    /// Its process.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    /// Where its data and its log are.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Removes data and log.
    pub fn remove(&self) -> Result<(), OwnServerError> {
        fs::remove_dir_all(&self.place).map_err(failed("remove the data"))
    }

    fn data(&self) -> PathBuf {
        self.place.join("data")
    }

    fn log_path(&self) -> PathBuf {
        self.place.join("server.log")
    }
}
