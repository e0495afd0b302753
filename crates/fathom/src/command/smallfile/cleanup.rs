//! `--operation cleanup`: removes the trees that earlier command lines kept.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_compat::smallfile::Smallfile;
use fathom_engine::prepare::{PrepareHooks, PrepareProgress, remove_files_of_run};
use fathom_store::Store;

use super::FILE_PREFIX;
use crate::exit::Exit;
use crate::present;

/// Nobody waits longer for what goes on in the background.
const WAIT_MAX: Duration = Duration::from_secs(3600);

pub(super) fn run(asked: &Smallfile, top: &Path) -> anyhow::Result<Exit> {
    let top = std::path::absolute(top)?;
    let path = present::store_path(&Default::default())?;
    let mut store = match fathom_deadline::paths::find(&path)?.is_some() {
        true => Some(Store::open(&path)?),
        false => None,
    };
    let begun = Instant::now();
    let mut removed = Removed::default();
    let mut failed = false;
    let leftovers = match &store {
        Some(store) => store.leftovers()?,
        None => Vec::new(),
    };
    for leftover in leftovers {
        let name = leftover.path.file_name().and_then(|name| name.to_str());
        let Some(prefix) = name.and_then(|name| name.strip_suffix(".tree")) else {
            continue;
        };
        let ours = prefix == FILE_PREFIX || prefix.starts_with(&format!("{FILE_PREFIX}-h"));
        if !ours || leftover.path.parent() != Some(top.as_path()) {
            continue;
        }
        let tag = fathom_model::run::tag_of(&leftover.run_id);
        if let Err(error) = remove_files_of_run(&top, prefix, tag, &mut removed) {
            present::complain(&error.to_string());
            failed = true;
        }
    }
    let elapsed = begun.elapsed().as_secs_f64();
    if let Some(store) = &mut store {
        for path in &removed.paths {
            store.forget_file(path)?;
        }
    }
    let mut out = String::new();
    for path in &removed.paths {
        out += &format!("removed {}\n", path.display());
    }
    if removed.paths.is_empty() {
        out += &format!("nothing to remove in {}\n", top.display());
    }
    out += &format!("elapsed time = {elapsed:9.3}\n");
    present::write_stdout(&out)?;
    let files = asked.files.saturating_mul(asked.threads);
    let delay = Duration::from_micros(asked.cleanup_delay_us.saturating_mul(files));
    std::thread::sleep(delay.min(WAIT_MAX));
    Ok(match failed {
        true => Exit::Failure,
        false => Exit::Success,
    })
}

/// Takes note of what was removed.
#[derive(Default)]
struct Removed {
    paths: Vec<PathBuf>,
}

impl PrepareHooks for Removed {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &Path) -> Result<(), String> {
        Err("cleaning up creates nothing".to_owned())
    }

    fn removed(&mut self, path: &Path) {
        self.paths.push(path.to_owned());
    }

    fn stop_requested(&self) -> bool {
        false
    }
}
