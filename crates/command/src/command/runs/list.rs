//! `fathom runs list`: when, what, and what came out.

use std::path::Path;

use clap::{Args, ValueEnum};
use fathom_model::{RunState, Validity, unit};
use fathom_observe::unix_now_ns;
use fathom_runs::digest::Digest;
use fathom_runs::listing::{self, Layout, Listed, Since};
use fathom_store::{RunListing, Store};

use crate::exit::Exit;
use crate::output_flags::StorePath;
use crate::present;
use crate::shown::{Shown, TextOrJson};

/// List stored runs, newest first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom runs list
  fathom runs list --since 7d --target /data
  fathom runs list --tag firmware --verdict trusted
  fathom runs list --all --json

The last characters of an id name a run as well as all of it.")]
pub(crate) struct List {
    /// At most this many.
    #[arg(long, short = 'n', default_value_t = 20)]
    limit: u32,
    /// Also show failed runs.
    #[arg(long)]
    all: bool,
    /// Only runs with this in the name of a target.
    #[arg(long, value_name = "TEXT")]
    target: Option<String>,
    /// Only runs with this tag or label.
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only runs that began at most this long ago, for example 7d, or on this day or
    /// later, for example 2026-11-01 (UTC).
    #[arg(long, value_name = "TIME|DATE")]
    since: Option<Since>,
    /// Only runs with this verdict.
    #[arg(long, value_enum)]
    verdict: Option<VerdictFilter>,
    #[command(flatten)]
    shown: Shown<TextOrJson>,
    #[command(flatten)]
    store: StorePath,
}

/// Verdicts that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VerdictFilter {
    /// Trusted.
    Trusted,
    /// With caveats.
    Caveats,
    /// Not trusted.
    NotTrusted,
    /// Not determined.
    NotDetermined,
}

impl VerdictFilter {
    fn validity(self) -> Validity {
        match self {
            VerdictFilter::Trusted => Validity::Trusted,
            VerdictFilter::Caveats => Validity::Caveats,
            VerdictFilter::NotTrusted => Validity::NotTrusted,
            VerdictFilter::NotDetermined => Validity::NotDetermined,
        }
    }
}

pub(super) fn run(list: &List) -> anyhow::Result<Exit> {
    list.shown.admit()?;
    let path = present::store_path(&list.store)?;
    // No store yet is not an error: nothing has been measured.
    let stored = match fathom_deadline::paths::find(&path)? {
        Some(_) => Store::open_read_only(&path)?.list(None)?,
        None => Vec::new(),
    };
    let is_empty = stored.is_empty();
    let now = unix_now_ns();
    let mut failed = 0;
    let mut chosen: Vec<RunListing> = Vec::new();
    for run in stored.into_iter().filter(|run| list.asks_for(run, now)) {
        match run.state == RunState::Failed && !list.all {
            true => failed += 1,
            false => chosen.push(run),
        }
    }
    let limit = list.limit as usize;
    let mut shown = Vec::new();
    let mut more = 0;
    for run in chosen {
        if shown.len() == limit {
            more += 1;
            continue;
        }
        let digest = digest_of(&path, &run);
        let validity = digest.as_ref().and_then(|digest| digest.validity);
        if list
            .verdict
            .is_none_or(|wanted| validity == Some(wanted.validity()))
        {
            shown.push(Listed { run, digest });
        }
    }
    if list.shown.is_json() {
        list.shown.write(&listing::json(&shown)?)?;
        return Ok(Exit::Success);
    }
    if is_empty {
        list.shown
            .write("nothing has been measured yet; try `fathom quick`\n")?;
        return Ok(Exit::Success);
    }
    let mut text = match shown.is_empty() {
        true => "no run matches\n".to_owned(),
        false => listing::table(&shown, &list.layout(now)),
    };
    if more > 0 {
        text += &format!(
            "{} not shown: --limit {}\n",
            unit::counted(more, "older run"),
            list.limit as u64 + more
        );
    }
    if failed > 0 {
        text += &format!("{} hidden: --all\n", unit::counted(failed, "failed run"));
    }
    list.shown.write(&text)?;
    Ok(Exit::Success)
}

impl List {
    fn asks_for(&self, run: &RunListing, now_unix_ns: u64) -> bool {
        let target = self.target.as_ref();
        let since = self.since.map(|since| since.unix_ns(now_unix_ns));
        let tagged = |tag: &String| run.tags.contains(tag) || run.label.as_ref() == Some(tag);
        target.is_none_or(|text| run.targets.iter().any(|target| target.contains(text)))
            && self.tag.as_ref().is_none_or(tagged)
            && since.is_none_or(|since| run.started_unix_ns >= since)
    }

    fn layout(&self, now_unix_ns: u64) -> Layout {
        Layout {
            width: self.shown.terminal_columns(),
            color: self.shown.is_colored(),
            now_unix_ns,
        }
    }
}

/// What was found: as it was kept, else judged again and kept.
fn digest_of(store: &Path, run: &RunListing) -> Option<Digest> {
    if let Some(digest) = Digest::kept(run) {
        return Some(digest);
    }
    if run.state == RunState::Running || run.begun_trials == 0 {
        return None;
    }
    let opened = Store::open_read_only(store).ok()?;
    let record = opened.load_to_judge(&run.id).ok()?.record;
    let digest = Digest::of_record(&record);
    digest.keep(store, &run.id);
    Some(digest)
}
