//! The population tool: it passes where promises are kept, while the server is killed; and each of its checks fails
//! where one is not.

mod proxy;
mod sabotage;

use std::process::Stdio;

use tests::ScratchDir;
use tokio::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn a_small_population_finds_every_promise_kept_though_the_server_is_killed_and_read_models_are_rebuilt()
{
    let scratch = ScratchDir::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_quipu-child"));
    let arguments = ["--people", "12", "--devices", "2", "--seconds", "8", "--kills", "1", "--speed", "60"];
    command.args(["bench", "population", "--rebuild"]).args(arguments).args([
        "--recalled",
        "0.05",
        "--deleted",
        "0.05",
    ]);
    // What it starts and leaves is below the scratch directory, whose watchdog sees to it.
    command.env("TMPDIR", scratch.path()).current_dir(scratch.path()).stdin(Stdio::null());
    let output = command.kill_on_drop(true).output().await.expect("run the population");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with("PASS, seed "), "{said}");
    let left = std::fs::read_dir(scratch.path()).expect("look what is left").count();
    assert_eq!(left, 0, "data are left behind");
}
