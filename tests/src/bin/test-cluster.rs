//! `test-cluster COMMAND…`: runs a command with a throw-away Postgres, whose URL it finds in
//! QUIPU_TEST_POSTGRES, and ends as the command ended. The server goes with this process, however that ends.

use std::env;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};

use tests::{CLUSTER_VARIABLE, Cluster};

/// What a shell answers for a command that it cannot start.
const NOT_STARTED: u8 = 127;

fn main() -> ExitCode {
    let mut words = env::args_os().skip(1);
    let Some(program) = words.next() else {
        return ExitCode::from(NOT_STARTED);
    };
    let cluster = Cluster::throw_away();
    let ended = Command::new(&program).args(words).env(CLUSTER_VARIABLE, cluster.url()).status();
    drop(cluster);
    let ended = ended.unwrap_or_else(|error| panic!("run {}: {error}", program.display()));
    ExitCode::from(exit_code(ended))
}

/// As in a shell: the command's own code, or 128 and the signal that ended it.
fn exit_code(ended: ExitStatus) -> u8 {
    let code = ended.code().unwrap_or_else(|| 128 + ended.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(1)
}
