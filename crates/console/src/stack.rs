//! A stack that is large enough, whatever the shell allows (`ulimit -s`).
//!
//! The stack of the first thread grows up to that limit, and a program that needs
//! more is killed without a message. Any other thread gets the stack it asks for.

use std::process::ExitCode;
use std::thread::Builder;

use rustix::process::{Resource, getrlimit};

use crate::exit::Exit;
use crate::streams::complain;

/// The parser of arguments needs 400 KiB where nothing is optimised.
const ENOUGH_BYTES: u64 = 2 << 20;
/// What shells allow as a rule.
const USUAL_BYTES: usize = 8 << 20;

/// Calls `work` where the stack is large enough: here, or else in a thread.
pub fn with_enough_stack(work: fn() -> ExitCode) -> ExitCode {
    let limit = getrlimit(Resource::Stack).current;
    if limit.is_none_or(|bytes| bytes >= ENOUGH_BYTES) {
        return work();
    }
    let thread = Builder::new().stack_size(USUAL_BYTES).spawn(work);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(exit)) => exit,
        // The panic has been reported where it arose.
        Ok(Err(_)) => Exit::Failure.into(),
        Err(error) => {
            complain(&format!(
                "the stack is limited to {} KiB (ulimit -s), and a thread with a larger one cannot be \
                 started: {error}",
                limit.unwrap_or(0) >> 10
            ));
            Exit::Failure.into()
        }
    }
}
