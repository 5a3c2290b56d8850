//! Finds the server programs of PostgreSQL on this machine. Only `initdb` and `postgres` are needed.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::PostgresServerError;

/// Names the folder of the programs; where it is set, no other is looked at.
const FOLDER_VARIABLE: &str = "QUIPU_PG_BIN";

/// Older ones lack what the schema uses.
const OLDEST_MAJOR: u32 = 14;

/// Where Debian and its relatives keep one folder for each major version.
const DEBIAN_FOLDER: &str = "/usr/lib/postgresql";

/// A folder with server programs of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Programs {
    pub(super) folder: PathBuf,
    pub(super) major: u32,
}

impl Programs {
    /// The programs for `cluster`: of its own major version if it exists, else the best there are.
    pub(super) fn find(cluster: &Path) -> Result<Programs, PostgresServerError> {
        let folders = folders();
        let found: Vec<Programs> = folders.iter().filter_map(|folder| Programs::look(folder)).collect();
        let made_by =
            fs::read_to_string(cluster.join("PG_VERSION")).ok().and_then(|text| text.trim().parse().ok());
        choose(found, made_by).map_err(|others| match (made_by, others.is_empty()) {
            (Some(made_by), false) => PostgresServerError::OtherVersion {
                cluster: cluster.to_owned(),
                made_by,
                found: others.iter().map(|it| it.major.to_string()).collect::<Vec<_>>().join(", "),
            },
            _ => PostgresServerError::NoPrograms { oldest: OLDEST_MAJOR, searched: listed(&folders) },
        })
    }

    fn look(folder: &Path) -> Option<Programs> {
        if !folder.join("initdb").is_file() {
            return None;
        }
        let output = Command::new(folder.join("postgres")).arg("--version").output().ok()?;
        let major = major_version(&String::from_utf8_lossy(&output.stdout))?;
        (major >= OLDEST_MAJOR).then(|| Programs { folder: folder.to_owned(), major })
    }
}

/// All folders worth a look, the best first.
fn folders() -> Vec<PathBuf> {
    if let Some(folder) = env::var_os(FOLDER_VARIABLE) {
        return vec![folder.into()];
    }
    let asked = Command::new("pg_config").arg("--bindir").output().ok();
    let mut folders: Vec<PathBuf> = asked
        .filter(|output| output.status.success())
        .map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
        .into_iter()
        .collect();
    let versions = fs::read_dir(DEBIAN_FOLDER).into_iter().flatten().flatten();
    folders.extend(newest_first(versions.map(|entry| entry.path()).collect()));
    folders.extend(env::var_os("PATH").iter().flat_map(env::split_paths));
    folders
}

fn listed(folders: &[PathBuf]) -> String {
    if folders.is_empty() {
        return "no folder at all".into();
    }
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The `bin` below each folder that is named by a number, the greatest number first.
fn newest_first(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let version = |folder: &PathBuf| folder.file_name().and_then(OsStr::to_str)?.parse::<u32>().ok();
    let mut numbered: Vec<(u32, PathBuf)> =
        folders.into_iter().filter_map(|folder| Some((version(&folder)?, folder.join("bin")))).collect();
    numbered.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    numbered.into_iter().map(|(_, folder)| folder).collect()
}

/// The first that fits, or all that do not.
fn choose(found: Vec<Programs>, made_by: Option<u32>) -> Result<Programs, Vec<Programs>> {
    let fits = |programs: &&Programs| made_by.is_none_or(|major| programs.major == major);
    found.iter().find(fits).cloned().ok_or(found)
}

/// From `postgres (PostgreSQL) 15.18 (Debian …)` or `… 18beta1` the 15 or the 18.
fn major_version(printed: &str) -> Option<u32> {
    let version = printed.split_once("(PostgreSQL) ")?.1;
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(major: u32) -> Programs {
        Programs { folder: format!("/pg/{major}").into(), major }
    }

    #[test]
    fn versions_are_read_in_every_spelling() {
        assert_eq!(major_version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"), Some(15));
        assert_eq!(major_version("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(major_version("postgres (PostgreSQL) 17"), Some(17));
        assert_eq!(major_version("something else"), None);
    }

    #[test]
    fn nine_is_older_than_sixteen() {
        let folders = ["/pg/9", "/pg/16", "/pg/lib", "/pg/15"].map(PathBuf::from).to_vec();
        let sorted = newest_first(folders);
        assert_eq!(sorted, ["/pg/16/bin", "/pg/15/bin", "/pg/9/bin"].map(PathBuf::from));
    }

    #[test]
    fn a_cluster_keeps_the_version_that_made_it() {
        let found = vec![programs(17), programs(15)];
        assert_eq!(choose(found.clone(), None), Ok(programs(17)));
        assert_eq!(choose(found.clone(), Some(15)), Ok(programs(15)));
        assert_eq!(choose(found.clone(), Some(16)), Err(found));
    }
}
