//! The binary `quipu`. Everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    quipu::cli::main()
}
