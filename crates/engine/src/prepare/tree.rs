//! Making the tree of a workload on many files ready.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_model::workload::{CacheMode, MetaWork};
use fathom_model::{Job, OpKind, Target};
use rustix::fs::OFlags;

use super::beside::{Beside, Contents};
use super::classify::{self, Kind, not_permitted};
use super::cleanup::{OwnFile, OwnFiles};
use super::hooks::PrepareHooks;
use super::manifest::{FileState, ListedFile, Manifest, check_prefix};
use super::ready::Ready;
use super::test_files::TestFiles;
use super::{Data, Prepared, space};
use crate::Error;
use crate::access::{Layout, LayoutFile, TargetKind};
use crate::meta::{self, OwnTree, Tree, TreePlace};
use crate::target_file::{FileFacts, open_directory};

/// Makes the tree of `job` ready.
pub(super) fn prepare(
    job: &Job,
    beside: Beside<'_>,
    hooks: &mut dyn PrepareHooks,
) -> Result<Prepared, Error> {
    let Some(dir) = directory(job)? else {
        return Ok(nothing(job));
    };
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
    let mut prepared = Prepared::assemble(
        layout,
        data,
        None,
        Some(files),
        Vec::new(),
        Contents::of(job),
    );
    prepared.ready = Ready::Files(tree);
    Ok(prepared)
}

/// The directory in which the tree of `job` lies or will lie; `None` for the
/// null target.
///
/// # Errors
/// What makes the work or the target impossible.
pub(super) fn directory(job: &Job) -> Result<Option<PathBuf>, Error> {
    meta::check(&job.workload)?;
    let path = match &job.target {
        Target::Path(path) => path,
        Target::Null => return Ok(None),
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
            "is not a directory; engine meta makes its files in one",
        ));
    }
    if job.workload.cache == CacheMode::Direct {
        return Err(Error::Workload(
            "engine meta works through the page cache; leave direct out".to_owned(),
        ));
    }
    Ok(Some(dir))
}

fn awaits(job: &Job) -> bool {
    let meta = job.workload.files_work();
    meta.and_then(MetaWork::phase) == Some(OpKind::AwaitCreate)
}

/// A tree that somebody else makes, perhaps later. Nothing is made here, and so
/// nothing is removed.
fn await_tree(job: &Job, dir: &Path) -> Result<Prepared, Error> {
    let Some(meta) = job.workload.files_work() else {
        return Err(Error::Workload("no work on files".to_owned()));
    };
    check_prefix(&job.file_prefix)?;
    let fd = open_directory(dir, OFlags::RDONLY).map_err(|e| not_permitted(dir, "open", e))?;
    let name = Tree::name(&job.file_prefix);
    let tree = Tree::awaited(fd, dir, &name, meta, &job.workload, job.run_tag);
    let data = Data {
        writable: true,
        reused: true,
        ..Data::default()
    };
    let layout = layout(TargetKind::Directory, dir, 0);
    let mut prepared = Prepared::assemble(layout, data, None, None, Vec::new(), Contents::of(job));
    prepared.ready = Ready::Files(Arc::new(tree));
    Ok(prepared)
}

/// Mean bytes of a file.
fn job_bytes(job: &Job) -> u64 {
    let meta = job.workload.files_work();
    meta.map_or(0, |meta| meta.tree.sizes.mean_bytes() as u64)
}

fn layout(kind: TargetKind, path: &Path, bytes: u64) -> Layout {
    Layout {
        kind,
        files: vec![LayoutFile {
            path: path.to_owned(),
            file: None,
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
    Prepared::assemble(layout, data, None, None, Vec::new(), Contents::of(job))
}

/// Opens the tree in `dir`, or makes it, and notes in the list of test files
/// whose it is.
fn open(
    job: &Job,
    dir: &Path,
    beside: Beside<'_>,
    hooks: &mut dyn PrepareHooks,
) -> Result<(TestFiles, Arc<Tree>, bool), Error> {
    let Some(meta) = job.workload.files_work() else {
        return Err(Error::Workload("no work on files".to_owned()));
    };
    check_prefix(&job.file_prefix)?;
    let dir_fd = open_directory(dir, OFlags::RDONLY).map_err(|e| not_permitted(dir, "open", e))?;
    space::check_room(dir, 0)?;
    let name = Tree::name(&job.file_prefix);
    let manifest_path = dir.join(Manifest::name(&job.file_prefix));
    let path = dir.join(&name);
    check_alone(beside, &path)?;
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
    match open_listed(job, meta, &path, &name, &mut files, hooks) {
        Ok((tree, known)) => Ok((files, Arc::new(tree), known)),
        Err(error) => {
            // A list of nothing would stay behind.
            let _ = files.remove(hooks);
            Err(error)
        }
    }
}

/// Opens the tree, or makes it, under the list that is open.
fn open_listed(
    job: &Job,
    meta: &MetaWork,
    path: &Path,
    name: &str,
    files: &mut TestFiles,
    hooks: &mut dyn PrepareHooks,
) -> Result<(Tree, bool), Error> {
    let (manifest, own) = (&mut files.manifest, &mut files.own);
    let found = look(&own.dir, manifest, path, name)?;
    if !manifest.entries.contains_key(name) {
        announce(hooks, path)?;
        manifest
            .entries
            .insert(name.to_owned(), ListedFile::creating(job.run_tag));
        manifest.save()?;
    }
    let place = TreePlace {
        dir: &own.dir,
        dir_path: &own.dir_path,
        name,
    };
    let opened = Tree::open(place, found, meta, &job.workload, job.run_tag);
    let (tree, known) = opened.map_err(|error| told(error, path))?;
    let identity = FileFacts::of(&*tree.top)
        .map_err(Error::io("examine", path))?
        .identity;
    if let Some(entry) = manifest.entries.get_mut(name) {
        entry.identify(&identity);
        entry.state = FileState::Allocated;
        if entry.run_tag == job.run_tag {
            own.files.push(OwnFile {
                name: name.to_owned(),
                identity,
            });
        }
    }
    manifest.save()?;
    Ok((tree, known))
}

/// No other trial that runs at the same time works on the tree.
fn check_alone(beside: Beside<'_>, path: &Path) -> Result<(), Error> {
    if beside.others.iter().any(|other| {
        let tree = other.ready.tree();
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
fn look(
    dir: &OwnedFd,
    manifest: &Manifest,
    path: &Path,
    name: &str,
) -> Result<Option<OwnTree>, Error> {
    let facts = match FileFacts::at(dir, name) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(not_permitted(path, "look at", error)),
    };
    if manifest.owns(name, &facts) {
        let entry = manifest.entries.get(name);
        return Ok(Some(OwnTree {
            identity: facts.identity,
            unfinished: entry.is_some_and(|entry| entry.state == FileState::Creating),
        }));
    }
    Err(Error::Refused {
        path: path.to_owned(),
        reason: "it was there already and fathom did not make it; remove it, or choose \
                 another directory or file prefix"
            .to_owned(),
    })
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
