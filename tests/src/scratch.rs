//! A directory for one test, and the watchdog that removes it, with the Postgres in it, however the process
//! ends: by return, panic, abort or kill -9.

use std::fs::{self, Permissions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Short, since the path of a socket holds 107 bytes; and the user who runs Postgres may enter it.
const BASE: &str = "/tmp";

/// Blocks until the pipe closes, which the kernel does when the test process is gone. Then it stops whatever
/// works below the directory. SIGQUIT is Postgres' immediate stop: it still frees shared memory, which SIGKILL
/// would leave behind.
const WATCHDOG: &str = r#"
trap '' HUP INT TERM
cat >/dev/null
residents() {
    find /proc -mindepth 2 -maxdepth 2 -name cwd -lname "$1/*" | cut -d/ -f3
}
for resident in $(residents "$1"); do kill -QUIT "$resident"; done
for round in $(seq 50); do
    [ -z "$(residents "$1")" ] && break
    sleep 0.1
done
for resident in $(residents "$1"); do kill -KILL "$resident"; done
# A killed initdb may still be writing.
for round in $(seq 50); do
    rm -rf -- "$1"
    [ -e "$1" ] || break
    sleep 0.1
done
"#;

/// An empty directory below /tmp, removed when this is dropped or the process is gone. A Postgres whose
/// cluster is in it is stopped first.
#[derive(Debug)]
pub struct ScratchDir {
    path: PathBuf,
    watchdog: Child,
}

impl ScratchDir {
    /// Makes the directory; everybody may enter it.
    #[expect(clippy::new_without_default, reason = "it touches the disk")]
    pub fn new() -> ScratchDir {
        let base = Path::new(BASE).canonicalize().expect("resolve /tmp");
        let path = base.join(format!("quipu-test-{}", unique_name()));
        fs::create_dir(&path).expect("make a scratch directory");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("open the scratch directory to all");
        let watchdog = Command::new("/bin/sh")
            .args(["-c", WATCHDOG, "quipu-test-watchdog"])
            .arg(&path)
            .current_dir("/")
            .stdin(Stdio::piped())
            // The runner waits until nobody holds the test's output.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C and the runner's kill are for the test; the watchdog has work after that.
            .process_group(0)
            .spawn()
            .expect("start the watchdog of a scratch directory");
        ScratchDir { path, watchdog }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
    }
}

/// 16 hexadecimal digits that nobody else has: the standard library seeds its hashers from the system.
pub(crate) fn unique_name() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}
