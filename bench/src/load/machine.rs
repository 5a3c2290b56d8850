//! On which machine something was measured: figures from two machines are not to be compared.

use std::fs;

use serde::Serialize;

/// What tells machines apart.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// The kernel's name and version.
    pub kernel: String,
    /// How many were waiting for a core over the last minute before: others may be at work here, too.
    pub load: f64,
}

impl Machine {
    /// As /proc says; what it does not say is empty.
    pub fn here() -> Self {
        let line = |file: &str, name: &str| {
            let text = fs::read_to_string(file).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
            line.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned())).unwrap_or_default()
        };
        let first = |file: &str| fs::read_to_string(file).unwrap_or_default().trim().to_owned();
        let memory = line("/proc/meminfo", "MemTotal");
        let kib = memory.split(' ').next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0);
        Self {
            processor: line("/proc/cpuinfo", "model name"),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory: kib << 10,
            kernel: first("/proc/sys/kernel/osrelease"),
            load: first("/proc/loadavg").split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0.0),
        }
    }
}
