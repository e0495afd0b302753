//! `fathom runs tag`, `note` and `rename`: what the user says about a run.

use clap::Args;
use fathom_model::printable::one_line;
use fathom_store::Store;

use crate::exit::{CommandError, Exit};
use crate::output_flags::StorePath;
use crate::present;

/// Add tags to a run, or remove them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom runs tag latest firmware-2.1 rack4
  fathom runs tag latest rack4 --remove")]
pub(crate) struct Tag {
    /// Id, an end or start of one, `latest`, `latest~N`, a label or a tag.
    run: String,
    /// Tags.
    #[arg(required = true)]
    tags: Vec<String>,
    /// Remove these tags.
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    store: StorePath,
}

/// Write a note on a run.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fathom runs note latest 'after the firmware update'")]
pub(crate) struct Note {
    /// Id, an end or start of one, `latest`, `latest~N`, a label or a tag.
    run: String,
    /// The note; an empty one removes it.
    text: String,
    #[command(flatten)]
    store: StorePath,
}

/// Give a run another label.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fathom runs rename latest baseline")]
pub(crate) struct Rename {
    /// Id, an end or start of one, `latest`, `latest~N`, a label or a tag.
    run: String,
    /// The label; an empty one removes it.
    label: String,
    #[command(flatten)]
    store: StorePath,
}

pub(super) fn tag(tag: &Tag) -> anyhow::Result<Exit> {
    let (mut store, id) = open(&tag.store, &tag.run)?;
    let listed = store.list(None)?;
    let run = listed.into_iter().find(|run| run.id == id);
    let mut tags = run.map(|run| run.tags).unwrap_or_default();
    tags.retain(|kept| !tag.tags.contains(kept));
    if !tag.remove {
        for new in &tag.tags {
            check_tag(new)?;
            if !tags.contains(new) {
                tags.push(new.clone());
            }
        }
    }
    store.set_tags(&id, &tags)?;
    let shown = match tags.is_empty() {
        true => "no tags".to_owned(),
        false => tags.join(", "),
    };
    present::write_names(&format!("{id}: {shown}\n"))?;
    Ok(Exit::Success)
}

/// A tag is one word, as it is typed to find it again.
fn check_tag(tag: &str) -> Result<(), CommandError> {
    let is_word = |c: char| !c.is_whitespace() && !c.is_control() && c != ',';
    if !tag.is_empty() && tag.chars().all(is_word) {
        return Ok(());
    }
    let problem =
        format!("invalid tag '{tag}': a tag is one word\nhelp: fathom runs note takes sentences");
    Err(CommandError::Usage(problem))
}

pub(super) fn note(note: &Note) -> anyhow::Result<Exit> {
    let (mut store, id) = open(&note.store, &note.run)?;
    store.set_note(&id, text(&note.text))?;
    present::write_names(&format!(
        "{id}: {}\n",
        text(&note.text).unwrap_or("no note")
    ))?;
    Ok(Exit::Success)
}

pub(super) fn rename(rename: &Rename) -> anyhow::Result<Exit> {
    let (mut store, id) = open(&rename.store, &rename.run)?;
    // A label stands in tables and at the head of reports.
    let label = one_line(&rename.label);
    store.set_label(&id, text(&label))?;
    present::write_names(&format!("{id}: {}\n", text(&label).unwrap_or("no label")))?;
    Ok(Exit::Success)
}

fn text(given: &str) -> Option<&str> {
    Some(given.trim()).filter(|text| !text.is_empty())
}

fn open(path: &StorePath, run: &str) -> anyhow::Result<(Store, String)> {
    let path = present::store_path(path)?;
    // The name is looked up first: no store is made for one that is not there.
    let id = Store::open_read_only(&path)?.find(run)?;
    Ok((Store::open(&path)?, id))
}
