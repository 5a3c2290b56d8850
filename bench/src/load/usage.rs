//! What the server, its Postgres and this tool cost, as /proc says.

use std::fs;

/// The processes of a run.
pub struct Processes {
    server: Option<u32>,
}

/// CPU seconds, and bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    pub server: f64,
    pub postgres: f64,
    pub tool: f64,
    /// CPU seconds of this machine that its host gave to others.
    pub stolen: f64,
    pub server_rss: u64,
    /// Written by Postgres since it was made; none where the server does not say.
    pub wal: Option<f64>,
    /// The database's size now.
    pub disk: Option<f64>,
}

impl Processes {
    pub fn of(server: Option<u32>) -> Self {
        Self { server }
    }

    /// So far. Every process named postgres counts as the server's: a machine on which one measures has no other.
    pub fn usage(&self) -> Usage {
        let tick = rustix::param::clock_ticks_per_second() as f64;
        let seconds = |ticks: u64| ticks as f64 / tick;
        let named = |pid: &u32| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "postgres")
        };
        let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let postgres: u64 = pids.filter(named).filter_map(ticks).sum();
        let rss = |pid: u32| {
            let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
            statm.split(' ').nth(1)?.parse::<u64>().ok()
        };
        let of = |pid: Option<u32>| seconds(pid.and_then(ticks).unwrap_or(0));
        Usage {
            server: of(self.server),
            postgres: seconds(postgres),
            tool: of(Some(std::process::id())),
            stolen: seconds(stolen().unwrap_or(0)),
            server_rss: self.server.and_then(rss).unwrap_or(0) * rustix::param::page_size() as u64,
            wal: None,
            disk: None,
        }
    }
}

/// Ticks of a process, and of its children that have ended.
fn ticks(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything; what follows it does not.
    let fields = text.rsplit_once(") ")?.1.split(' ');
    fields.skip(11).take(4).map(|field| field.parse::<u64>().ok()).sum()
}

/// Ticks that a virtual machine waited for its host.
fn stolen() -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    text.lines().next()?.split_ascii_whitespace().nth(8)?.parse().ok()
}

impl Usage {
    /// With what the server's metrics say of its Postgres.
    pub fn with_metrics(mut self, metrics: &str) -> Self {
        let value = |name: &str| {
            let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| value.trim().parse().ok())
        };
        self.wal = value("quipu_postgres_wal_bytes");
        self.disk = value("quipu_postgres_database_bytes");
        self
    }

    /// What was spent since, and what there is now.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            server: self.server - before.server,
            postgres: self.postgres - before.postgres,
            tool: self.tool - before.tool,
            stolen: self.stolen - before.stolen,
            server_rss: self.server_rss,
            wal: self.wal.zip(before.wal).map(|(now, before)| now - before),
            disk: self.disk.zip(before.disk).map(|(now, before)| now - before),
        }
    }
}
