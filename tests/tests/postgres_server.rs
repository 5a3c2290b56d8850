//! The Postgres that quipu starts for itself: it comes up for anybody, is shared, survives what dies around
//! it, and goes with its last user. Every test has a data directory of its own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use quipu::postgres_server::{PostgresServer, Settings};
use rustix::process::{Pid, Signal, kill_process};
use tests::ScratchDir;
use tokio_postgres::{Config, NoTls};

/// Far more than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

async fn start(dir: &Path) -> PostgresServer {
    PostgresServer::start(dir, Settings::throw_away()).await.unwrap()
}

async fn answers(config: &Config) -> Result<String, tokio_postgres::Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client.query_one("select current_database()::text", &[]).await?.get(0))
}

async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let holding = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, holding).await.unwrap_or_else(|_| panic!("waited in vain: {what}"));
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

/// Another process that uses the same data directory.
struct Holder {
    process: Child,
    server: i32,
}

impl Holder {
    fn start(dir: &Path) -> Holder {
        let mut process = Command::new(env!("CARGO_BIN_EXE_hold-postgres"))
            .arg(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Holder { process, server: line.trim().parse().unwrap() }
    }

    /// Ends as at Ctrl-C.
    fn leave(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }

    /// Ends as at kill -9.
    fn kill(mut self) -> i32 {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.server
    }
}

#[tokio::test]
async fn it_starts_from_nothing_and_stops_with_us() {
    let scratch = ScratchDir::new();
    let server = start(&scratch.path().join("not/yet/there")).await;
    assert_eq!(answers(server.config()).await.unwrap(), "quipu");
    assert_eq!(answers(&server.url().parse().unwrap()).await.unwrap(), "quipu");
    let config = server.config().clone();
    server.stop().await.unwrap();
    assert!(answers(&config).await.is_err());
}

#[tokio::test]
async fn what_was_stored_is_there_at_the_next_start() {
    let scratch = ScratchDir::new();
    let server = start(scratch.path()).await;
    let (client, connection) = server.config().connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("create table kept (id int)").await.unwrap();
    drop(client);
    server.stop().await.unwrap();
    let server = start(scratch.path()).await;
    let (client, connection) = server.config().connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    assert!(client.query_opt("select from pg_tables where tablename = 'kept'", &[]).await.unwrap().is_some());
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_server_whose_holder_was_killed_is_adopted() {
    let scratch = ScratchDir::new();
    let orphan = Holder::start(scratch.path()).kill();
    let server = start(scratch.path()).await;
    assert_eq!(server.pid(), Some(orphan));
    let config = server.config().clone();
    server.stop().await.unwrap();
    assert!(answers(&config).await.is_err());
}

#[tokio::test]
async fn only_the_last_user_stops_the_server() {
    let scratch = ScratchDir::new();
    let holder = Holder::start(scratch.path());
    let server = start(scratch.path()).await;
    assert_eq!(server.pid(), Some(holder.server));
    holder.leave();
    assert_eq!(answers(server.config()).await.unwrap(), "quipu");
    let holder = Holder::start(scratch.path());
    let config = server.config().clone();
    server.stop().await.unwrap();
    assert_eq!(answers(&config).await.unwrap(), "quipu");
    holder.leave();
    assert!(answers(&config).await.is_err());
}

#[tokio::test]
async fn a_killed_server_comes_back_by_itself() {
    let scratch = ScratchDir::new();
    let mut server = start(scratch.path()).await;
    server.supervise();
    for _ in 0..2 {
        let killed = server.pid().unwrap();
        kill(killed);
        until("a new server answers", async || {
            server.pid().is_some_and(|pid| pid != killed) && answers(server.config()).await.is_ok()
        })
        .await;
    }
    server.stop().await.unwrap();
}

#[tokio::test]
async fn both_may_be_killed_and_the_next_start_recovers() {
    let scratch = ScratchDir::new();
    let holder = Holder::start(scratch.path());
    let server = holder.server;
    holder.kill();
    kill(server);
    let server = start(scratch.path()).await;
    assert_eq!(answers(server.config()).await.unwrap(), "quipu");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_pid_file_that_names_a_stranger_does_not_stop_the_start() {
    let scratch = ScratchDir::new();
    let holder = Holder::start(scratch.path());
    let server = holder.server;
    holder.kill();
    kill(server);
    let file = scratch.path().join("postgres/postmaster.pid");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen(&server.to_string(), &std::process::id().to_string(), 1)).unwrap();
    let server = start(scratch.path()).await;
    assert_eq!(answers(server.config()).await.unwrap(), "quipu");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn an_initdb_that_was_killed_is_done_again() {
    let scratch = ScratchDir::new();
    let mut process = Command::new(env!("CARGO_BIN_EXE_hold-postgres"))
        .arg(scratch.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let unfinished = || {
        let entries = std::fs::read_dir(scratch.path()).unwrap().flatten();
        entries.map(|it| it.path()).find(|it| it.to_string_lossy().contains("unfinished"))
    };
    until("initdb is half through", async || unfinished().is_some_and(|it| it.join("base").exists())).await;
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(!scratch.path().join("postgres").exists());
    let server = start(scratch.path()).await;
    assert_eq!(answers(server.config()).await.unwrap(), "quipu");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn many_may_start_at_once() {
    let scratch = ScratchDir::new();
    let path = scratch.path();
    let holders: Vec<Holder> = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..4).map(|_| scope.spawn(|| Holder::start(path))).collect();
        starting.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(holders.iter().all(|holder| holder.server == holders[0].server));
    holders.into_iter().for_each(Holder::leave);
    assert!(!path.join("postgres/postmaster.pid").exists());
}

#[test]
fn without_programs_the_error_says_what_to_install() {
    let scratch = ScratchDir::new();
    let ended = Command::new(env!("CARGO_BIN_EXE_hold-postgres"))
        .arg(scratch.path().join("data"))
        .env("QUIPU_PG_BIN", scratch.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!ended.status.success());
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("apt-get install postgresql"), "{said}");
}

#[tokio::test]
async fn the_socket_is_ours_alone_and_there_is_no_tcp() {
    use std::os::unix::fs::MetadataExt;
    let scratch = ScratchDir::new();
    let server = start(scratch.path()).await;
    assert_eq!(std::fs::metadata(server.socket_dir()).unwrap().mode() & 0o777, 0o700);
    let (client, connection) = server.config().connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    let shown: String = client.query_one("show listen_addresses", &[]).await.unwrap().get(0);
    assert_eq!(shown, "");
    drop(client);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_long_path_still_gets_a_socket() {
    let scratch = ScratchDir::new();
    let server = start(&scratch.path().join("d".repeat(100))).await;
    assert_eq!(answers(server.config()).await.unwrap(), "quipu");
    let socket_dir = server.socket_dir().to_owned();
    assert!(socket_dir.starts_with("/tmp"));
    server.stop().await.unwrap();
    std::fs::remove_dir(socket_dir).unwrap();
}

#[tokio::test]
async fn below_a_directory_of_roots_own_the_cluster_goes_elsewhere() {
    use std::os::unix::fs::DirBuilderExt;
    if !rustix::process::geteuid().is_root() {
        return; // Then Postgres runs as ourselves and may enter what is ours.
    }
    let scratch = ScratchDir::new();
    let data = scratch.path().join("private");
    std::fs::DirBuilder::new().mode(0o700).create(&data).unwrap();
    let server = start(&data).await;
    let elsewhere = server.cluster_dir().to_owned();
    assert!(elsewhere.starts_with("/var/lib/quipu"));
    server.stop().await.unwrap();

    // The pointer leads there even when the data directory has moved.
    let moved = scratch.path().join("moved");
    std::fs::rename(&data, &moved).unwrap();
    let server = start(&moved).await;
    assert_eq!(server.cluster_dir(), elsewhere);
    assert_eq!(answers(server.config()).await.unwrap(), "quipu");
    server.stop().await.unwrap();
    std::fs::remove_dir_all(elsewhere.parent().unwrap()).unwrap();
}
