//! Test files in a directory: made, reused or refused.
//!
//! A file is reused if the manifest says that fathom made it. It is brought to
//! the asked-for size, and written again if the manifest or the file system
//! does not vouch for all of its data.

use std::path::Path;
use std::sync::Arc;

use fathom_model::workload::Precondition;
use fathom_model::{Job, unit};
use rustix::fs::{Mode, OFlags};

use super::beside::Beside;
use super::classify::not_permitted;
use super::cleanup::{OwnFile, OwnFiles, Removal};
use super::fill::{self, Filler, Stretch};
use super::hooks::PrepareHooks;
use super::manifest::{FileState, ListedFile, Manifest, check_prefix};
use super::of_run::TestDirectory;
use super::unwritten::unwritten_share;
use super::{Data, cleanup, direct, room, space};
use crate::Error;
use crate::access::{Layout, LayoutFile, TargetKind};
use crate::target_file::{FileFacts, TargetFile, open_beneath, open_directory};
use crate::verify::Ledger;

/// Test files that are ready, with what is needed to remove them.
#[derive(Debug)]
pub(crate) struct TestFiles {
    pub(crate) own: OwnFiles,
    pub(crate) manifest: Manifest,
    /// Another trial, which will run at the same time, uses some of the files:
    /// they may grow and not shrink.
    pub(crate) in_use: bool,
}

/// A test file before anything was done to it.
#[derive(Debug)]
struct ExistingFile {
    name: String,
    /// Size on the file system; `None` when it is not there.
    size_bytes: Option<u64>,
    allocated_bytes: u64,
    state: FileState,
}

/// The layout of test files for a job.
pub(crate) fn layout(job: &Job, dir: &Path) -> Result<Layout, Error> {
    let prefix = &job.file_prefix;
    check_prefix(prefix)?;
    let size_bytes = job.workload.data_set.size_bytes.ok_or_else(|| {
        Error::target(
            dir,
            "is a directory: give the size of the test files, or name a file or device",
        )
    })?;
    Layout::new(TargetKind::Directory, &job.workload, size_bytes, |n| {
        dir.join(format!("{prefix}.{n}"))
    })
}

impl TestFiles {
    /// Makes the files of `layout` ready. When that fails, the files that it
    /// has created are removed again.
    pub(crate) fn prepare(
        job: &Job,
        dir: &Path,
        layout: &mut Layout,
        beside: Beside<'_>,
        ledger: Option<&Ledger>,
        data: &mut Data,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<TestFiles, Error> {
        let dir_fd =
            open_directory(dir, OFlags::RDONLY).map_err(|e| not_permitted(dir, "open", e))?;
        space::check_room(dir, 0)?;
        rustix::fs::access(
            dir,
            rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
        )
        .map_err(|errno| not_permitted(dir, "create files in", errno.into()))?;
        let manifest_path = dir.join(Manifest::name(&job.file_prefix));
        if FileFacts::at(&dir_fd, Manifest::name(&job.file_prefix)).is_err() {
            announce(hooks, &manifest_path)?;
        }
        let ours = beside.manifest(&manifest_path);
        let manifest = match ours {
            Some(list) => list.again()?,
            None => Manifest::open(&dir_fd, dir, &job.file_prefix)?,
        };
        let mut files = TestFiles {
            own: OwnFiles {
                dir: Arc::new(dir_fd),
                dir_path: dir.to_owned(),
                owner: manifest.owner(),
                files: Vec::new(),
            },
            manifest,
            in_use: ours.is_some(),
        };
        let before = files.manifest.entries.clone();
        let result = files.make_ready(job, layout, ledger, data, hooks);
        match result {
            Ok(()) => Ok(files),
            Err(error) => {
                // What earlier trials of the run left stays, for their cleanup.
                files
                    .own
                    .files
                    .retain(|file| !before.contains_key(&file.name));
                let _ = files.remove(hooks);
                Err(error)
            }
        }
    }

    fn make_ready(
        &mut self,
        job: &Job,
        layout: &mut Layout,
        ledger: Option<&Ledger>,
        data: &mut Data,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<(), Error> {
        let found = layout.files.iter().map(|file| self.look(&file.path));
        let found = found.collect::<Result<Vec<ExistingFile>, Error>>()?;
        let wanted = layout.files.first().map_or(0, |file| file.size_bytes);
        check_earlier(job, layout, &found)?;
        let missing = found
            .iter()
            .map(|file| wanted.saturating_sub(file.allocated_bytes))
            .sum();
        space::check_room(&self.own.dir_path, missing)?;
        self.create_missing(job, layout, &found, hooks)?;
        let layout = &*layout;
        let old = (layout.files.iter().zip(&found))
            .filter(|(_, before)| before.size_bytes.is_some())
            .map(|(file, _)| file.opened());
        let old = old.collect::<Result<Vec<&TargetFile>, Error>>()?;
        fill::forget_cached("flushing what earlier trials wrote", &old, hooks)?;
        let stretches = to_be_filled(job, layout, &found, ledger.is_some());
        let vouched = self.vouch_for(job, &found, &stretches, wanted);
        // Until all is written and flushed the list vouches for nothing that
        // is about to change.
        let mut unchanged = vouched.clone();
        for stretch in &stretches {
            unchanged[stretch.file as usize] = false;
        }
        self.note(&found, &unchanged)?;
        for (file, before) in layout.files.iter().zip(&found) {
            let larger = before.size_bytes.filter(|_| self.in_use).unwrap_or(0);
            room::resize(
                file.opened()?,
                before.size_bytes,
                wanted.max(larger),
                job.workload.data_set.allocation,
            )?;
        }
        data.direct_align = layout
            .files
            .first()
            .and_then(|file| direct::direct_align(file.opened().ok()?));
        data.reused = found.iter().all(|file| file.size_bytes.is_some());
        let filler = Filler {
            job,
            layout,
            ledger,
            direct_align: data.direct_align,
        };
        if !stretches.is_empty() {
            data.prepared_bytes += filler.fill("filling test files", &stretches, hooks)?;
        }
        if job.workload.data_set.precondition == Precondition::RandomFill {
            data.prepared_bytes += filler.refill_at_random(hooks)?;
        }
        self.note(&found, &vouched)
    }

    /// Which files will be fully written when the stretches have been filled,
    /// and stay so during the load.
    fn vouch_for(
        &self,
        job: &Job,
        found: &[ExistingFile],
        stretches: &[Stretch],
        wanted: u64,
    ) -> Vec<bool> {
        let trims = job.workload.may_do(fathom_model::OpKind::Trim);
        let was_written = |before: &ExistingFile| {
            before.state == FileState::Written && before.size_bytes >= Some(wanted)
        };
        let mut vouched: Vec<bool> = found
            .iter()
            .map(|file| !trims && was_written(file))
            .collect();
        for stretch in stretches {
            // The rest of a larger file that is in use is not known.
            let at = stretch.file as usize;
            let whole = !self.in_use || found[at].size_bytes <= Some(wanted);
            vouched[at] = !trims && whole;
        }
        vouched
    }

    /// Lists which files are fully written.
    fn note(&mut self, found: &[ExistingFile], written: &[bool]) -> Result<(), Error> {
        for (file, written) in found.iter().zip(written) {
            if let Some(entry) = self.manifest.entries.get_mut(&file.name) {
                entry.state = if *written {
                    FileState::Written
                } else {
                    FileState::Allocated
                };
            }
        }
        self.manifest.save()
    }

    /// Looks at one file; an error when it is not fathom's.
    fn look(&self, path: &Path) -> Result<ExistingFile, Error> {
        let name = path
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let facts = match FileFacts::at(&*self.own.dir, &name) {
            Ok(facts) => facts,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(ExistingFile {
                    name,
                    size_bytes: None,
                    allocated_bytes: 0,
                    state: FileState::Creating,
                });
            }
            Err(error) => return Err(not_permitted(path, "look at", error)),
        };
        let entry = self.manifest.entries.get(&name);
        let Some(entry) = entry.filter(|_| self.manifest.owns(&name, &facts)) else {
            return Err(Error::Refused {
                path: path.to_owned(),
                reason: format!(
                    "it was there already and fathom did not make it ({}, owner uid {}); remove it, \
                     or choose another directory or file prefix",
                    unit::bytes(facts.size_bytes),
                    facts.owner
                ),
            });
        };
        TargetFile::new(&self.own.dir, path, facts.identity)
            .open(OFlags::RDWR)
            .map_err(|error| not_permitted(path, "write to", error))?;
        Ok(ExistingFile {
            name,
            size_bytes: Some(facts.size_bytes),
            allocated_bytes: facts.allocated_bytes,
            state: entry.state,
        })
    }

    /// Creates the files that are not there, and notes whom they belong to. From
    /// here on each file of the layout is the one that was found or made here.
    fn create_missing(
        &mut self,
        job: &Job,
        layout: &mut Layout,
        found: &[ExistingFile],
        hooks: &mut dyn PrepareHooks,
    ) -> Result<(), Error> {
        for file in found.iter().filter(|file| file.size_bytes.is_none()) {
            announce(hooks, &self.own.dir_path.join(&file.name))?;
            let entry = ListedFile::creating(job.run_tag);
            self.manifest.entries.insert(file.name.clone(), entry);
        }
        self.manifest.save()?;
        for (file, placed) in found.iter().zip(&mut layout.files) {
            let path = self.own.dir_path.join(&file.name);
            let facts = self.made_or_found(file, &path)?;
            placed.file = Some(TargetFile::new(&self.own.dir, &path, facts.identity));
            if let Some(entry) = self.manifest.entries.get_mut(&file.name) {
                entry.identify(&facts.identity);
                // Files of earlier trials of this run are this run's as well.
                if entry.run_tag == job.run_tag {
                    self.own.files.push(OwnFile {
                        name: file.name.clone(),
                        identity: facts.identity,
                    });
                }
            }
        }
        self.manifest.save()
    }

    /// The facts of a file that is created, or was found to be fathom's.
    fn made_or_found(&self, file: &ExistingFile, path: &Path) -> Result<FileFacts, Error> {
        let mut flags = OFlags::RDWR;
        let mut mode = Mode::empty();
        if file.size_bytes.is_none() {
            flags |= OFlags::CREATE | OFlags::EXCL;
            mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        } else {
            flags = OFlags::PATH;
        }
        let handle = open_beneath(&*self.own.dir, &file.name, flags, mode)
            .map_err(|errno| not_permitted(path, "create", errno.into()))?;
        let facts = FileFacts::of(&handle).map_err(Error::io("examine", path))?;
        // Somebody may have put another one there since it was looked at.
        let same = file.size_bytes.is_none() || self.manifest.owns(&file.name, &facts);
        match same {
            true => Ok(facts),
            false => Err(Error::Refused {
                path: path.to_owned(),
                reason: "another file has taken its place while fathom prepared it; look who else \
                         writes to the directory"
                    .to_owned(),
            }),
        }
    }

    /// The directory that holds files of this run, if it made any.
    pub(crate) fn directory(&self) -> Option<TestDirectory> {
        (!self.own.files.is_empty()).then(|| self.place())
    }

    /// The directory, whoever made the files in it.
    pub(crate) fn place(&self) -> TestDirectory {
        TestDirectory {
            dir: Arc::clone(&self.own.dir),
            path: self.own.dir_path.clone(),
            file_prefix: self.manifest.prefix().to_owned(),
        }
    }

    /// Removes the files that the run created, and the manifest when it lists
    /// nothing any more.
    pub(crate) fn remove(&mut self, hooks: &mut dyn PrepareHooks) -> Result<Removal, Error> {
        self.manifest.reload()?;
        let mut removal = Removal::default();
        let mut first_error = None;
        for file in std::mem::take(&mut self.own.files) {
            // Another trial of the run has removed it.
            if !self.manifest.entries.contains_key(&file.name) {
                continue;
            }
            match self.own.remove(&file, hooks) {
                Ok(found) => {
                    removal.add(&self.own.dir_path.join(&file.name), found);
                    self.manifest.entries.remove(&file.name);
                }
                Err(error) => {
                    first_error.get_or_insert(error);
                    self.own.files.push(file);
                    break;
                }
            }
        }
        if self.manifest.entries.is_empty() {
            let list = OwnFile {
                name: self.manifest.name.clone(),
                identity: self.manifest.identity(),
            };
            let removed = self.own.remove(&list, hooks)? == cleanup::FileAtPath::Removed;
            // Where the directory was moved, the list at its path is another one.
            if removed && !self.place().was_moved() {
                self.manifest.note_removed();
            }
        } else {
            self.manifest.save()?;
        }
        first_error.map_or(Ok(removal), Err)
    }
}

fn announce(hooks: &mut dyn PrepareHooks, path: &Path) -> Result<(), Error> {
    hooks
        .creating(path)
        .map_err(|reason| Error::target(path, format!("was not created: {reason}")))
}

/// What has to be written before the load.
fn to_be_filled(job: &Job, layout: &Layout, found: &[ExistingFile], stamped: bool) -> Vec<Stretch> {
    let workload = &job.workload;
    let precondition = workload.data_set.precondition;
    let always = stamped || matches!(precondition, Precondition::Fill | Precondition::RandomFill);
    // What is there is what an earlier trial wrote, or a finding.
    let earlier = workload.verify.is_some_and(|verify| verify.earlier);
    let needs_data =
        precondition == Precondition::Written || workload.may_do(fathom_model::OpKind::Read);
    if earlier || (!always && !needs_data) {
        return Vec::new();
    }
    let files = (0u32..).zip(&layout.files).zip(found);
    files
        .filter_map(|((file, facts), before)| {
            let size = facts.size_bytes;
            let old = before.size_bytes.unwrap_or(0).min(size);
            let vouched = before.state == FileState::Written && is_written(facts, old);
            let from = if always || !vouched { 0 } else { old };
            (from < size).then_some(Stretch {
                file,
                from,
                to: size,
            })
        })
        .collect()
}

/// Whether the file system knows nothing against the first `size_bytes`.
fn is_written(file: &LayoutFile, size_bytes: u64) -> bool {
    let opened = file.file.as_ref().map(|file| file.open(OFlags::RDONLY));
    opened.is_some_and(|opened| {
        opened.is_ok_and(|file| {
            let share = unwritten_share(&file, 0, size_bytes);
            share.value.is_none_or(|share| share <= 0.0)
        })
    })
}

/// What an earlier trial is said to have written must be there.
fn check_earlier(job: &Job, layout: &Layout, found: &[ExistingFile]) -> Result<(), Error> {
    if !job.workload.verify.is_some_and(|verify| verify.earlier) {
        return Ok(());
    }
    for (file, before) in layout.files.iter().zip(found) {
        if before.size_bytes.is_none_or(|size| size < file.size_bytes) {
            return Err(Error::target(
                &file.path,
                format!(
                    "is not there in its full size of {}, so nothing that an earlier trial wrote \
                     can be verified; let a trial write it first, and keep the files between runs",
                    unit::bytes(file.size_bytes)
                ),
            ));
        }
    }
    Ok(())
}
