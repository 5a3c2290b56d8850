//! `quipu bench`: people and their devices, played by one process over real sockets against a server that is another.
//!
//! A client of the contract and nothing else: it knows no crate of ours, so that what it says about a server it says
//! as any other client would. The population talks like people do, keeps what it is told, and checks every promise.

mod chance;
mod client;
pub mod load;
mod own_server;
pub mod population;

use std::{ffi::OsString, io::Write, process::ExitCode};

use clap::Subcommand;

/// What may be played.
#[derive(Debug, Clone, Subcommand)]
pub enum Mode {
    /// People with several devices each talk, read, recall, come and go while the server is killed; every promise of
    /// the contract is checked on every device. Ends with a verdict and, where it is not PASS, with exit code 1
    Population(population::Arguments),
    /// How many requests a second, how late the answers are, and what they cost
    Load(load::Arguments),
}

/// Why nothing came of it.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The population.
    #[error(transparent)]
    Population(#[from] population::PopulationError),
    /// The load.
    #[error(transparent)]
    Load(#[from] load::LoadError),
}

/// A server that somebody else runs.
#[derive(Debug, Clone)]
pub struct Elsewhere {
    /// Like http://127.0.0.1:7300.
    pub url: String,
    /// With which its tokens are signed.
    pub secret: String,
    /// The options by which a command of quipu finds its log, such as `--data DIR`.
    pub store: Vec<OsString>,
}

impl Mode {
    /// The server that was named, if one was.
    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Population(arguments) => arguments.url.as_deref(),
            Self::Load(arguments) => arguments.url.as_deref(),
        }
    }

    /// Plays it to the end and says on `out` how it goes and how it went. Without a server it starts one of its own,
    /// from this process's binary.
    pub async fn run(
        &self,
        elsewhere: Option<Elsewhere>,
        out: &mut (dyn Write + Send),
    ) -> Result<ExitCode, BenchError> {
        match self {
            Self::Population(arguments) => {
                let verdict = population::run(arguments, elsewhere, out).await?;
                Ok(if verdict.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
            }
            Self::Load(arguments) => {
                load::run(arguments, elsewhere, out).await?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}
