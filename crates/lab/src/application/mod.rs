//! Applications whose trouble is known: what a host does while it is diagnosed.
//!
//! Each is a process of its own (`fathom-lab application`), described in one
//! line of JSON, and goes on until it is killed or the process that started it
//! ends. It is slow for one reason only, and for that reason by construction.

mod block_io;
mod locks;
mod memory;
mod program;

use std::path::PathBuf;

use rustix::process::{Signal, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};

use crate::Error;

pub use self::block_io::{BlockIo, Operation};
pub use self::program::{Program, READY};

/// What an application does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "does", rename_all = "snake_case", deny_unknown_fields)]
pub enum Application {
    /// Reads or writes.
    BlockIo(BlockIo),
    /// Computes, in so many threads, without a pause.
    Compute {
        /// Threads.
        threads: u32,
    },
    /// Uses its memory again and again, in the order of addresses.
    Touch {
        /// How much of it.
        bytes: u64,
        /// Also asks the kernel to page all of it out after each round
        /// (`MADV_PAGEOUT`), which is what a shortage of memory does to it.
        page_out: bool,
        /// Between two rounds.
        pause_ms: u64,
    },
    /// Threads that want the same lock; who has it sleeps.
    Lock {
        /// A file that they lock (`flock`); a lock in memory without one.
        file: Option<PathBuf>,
        /// Threads.
        threads: u32,
        /// How long each keeps it.
        hold_ms: u64,
    },
    /// A program that others wrote.
    Program(Program),
}

impl Application {
    /// The description of one, in JSON.
    ///
    /// # Errors
    /// [`Error::Description`] with what is wrong.
    pub fn parse(text: &str) -> Result<Application, Error> {
        serde_json::from_str(text)
            .map_err(|error| Error::Description(format!("the application: {error}")))
    }

    /// As one line of JSON.
    ///
    /// # Errors
    /// [`Error::Description`] for a path that is no text.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string(self)
            .map_err(|error| Error::Description(format!("the application: {error}")))
    }

    /// Does it until this process is killed. It is when its parent ends.
    ///
    /// # Errors
    /// [`Error::Io`] when its file cannot be used.
    pub fn run(&self) -> Result<(), Error> {
        // Where this is refused the process that started it kills it itself.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        match self {
            Application::BlockIo(block_io) => block_io.run(),
            Application::Compute { threads } => {
                for _ in 1..*threads {
                    std::thread::spawn(compute);
                }
                compute()
            }
            Application::Touch {
                bytes,
                page_out,
                pause_ms,
            } => memory::touch(*bytes, *page_out, *pause_ms),
            Application::Lock {
                file,
                threads,
                hold_ms,
            } => locks::contend(file.as_deref(), *threads, *hold_ms),
            Application::Program(program) => program.run(),
        }
    }
}

fn compute() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_one_line() {
        for application in [
            Application::Compute { threads: 3 },
            Application::Lock {
                file: None,
                threads: 4,
                hold_ms: 20,
            },
            Application::BlockIo(BlockIo {
                path: "/dev/loop9".into(),
                operation: Operation::Read,
                block_bytes: 4096,
                active: vec![1, 8],
                step_ms: 1000,
                every_us: 0,
                batched_per_second: 0,
                seed: 7,
            }),
        ] {
            let line = application.to_json().expect("text");
            assert!(!line.contains('\n'));
            assert_eq!(Application::parse(&line).expect("its own"), application);
        }
        let told = Application::parse("{\"does\":\"sleep\"}").expect_err("unknown");
        assert!(told.to_string().starts_with("the application: "), "{told}");
    }
}
