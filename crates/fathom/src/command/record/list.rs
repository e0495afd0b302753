//! `fathom record list`: the recordings that were given no name of their own.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use clap::Args;
use fathom_deadline::paths;
use fathom_model::unit;
use fathom_recorder::RecordingReader;
use fathom_report::table::{Align, Table};

use super::{EXTENSION, folder};
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
        path.extension()
            .is_some_and(|extension| extension == EXTENSION)
    });
    recordings.sort();
    let columns = [
        ("recording", Align::Left),
        ("host", Align::Left),
        ("began (UTC)", Align::Left),
        ("length", Align::Right),
        ("size", Align::Right),
    ];
    let mut table = Table::new(columns);
    for path in &recordings {
        table.row(row(path));
    }
    if table.is_empty() {
        let text = format!("There are no recordings in {}.\n", folder.display());
        present::write_stdout(&text)?;
        return Ok(Exit::Success);
    }
    let text = format!("In {}:\n\n{}", folder.display(), table.render());
    present::write_stdout(&text)?;
    Ok(Exit::Success)
}

/// The length is from the first frame to the last change of the file: reading
/// all of a long recording takes a while.
fn row(path: &Path) -> [String; 5] {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let metadata = paths::metadata(path).ok();
    let size = metadata.as_ref().map(std::fs::Metadata::len);
    let size = size.map_or("-".to_owned(), |size| unit::bytes(size).to_string());
    let mut reader = match RecordingReader::open(path) {
        Ok(reader) => reader,
        Err(error) => {
            return [
                name.into_owned(),
                error.to_string(),
                String::new(),
                String::new(),
                size,
            ];
        }
    };
    let host = reader.header().host.name.clone();
    let Some(first) = reader.next() else {
        return [
            name.into_owned(),
            host,
            "-".to_owned(),
            "-".to_owned(),
            size,
        ];
    };
    let changed = metadata.and_then(|m| m.modified().ok());
    let changed_ms = changed.and_then(|t| Some(t.duration_since(UNIX_EPOCH).ok()?.as_millis()));
    let began_ms = u128::try_from(first.at.unix_ms).unwrap_or(0);
    let length_ms = changed_ms.map(|ms| ms.saturating_sub(began_ms));
    let length = length_ms.map_or("-".to_owned(), |ms| {
        unit::span(u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000))
    });
    [
        name.into_owned(),
        host,
        super::show::date(first.at.unix_ms),
        length,
        size,
    ]
}
