//! The settings our own Postgres runs with, and the file they become.

use std::fmt::Write as _;
use std::path::Path;

/// The port names the socket's file; nothing listens on TCP.
pub(super) const PORT: u16 = 5432;

/// What differs between one use of our own Postgres and another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Memory for the page cache, in MiB.
    pub shared_buffers_mib: u32,
    /// Connections at once; every quipu process on this cluster shares them.
    pub max_connections: u16,
    /// Whether an acknowledged commit survives a power cut. False only where the data is thrown away.
    pub durable: bool,
}

impl Default for Settings {
    /// For `quipu serve`: durable, sized for a small machine.
    fn default() -> Settings {
        Settings { shared_buffers_mib: 256, max_connections: 200, durable: true }
    }
}

impl Settings {
    /// For tests that throw the cluster away: as fast as it goes, and nothing survives a power cut.
    pub fn throw_away() -> Settings {
        Settings { shared_buffers_mib: 64, max_connections: 200, durable: false }
    }

    /// The text of `quipu.conf`. `lz4` says whether this build of Postgres can compress WAL with it.
    pub(super) fn render(&self, socket_dir: &Path, lz4: bool) -> String {
        let durable = on_off(self.durable);
        let mut conf = String::from(
            "# Written by quipu at every start; changes here are lost.\n\
             # Your own settings: `alter system set …`, which wins over this file.\n",
        );
        let mut set = |name: &str, value: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(conf, "{name} = {value}");
        };
        set("listen_addresses", "''");
        set("port", &PORT.to_string());
        set("unix_socket_directories", &quoted_list_of_one(socket_dir));
        set("unix_socket_permissions", "0700");
        set("max_connections", &self.max_connections.to_string());
        set("shared_buffers", &format!("{}MB", self.shared_buffers_mib));
        // Full pages after a checkpoint are most of the WAL: compress them, and make checkpoints rare.
        set("wal_compression", if lz4 { "lz4" } else { "on" });
        set("max_wal_size", "4GB");
        set("checkpoint_timeout", "15min");
        // Every commit waits while a new segment is filled with zeros, at 16,000 messages a second once a second. Those
        // that were there once are kept for the next burst.
        set("wal_init_zero", "off");
        set("min_wal_size", "1GB");
        // Else the kernel writes half a minute's pages at once, and commits wait behind them.
        set("backend_flush_after", "2MB");
        set("synchronous_commit", "on");
        set("fsync", durable);
        set("full_page_writes", durable);
        // Every query of quipu is short; compiling one costs more than it spares.
        set("jit", "off");
        set("timezone", "'UTC'");
        set("log_timezone", "'UTC'");
        // stderr is DATA/postgres.log: quipu opens it, so it is in the data directory whoever runs Postgres.
        set("log_destination", "'stderr'");
        set("logging_collector", "off");
        set("log_min_messages", "warning");
        set("log_checkpoints", "off");
        set("log_line_prefix", "'%m [%p] '");
        conf
    }
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// One directory as a list: quoted for the list (so that a comma stays part of the name), then for the file.
fn quoted_list_of_one(path: &Path) -> String {
    let item = path.display().to_string().replace('"', "\"\"");
    let escaped = format!("\"{item}\"").replace('\\', "\\\\").replace('\'', "''");
    format!("'{escaped}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(settings: Settings, lz4: bool) -> Vec<String> {
        settings.render(Path::new("/run/q"), lz4).lines().map(str::to_owned).collect()
    }

    #[test]
    fn serving_is_durable_and_has_no_tcp() {
        let lines = lines(Settings::default(), true);
        for wanted in [
            "fsync = on",
            "full_page_writes = on",
            "synchronous_commit = on",
            "listen_addresses = ''",
            "wal_compression = lz4",
        ] {
            assert!(lines.iter().any(|line| line == wanted), "{wanted} is missing in {lines:#?}");
        }
    }

    #[test]
    fn a_thrown_away_cluster_does_not_wait_for_the_disk() {
        assert!(lines(Settings::throw_away(), true).iter().any(|line| line == "fsync = off"));
    }

    #[test]
    fn a_build_without_lz4_still_compresses() {
        assert!(lines(Settings::default(), false).iter().any(|line| line == "wal_compression = on"));
    }

    #[test]
    fn odd_names_of_directories_stay_one_directory() {
        assert_eq!(quoted_list_of_one(Path::new("/a, b/it's\\")), r#"'"/a, b/it''s\\"'"#);
    }
}
