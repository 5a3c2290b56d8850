//! Who runs Postgres: we ourselves, or, where we are root, which Postgres refuses, somebody with fewer rights.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use rustix::process::{getegid, geteuid};
use tokio::process::Command;

use super::error::{Doing, PostgresServerError};

/// The user and group that run Postgres and own its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// We are root and step down to this account; otherwise it is our own.
    steps_down: bool,
}

impl Account {
    /// Ourselves; as root the owner of `cluster` if there is one, else `postgres`, else `nobody`.
    pub(super) fn choose(cluster: &Path) -> Result<Account, PostgresServerError> {
        let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
        if uid != 0 {
            return Ok(Account { uid, gid, steps_down: false });
        }
        if let Ok(owner) = fs::metadata(cluster)
            && owner.uid() != 0
        {
            return Ok(Account { uid: owner.uid(), gid: owner.gid(), steps_down: true });
        }
        let passwd = fs::read_to_string("/etc/passwd").doing(|| "read /etc/passwd".into())?;
        let (uid, gid) = ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| find_in_passwd(&passwd, name))
            .ok_or(PostgresServerError::NoAccount)?;
        Ok(Account { uid, gid, steps_down: true })
    }

    /// Has `command` run as this account, with no other groups and from a directory that everybody may enter.
    pub(super) fn run(&self, command: &mut Command) {
        command.current_dir("/").env("LC_ALL", "C");
        if self.steps_down {
            // With a uid given, the standard library also clears root's supplementary groups.
            command.uid(self.uid).gid(self.gid);
        }
    }

    /// Gives `path` to this account.
    pub(super) fn own(&self, path: &Path) -> Result<(), PostgresServerError> {
        if self.steps_down {
            chown(path, Some(self.uid), Some(self.gid))
                .doing(|| format!("give {} to user {}", path.display(), self.uid))?;
        }
        Ok(())
    }

    /// Whether this account gets as far as into `dir`, judged by the modes of `dir` and all above it.
    pub(super) fn may_enter(&self, dir: &Path) -> Result<bool, PostgresServerError> {
        if !self.steps_down {
            return Ok(true);
        }
        for step in dir.ancestors() {
            let entry = fs::metadata(step).doing(|| format!("look at {}", step.display()))?;
            if !mode_lets_enter(entry.mode(), self.uid == entry.uid(), self.gid == entry.gid()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The first class that fits decides, as in the kernel: an owner without x stays out though others may enter.
fn mode_lets_enter(mode: u32, is_owner: bool, is_group: bool) -> bool {
    match (is_owner, is_group) {
        (true, _) => mode & 0o100 != 0,
        (false, true) => mode & 0o010 != 0,
        (false, false) => mode & 0o001 != 0,
    }
}

/// uid and gid of `name`; root and broken lines count as absent.
fn find_in_passwd(passwd: &str, name: &str) -> Option<(u32, u32)> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let uid: u32 = fields.nth(1)?.parse().ok()?;
        let gid: u32 = fields.next()?.parse().ok()?;
        (uid != 0).then_some((uid, gid))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0::/root:/bin/sh\nbroken\npostgresx:x:7:7::/:\npostgres:x:101:104:x,,:/v:/b\ntoor:x:0:1:::\n";

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        assert_eq!(find_in_passwd(PASSWD, "postgres"), Some((101, 104)));
        assert_eq!(find_in_passwd(PASSWD, "nobody"), None);
    }

    #[test]
    fn a_second_name_of_root_is_no_account() {
        assert_eq!(find_in_passwd(PASSWD, "toor"), None);
        assert_eq!(find_in_passwd(PASSWD, "broken"), None);
    }

    #[test]
    fn the_first_class_that_fits_decides() {
        assert!(mode_lets_enter(0o755, false, false));
        assert!(!mode_lets_enter(0o700, false, false));
        assert!(mode_lets_enter(0o700, true, false));
        assert!(!mode_lets_enter(0o705, false, true));
        assert!(!mode_lets_enter(0o077, true, true));
    }
}
