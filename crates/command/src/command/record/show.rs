//! `fathom record show`: what is in a recording.

use std::path::PathBuf;

use clap::Args;
use fathom_documents::contents;
use fathom_recorder::recording;

use crate::exit::{CommandError, Exit};
use crate::present;

/// Show what is in a recording: who, when, how long, and what was seen.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fathom record show db1-20261121-153000.frec")]
pub(crate) struct Show {
    /// The recording.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(show: &Show) -> anyhow::Result<Exit> {
    let contents = contents(&show.file).map_err(CommandError::from)?;
    present::write_names(&contents)?;
    let whole = recording(&show.file)?;
    let found = fathom_diagnose::diagnose(&whole, |_| None);
    if let Some(table) = fathom_report::diagnosis::devices(&found, fathom_console::columns()) {
        present::write_names(&format!("\n{table}"))?;
    }
    Ok(Exit::Success)
}
