//! A new generation for which the disk has no room: what serves goes on, the error says what to do, and once there is
//! room the same command goes on where it was.

use std::{
    os::unix::fs::{MetadataExt, chown},
    path::Path,
    process::Command,
};

use projections::{
    Projection,
    generations::{GenerationError, State},
    query::{PageLimit, Range},
};
use tests::{
    ScratchDir,
    dice::Dice,
    log::{chat, say, uid},
};

use crate::world::{World, rebuild};

const CONVERSATION: Projection = Projection::Conversation;
/// Room for the tables of a generation while they are empty, and for some messages.
const LITTLE: &str = "size=1500k";
/// Messages that have no room there, of so many bytes that no compressor makes small.
const MESSAGES: u64 = 600;
const MESSAGE_BYTES: usize = 6_000;

/// A small disk; gone with this.
struct Disk(ScratchDir);

impl Disk {
    /// None where this process may not mount.
    fn mount() -> Option<Self> {
        let scratch = ScratchDir::new();
        let disk = Self(scratch);
        std::fs::create_dir(disk.path()).unwrap();
        let mounted = run("mount", &["-t", "tmpfs", "-o", LITTLE, "quipu-test"], &disk.path());
        mounted.then_some(disk)
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("disk")
    }

    fn enlarge(&self) {
        assert!(run("mount", &["-o", "remount,size=200m"], &self.path()));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        run("umount", &["--lazy"], &self.path());
    }
}

fn run(program: &str, arguments: &[&str], path: &Path) -> bool {
    Command::new(program).args(arguments).arg(path).status().is_ok_and(|status| status.success())
}

#[expect(clippy::print_stderr, reason = "a test that does nothing says so")]
#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_on_a_full_disk_fails_clean_and_goes_on_once_there_is_room() {
    let Some(disk) = Disk::mount() else {
        eprintln!("SKIPPED: this process may not mount a small disk");
        return;
    };
    let mut dice = Dice::of_this_run();
    let mut world = World::new().await;
    world.traffic(&mut dice, 1_000).await;
    for number in 0..MESSAGES {
        let text: String = (0..MESSAGE_BYTES).map(|_| char::from(b'!' + dice.below(94) as u8)).collect();
        world.commands.handle(chat(4, 4), say(4, 1_000_000 + number, &text)).await.unwrap();
    }
    world.caught_up(CONVERSATION).await;
    let client = world.database.connect().await;
    let data: String = client.query_one("show data_directory", &[]).await.unwrap().get(0);
    let owner = std::fs::metadata(&data).unwrap();
    chown(disk.path(), Some(owner.uid()), Some(owner.gid())).unwrap();
    let space = format!("small_{}", world.database.name());
    client
        .batch_execute(&format!("create tablespace {space} location '{}'", disk.path().display()))
        .await
        .unwrap();
    let mut config = world.database.config.clone();
    config.options(format!("-c default_tablespace={space}"));
    let generations = world.generations_by(&config);
    let failed = rebuild(&generations, CONVERSATION).await;
    let Err(error @ GenerationError::Full(..)) = failed else { panic!("{failed:?}") };
    let said = error.to_string();
    assert!(said.contains("projections drop conversation") && said.contains("untouched"), "{said}");
    assert_eq!(world.numbers(CONVERSATION).await.0, 1, "what serves goes on serving");
    world.traffic(&mut dice, 100).await;
    let models = world.projectors.read_models();
    let page = async || models.page(&chat(1, 2), uid(1), Range::default(), PageLimit::default()).await;
    let before = page().await.unwrap();
    let status = generations.status().await.unwrap();
    if let Some(left) = status.iter().find(|status| status.projection == CONVERSATION && status.number == 2) {
        assert_eq!(left.state, State::Interrupted);
        assert!(left.failure.as_ref().is_some_and(|failure| failure.contains("no room")), "{left:?}");
    }
    disk.enlarge();
    let report = rebuild(&generations, CONVERSATION).await.unwrap();
    assert!(report.switched && report.differences.is_empty(), "{report:?}");
    assert_eq!(page().await.unwrap(), before);
    // The tablespace goes before its disk.
    generations.roll_back(CONVERSATION).await.unwrap();
    generations.drop(CONVERSATION).await.unwrap();
    client.batch_execute(&format!("drop tablespace {space}")).await.unwrap();
}
