//! `quipu` at the command line, on the log of a [`World`] and in empty folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tests::ScratchDir;

use crate::world::World;

/// The binary.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_quipu-child");

/// The key of [`crate::world::key`], as OpenSSL writes it.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
    MC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH\n\
    -----END PRIVATE KEY-----\n";

pub struct Program {
    scratch: ScratchDir,
    url: String,
}

#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Program {
    /// With a data directory whose key has signed the world's checkpoints.
    pub fn on(world: &World) -> Self {
        Self::at(&world.database.url)
    }

    /// The same on a database.
    pub fn at(url: &str) -> Self {
        let program = Self { scratch: ScratchDir::new(), url: url.to_owned() };
        fs::create_dir(program.data()).unwrap();
        fs::write(program.data().join("audit.key"), KEY).unwrap();
        program
    }

    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// A place that is gone with this.
    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// With the database and the data directory.
    pub async fn run(&self, arguments: &[&str]) -> Ended {
        let data = self.data();
        let data = data.to_str().unwrap();
        let common = ["--database", &self.url, "--data", data, "--log-format", "json"];
        run(&[arguments, &common].concat(), self.scratch.path()).await
    }
}

/// With nothing but its arguments, in a folder.
pub async fn run(arguments: &[&str], folder: &Path) -> Ended {
    let mut command = Command::new(PROGRAM);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("QUIPU_") || ["DATABASE_URL", "RUST_LOG"].contains(&&*text) {
            command.env_remove(&name);
        }
    }
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    let ended = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: ended.status.code(), out: text(ended.stdout), err: text(ended.stderr) }
}
