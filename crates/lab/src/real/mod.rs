//! Real components with a known limit, for tests.
//!
//! Everything here is a guard: dropped, it takes away what it made, and nothing
//! of others. What is missing on a machine (a program, a right, a kernel
//! feature) is an [`Error::Absent`](crate::Error::Absent) with the reason;
//! [`or_skip`] prints it and lets a test end.

mod disturber;
mod faulty;
mod file_system;
mod limited;
mod loop_device;
mod network_mount;
mod qmp;
mod server;
mod swap;
mod throttle;
pub mod tool;

pub use self::disturber::Disturber;
pub use self::faulty::{Faults, FaultyFile};
pub use self::file_system::FileSystem;
pub use self::limited::{Behind, LimitedFile, Limits};
pub use self::loop_device::LoopDevice;
pub use self::network_mount::NetworkMount;
pub use self::swap::SwapFile;
pub use self::throttle::Throttle;
use crate::Error;

/// What was made, or `None` after printing why this machine cannot.
///
/// # Panics
/// On every other error: then the laboratory is broken, and so is the test.
#[allow(clippy::print_stdout)]
pub fn or_skip<T>(made: Result<T, Error>) -> Option<T> {
    match made {
        Ok(made) => Some(made),
        Err(Error::Absent(reason)) => {
            println!("skipped: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[cfg(test)]
#[path = "real_tests.rs"]
mod tests;
