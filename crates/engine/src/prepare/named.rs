//! Files and devices that a workload names: looked at, made, filled.
//!
//! What is missing is made and stays: its name was chosen by the user. What
//! was there is written to only if it is fathom's own or with permission.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_deadline::paths;
use fathom_model::workload::{Allocation, NamedFiles, Precondition};
use fathom_model::{Job, OpKind};
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate};
use rustix::io::Errno;

use super::beside::Beside;
use super::classify::{Kind, classify, find, is_sink, not_permitted, open_readable};
use super::cleanup::{FileAtPath as Removed, remove_file_if};
use super::fill::{Filler, Stretch};
use super::hooks::{CreationRefused, PrepareHooks};
use super::unwritten::{Share, unwritten_share};
use super::{Claim, Data, direct, given, space};
use crate::Error;
use crate::access::{Layout, LayoutFile, TargetKind};
use crate::guard::{file_users, file_writers};
use crate::target_file::{FileFacts, TargetFile, open_beneath, open_directory};
use crate::verify::Ledger;

/// The named files as they were found.
pub(crate) struct Files<'a> {
    named: &'a NamedFiles,
    found: Vec<NamedFile>,
    kind: TargetKind,
}

struct NamedFile {
    path: PathBuf,
    /// `None` when it is not there.
    size_bytes: Option<u64>,
    file: Option<TargetFile>,
}

impl Files<'_> {
    /// Looks at what is there.
    pub(crate) fn look(named: &NamedFiles) -> Result<Files<'_>, Error> {
        let mut kinds = Vec::new();
        let mut found = Vec::new();
        for path in &named.paths {
            if is_sink(path) {
                kinds.push(TargetKind::Stream);
                let resolved = paths::canonicalize(path);
                let resolved = resolved.map_err(|error| not_permitted(path, "look at", error))?;
                found.push(NamedFile {
                    path: path.clone(),
                    size_bytes: Some(0),
                    file: Some(find(&resolved, Kind::Stream)?),
                });
                continue;
            }
            match classify(path) {
                Ok((path, kind)) => {
                    kinds.push(match kind {
                        Kind::File => TargetKind::File,
                        Kind::Device => TargetKind::Device,
                        Kind::Stream => TargetKind::Stream,
                        Kind::Directory => {
                            return Err(Error::target(&path, "is a directory, not a file"));
                        }
                    });
                    let file = find(&path, kind)?;
                    let size_bytes = Some(size_of(&file)?);
                    found.push(NamedFile {
                        path,
                        size_bytes,
                        file: Some(file),
                    });
                }
                Err(Error::Missing { .. }) if named.create && has_directory(path) => {
                    found.push(NamedFile {
                        path: path.clone(),
                        size_bytes: None,
                        file: None,
                    });
                    kinds.push(TargetKind::File);
                }
                Err(error) => return Err(error),
            }
        }
        let Some(kind) = kinds.first().copied() else {
            return Err(Error::Workload("no file is named".to_owned()));
        };
        if let Some(at) = kinds.iter().position(|other| *other != kind) {
            return Err(Error::target(
                &found[at].path,
                "is of another kind than the first: name either files or devices",
            ));
        }
        Ok(Files { named, found, kind })
    }

    /// Who uses which part of them.
    pub(crate) fn layout(&self, job: &Job) -> Result<Layout, Error> {
        let count = self.found.len() as u64;
        let reads = job.workload.may_do(OpKind::Read) || job.workload.verify.is_some();
        if let Some(sink) = self.found.iter().find(|f| reads && is_sink(&f.path)) {
            let text = "gives nothing to read; write to it, or read from /dev/zero";
            return Err(Error::target(&sink.path, text));
        }
        let smallest = self.found.iter().map(|f| f.size_bytes.unwrap_or(0)).min();
        let room = smallest.unwrap_or(0);
        let total = match job.workload.data_set.size_bytes {
            Some(size) => size,
            None if self.kind == TargetKind::Stream => {
                let first = &self.found[0].path;
                return Err(Error::target(first, "has no end; give the size to be read"));
            }
            None => room.saturating_mul(count),
        };
        let each = total / count;
        let fixed = self.kind == TargetKind::Device || !self.named.create;
        if fixed && self.kind != TargetKind::Stream && each > room {
            let small = self.found.iter().find(|f| f.size_bytes.unwrap_or(0) < each);
            let path = small.map_or(Path::new(""), |f| &f.path);
            return Err(Error::target(path, "is smaller than the workload asks for"));
        }
        if each == 0 {
            let first = &self.found[0].path;
            return Err(Error::target(first, "is empty and no size is given"));
        }
        let path = |n: u32| {
            let found = self.found.get(n as usize);
            found.map_or_else(PathBuf::new, |found| found.path.clone())
        };
        let mut layout = Layout::new(TargetKind::Directory, &job.workload, total, path)?;
        if layout.files.len() != self.found.len() {
            return Err(Error::Workload(format!(
                "{} files are named and the workers use {}",
                self.found.len(),
                layout.files.len()
            )));
        }
        layout.kind = self.kind;
        for (found, placed) in self.found.iter().zip(&mut layout.files) {
            placed.file = found.file.clone();
        }
        Ok(layout)
    }

    /// Checks that what [`Files::prepare`] will do is permitted and fits.
    pub(crate) fn check(&self, job: &Job, layout: &Layout) -> Result<(), Error> {
        let writes = given::writes(job);
        // Whose a file is that a plan calls fathom's is looked up once it is opened.
        let leave = Leave::of(job, self.named.ours);
        for (found, file) in self.found.iter().zip(&layout.files) {
            match (found.size_bytes, self.kind) {
                (Some(size), TargetKind::File) => {
                    permit(found, leave, writes || size < file.size_bytes)?;
                }
                (Some(_), TargetKind::Device) => permit(found, leave, writes)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The block devices among them.
    pub(crate) fn devices(&self) -> Vec<&Path> {
        match self.kind {
            TargetKind::Device => self.found.iter().map(|f| f.path.as_path()).collect(),
            _ => Vec::new(),
        }
    }

    /// Makes, allocates and fills what the load needs. Files that it made are
    /// removed again where that fails: they would be empty or half filled.
    pub(crate) fn prepare(
        &self,
        job: &Job,
        layout: &mut Layout,
        beside: Beside<'_>,
        ledger: Option<&Ledger>,
        data: &mut Data,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<Vec<Claim>, Error> {
        let prepared = self.make_and_fill(job, layout, beside, ledger, data, hooks);
        if prepared.is_err() {
            let missing = |found: &NamedFile| found.size_bytes.is_none();
            let files = self.found.iter().zip(&layout.files);
            for (found, placed) in files.filter(|(found, _)| missing(found)) {
                let Some(made) = &placed.file else { continue };
                // What cannot be removed is noted as the run's and stays in its list.
                if let Ok(Removed::Removed) = remove_file_if(made.path(), &made.identity()) {
                    hooks.removed(&found.path);
                }
            }
        }
        prepared
    }

    fn make_and_fill(
        &self,
        job: &Job,
        layout: &mut Layout,
        beside: Beside<'_>,
        ledger: Option<&Ledger>,
        data: &mut Data,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<Vec<Claim>, Error> {
        let writes = given::writes(job) || ledger.is_some();
        let mut claims = Vec::new();
        let mut made = false;
        // Whether a file may be written to, also where the load only reads.
        let mut allowed = Vec::with_capacity(self.found.len());
        for (found, file) in self.found.iter().zip(&mut layout.files) {
            let leave = Leave::of(job, self.is_ours(found, hooks));
            allowed.push(leave != Leave::None || found.size_bytes.is_none());
            match found.size_bytes {
                None => {
                    file.file = Some(announce_and_make(&found.path, hooks)?);
                    made = true;
                }
                Some(size) if self.kind == TargetKind::File => {
                    permit(found, leave, writes || size < file.size_bytes)?;
                }
                Some(_) if self.kind == TargetKind::Device && writes => {
                    permit(found, leave, true)?;
                    claims.push(given::claim_device(file.opened()?, beside)?);
                }
                Some(_) => {}
            }
            // A load that goes on until it is full makes its files grow.
            if self.kind == TargetKind::File && !job.workload.data_set.ends_when_full {
                allocate(
                    file.opened()?,
                    file.size_bytes,
                    job.workload.data_set.allocation,
                )?;
            }
        }
        data.writable = writes || made;
        data.reused = !made;
        let layout = &*layout;
        let first = layout.files.first().and_then(|file| file.file.as_ref());
        data.direct_align = first.and_then(direct::direct_align);
        self.fill(job, layout, &allowed, ledger, data, hooks)?;
        Ok(claims)
    }

    /// Whether fathom made a file that was there. The plan may say so; whoever
    /// noted the files has to know this very one.
    fn is_ours(&self, found: &NamedFile, hooks: &mut dyn PrepareHooks) -> bool {
        let file = found.file.as_ref().filter(|_| self.named.ours);
        file.is_some_and(|file| hooks.is_ours(file.path(), &file.identity()))
    }

    /// Writes what will be read and was never written.
    fn fill(
        &self,
        job: &Job,
        layout: &Layout,
        allowed: &[bool],
        ledger: Option<&Ledger>,
        data: &mut Data,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<(), Error> {
        let workload = &job.workload;
        let whole = ledger.is_some() || workload.data_set.precondition != Precondition::None;
        let mut stretches = Vec::new();
        let mut gaps = 0;
        if self.kind == TargetKind::File && (whole || workload.may_do(OpKind::Read)) {
            for ((number, found), file) in (0u32..).zip(&self.found).zip(&layout.files) {
                let old = found.size_bytes.unwrap_or(0).min(file.size_bytes);
                let may = allowed.get(number as usize).is_some_and(|may| *may);
                let from = if whole || (may && has_gaps(file, old)) {
                    0
                } else {
                    gaps += u64::from(!may && has_gaps(file, old));
                    old
                };
                if from < file.size_bytes {
                    stretches.push(Stretch {
                        file: number,
                        from,
                        to: file.size_bytes,
                    });
                }
            }
        } else if whole {
            stretches = layout_stretches(layout);
        }
        if gaps > 0 {
            data.notes.push(format!(
                "{gaps} of the files were never fully written, so that reading them does not reach \
                 the device"
            ));
        }
        let filler = Filler {
            job,
            layout,
            ledger,
            direct_align: data.direct_align,
        };
        if !stretches.is_empty() {
            data.prepared_bytes += filler.fill("filling files", &stretches, hooks)?;
        }
        if workload.data_set.precondition == Precondition::RandomFill {
            data.prepared_bytes += filler.refill_at_random(hooks)?;
        }
        data.unwritten = Some(match self.kind {
            TargetKind::File => {
                let first = open_readable(layout.files[0].opened()?)?;
                given::accessed_unwritten(&first, layout)
            }
            _ => Share {
                value: None,
                method: "not looked for",
            },
        });
        Ok(())
    }
}

fn layout_stretches(layout: &Layout) -> Vec<Stretch> {
    let all = (0u32..).zip(&layout.files);
    let stretch = |(file, facts): (u32, &LayoutFile)| Stretch {
        file,
        from: facts.start_bytes,
        to: facts.start_bytes + facts.span_bytes,
    };
    all.map(stretch).collect()
}

fn has_directory(path: &Path) -> bool {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => paths::is_dir(parent),
        _ => true,
    }
}

/// Size of a file or device; 0 of a stream.
fn size_of(file: &TargetFile) -> Result<u64, Error> {
    use std::io::Seek;
    let mut file = open_readable(file)?;
    Ok(file.seek(std::io::SeekFrom::End(0)).unwrap_or(0))
}

/// Whether the file system knows of parts that were never written.
fn has_gaps(file: &LayoutFile, size_bytes: u64) -> bool {
    let opened = file.opened().ok().filter(|_| size_bytes > 0);
    opened.is_some_and(|file| {
        file.open(OFlags::RDONLY).is_ok_and(|file| {
            let share = unwritten_share(&file, 0, size_bytes);
            share.value.is_some_and(|share| share > 0.0)
        })
    })
}

/// Why a file that was there may be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    /// It may not.
    None,
    /// The user allowed it.
    Given,
    /// Fathom made it.
    Own,
}

impl Leave {
    fn of(job: &Job, ours: bool) -> Leave {
        match (ours, job.destructive) {
            (true, _) => Leave::Own,
            (false, true) => Leave::Given,
            (false, false) => Leave::None,
        }
    }
}

/// Refuses to write to a file that was there and is not fathom's.
fn permit(found: &NamedFile, leave: Leave, wanted: bool) -> Result<(), Error> {
    if !wanted {
        return Ok(());
    }
    if leave == Leave::None {
        return Err(Error::Refused {
            path: found.path.clone(),
            reason: "it was there already and fathom did not make it; pass --destructive if \
                     its content may be lost"
                .to_owned(),
        });
    }
    let mut users = file_users(&found.path);
    // Several commands may work on a file that fathom made.
    if leave == Leave::Given {
        users.extend(file_writers(&found.path));
    }
    match users.is_empty() {
        true => Ok(()),
        false => Err(Error::Refused {
            path: found.path.clone(),
            reason: users.join("; also, "),
        }),
    }
}

/// Makes a file and lets it be noted before anything is written to it.
fn announce_and_make(path: &Path, hooks: &mut dyn PrepareHooks) -> Result<TargetFile, Error> {
    let untold =
        |reason: CreationRefused| Error::target(path, format!("was not created: {reason}"));
    hooks.creating(path).map_err(untold)?;
    let failed = |error| not_permitted(path, "create", error);
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = paths::canonicalize(parent.unwrap_or(Path::new(".")));
    let parent = parent.map_err(failed)?;
    let dir = Arc::new(open_directory(&parent, OFlags::PATH).map_err(failed)?);
    let name = path.file_name().unwrap_or_default();
    let resolved = parent.join(name);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    match open_beneath(&*dir, name, flags, mode) {
        Ok(made) => {
            let facts = FileFacts::of(&made).map_err(failed)?;
            hooks.created(path, &facts.identity).map_err(untold)?;
            Ok(TargetFile::new(&dir, &resolved, facts.identity))
        }
        // A second name of the list has just made it.
        Err(Errno::EXIST) => match TargetFile::look_in(&dir, &resolved) {
            Ok((file, facts)) if facts.is_plain() && hooks.is_ours(&resolved, &file.identity()) => {
                Ok(file)
            }
            _ => Err(failed(Errno::EXIST.into())),
        },
        Err(errno) => Err(failed(errno.into())),
    }
}

/// Brings a file to its length in the way that was asked for.
fn allocate(target: &TargetFile, size_bytes: u64, how: Allocation) -> Result<(), Error> {
    let Some(file) = direct::open_to_write_if_shorter(target, size_bytes)? else {
        return Ok(());
    };
    let path = target.path();
    let lengthen = || {
        file.set_len(size_bytes)
            .map_err(|error| space::write_error(path, size_bytes, error))
    };
    let reserve = |flags| match fallocate(&file, flags, 0, size_bytes) {
        Ok(()) => Ok(true),
        Err(Errno::NOSPC | Errno::DQUOT) => Err(space::write_error(
            path,
            0,
            std::io::Error::from_raw_os_error(libc::ENOSPC),
        )),
        Err(_) => Ok(false),
    };
    match how {
        Allocation::None | Allocation::Truncate => lengthen(),
        Allocation::KeepSize => {
            reserve(FallocateFlags::KEEP_SIZE)?;
            lengthen()
        }
        Allocation::Auto | Allocation::Posix => match reserve(FallocateFlags::empty())? {
            true => Ok(()),
            false => lengthen(),
        },
    }
}
