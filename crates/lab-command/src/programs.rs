//! Where the programs of an exam are.

use std::path::Path;

use anyhow::Context;
use fathom_exam::diagnosis::Programs;

/// This program, and the fathom to examine: the one that was named, else the
/// one in the folder of this program.
///
/// # Errors
/// When there is none.
pub(crate) fn programs(fathom: Option<&Path>) -> anyhow::Result<Programs> {
    let laboratory = std::env::current_exe().context("cannot find this program")?;
    let fathom = match fathom {
        // Calls of it are made from other folders.
        Some(named) => fathom_deadline::paths::canonicalize(named)
            .with_context(|| format!("cannot use {}", named.display()))?,
        None => laboratory.with_file_name("fathom"),
    };
    anyhow::ensure!(
        fathom.is_file(),
        "there is no {}: build fathom, or name one with --fathom",
        fathom.display()
    );
    Ok(Programs { fathom, laboratory })
}
