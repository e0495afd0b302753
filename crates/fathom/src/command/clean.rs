//! `fathom clean`: what killed runs left behind.

use fathom_store::{Leftover, Store};

use crate::cli::Clean;
use crate::exit::Exit;
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
    match fathom_engine::prepare::remove_leftover(&leftover.path) {
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
