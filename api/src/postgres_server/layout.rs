//! Where our own Postgres keeps its things, below the data directory or, where its user cannot go there, beside it.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::account::Account;
use super::error::{Doing, PostgresServerError};
use super::settings::PORT;

/// The longest path of a Unix socket in bytes: `sun_path` has 108, and the last is a zero.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Where clusters go whose data directory their user cannot enter, such as one below root's home.
const ELSEWHERE: &str = "/var/lib/quipu";

/// Holds the path of a cluster that lives elsewhere.
const POINTER: &str = "postgres.location";

/// Every path of one cluster. The locks and the log are always in the data directory.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The cluster, `PGDATA`.
    pub(super) cluster: PathBuf,
    /// The directory of the socket.
    pub(super) socket_dir: PathBuf,
    /// What Postgres prints.
    pub(super) log: PathBuf,
    /// Held exclusively while somebody starts or stops the server.
    pub(super) start_lock: PathBuf,
    /// Held shared by each process that uses the server.
    pub(super) users_lock: PathBuf,
    /// Who owns the cluster and runs the server.
    pub(super) account: Account,
}

impl Layout {
    /// Settles all paths for `data_dir`, which is made if it is missing. Call again under the start lock
    /// only to read: the same directory always gives the same layout.
    pub(super) fn settle(data_dir: &Path) -> Result<Layout, PostgresServerError> {
        fs::create_dir_all(data_dir).doing(|| format!("make the data directory {}", data_dir.display()))?;
        let data = data_dir.canonicalize().doing(|| format!("resolve {}", data_dir.display()))?;
        let pointer = data.join(POINTER);
        let pointed = match fs::read_to_string(&pointer) {
            Ok(text) => text.lines().next().map(PathBuf::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).doing(|| format!("read {}", pointer.display())),
        };
        let here = data.join("postgres");
        let cluster = pointed.unwrap_or_else(|| here.clone());
        let account = Account::choose(&cluster)?;
        let cluster = if cluster == here && !account.may_enter(&data)? {
            let elsewhere = Path::new(ELSEWHERE).join(name_of(&data)).join("postgres");
            tracing::warn!(data = %data.display(), cluster = %elsewhere.display(),
                "Postgres cannot run as root, and its user cannot enter the data directory: its files go elsewhere");
            make_elsewhere(&elsewhere)?;
            point(&pointer, &elsewhere)?;
            elsewhere
        } else {
            cluster
        };
        let base = cluster.parent().unwrap_or(&data);
        Ok(Layout {
            socket_dir: socket_dir(base),
            log: data.join("postgres.log"),
            start_lock: data.join("postgres.start"),
            users_lock: data.join("postgres.users"),
            cluster,
            account,
        })
    }

    /// Makes the socket's directory, or checks that the one there is ours alone: below /tmp anybody could
    /// have made it first.
    pub(super) fn make_socket_dir(&self) -> Result<(), PostgresServerError> {
        let path = &self.socket_dir;
        match fs::DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => self.account.own(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let found = fs::symlink_metadata(path).doing(|| format!("look at {}", path.display()))?;
                let ours = found.is_dir() && found.mode() & 0o077 == 0;
                if ours && found.uid() == 0 {
                    // We were killed between making it and giving it away.
                    return self.account.own(path);
                }
                if ours && found.uid() == self.account.uid {
                    return Ok(());
                }
                Err(PostgresServerError::ForeignSocketDir { path: path.clone(), uid: self.account.uid })
            }
            Err(error) => Err(error).doing(|| format!("make {}", path.display())),
        }
    }
}

/// Makes the directories above `cluster`, so that its user may pass through them whatever our umask is.
fn make_elsewhere(cluster: &Path) -> Result<(), PostgresServerError> {
    let base = cluster.parent().unwrap_or(Path::new(ELSEWHERE));
    for dir in [Path::new(ELSEWHERE), base] {
        fs::create_dir_all(dir)
            .and_then(|()| fs::set_permissions(dir, fs::Permissions::from_mode(0o711)))
            .doing(|| format!("make {}", dir.display()))?;
    }
    Ok(())
}

/// Leaves word in the data directory of where its cluster is.
fn point(pointer: &Path, cluster: &Path) -> Result<(), PostgresServerError> {
    let text = format!(
        "{}\nThe first line is where the PostgreSQL files of this data directory are: root started quipu,\n\
         Postgres refuses to run as root, and its user cannot enter this directory.\n\
         A backup needs both. To move them, stop quipu, move the files and change the first line.\n",
        cluster.display()
    );
    let draft = pointer.with_extension("draft");
    fs::write(&draft, text)
        .and_then(|()| fs::rename(&draft, pointer))
        .doing(|| format!("write {}", pointer.display()))
}

/// Beside the cluster where the path is short enough, else below /tmp under a name made from the path.
fn socket_dir(base: &Path) -> PathBuf {
    let beside = base.join("postgres.socket");
    let socket = beside.join(format!(".s.PGSQL.{PORT}"));
    if socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return beside;
    }
    Path::new("/tmp").join(format!("quipu-{}", name_of(base)))
}

/// A short name for a path: 64 bits of its hash, enough to tell the directories of one machine apart.
fn name_of(path: &Path) -> String {
    blake3::hash(path.as_os_str().as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_path_keeps_its_socket_beside_the_cluster() {
        assert_eq!(socket_dir(Path::new("/srv/q")), Path::new("/srv/q/postgres.socket"));
    }

    #[test]
    fn a_long_path_gets_a_socket_that_fits() {
        let rest = "/.postgres.socket/.s.PGSQL.5432".len() - 1;
        let fits = format!("/{}", "d".repeat(SOCKET_PATH_BYTES_MAX - rest - 1));
        assert_eq!(socket_dir(Path::new(&fits)), Path::new(&fits).join("postgres.socket"));
        let long = format!("{fits}d");
        let dir = socket_dir(Path::new(&long));
        assert!(dir.starts_with("/tmp"), "{dir:?}");
        assert_eq!(dir, socket_dir(Path::new(&long)));
        assert_ne!(dir, socket_dir(Path::new(&format!("{long}e"))));
    }
}
