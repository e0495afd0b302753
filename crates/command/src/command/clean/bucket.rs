//! `fathom clean s3://…`: what killed runs left in a bucket.

use std::io::IsTerminal;
use std::path::Path;

use fathom_engine::object::clean_bucket;
use fathom_engine::prepare::{CreationRefused, PrepareHooks, PrepareProgress};
use fathom_fleet::Interrupt;
use fathom_model::{Target, unit};

use crate::command::clean::Clean;
use crate::exit::{CommandError, Exit};
use crate::{present, signals};

/// Lists or removes what runs left behind below a bucket's prefix.
pub(super) fn run(clean: &Clean, target: &str) -> anyhow::Result<Exit> {
    let parsed: Target = target.parse().map_err(CommandError::usage)?;
    let Target::Bucket(bucket) = parsed else {
        let problem = format!(
            "{target} is not a bucket\nhelp: `fathom clean` alone lists what is left on this host; a \
             bucket is named as s3://bucket/prefix"
        );
        return Err(CommandError::Usage(problem).into());
    };
    let store = clean.reached.store();
    let interrupt = Interrupt::new();
    signals::raise_on_first_signal(&interrupt)?;
    let mut shown = Shown {
        interrupt: &interrupt,
        lines: std::io::stderr().is_terminal(),
    };
    let found = clean_bucket(&store, &bucket, (clean.yes, clean.kept), &mut shown);
    shown.clear();
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            present::complain(&error.to_string());
            return Ok(match interrupt.is_raised() {
                true => Exit::Interrupted,
                false => Exit::Failure,
            });
        }
    };
    if found.kept_runs > 0 {
        present::write_names(&format!(
            "left alone: what --keep-files kept ({} of that kind); --kept takes it too\n",
            unit::group(found.kept_runs)
        ))?;
    }
    if found.runs.is_empty() {
        present::write_names(&match bucket.contains('/') {
            true => "nothing to clean\n".to_owned(),
            false => format!(
                "nothing to clean right below s3://{bucket}; runs below a prefix are found by it: \
                 s3://{bucket}/PREFIX\n"
            ),
        })?;
        return Ok(Exit::Success);
    }
    let verb = if clean.yes { "removed " } else { "" };
    for run in &found.runs {
        present::write_names(&format!("{verb}s3://{}/{run}\n", bucket_name(&bucket)))?;
    }
    present::write_names(&format!(
        "{} objects ({}), {} unfinished uploads\n",
        unit::group(found.objects),
        unit::bytes(found.bytes),
        unit::group(found.uploads)
    ))?;
    if !clean.yes {
        present::write_names("add --yes to remove them; a run that is under way is one of them\n")?;
    }
    Ok(Exit::Success)
}

fn bucket_name(target: &str) -> &str {
    target.split('/').next().unwrap_or(target)
}

/// Shows how far it is on a terminal, and ends it when the user wants that.
struct Shown<'i> {
    interrupt: &'i Interrupt,
    lines: bool,
}

impl Shown<'_> {
    fn clear(&self) {
        if self.lines {
            present::rewrite_line("");
        }
    }
}

impl PrepareHooks for Shown<'_> {
    fn progress(&mut self, progress: PrepareProgress<'_>) {
        if self.lines {
            present::rewrite_line(progress.what);
        }
    }

    fn creating(&mut self, _: &Path) -> Result<(), CreationRefused> {
        Err(CreationRefused::CleaningUp)
    }

    fn removed(&mut self, _: &Path) {}

    fn waiting(&self, text: &str) {
        present::complain(text);
    }

    fn stop_requested(&self) -> bool {
        self.interrupt.is_raised()
    }
}
