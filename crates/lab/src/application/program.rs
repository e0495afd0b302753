//! A program that others wrote: a database, a compiler, an archiver.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::real::tool;

/// The file that a program makes in its folder once it is at work.
pub const READY: &str = "ready";

/// What is run, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Found on the PATH.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where it keeps its files.
    pub folder: PathBuf,
}

impl Program {
    /// Becomes the program. All that it starts is in a namespace of processes with
    /// it, and ends with it (pid_namespaces(7)).
    ///
    /// # Errors
    /// [`Error::Absent`] where the program is missing, [`Error::Io`] where it cannot
    /// be started.
    pub(super) fn run(&self) -> Result<(), Error> {
        let unshare = tool::need("unshare", "util-linux")?;
        let program = tool::need(&self.name, &self.name)?;
        let error = Command::new(&unshare)
            .args(["--pid", "--fork", "--kill-child"])
            .arg(program)
            .args(&self.arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .exec();
        Err(Error::io("run", &unshare)(error))
    }
}
