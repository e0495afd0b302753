//! The `fathom` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    fathom_command::main()
}
