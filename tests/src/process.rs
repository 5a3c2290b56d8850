//! `quipu` as processes of their own on one data directory: started, killed, interrupted, started again; and people
//! who talk to it over one connection each.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use event_store::Clock;
use quipu::{auth, clock::SystemClock, secret};
use reqwest::{Client, Method};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::process::{Child, Command};
use uuid::Uuid;

use crate::database::connect;
use crate::log::uid;
use crate::scratch::ScratchDir;
use crate::server::Answer;

/// Longer than anything here takes on a busy machine, the recovery of a Postgres included.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at something that is awaited.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Longer than any answer takes: a send waits for the log some seconds before it is a 503.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(45);
/// Between two tries of one request. Shorter than what Retry-After asks for, so that a test is over sooner.
const REPEAT_EVERY: Duration = Duration::from_millis(50);
/// How long a person's token is good, in seconds.
const TOKEN_TTL_S: u64 = 3600;
/// How much of a process's log is shown where a test fails.
const LOG_TAIL_LINES: usize = 60;

/// Waits until it holds.
pub async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let holding = async {
        while !holds().await {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tokio::time::timeout(PATIENCE, holding).await.unwrap_or_else(|_| panic!("waited in vain: {what}"));
}

/// A data directory and the binary that works on it.
pub struct Site {
    program: PathBuf,
    data: PathBuf,
    secret: String,
    base: Mutex<String>,
    started: AtomicU32,
    // Last, so that it goes last.
    scratch: ScratchDir,
}

impl Site {
    /// An empty one for this binary.
    pub fn new(program: &str) -> Self {
        let scratch = ScratchDir::new();
        let data = scratch.path().join("data");
        let secret = secret::of_data(&data).expect("make the secret of a data directory");
        let (base, started) = (Mutex::default(), AtomicU32::new(0));
        Self { program: program.into(), data, secret, base, started, scratch }
    }

    /// A place for files that is gone with the site.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The data directory.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// How to connect to the database, past `quipu`, while its Postgres runs.
    pub fn database(&self) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        config.host_path(self.data.join("postgres.socket")).user("quipu").dbname("quipu");
        config
    }

    /// Runs `quipu` with these arguments to its end, which must be a good one, and answers what it printed.
    pub async fn run(&self, arguments: &[&str]) -> String {
        let mut process = self.start(arguments);
        let ended = process.ended().await;
        assert!(ended.success(), "{arguments:?}: {ended}: {}", process.log());
        process.output()
    }

    /// Starts `quipu` with these arguments. What it prints goes into files.
    pub fn start(&self, arguments: &[&str]) -> Process {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let named = |end: &str| self.scratch.path().join(format!("{number}-{}.{end}", arguments[0]));
        let (output, log) = (named("out"), named("log"));
        let file = |path: &Path| File::create(path).expect("make a file for what a process prints");
        let mut command = Command::new(&self.program);
        for (name, _) in env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("QUIPU_") || ["DATABASE_URL", "RUST_LOG"].contains(&&*name_text) {
                command.env_remove(&name);
            }
        }
        command.args(arguments).arg("--data").arg(&self.data).args(["--log-format", "json"]);
        // The watchdog of the scratch directory ends what works below it, should this process die.
        command.current_dir(&self.data).stdin(Stdio::null()).stdout(file(&output)).stderr(file(&log));
        let child = command.kill_on_drop(true).spawn();
        let child = child.unwrap_or_else(|error| panic!("run {}: {error}", self.program.display()));
        Process { child, output, log }
    }

    /// Starts `quipu serve` and waits until it listens. From then on people talk to this one.
    pub async fn serve(&self) -> Process {
        let mut process = self.start(&["serve", "--listen", "127.0.0.1:0"]);
        let listening = async {
            loop {
                let ended = process.child.try_wait().expect("look at a process");
                if let Some(address) = address(&process.log()) {
                    return address;
                }
                assert!(ended.is_none(), "serve ended before it listened: {ended:?}");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let base = tokio::time::timeout(PATIENCE, listening).await.expect("wait until serve listens");
        *self.base.lock().expect("nobody panics with it") = base;
        process
    }

    /// Waits until the server says that all is well.
    pub async fn ready(&self) {
        let client = Client::new();
        until("the server is ready", async || {
            let asked = client.get(format!("{}/readyz", self.base())).send().await;
            asked.is_ok_and(|answer| answer.status() == 200)
        })
        .await;
    }

    /// Waits until the read models have passed every event, without asking the server anything.
    pub async fn caught_up(&self) {
        let behind = "select from checkpoint as c
                       where exists (select from log.event as e where e.shard = c.shard and e.position > c.position)
                       limit 1";
        let client = self.connect().await;
        until("the read models have caught up", async || {
            client.query_opt(behind, &[]).await.expect("look at the checkpoints").is_none()
        })
        .await;
    }

    /// Postgres' main process, if it runs.
    pub fn postgres(&self) -> Option<Pid> {
        let cluster = self.data.join("postgres");
        let text = fs::read_to_string(cluster.join("postmaster.pid")).ok()?;
        let pid = Pid::from_raw(text.lines().next()?.trim().parse().ok()?)?;
        let works_in = fs::read_link(format!("/proc/{}/cwd", pid.as_raw_nonzero())).ok()?;
        (works_in == cluster).then_some(pid)
    }

    /// Kills Postgres' main process with -9, as soon as there is one; its children end when they notice.
    pub async fn kill_postgres(&self) {
        until("there is a Postgres to kill", async || {
            self.postgres().is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
        })
        .await;
    }

    /// Processes that work in the data directory, Postgres' children too.
    pub fn residents(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").expect("list the processes").filter_map(Result::ok);
        let resides =
            |dir: &Path| fs::read_link(dir.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&self.data));
        let name = |dir: &Path| fs::read_to_string(dir.join("comm")).unwrap_or_default();
        processes.map(|it| it.path()).filter(|dir| resides(dir)).map(|dir| name(&dir)).collect()
    }

    /// A connection to the database, past `quipu`; waits while Postgres is coming back.
    pub async fn connect(&self) -> tokio_postgres::Client {
        let config = self.database();
        let connecting = async {
            loop {
                if let Ok(client) = connect(&config).await {
                    return client;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::time::timeout(PATIENCE, connecting).await.expect("wait until Postgres takes a connection")
    }

    /// A person with a connection of their own.
    pub fn person(&self, number: u64) -> Person<'_> {
        self.with_roles(number, &[])
    }

    /// The same with roles.
    pub fn with_roles(&self, number: u64, roles: &[&str]) -> Person<'_> {
        let roles: Vec<String> = roles.iter().map(|&role| role.to_owned()).collect();
        let token = auth::sign(&self.secret, uid(number), &roles, None, SystemClock.now(), TOKEN_TTL_S);
        let client = Client::builder().pool_max_idle_per_host(1).timeout(ANSWER_TIME_MAX).build();
        Person {
            site: self,
            uid: number,
            token: token.expect("sign a token"),
            client: client.expect("make a client"),
        }
    }

    fn base(&self) -> String {
        self.base.lock().expect("nobody panics with it").clone()
    }
}

fn address(log: &str) -> Option<String> {
    // A line is there once its end is.
    let line =
        log.split_inclusive('\n').find(|line| line.contains("listening on ") && line.ends_with('\n'))?;
    let (_, rest) = line.split_once("listening on ")?;
    Some(rest.split('"').next()?.to_owned())
}

/// One `quipu`. Killed when dropped; shows the end of its log where the test fails.
pub struct Process {
    child: Child,
    output: PathBuf,
    log: PathBuf,
}

impl Process {
    /// What it has logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// What it has answered so far, on standard output.
    pub fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap_or_default()
    }

    /// Has it ended?
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("look at a process").is_some()
    }

    /// Kills it with -9 and waits until it is gone.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("kill -9 a process");
    }

    /// As Ctrl-C.
    pub fn interrupt(&self) {
        let pid = self.child.id().and_then(|id| Pid::from_raw(id as i32)).expect("a running process");
        kill_process(pid, Signal::INT).expect("interrupt a process");
    }

    /// Waits until it has ended by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("wait for the end of a process").expect("wait for a process")
    }
}

impl Drop for Process {
    #[expect(clippy::print_stderr, reason = "it says why a test failed")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            let tail = &lines[lines.len().saturating_sub(LOG_TAIL_LINES)..];
            eprintln!("the end of {}:\n{}", self.log.display(), tail.join("\n"));
        }
    }
}

/// Somebody who asks the server of a site, whichever process that is just now.
pub struct Person<'a> {
    site: &'a Site,
    /// Who it is.
    pub uid: u64,
    token: String,
    client: Client,
}

impl Person<'_> {
    /// Asks once. None where no answer came: then nobody knows what has been done.
    pub async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Option<Answer> {
        self.ask_as(None, method, path, body).await
    }

    async fn ask_as(
        &self,
        key: Option<Uuid>,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Option<Answer> {
        let request = self.client.request(method, format!("{}{path}", self.site.base()));
        let request = request.bearer_auth(&self.token);
        let request = match key {
            Some(key) => request.header("idempotency-key", key.to_string()),
            None => request,
        };
        let request = if let Some(body) = body { request.json(body) } else { request };
        let response = request.send().await.ok()?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let json = serde_json::from_slice(&response.bytes().await.ok()?).ok()?;
        Some(Answer { status, headers, json })
    }

    /// Asks again and again, as long as no answer comes or the server says that it may be asked again.
    pub async fn insist(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        self.insist_as(None, method, path, body).await
    }

    /// The same with an Idempotency-Key: all of it is one request.
    pub async fn insist_as(
        &self,
        key: Option<Uuid>,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Answer {
        let answered = async {
            loop {
                match self.ask_as(key, method.clone(), path, body).await {
                    Some(answer) if answer.status == 503 || answer.status == 429 => {
                        assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
                        let code = answer.problem().1;
                        assert!(["unavailable", "too_many_requests"].contains(&code), "{answer:?}");
                    }
                    Some(answer) => return answer,
                    None => {}
                }
                tokio::time::sleep(REPEAT_EVERY).await;
            }
        };
        let answer = tokio::time::timeout(PATIENCE, answered).await;
        answer.unwrap_or_else(|_| panic!("{} asked for {path} in vain", self.uid))
    }

    /// GET, insisting.
    pub async fn get(&self, path: &str) -> Value {
        let answer = self.insist(Method::GET, path, None).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json
    }

    /// The whole history of a conversation, page by page from the beginning: one item for each seq, without a gap.
    pub async fn history(&self, conv: &str) -> Vec<Value> {
        let mut items: Vec<Value> = Vec::new();
        loop {
            let after = items.len();
            let path = format!("/v1/conversations/{conv}/messages?after_seq={after}&limit=200");
            let page = self.get(&path).await;
            for item in page["items"].as_array().expect("a page has items") {
                items.push(item.clone());
                assert_eq!(item["seq"], items.len(), "{conv}: a gap or a repeat after {after}");
            }
            if page["has_more"] == false {
                assert_eq!(page["max_seq"], items.len(), "{conv}: the history ends before its head");
                return items;
            }
        }
    }
}
