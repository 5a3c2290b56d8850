//! Makes the cluster, once, and writes its settings. A cluster appears under its name only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::error::{Doing, PostgresServerError};
use super::layout::Layout;
use super::programs::Programs;
use super::settings::Settings;

/// The superuser of the cluster, the only role there is at first.
pub(super) const USER: &str = "quipu";

/// How much of what initdb printed goes into an error: its last lines say what went wrong.
const OUTPUT_BYTES_MAX: usize = 2_000;

/// Makes the cluster unless there is one. Call it under the start lock.
///
/// initdb works in a directory of its own that is renamed when all is done, so a cluster is whole or absent,
/// wherever we are killed.
pub(super) async fn ensure_made(layout: &Layout, programs: &Programs) -> Result<(), PostgresServerError> {
    sweep_unfinished(&layout.cluster)?;
    if layout.cluster.join("PG_VERSION").exists() {
        return Ok(());
    }
    let draft = unfinished(&layout.cluster, std::process::id());
    tracing::info!(cluster = %layout.cluster.display(), "making a PostgreSQL cluster");
    fs::DirBuilder::new().mode(0o700).create(&draft).doing(|| format!("make {}", draft.display()))?;
    layout.account.own(&draft)?;
    initdb(layout, programs, &draft).await?;
    let conf = draft.join("postgresql.conf");
    OpenOptions::new()
        .append(true)
        .open(&conf)
        .and_then(|mut file| {
            file.write_all(b"\ninclude_if_exists = 'quipu.conf'\n").and_then(|()| file.sync_all())
        })
        .doing(|| format!("write {}", conf.display()))?;
    let parent = layout.cluster.parent().unwrap_or(Path::new("/"));
    fs::rename(&draft, &layout.cluster)
        .and_then(|()| File::open(parent)?.sync_all())
        .doing(|| format!("name {}", layout.cluster.display()))
}

async fn initdb(layout: &Layout, programs: &Programs, draft: &Path) -> Result<(), PostgresServerError> {
    let mut command = Command::new(programs.folder.join("initdb"));
    layout.account.run(&mut command);
    command
        .arg("--pgdata")
        .arg(draft)
        .args(["--username", USER, "--encoding=UTF8", "--locale=C", "--data-checksums"])
        // Who may open the socket's directory is trusted; over TCP nobody gets in, should it ever be opened.
        .args(["--auth-local=trust", "--auth-host=reject"])
        .stdin(Stdio::null())
        .process_group(0);
    let ended = command.output().await.doing(|| format!("run initdb in {}", programs.folder.display()))?;
    if ended.status.success() {
        return Ok(());
    }
    let printed = [ended.stdout, ended.stderr].concat();
    let _ = fs::remove_dir_all(draft);
    Err(PostgresServerError::Initdb { status: ended.status, output: tail(&printed, OUTPUT_BYTES_MAX) })
}

/// Writes `quipu.conf`. Call it while the server is down.
pub(super) async fn write_settings(
    layout: &Layout,
    programs: &Programs,
    settings: Settings,
) -> Result<(), PostgresServerError> {
    let text = settings.render(&layout.socket_dir, can_compress_with_lz4(layout, programs).await);
    let conf = layout.cluster.join("quipu.conf");
    // A new file under the name, never through it: the directory belongs to a user with fewer rights than ours.
    let draft = layout.cluster.join("quipu.conf.draft");
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).doing(|| format!("remove {}", draft.display()));
        }
        _ => {}
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .doing(|| format!("write {}", draft.display()))?;
    layout.account.own(&draft)?;
    fs::rename(&draft, &conf).doing(|| format!("name {}", conf.display()))
}

/// Version 14 cannot, and a build may leave it out: the server itself knows, without being started.
async fn can_compress_with_lz4(layout: &Layout, programs: &Programs) -> bool {
    let mut command = Command::new(programs.folder.join("postgres"));
    layout.account.run(&mut command);
    command.arg("-D").arg(&layout.cluster).args(["-c", "wal_compression=lz4", "-C", "wal_compression"]);
    command.output().await.is_ok_and(|ended| ended.status.success())
}

fn unfinished(cluster: &Path, pid: u32) -> PathBuf {
    cluster.with_extension(format!("unfinished-{pid}"))
}

/// Removes what a killed process left. Its initdb may still be writing there, so what resists waits for the
/// next start.
fn sweep_unfinished(cluster: &Path) -> Result<(), PostgresServerError> {
    let parent = cluster.parent().unwrap_or(Path::new("/"));
    for entry in fs::read_dir(parent).doing(|| format!("list {}", parent.display()))?.flatten() {
        let path = entry.path();
        if is_unfinished(&path, cluster) {
            tracing::warn!(path = %path.display(), "removing a cluster that was never finished");
            let _ = fs::remove_dir_all(&path);
        }
    }
    Ok(())
}

fn is_unfinished(path: &Path, cluster: &Path) -> bool {
    path.file_stem() == cluster.file_stem()
        && path.extension().is_some_and(|it| it.to_string_lossy().starts_with("unfinished-"))
}

/// The last `bytes` of what a program printed, from the start of a line where one fits.
pub(super) fn tail(printed: &[u8], bytes: usize) -> String {
    let text = String::from_utf8_lossy(&printed[printed.len().saturating_sub(bytes)..]);
    match text.split_once('\n') {
        Some((_, rest)) if printed.len() > bytes && !rest.is_empty() => rest.trim_end().to_owned(),
        _ => text.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unfinished_clusters_are_swept() {
        let cluster = Path::new("/d/postgres");
        assert!(is_unfinished(&unfinished(cluster, 7), cluster));
        for kept in ["/d/postgres", "/d/postgres.log", "/d/postgres.users", "/d/other.unfinished-7"] {
            assert!(!is_unfinished(Path::new(kept), cluster), "{kept}");
        }
    }

    #[test]
    fn a_tail_starts_with_a_whole_line() {
        assert_eq!(tail(b"one\ntwo\nthree\n", 8), "three");
        assert_eq!(tail(b"one\ntwo\n", 80), "one\ntwo");
        assert_eq!(tail(b"", 80), "");
    }
}
