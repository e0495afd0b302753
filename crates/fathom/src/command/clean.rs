//! `fathom clean`: what killed runs left behind.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;
use fathom_store::{Leftover, Store};

use crate::cli::Clean;
use crate::exit::Exit;
use crate::pipeline::FILE_PREFIX;
use crate::present;

pub(crate) fn run(clean: &Clean) -> anyhow::Result<Exit> {
    let path = present::store_path(&clean.store)?;
    if !path.exists() {
        present::write_stdout("nothing to clean: nothing has been measured yet\n")?;
        return Ok(Exit::Success);
    }
    let mut store = Store::open(&path)?;
    let mut leftovers = store.leftovers()?;
    leftovers.retain(|leftover| clean.kept || !leftover.keep);
    if leftovers.is_empty() {
        present::write_stdout("nothing to clean\n")?;
        return Ok(Exit::Success);
    }
    let mut failed = false;
    for leftover in &leftovers {
        if clean.yes {
            failed |= !remove(&mut store, leftover)?;
        } else {
            let run = &leftover.run_id;
            present::write_stdout(&format!("{}  (run {run})\n", leftover.path.display()))?;
        }
    }
    if !clean.yes {
        present::write_stdout("`fathom clean --yes` removes them\n")?;
    }
    Ok(if failed { Exit::Failure } else { Exit::Success })
}

/// Removes one file and its note. False when the file could not be removed.
fn remove(store: &mut Store, leftover: &Leftover) -> anyhow::Result<bool> {
    match remove_test_file(&leftover.path) {
        Ok(()) => {
            store.forget_file(&leftover.path)?;
            present::write_stdout(&format!("removed {}\n", leftover.path.display()))?;
            Ok(true)
        }
        Err(error) => {
            present::complain(&error.to_string());
            Ok(false)
        }
    }
}

/// Removes a test file. A note outlives its file when the process was killed
/// between the two, so a file that is not there is fine; anything that is not
/// a plain file with the name of a test file is not ours to touch.
fn remove_test_file(path: &Path) -> anyhow::Result<()> {
    let metadata = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        other => other.with_context(|| format!("cannot look at {}", path.display()))?,
    };
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    anyhow::ensure!(
        metadata.is_file() && name.starts_with(FILE_PREFIX),
        "{} is no test file any more; look at it and remove it by hand",
        path.display()
    );
    std::fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))
}
