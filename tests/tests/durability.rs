//! A database that may forget what it has acknowledged is named: in the log of `serve`, and by `doctor`.

use std::{
    fs::{self, File},
    process::Stdio,
};

use quipu::durability::switched_off;
use tests::{Cluster, cluster, process::until};
use tokio::process::Command;

#[tokio::test]
async fn what_may_be_lost_is_named_and_what_is_kept_is_not() {
    let database = cluster().database();
    let client = database.connect().await;
    assert_eq!(switched_off(&client).await.unwrap(), ["fsync"], "a cluster that is thrown away");
    client.batch_execute("set synchronous_commit = off").await.unwrap();
    assert_eq!(switched_off(&client).await.unwrap(), ["fsync", "synchronous_commit"]);
    let kept = Cluster::private();
    let database = kept.database();
    let client = database.connect().await;
    assert_eq!(switched_off(&client).await.unwrap(), [""; 0], "the settings of `quipu serve`");
    client.batch_execute("set synchronous_commit = remote_write").await.unwrap();
    assert_eq!(switched_off(&client).await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn a_server_says_so_and_serves() {
    let (database, folder) = (cluster().database(), tests::ScratchDir::new());
    let log = folder.path().join("serve.log");
    let out = File::create(&log).unwrap();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_quipu-child"));
    serve.args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    serve.args(["--database", &database.url, "--data"]).arg(folder.path());
    serve.env_remove("DATABASE_URL").stdin(Stdio::null()).kill_on_drop(true);
    serve.stdout(out.try_clone().unwrap()).stderr(out);
    let mut server = serve.spawn().expect("start a server");
    until("it listens", async || fs::read_to_string(&log).unwrap().contains("listening on")).await;
    let text = fs::read_to_string(&log).unwrap();
    let warns = |line: &&str| line.contains("WARN") && line.contains("\"setting\":\"fsync\"");
    assert_eq!(text.lines().filter(warns).count(), 1, "{text}");
    server.kill().await.expect("stop the server");
}

#[tokio::test]
async fn the_doctor_names_it() {
    let (database, folder) = (cluster().database(), tests::ScratchDir::new());
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_quipu-child"));
    doctor.args(["doctor", "--database", &database.url, "--data"]).arg(folder.path());
    doctor.env_remove("DATABASE_URL").stdin(Stdio::null()).kill_on_drop(true);
    let said = doctor.output().await.expect("run the doctor");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(!said.status.success(), "{text}");
    assert!(text.contains("MISSING  durability: fsync is off"), "{text}");
}
