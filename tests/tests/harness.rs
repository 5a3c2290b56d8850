//! The harness itself: databases are fresh and their own, templates are made once, and nothing is left behind
//! when a test process is killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tests::{Cluster, cluster};
use tokio_postgres::config::Host;

/// The watchdog's own limits are 5 s for the server and 5 s for the files.
const WATCHDOG_TRIES_MAX: u32 = 300;
const WATCHDOG_LOOK_EVERY: Duration = Duration::from_millis(50);

#[tokio::test]
async fn each_database_is_fresh_and_dropped_at_the_end() {
    let one = cluster().database();
    let other = cluster().database();
    one.connect().await.batch_execute("create table mine (id int)").await.unwrap();
    let tables = "select from pg_tables where tablename = 'mine'";
    assert!(other.connect().await.query_opt(tables, &[]).await.unwrap().is_none());
    let name = one.name().to_owned();
    drop(one);
    let left = "select from pg_database where datname = $1";
    assert!(other.connect().await.query_opt(left, &[&name]).await.unwrap().is_none());
}

#[tokio::test]
async fn a_template_is_made_once_and_copied_often() {
    let name = format!("template_of_process_{}", std::process::id());
    for round in 0..2 {
        cluster()
            .template(&name, async |config| {
                assert_eq!(round, 0, "made twice");
                let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
                tokio::spawn(connection);
                client.batch_execute("create table kept (id int)").await.unwrap();
                std::mem::forget(client);
            })
            .await;
        let copy = cluster().database_from(&name);
        copy.connect().await.batch_execute("insert into kept values (1)").await.unwrap();
    }
    let admin = cluster().database();
    let drop_it = format!("alter database {name} is_template false; ");
    admin.connect().await.batch_execute(&drop_it).await.unwrap();
    admin.connect().await.batch_execute(&format!("drop database {name}")).await.unwrap();
}

#[tokio::test]
async fn a_private_cluster_can_be_killed_and_keeps_what_it_acknowledged() {
    let cluster = Cluster::private();
    let database = cluster.database();
    database.connect().await.batch_execute("create table kept as select 7 as id").await.unwrap();
    cluster.kill();
    cluster.restart();
    let id: i32 = database.connect().await.query_one("select id from kept", &[]).await.unwrap().get(0);
    assert_eq!(id, 7);
}

#[test]
fn a_killed_test_process_leaves_no_server_and_no_files() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_test-cluster"))
        .args(["sh", "-c", "echo $QUIPU_TEST_POSTGRES; exec sleep 5"])
        .stdout(Stdio::piped())
        // The command outlives its parent by seconds, and must not hold our own output open.
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let config: tokio_postgres::Config = url.trim().parse().unwrap();
    let [Host::Unix(socket_dir)] = config.get_hosts() else { panic!("no socket in {url}") };
    let dir = socket_dir.parent().unwrap();
    let pid_file = std::fs::read_to_string(dir.join("postgres/postmaster.pid")).unwrap();
    let server = format!("/proc/{}/cwd", pid_file.lines().next().unwrap());
    assert!(Path::new(&server).exists());
    process.kill().unwrap();
    process.wait().unwrap();
    let gone = || !dir.exists() && std::fs::read_link(&server).is_err();
    for _ in 0..WATCHDOG_TRIES_MAX {
        if gone() {
            return;
        }
        std::thread::sleep(WATCHDOG_LOOK_EVERY);
    }
    panic!("{} or its server is still there", dir.display());
}

#[test]
fn a_command_passes_its_exit_code_on() {
    let ended =
        Command::new(env!("CARGO_BIN_EXE_test-cluster")).args(["sh", "-c", "exit 7"]).status().unwrap();
    assert_eq!(ended.code(), Some(7));
}
