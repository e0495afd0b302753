//! Files and devices that a workload names: looked at, made, filled.
//!
//! What is missing is made and stays: its name was chosen by the user. What
//! was there is written to only if it is fathom's own or with permission.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fathom_model::workload::{Allocation, NamedFiles, Precondition};
use fathom_model::{Job, OpKind};
use rustix::fs::{FallocateFlags, OFlags, fallocate};

use super::beside::Beside;
use super::classify::{Kind, classify, is_sink, not_permitted, open_readable};
use super::fill::{Filler, Stretch};
use super::hooks::PrepareHooks;
use super::unwritten::{Share, unwritten_share};
use super::{Claim, Data, direct, given, space};
use crate::Error;
use crate::access::{Layout, TargetKind};
use crate::guard::file_users;
use crate::verify::Ledger;

/// The named files as they were found.
pub(crate) struct Files<'a> {
    named: &'a NamedFiles,
    found: Vec<Found>,
    kind: TargetKind,
}

struct Found {
    path: PathBuf,
    /// `None` when it is not there.
    size_bytes: Option<u64>,
}

impl Files<'_> {
    /// Looks at what is there.
    pub(crate) fn look(named: &NamedFiles) -> Result<Files<'_>, Error> {
        let mut kinds = Vec::new();
        let mut found = Vec::new();
        for path in &named.paths {
            if is_sink(path) {
                kinds.push(TargetKind::Stream);
                found.push(Found {
                    path: path.clone(),
                    size_bytes: Some(0),
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
                    let size_bytes = Some(size_of(&path)?);
                    found.push(Found { path, size_bytes });
                }
                Err(Error::Missing { .. }) if named.create && has_directory(path) => {
                    found.push(Found {
                        path: path.clone(),
                        size_bytes: None,
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
        let total = match job.workload.size_bytes {
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
        Ok(layout)
    }

    /// Makes, allocates and fills what the load needs.
    pub(crate) fn prepare(
        &self,
        job: &Job,
        (layout, beside): (&Layout, Beside<'_>),
        ledger: Option<&Ledger>,
        data: &mut Data,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<Vec<Claim>, Error> {
        let writes = given::writes(job) || ledger.is_some();
        let mut claims = Vec::new();
        let mut made = false;
        for (found, file) in self.found.iter().zip(&layout.files) {
            match found.size_bytes {
                None => {
                    announce_and_make(&found.path, hooks)?;
                    made = true;
                }
                Some(size) if self.kind == TargetKind::File => {
                    self.permit(job, found, writes || size < file.size_bytes)?;
                }
                Some(_) if self.kind == TargetKind::Device && writes => {
                    self.permit(job, found, true)?;
                    claims.push(given::claim_device(&found.path, beside)?);
                }
                Some(_) => {}
            }
            // A load that goes on until it is full makes its files grow.
            if self.kind == TargetKind::File && !job.workload.ends_when_full {
                allocate(&file.path, file.size_bytes, job.workload.allocation)?;
            }
        }
        data.writable = writes || made;
        data.reused = !made;
        let first = self.found.first();
        data.direct_align = first.and_then(|found| direct::direct_align(&found.path));
        self.fill(job, layout, ledger, data, hooks)?;
        Ok(claims)
    }

    /// Whether a file that was there may be written to.
    fn permit(&self, job: &Job, found: &Found, wanted: bool) -> Result<(), Error> {
        if !wanted {
            return Ok(());
        }
        if !(self.named.ours || job.destructive) {
            return Err(Error::Refused {
                path: found.path.clone(),
                reason: "it was there already and fathom did not make it; pass --destructive if \
                         its content may be lost"
                    .to_owned(),
            });
        }
        let users = file_users(&found.path);
        match users.is_empty() {
            true => Ok(()),
            false => Err(Error::Refused {
                path: found.path.clone(),
                reason: users.join("; also, "),
            }),
        }
    }

    /// Writes what will be read and was never written.
    fn fill(
        &self,
        job: &Job,
        layout: &Layout,
        ledger: Option<&Ledger>,
        data: &mut Data,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<(), Error> {
        let workload = &job.workload;
        let whole = ledger.is_some() || workload.precondition != Precondition::None;
        let mut stretches = Vec::new();
        let mut gaps = 0;
        if self.kind == TargetKind::File && (whole || workload.may_do(OpKind::Read)) {
            let allowed = self.named.ours || job.destructive;
            for ((number, found), file) in (0u32..).zip(&self.found).zip(&layout.files) {
                let old = found.size_bytes.unwrap_or(0).min(file.size_bytes);
                let from = if whole || (allowed && has_gaps(&found.path, old)) {
                    0
                } else {
                    gaps += u64::from(!allowed && has_gaps(&found.path, old));
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
        if workload.precondition == Precondition::RandomFill {
            data.prepared_bytes += filler.refill_at_random(hooks)?;
        }
        data.unwritten = Some(match self.kind {
            TargetKind::File => {
                let first = open_readable(&self.found[0].path)?;
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
    let stretch = |(file, facts): (u32, &crate::access::LayoutFile)| Stretch {
        file,
        from: facts.start_bytes,
        to: facts.start_bytes + facts.span_bytes,
    };
    all.map(stretch).collect()
}

fn has_directory(path: &Path) -> bool {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.is_dir(),
        _ => true,
    }
}

/// Size of a file or device; 0 of a stream.
fn size_of(path: &Path) -> Result<u64, Error> {
    use std::io::Seek;
    let mut file = open_readable(path)?;
    Ok(file.seek(std::io::SeekFrom::End(0)).unwrap_or(0))
}

/// Whether the file system knows of parts that were never written.
fn has_gaps(path: &Path, size_bytes: u64) -> bool {
    size_bytes > 0
        && File::open(path).is_ok_and(|file| {
            let share = unwritten_share(&file, 0, size_bytes);
            share.value.is_some_and(|share| share > 0.0)
        })
}

fn announce_and_make(path: &Path, hooks: &mut dyn PrepareHooks) -> Result<(), Error> {
    hooks
        .creating(path)
        .map_err(|reason| Error::target(path, format!("was not created: {reason}")))?;
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(path);
    match made {
        Ok(_) => Ok(()),
        // Another trial of the set has just made it; then it is empty or ours.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && is_fresh(path) => Ok(()),
        Err(error) => Err(not_permitted(path, "create", error)),
    }
}

/// Whether a file belongs to this process' user and nobody has linked it.
fn is_fresh(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|facts| {
        facts.is_file() && facts.nlink() == 1 && facts.uid() == rustix::process::geteuid().as_raw()
    })
}

/// Brings a file to its length in the way that was asked for.
fn allocate(path: &Path, size_bytes: u64, how: Allocation) -> Result<(), Error> {
    let Some(file) = direct::open_to_write_if_shorter(path, size_bytes)? else {
        return Ok(());
    };
    let lengthen = || {
        file.set_len(size_bytes)
            .map_err(|error| space::write_error(path, size_bytes, error))
    };
    let reserve = |flags| match fallocate(&file, flags, 0, size_bytes) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT) => Err(space::write_error(
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
