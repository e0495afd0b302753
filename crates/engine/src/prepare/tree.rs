//! Making the tree of a workload on many files ready.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use fathom_model::workload::{CacheMode, MetaWork};
use fathom_model::{Job, OpKind, Target};

use super::beside::{Beside, Contents};
use super::classify::{self, Kind, not_permitted};
use super::cleanup::{OwnFile, OwnFiles};
use super::hooks::PrepareHooks;
use super::manifest::{Entry, FileState, Manifest};
use super::test_files::TestFiles;
use super::{Data, Prepared, space};
use crate::Error;
use crate::access::{Layout, LayoutFile, TargetKind};
use crate::meta::{self, Tree};

/// Makes the tree of `job` ready.
pub(super) fn prepare(
    job: &Job,
    beside: Beside<'_>,
    hooks: &mut dyn PrepareHooks,
) -> Result<Prepared, Error> {
    meta::check(&job.workload)?;
    let path = match &job.target {
        Target::Path(path) => path,
        Target::Null => return Ok(nothing(job)),
        Target::Sim(_) => {
            return Err(Error::Workload(
                "a simulated drive holds no files; engine meta needs a directory".to_owned(),
            ));
        }
        Target::Bucket(_) => {
            return Err(Error::Workload(
                "a bucket holds no files; engine meta needs a directory".to_owned(),
            ));
        }
        Target::Peer(_) => {
            return Err(Error::Workload(
                "a connection holds no files; engine meta needs a directory".to_owned(),
            ));
        }
    };
    let (dir, kind) = classify::classify(path)?;
    if kind != Kind::Directory {
        return Err(Error::target(
            path,
            "is no directory; engine meta makes its files in one",
        ));
    }
    if job.workload.cache == CacheMode::Direct {
        return Err(Error::Workload(
            "engine meta works through the page cache; leave direct out".to_owned(),
        ));
    }
    if awaits(job) {
        return await_tree(job, &dir);
    }
    let (mut files, tree, known) = open(job, &dir, beside, hooks)?;
    let made = meta::prepare(job, &tree, known, hooks);
    let made = match made {
        Ok(made) => made,
        Err(error) => {
            if !known {
                let _ = files.remove(hooks);
            }
            return Err(error);
        }
    };
    let data = Data {
        writable: true,
        reused: made.reused,
        prepared_bytes: made.made * job_bytes(job),
        ..Data::default()
    };
    let layout = layout(
        TargetKind::Directory,
        &tree.path,
        made.files * job_bytes(job),
    );
    let held = (Vec::new(), Contents::of(job));
    let mut prepared = Prepared::assemble(layout, data, None, Some(files), held);
    prepared.tree = Some(tree);
    Ok(prepared)
}

fn awaits(job: &Job) -> bool {
    let meta = job.workload.meta.as_deref();
    meta.and_then(MetaWork::phase) == Some(OpKind::AwaitCreate)
}

/// A tree that somebody else makes, perhaps later. Nothing is made here, and so
/// nothing is removed.
fn await_tree(job: &Job, dir: &Path) -> Result<Prepared, Error> {
    let Some(meta) = job.workload.meta.as_deref() else {
        return Err(Error::Workload("no work on files".to_owned()));
    };
    let fd: OwnedFd = File::open(dir)
        .map_err(|e| not_permitted(dir, "open", e))?
        .into();
    let name = Tree::name(&job.file_prefix);
    let tree = Tree::awaited((fd, dir), &name, (meta, &job.workload), job.run_tag);
    let data = Data {
        writable: true,
        reused: true,
        ..Data::default()
    };
    let layout = layout(TargetKind::Directory, dir, 0);
    let held = (Vec::new(), Contents::of(job));
    let mut prepared = Prepared::assemble(layout, data, None, None, held);
    prepared.tree = Some(Arc::new(tree));
    Ok(prepared)
}

/// Mean bytes of a file.
fn job_bytes(job: &Job) -> u64 {
    let meta = job.workload.meta.as_deref();
    meta.map_or(0, |meta| meta.tree.sizes.mean_bytes() as u64)
}

fn layout(kind: TargetKind, path: &Path, bytes: u64) -> Layout {
    Layout {
        kind,
        files: vec![LayoutFile {
            path: path.to_owned(),
            size_bytes: bytes,
            start_bytes: 0,
            span_bytes: bytes,
        }],
        shared: true,
        files_per_worker: 1,
    }
}

/// The null target holds nothing.
fn nothing(job: &Job) -> Prepared {
    let data = Data {
        writable: true,
        ..Data::default()
    };
    let layout = layout(TargetKind::Null, Path::new("null:"), 0);
    let held = (Vec::new(), Contents::of(job));
    Prepared::assemble(layout, data, None, None, held)
}

/// Opens the tree in `dir`, or makes it, and notes in the list of test files
/// whose it is.
fn open(
    job: &Job,
    dir: &Path,
    beside: Beside<'_>,
    hooks: &mut dyn PrepareHooks,
) -> Result<(TestFiles, Arc<Tree>, bool), Error> {
    let workload = &job.workload;
    let Some(meta) = workload.meta.as_deref() else {
        return Err(Error::Workload("no work on files".to_owned()));
    };
    let dir_fd: OwnedFd = File::open(dir)
        .map_err(|e| not_permitted(dir, "open", e))?
        .into();
    space::check_room(dir, 0)?;
    let name = Tree::name(&job.file_prefix);
    let manifest_path = dir.join(Manifest::name(&job.file_prefix));
    let path = dir.join(&name);
    check_alone(beside, &path)?;
    if !manifest_path.exists() {
        announce(hooks, &manifest_path)?;
    }
    let ours = beside.manifest(&manifest_path);
    let mut manifest = match ours {
        Some(list) => list.again()?,
        None => Manifest::open(&dir_fd, dir, &job.file_prefix)?,
    };
    check_owner(&manifest, &path, &name)?;
    if !manifest.entries.contains_key(&name) {
        announce(hooks, &path)?;
        let entry = Entry {
            state: FileState::Creating,
            inode: 0,
            run_tag: job.run_tag,
        };
        manifest.entries.insert(name.clone(), entry);
        manifest.save()?;
    }
    let work = (meta, workload);
    let (tree, known) =
        Tree::open((&dir_fd, dir), &name, work, job.run_tag).map_err(|error| told(error, &path))?;
    let facts = path
        .symlink_metadata()
        .map_err(Error::io("examine", &path))?;
    let mut own = Vec::new();
    if let Some(entry) = manifest.entries.get_mut(&name) {
        entry.inode = facts.ino();
        entry.state = FileState::Allocated;
        if entry.run_tag == job.run_tag {
            own.push(OwnFile {
                name: name.clone(),
                device: facts.dev(),
                inode: facts.ino(),
            });
        }
    }
    manifest.save()?;
    let files = TestFiles {
        own: OwnFiles {
            dir: dir_fd,
            dir_path: dir.to_owned(),
            files: own,
        },
        manifest,
        in_use: ours.is_some(),
    };
    Ok((files, Arc::new(tree), known))
}

/// No other trial that runs at the same time works on the tree.
fn check_alone(beside: Beside<'_>, path: &Path) -> Result<(), Error> {
    if beside.others.iter().any(|other| {
        let tree = other.tree.as_ref();
        tree.is_some_and(|tree| tree.path == path)
    }) {
        return Err(Error::Workload(format!(
            "{}: two trials that run at the same time cannot work on the same tree; give each a \
             directory of its own",
            path.display()
        )));
    }
    Ok(())
}

/// What bears the tree's name must be fathom's.
fn check_owner(manifest: &Manifest, path: &Path, name: &str) -> Result<(), Error> {
    let Ok(facts) = path.symlink_metadata() else {
        return Ok(());
    };
    let ours = manifest.entries.get(name).is_some_and(|entry| {
        facts.is_dir()
            && match entry.state {
                FileState::Creating => true,
                _ => entry.inode == facts.ino(),
            }
    });
    match ours {
        true => Ok(()),
        false => Err(Error::Refused {
            path: path.to_owned(),
            reason: "it was there already and fathom did not make it; remove it, or choose \
                     another directory or file prefix"
                .to_owned(),
        }),
    }
}

fn announce(hooks: &mut dyn PrepareHooks, path: &Path) -> Result<(), Error> {
    hooks
        .creating(path)
        .map_err(|reason| Error::target(path, format!("was not created: {reason}")))
}

/// A refusal in words that say who may.
fn told(error: Error, path: &Path) -> Error {
    match error {
        Error::Io { action, source, .. } => not_permitted(path, action, source),
        other => other,
    }
}
