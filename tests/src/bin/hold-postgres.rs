//! `hold-postgres DIR`: a process that uses the Postgres of a data directory, for tests to kill. Prints the
//! server's process id, waits until its input ends, and leaves the server as `quipu serve` would.

use std::error::Error;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use quipu::postgres_server::{PostgresServer, Settings};

#[tokio::main]
async fn main() -> ExitCode {
    let Err(error) = hold().await else {
        return ExitCode::SUCCESS;
    };
    // Where even this cannot be written, the exit code has to say it.
    let _ = writeln!(std::io::stderr(), "hold-postgres: {error}");
    ExitCode::FAILURE
}

async fn hold() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(std::env::args_os().nth(1).ok_or("name a data directory")?);
    let mut server = PostgresServer::start(&dir, Settings::throw_away()).await?;
    server.supervise();
    writeln!(std::io::stdout(), "{}", server.pid().ok_or("no server runs")?)?;
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    server.stop().await?;
    Ok(())
}
