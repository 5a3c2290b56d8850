//! The binary `quipu`. Everything is in the library.

use std::process::ExitCode;

/// A third of the server's time under load was the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    quipu::cli::main()
}
