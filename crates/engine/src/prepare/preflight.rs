//! Checks before the first trial: what would make a later trial impossible.
//!
//! A schedule of nine trials whose fifth one is refused wastes four. Everything
//! that can be known without changing the target is looked at beforehand:
//! whether the target exists, whether it may be written to, whether the sizes
//! fit the blocks, and whether there is room for the test files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fathom_drives::open_drive;
use fathom_model::workload::NamedFiles;
use fathom_model::{Job, Target};

use super::classify::{Kind, classify, not_permitted};
use super::{Task, check_fit, check_size, given, named, objects, space, test_files, tree};
use crate::Error;
use crate::access::Layout;
use crate::guard::inspect_device;
use crate::object::{self, Reached};
use crate::replay::Recorded;

/// Checks jobs one after another. A device is examined, a store asked and a
/// simulated drive described once, however many trials use it.
#[derive(Debug, Default)]
pub struct Preflight {
    devices: BTreeSet<PathBuf>,
    drives: BTreeSet<String>,
    stores: Reached,
}

impl Preflight {
    /// Checks whether `job` can run on its target. Changes nothing: a store is asked
    /// whether it shows the bucket.
    ///
    /// # Errors
    /// The same as [`super::prepare`] would return, as far as they can be known
    /// without making files or objects.
    pub fn check(&mut self, job: &Job) -> Result<(), Error> {
        if job.workload.files_work().is_some() {
            return match tree::directory(job)? {
                Some(dir) => check_writable(&dir),
                None => Ok(()),
            };
        }
        if job.workload.requests().is_some() {
            object::check(&job.workload)?;
            return self.stores.check(job);
        }
        check_size(&job.workload)?;
        let recorded = Recorded::of(&job.workload)?;
        let task = Task {
            job,
            recorded: recorded.as_ref(),
        };
        match (&job.target, &job.workload.data_set.named) {
            (Target::Null | Target::Peer(_), _) => Ok(()),
            (Target::Sim(model), _) => self.check_drive(model, job.seed),
            (Target::Bucket(_), _) => {
                objects::prepare_blocks(task)?;
                self.stores.check(job)
            }
            (Target::Path(_), Some(names)) => self.check_named(task, names),
            (Target::Path(path), None) => self.check_path(task, path),
        }
    }

    fn check_path(&mut self, task: Task<'_>, path: &Path) -> Result<(), Error> {
        let job = task.job;
        let (path, kind) = classify(path)?;
        let layout = match kind {
            Kind::Directory => test_files::layout(job, &path)?,
            Kind::File => given::file_layout(job, &path)?,
            Kind::Device => given::device_layout(job, &path)?,
            Kind::Stream => given::stream_layout(job, &path)?,
        };
        check_fit(task, &layout)?;
        match kind {
            Kind::Directory => check_directory(&path, &layout),
            Kind::File => given::permit_file(job, &path, &layout),
            Kind::Device => {
                given::permit_device(job, &path)?;
                self.check_device(job, &path)
            }
            Kind::Stream => Ok(()),
        }
    }

    fn check_named(&mut self, task: Task<'_>, names: &NamedFiles) -> Result<(), Error> {
        let files = named::Files::look(names)?;
        let layout = files.layout(task.job)?;
        check_fit(task, &layout)?;
        files.check(task.job, &layout)?;
        let devices = files.devices();
        devices
            .into_iter()
            .try_for_each(|device| self.check_device(task.job, device))
    }

    fn check_drive(&mut self, model: &str, seed: u64) -> Result<(), Error> {
        if !self.drives.contains(model) {
            open_drive(model, seed)?;
            self.drives.insert(model.to_owned());
        }
        Ok(())
    }

    fn check_device(&mut self, job: &Job, path: &Path) -> Result<(), Error> {
        if !given::writes(job) || !self.devices.insert(path.to_owned()) {
            return Ok(());
        }
        let guard = inspect_device(path)?;
        guard.permit()?;
        given::check_not_read_only(&guard, path)
    }
}

/// Whether test files can be made in a directory, and fit. Files of earlier
/// runs that will be reused count as room.
fn check_directory(dir: &Path, layout: &Layout) -> Result<(), Error> {
    check_writable(dir)?;
    let missing = layout.files.iter().map(|file| {
        let there = rustix::fs::lstat(&file.path);
        let allocated = there.map_or(0, |facts| u64::try_from(facts.st_blocks).unwrap_or(0) * 512);
        file.size_bytes.saturating_sub(allocated)
    });
    space::check_room(dir, missing.sum())
}

/// Whether files can be made in a directory.
fn check_writable(dir: &Path) -> Result<(), Error> {
    space::check_room(dir, 0)?;
    fathom_deadline::paths::accept_changes(dir)
        .map_err(|silent| Error::io("make files in", dir)(silent.into()))?;
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(dir, access)
        .map_err(|errno| not_permitted(dir, "create files in", errno.into()))
}
