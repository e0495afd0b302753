//! `fathom record list`: the recordings that were given no name of their own.

use std::fs::DirEntry;
use std::path::PathBuf;

use clap::Args;
use fathom_deadline::paths;
use fathom_documents::listing;
use fathom_recorder::EXTENSION;

use super::folder;
use crate::exit::Exit;
use crate::output_flags::StorePath;
use crate::present;

/// List recordings in the folder beside the store.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fathom record list\n  fathom record list --folder /var/lib/fathom"
)]
pub(crate) struct List {
    /// Another folder.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    store: StorePath,
}

pub(super) fn run(list: &List) -> anyhow::Result<Exit> {
    let folder = match &list.folder {
        Some(folder) => folder.clone(),
        None => folder(&list.store)?,
    };
    let mut recordings: Vec<PathBuf> = match paths::entries(&folder) {
        Ok(entries) => entries.iter().map(DirEntry::path).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            present::complain(&format!("{}: {error}", folder.display()));
            return Ok(Exit::Failure);
        }
    };
    recordings.retain(|path| {
        let is_named = path
            .extension()
            .is_some_and(|extension| extension == EXTENSION);
        // A pipe of that name would be waited for.
        is_named && paths::is_file(path)
    });
    recordings.sort();
    let text = match recordings.is_empty() {
        true => format!("There are no recordings in {}.\n", folder.display()),
        false => format!("In {}:\n\n{}", folder.display(), listing(&recordings)),
    };
    present::write_names(&text)?;
    Ok(Exit::Success)
}
