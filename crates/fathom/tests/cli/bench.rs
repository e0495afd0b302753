//! The bench on which a test works: a folder, a store of its own, and ways to
//! call fathom.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

/// Makes a script that can be run. Another process writes it: while this one has it
/// open, a child that another test starts inherits that, and running it is "text file
/// busy" (ETXTBSY).
pub(crate) fn program(path: &Path, script: &str) {
    let write = "printf %s \"$2\" >\"$1\" && chmod 755 \"$1\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", write, "sh"]).arg(path).arg(script);
    assert!(shell.status().expect("a shell").success());
}

/// A folder with a store of its own.
pub(crate) struct Bench {
    folder: TempDir,
}

/// What a call of fathom gave.
pub(crate) struct Output {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        // Not in /tmp, which may be a tmpfs: the tests want a file system on a
        // device where there is one.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
        std::fs::create_dir(folder.path().join("data")).expect("a folder for test files");
        Bench { folder }
    }

    /// The folder for test files.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("fathom.db")
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_fathom")), args)
    }

    fn command_of<S: AsRef<OsStr>>(
        &self,
        program: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env("FATHOM_STORE", self.store())
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS")
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Calls fathom and waits for it.
    pub(crate) fn fathom<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Output {
        finish(self.command(args).spawn().expect("fathom starts"))
    }

    /// A call of the laboratory, from the same place.
    pub(crate) fn lab_command<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> Command {
        self.command_of(laboratory(), args)
    }

    /// Calls the laboratory and waits for it.
    pub(crate) fn lab<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Output {
        finish(self.lab_command(args).spawn().expect("fathom-lab starts"))
    }

    /// Calls fathom with `--json` and reads its result.
    pub(crate) fn json<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> (Output, Value) {
        let mut command = self.command(args);
        command.arg("--json");
        let output = finish(command.spawn().expect("fathom starts"));
        let value = output.json();
        (output, value)
    }

    /// Files below the data folder.
    pub(crate) fn data_files(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.data())
            .expect("the data folder is readable")
            .map(|entry| entry.expect("an entry").path())
            .collect()
    }
}

/// The program `fathom-lab`. The tests of its own crate make cargo build it; where
/// they do not run, it is built here.
pub(crate) fn laboratory() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = Path::new(env!("CARGO_BIN_EXE_fathom")).with_file_name("fathom-lab");
        if !program.exists() {
            let release = program.parent().is_some_and(|dir| dir.ends_with("release"));
            let status = Command::new(env!("CARGO"))
                .args([
                    "build",
                    "--quiet",
                    "--locked",
                    "--package",
                    "fathom-lab-command",
                ])
                .args(release.then_some("--release"))
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .status();
            assert!(
                status.is_ok_and(|status| status.success()),
                "fathom-lab is not built"
            );
        }
        program
    })
}

/// Waits for a child and collects what it said.
pub(crate) fn finish(child: Child) -> Output {
    let output = child.wait_with_output().expect("fathom can be waited for");
    Output {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}

impl Output {
    /// Standard output as one JSON document and nothing else (law of machine
    /// output).
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!(
                "standard output is not JSON ({error}):\n{}\n{}",
                self.stdout, self.stderr
            )
        })
    }

    /// Asserts an exit status and shows everything when it differs.
    #[track_caller]
    pub(crate) fn expect_status(&self, status: i32) -> &Output {
        assert_eq!(
            self.status,
            Some(status),
            "\n{}\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Asserts that a result was measured: trusted, with caveats or not.
    #[track_caller]
    pub(crate) fn expect_measured(&self) -> &Output {
        assert!(
            matches!(self.status, Some(0 | 4)),
            "{:?}\n{}\n{}",
            self.status,
            self.stdout,
            self.stderr
        );
        self
    }

    #[track_caller]
    pub(crate) fn expect_in_stderr(&self, text: &str) -> &Output {
        assert!(
            self.stderr.contains(text),
            "'{text}' is not in:\n{}",
            self.stderr
        );
        self
    }
}

/// The summary of one kind of operation of a trial.
pub(crate) fn op<'a>(result: &'a Value, trial: usize, kind: &str) -> &'a Value {
    result["trials"][trial]["summary"]["ops"]
        .as_array()
        .and_then(|ops| ops.iter().find(|op| op["kind"] == kind))
        .unwrap_or_else(|| panic!("trial {trial} has no {kind}: {result:#}"))
}

/// A finding of a verdict.
pub(crate) fn finding<'a>(verdict: &'a Value, id: &str) -> Option<&'a Value> {
    verdict["findings"]
        .as_array()?
        .iter()
        .find(|finding| finding["id"] == id)
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
