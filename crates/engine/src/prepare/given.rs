//! Targets that were there before: a file, a device, `/dev/zero`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_model::Job;
use fathom_model::rng::derive_seed;
use fathom_model::unit::bytes;
use fathom_model::workload::Precondition;
use rustix::fs::OFlags;

use super::aligned::{AlignedBuffer, PAGE_BYTES};
use super::beside::Beside;
use super::classify::{Kind, find, not_permitted, open_readable};
use super::fill::Filler;
use super::hooks::PrepareHooks;
use super::unwritten::{Share, unwritten_share};
use super::{Claim, Data, crew, direct};
use crate::Error;
use crate::access::{Layout, LayoutFile, TargetKind};
use crate::guard::{DeviceGuard, file_users, file_writers, inspect};
use crate::target_file::TargetFile;
use crate::verify::Ledger;

/// Places at which a device is read to see whether it was ever written.
const SAMPLES: u64 = 256;
/// Above this share of blocks without data a target that may be written to is
/// filled before it is read.
const UNWRITTEN_LIMIT: f64 = 0.001;

/// Whether the job changes what is on its target, in or before the load.
pub(crate) fn writes(job: &Job) -> bool {
    let workload = &job.workload;
    workload.may_modify()
        || workload.data_set.precondition != Precondition::None
        || Ledger::needs_prepared(workload)
}

fn why_written(job: &Job) -> &'static str {
    if job.workload.may_modify() {
        "the workload would overwrite it"
    } else if job.workload.data_set.precondition != Precondition::None {
        "preconditioning would overwrite it"
    } else {
        "only data that fathom has written can be verified"
    }
}

/// The layout on a regular file.
pub(crate) fn file_layout(job: &Job, path: &Path) -> Result<Layout, Error> {
    let target = find(path, Kind::File)?;
    let file = open_readable(&target)?;
    let there = file.metadata().map_err(Error::io("examine", path))?.len();
    let layout = layout_within(TargetKind::File, job, path, there)?;
    Ok(placed(layout, &target))
}

/// A layout whose only file is this one.
fn placed(mut layout: Layout, target: &TargetFile) -> Layout {
    for file in &mut layout.files {
        file.file = Some(target.clone());
    }
    layout
}

/// The one file of such a layout.
fn only(layout: &Layout) -> Result<&TargetFile, Error> {
    let first = layout.files.first();
    first.map_or_else(
        || Err(Error::Workload("the layout has no files".to_owned())),
        LayoutFile::opened,
    )
}

/// The layout on a target of a fixed size.
pub(crate) fn layout_within(
    kind: TargetKind,
    job: &Job,
    path: &Path,
    there: u64,
) -> Result<Layout, Error> {
    let size_bytes = job.workload.data_set.size_bytes.unwrap_or(there);
    if size_bytes > there {
        return Err(Error::target(
            path,
            format!(
                "it is too small: it has {} and the workload asks for {}",
                bytes(there),
                bytes(size_bytes)
            ),
        ));
    }
    if there == 0 {
        return Err(Error::target(
            path,
            "is empty; name a directory to have test files made",
        ));
    }
    Layout::new(kind, &job.workload, size_bytes, |_| path.to_owned())
}

/// Makes a regular file ready that the user named.
pub(crate) fn prepare_file(
    job: &Job,
    path: &Path,
    layout: &Layout,
    ledger: Option<&Ledger>,
    data: &mut Data,
    hooks: &mut dyn PrepareHooks,
) -> Result<(), Error> {
    let target = only(layout)?;
    let file = open_readable(target)?;
    data.direct_align = direct::direct_align(target);
    data.reused = true;
    let share = accessed_unwritten(&file, layout);
    permit_file(job, path, layout)?;
    data.writable |= writes(job);
    fill_given(job, layout, ledger, data, &share, hooks)?;
    if !writes(job) && share.value.is_some_and(|share| share > 0.0) {
        data.notes.push(format!(
            "{}: part of this file was never written, so that reading it does not reach the device",
            path.display()
        ));
    }
    Ok(())
}

/// Checks that `job` may do to a file of the user what it would do.
pub(crate) fn permit_file(job: &Job, path: &Path, layout: &Layout) -> Result<(), Error> {
    if !writes(job) {
        return Ok(());
    }
    if !job.destructive {
        return Err(Error::Refused {
            path: path.to_owned(),
            reason: format!(
                "fathom did not make this file, and {}; pass --destructive if its content may \
                 be lost, or name a directory",
                why_written(job)
            ),
        });
    }
    let mut users = file_users(path);
    users.extend(file_writers(path));
    if !users.is_empty() {
        return Err(Error::Refused {
            path: path.to_owned(),
            reason: users.join("; also, "),
        });
    }
    check_writable(only(layout)?)
}

/// Checks that the user allowed what `job` would do to a device.
pub(crate) fn permit_device(job: &Job, path: &Path) -> Result<(), Error> {
    if !writes(job) || job.destructive {
        return Ok(());
    }
    Err(Error::Refused {
        path: path.to_owned(),
        reason: format!(
            "{}; pass --destructive if the content of the device may be lost",
            why_written(job)
        ),
    })
}

/// The layout on a block device.
pub(crate) fn device_layout(job: &Job, path: &Path) -> Result<Layout, Error> {
    use std::io::Seek;
    let target = find(path, Kind::Device)?;
    let mut file = open_readable(&target)?;
    let there = file
        .seek(std::io::SeekFrom::End(0))
        .map_err(Error::io("examine", path))?;
    let layout = layout_within(TargetKind::Device, job, path, there)?;
    Ok(placed(layout, &target))
}

/// Makes a block device ready. The claim keeps others off it.
pub(crate) fn prepare_device(
    job: &Job,
    path: &Path,
    layout: &Layout,
    beside: Beside<'_>,
    ledger: Option<&Ledger>,
    data: &mut Data,
    hooks: &mut dyn PrepareHooks,
) -> Result<Option<Claim>, Error> {
    let target = only(layout)?;
    data.direct_align = direct::direct_align(target);
    data.reused = true;
    let claim = if writes(job) {
        permit_device(job, path)?;
        let claim = claim_device(target, beside)?;
        check_writable(target)?;
        data.writable = true;
        Some(claim)
    } else {
        None
    };
    let needs_data = job.workload.may_do(fathom_model::OpKind::Read)
        || job.workload.data_set.precondition == Precondition::Written;
    let share = if needs_data && ledger.is_none() {
        sample_zeros(job, layout, data.direct_align.is_some(), hooks)?
    } else {
        Share {
            value: None,
            method: "not looked for: the workload does not read what was there",
        }
    };
    fill_given(job, layout, ledger, data, &share, hooks)?;
    Ok(claim)
}

/// Claims a device that nothing speaks against, or takes part in the claim of
/// a trial that runs at the same time.
pub(crate) fn claim_device(target: &TargetFile, beside: Beside<'_>) -> Result<Claim, Error> {
    let path = target.path();
    if let Some(ours) = beside.claim(path) {
        return Ok(ours);
    }
    let guard = inspect(target)?;
    let claim = guard.claim()?;
    check_not_read_only(&guard, path)?;
    Ok(Claim {
        path: path.to_owned(),
        _device: Arc::new(claim),
    })
}

/// Checks that the kernel takes writes to a device.
pub(crate) fn check_not_read_only(guard: &DeviceGuard, path: &Path) -> Result<(), Error> {
    if guard.read_only {
        return Err(Error::target(
            path,
            "the device is read-only; choose a workload that only reads",
        ));
    }
    Ok(())
}

/// Fills a given target if the workload needs it and may write to it, and
/// reports what is known about its data.
fn fill_given(
    job: &Job,
    layout: &Layout,
    ledger: Option<&Ledger>,
    data: &mut Data,
    share: &Share,
    hooks: &mut dyn PrepareHooks,
) -> Result<(), Error> {
    let workload = &job.workload;
    let gaps = share.value.is_some_and(|share| share > UNWRITTEN_LIMIT);
    let precondition = workload.data_set.precondition;
    let all = matches!(precondition, Precondition::Fill | Precondition::RandomFill);
    let wanted = ledger.is_some() || all;
    let needs_data =
        workload.may_do(fathom_model::OpKind::Read) || precondition == Precondition::Written;
    let earlier = workload.verify.is_some_and(|verify| verify.earlier);
    let filler = Filler {
        job,
        layout,
        ledger,
        direct_align: data.direct_align,
    };
    if data.writable && !earlier && (wanted || (gaps && needs_data)) {
        let stretches = if all {
            filler.everything()
        } else {
            filler.accessed()
        };
        data.prepared_bytes += filler.fill("filling the target", &stretches, hooks)?;
        data.reused = false;
        data.unwritten = Some(Share {
            value: Some(0.0),
            method: "all of it was written just before",
        });
    } else {
        data.unwritten = Some(share.clone());
    }
    if workload.data_set.precondition == Precondition::RandomFill {
        data.prepared_bytes += filler.refill_at_random(hooks)?;
    }
    Ok(())
}

/// The layout on a character device that gives data without end.
pub(crate) fn stream_layout(job: &Job, path: &Path) -> Result<Layout, Error> {
    if writes(job) {
        return Err(Error::target(
            path,
            "is a character device; it can only be read from, without verification or preconditioning",
        ));
    }
    let Some(size_bytes) = job.workload.data_set.size_bytes else {
        return Err(Error::target(path, "has no end; give the size to be read"));
    };
    let target = find(path, Kind::Stream)?;
    open_readable(&target)?;
    let layout = Layout::new(TargetKind::Stream, &job.workload, size_bytes, |_| {
        path.to_owned()
    })?;
    Ok(placed(layout, &target))
}

fn check_writable(target: &TargetFile) -> Result<(), Error> {
    let opened = target.open(OFlags::WRONLY);
    opened
        .map(drop)
        .map_err(|error| not_permitted(target.path(), "write to", error))
}

/// The share of the accessed ranges that the file system has not written.
pub(crate) fn accessed_unwritten(file: &File, layout: &Layout) -> Share {
    let Some(first) = layout.files.first() else {
        return Share {
            value: None,
            method: "there are no files",
        };
    };
    unwritten_share(file, first.start_bytes, first.span_bytes)
}

/// The share of blocks without data among some that are read at random places
/// of a device: it cannot be asked what was never written.
fn sample_zeros(
    job: &Job,
    layout: &Layout,
    direct: bool,
    hooks: &mut dyn PrepareHooks,
) -> Result<Share, Error> {
    let page = PAGE_BYTES as u64;
    let target = only(layout)?;
    let (start, pages) = layout.files.first().map_or((0, 0), |f| {
        (f.start_bytes / page * page, f.span_bytes / page)
    });
    let zeros = AtomicU64::new(0);
    let work = crew::CrewWork {
        what: "looking for blocks that were never written",
        chunks: SAMPLES.min(pages),
        total_bytes: SAMPLES.min(pages) * page,
        threads: 8,
    };
    let tools = || {
        let file = direct::open_to_read(target, direct)?;
        Ok((file, AlignedBuffer::new(PAGE_BYTES)))
    };
    let unreadable = AtomicU64::new(0);
    crew::run(&work, hooks, tools, |(file, buffer), sample| {
        let draw = u128::from(derive_seed(job.seed, 0x5A0 + sample));
        let place = ((draw * u128::from(pages)) >> 64) as u64;
        let block = buffer.bytes_mut();
        // A block that cannot be read is for the trial itself to report.
        let count = match file.read_exact_at(block, start + place * page) {
            Ok(()) if block.iter().all(|b| *b == 0) => &zeros,
            Ok(()) => return Ok(page),
            Err(_) => &unreadable,
        };
        count.fetch_add(1, Ordering::Relaxed);
        Ok(page)
    })?;
    if unreadable.into_inner() > 0 {
        return Ok(Share {
            value: None,
            method: "some of the blocks that were sampled could not be read",
        });
    }
    Ok(Share {
        value: (work.chunks > 0).then(|| zeros.into_inner() as f64 / work.chunks as f64),
        method: "share of all-zero blocks among 256 that were read at random places",
    })
}
