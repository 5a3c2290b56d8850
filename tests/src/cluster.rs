//! The Postgres that tests share, and private ones for the tests that kill theirs.

use std::env;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use quipu::postgres_server::{PostgresServer, Settings};
use rustix::process::{Pid, Signal, kill_process};
use tokio_postgres::Config;

use crate::database::{TestDatabase, connect, quoted};
use crate::on_a_thread::block_on;
use crate::scratch::{ScratchDir, unique_name};

/// Names a running server that the tests shall use, as a URL whose user may create databases. `scripts/test`
/// sets it, since nextest runs every test in a process of its own.
pub const CLUSTER_VARIABLE: &str = "QUIPU_TEST_POSTGRES";

/// A template is made by one process while the others wait; migrations take a second or two.
const TEMPLATE_WAIT: Duration = Duration::from_secs(120);

/// Children of a killed server notice within milliseconds, unless they work.
const CHILDREN_LOOKS_MAX: u32 = 500;
const CHILDREN_LOOK_EVERY: Duration = Duration::from_millis(20);

/// The cluster of this test process: the one that QUIPU_TEST_POSTGRES names, else a throw-away one that
/// starts with the first call and is gone with the process.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| match env::var(CLUSTER_VARIABLE) {
        Ok(url) => Cluster::running(&url),
        Err(_) => Cluster::throw_away(),
    })
}

/// A Postgres server for tests.
#[derive(Debug)]
pub struct Cluster {
    admin: Config,
    // Leaves before its directory does: fields are dropped in this order.
    server: Option<PostgresServer>,
    _scratch: Option<ScratchDir>,
}

impl Cluster {
    /// A cluster of one's own for tests of many databases: fast, and it would not survive a power cut.
    pub fn throw_away() -> Cluster {
        Cluster::start(Settings::throw_away())
    }

    /// A durable cluster of one's own, for tests that kill the server.
    pub fn private() -> Cluster {
        Cluster::start(Settings { shared_buffers_mib: 64, ..Settings::default() })
    }

    fn start(settings: Settings) -> Cluster {
        let scratch = ScratchDir::new();
        let server = block_on(PostgresServer::start(scratch.path(), settings))
            .unwrap_or_else(|error| panic!("start a Postgres for tests: {error}: {error:?}"));
        Cluster { admin: server.config().clone(), server: Some(server), _scratch: Some(scratch) }
    }

    fn running(url: &str) -> Cluster {
        let admin = url.parse().unwrap_or_else(|error| panic!("read {CLUSTER_VARIABLE}: {error}"));
        Cluster { admin, server: None, _scratch: None }
    }

    /// The URL of its administrative database, fit for QUIPU_TEST_POSTGRES.
    pub fn url(&self) -> String {
        quipu::postgres_server::url_of(&self.admin)
    }

    /// A fresh, empty database.
    pub fn database(&self) -> TestDatabase {
        self.database_from("template0")
    }

    /// A fresh copy of `template`, to which nobody may be connected; see [`Cluster::template`].
    pub fn database_from(&self, template: &str) -> TestDatabase {
        TestDatabase::make(&self.admin, format!("quipu_test_{}", unique_name()), template)
    }

    /// Makes the template `name` once for the cluster, whichever process comes first: `prepare` fills it,
    /// and what it left connected is cut off. Put into the name what its content depends on.
    pub async fn template(&self, name: &str, prepare: impl AsyncFnOnce(Config)) {
        let made = tokio::time::timeout(TEMPLATE_WAIT, self.make_template(name, prepare)).await;
        made.expect("wait for a template database").expect("make a template database");
    }

    async fn make_template(
        &self,
        name: &str,
        prepare: impl AsyncFnOnce(Config),
    ) -> Result<(), tokio_postgres::Error> {
        let client = connect(&self.admin).await?;
        // Held until this connection closes.
        client.execute("select pg_advisory_lock(hashtext($1))", &[&name]).await?;
        let made = "select from pg_database where datname = $1 and datistemplate";
        if client.query_opt(made, &[&name]).await?.is_some() {
            return Ok(());
        }
        // One that is no template yet was left half made.
        let database = quoted(name);
        client.batch_execute(&format!("drop database if exists {database} with (force)")).await?;
        client.batch_execute(&format!("create database {database} template template0")).await?;
        let mut config = self.admin.clone();
        config.dbname(name);
        prepare(config).await;
        client.batch_execute(&format!("alter database {database} allow_connections false")).await?;
        client
            .execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1",
                &[&name],
            )
            .await?;
        client.batch_execute(&format!("alter database {database} is_template true")).await
    }

    /// Kills the server's main process with -9, and waits until its children have noticed and ended: until then one
    /// of them may still do what it was asked, and do it for good.
    pub fn kill(&self) {
        let pid = self.own().pid().and_then(Pid::from_raw).expect("a running server to kill");
        let children = children_of(pid);
        kill_process(pid, Signal::KILL).expect("kill -9 the server");
        for _ in 0..CHILDREN_LOOKS_MAX {
            if !children.iter().any(|child| Path::new(&format!("/proc/{child}")).exists()) {
                return;
            }
            std::thread::sleep(CHILDREN_LOOK_EVERY);
        }
        panic!("children of a killed server do not end");
    }

    /// Starts the server again after [`Cluster::kill`], and waits until it takes connections.
    pub fn restart(&self) {
        block_on(self.own().revive()).expect("start the server again");
    }

    fn own(&self) -> &PostgresServer {
        self.server.as_ref().expect("a cluster of our own, not the one that QUIPU_TEST_POSTGRES names")
    }
}

/// The processes whose parent this is.
fn children_of(pid: Pid) -> Vec<String> {
    let parent = pid.as_raw_nonzero().to_string();
    let is_child = |child: &String| {
        // pid (name) state ppid …; a name may hold anything but ends with the last bracket.
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(parent.as_str())
    };
    let entries = std::fs::read_dir("/proc").expect("list the processes");
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).filter(is_child).collect()
}
