//! `quipu-child …`: the binary `quipu` once more, down to its only line, so that cargo builds it with the tests that
//! start and kill it. The one of the package `quipu` might be an old one, or not there at all.

use std::process::ExitCode;

fn main() -> ExitCode {
    quipu::cli::main()
}
