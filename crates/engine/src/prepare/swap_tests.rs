//! Somebody who may write to the directory swaps test files for links to
//! other files while they are prepared, opened, written and removed.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use fathom_model::workload::{NamedFiles, OpMix};
use tempfile::TempDir;

use super::tests::{job, reads};
use super::*;
use crate::open::{OpenMode, Opener};
use crate::target_file::FileIdentity;

const ROUNDS: u64 = 1000;
const SWAPS: u64 = 200;
const PATIENCE: Duration = Duration::from_secs(60);
const PRECIOUS: &[u8] = &[b'p'; 65536];

/// A directory in memory where there is one: every round flushes files.
fn quick_directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Swaps `path` for a link to `victim` and back until it is told to stop.
fn swap(path: &Path, victim: &Path, stop: &AtomicBool, swaps: &AtomicU64) {
    let moved = path.with_extension("moved");
    while !stop.load(Relaxed) {
        let hard = swaps.load(Relaxed) % 2 == 1;
        let _ = fs::rename(path, &moved);
        let linked = match hard {
            true => fs::hard_link(victim, path),
            false => symlink(victim, path),
        };
        swaps.fetch_add(u64::from(linked.is_ok()), Relaxed);
        std::thread::yield_now();
        if linked.is_ok() {
            let _ = fs::remove_file(path);
        }
        let _ = fs::rename(&moved, path);
        std::thread::yield_now();
    }
}

/// Opens all files as the workers would, and writes to them.
fn write_like_a_worker(job: &Job, prepared: &Prepared) -> Result<(), Error> {
    let mode = OpenMode::choose(&job.workload, prepared, &mut Vec::new())?;
    let opener = Opener::new(mode, &prepared.layout, job.workload.workers)?;
    let opened = opener.open_for(&prepared.layout, 0)?;
    for file in opened.files.iter() {
        file.write_all_at(&[0; 4096], 0).unwrap();
    }
    Ok(())
}

/// Prepares, writes and removes for many rounds against a swapper. Returns how
/// many of them came to write.
fn survive(job: &Job, path: &Path, dir: &TempDir, hooks: &mut dyn PrepareHooks) -> u64 {
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let victim = elsewhere.join("victim");
    fs::write(&victim, PRECIOUS).unwrap();
    let before = victim.metadata().unwrap();
    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut written = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| swap(path, &victim, &stop, &swaps));
        let begun = Instant::now();
        let mut rounds = 0;
        // On a busy machine the swapper may come to its turn late.
        while rounds < ROUNDS || (swaps.load(Relaxed) < SWAPS && begun.elapsed() < PATIENCE) {
            rounds += 1;
            if let Ok(mut prepared) = prepare(job, hooks) {
                written += u64::from(write_like_a_worker(job, &prepared).is_ok());
                let _ = cleanup(&mut prepared, false, hooks);
            }
            // What the swapper put back is in the way of the next round.
            let _ = fs::remove_file(path);
        }
        stop.store(true, Relaxed);
    });
    assert!(swaps.load(Relaxed) >= SWAPS, "{swaps:?}");
    assert_eq!(fs::read(&victim).unwrap(), PRECIOUS);
    let after = victim.metadata().unwrap();
    assert_eq!(
        (after.ino(), after.mtime_nsec()),
        (before.ino(), before.mtime_nsec())
    );
    written
}

fn writes() -> Workload {
    Workload {
        mix: OpMix::WRITE,
        cache: CacheMode::Buffered,
        ..reads(65536)
    }
}

#[test]
fn a_test_file_that_is_swapped_for_a_link_leads_nowhere() {
    let dir = quick_directory();
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    let job = job(&data, writes());
    let written = survive(&job, &data.join("fathom.0"), &dir, &mut NoHooks);
    assert!(written > 0, "no round came to write");
}

/// Knows which files it heard to be created.
#[derive(Default)]
struct Notes(Vec<FileIdentity>);

impl PrepareHooks for Notes {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &Path) -> Result<(), CreationRefused> {
        Ok(())
    }

    fn created(&mut self, _: &Path, identity: &FileIdentity) -> Result<(), CreationRefused> {
        self.0.push(*identity);
        Ok(())
    }

    fn is_ours(&mut self, _: &Path, identity: &FileIdentity) -> bool {
        self.0.contains(identity)
    }

    fn removed(&mut self, _: &Path) {}

    fn stop_requested(&self) -> bool {
        false
    }
}

#[test]
fn a_named_file_that_is_swapped_for_a_link_leads_nowhere() {
    let dir = quick_directory();
    let path = dir.path().join("named");
    let mut job = job(dir.path(), writes());
    // The plan took the file for missing, and so for its own.
    job.workload.data_set.named = Some(NamedFiles {
        paths: vec![path.clone()],
        create: true,
        ours: true,
    });
    let written = survive(&job, &path, &dir, &mut Notes::default());
    assert!(written > 0, "no round came to write");
}

#[test]
fn a_named_file_is_ours_only_if_it_was_noted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("named");
    let mut job = job(dir.path(), writes());
    job.workload.data_set.named = Some(NamedFiles {
        paths: vec![path.clone()],
        create: true,
        ours: true,
    });
    let mut notes = Notes::default();
    prepare(&job, &mut notes).unwrap();
    assert_eq!(notes.0.len(), 1);
    prepare(&job, &mut notes).unwrap();
    fs::rename(&path, dir.path().join("moved")).unwrap();
    fs::write(&path, PRECIOUS).unwrap();
    let error = prepare(&job, &mut notes).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), PRECIOUS);
    fs::remove_file(&path).unwrap();
    symlink(dir.path().join("moved"), &path).unwrap();
    let linked = prepare(&job, &mut notes).unwrap();
    let real = dir.path().canonicalize().unwrap().join("moved");
    assert_eq!(linked.layout.files[0].path, real, "the user's own link");
    job.destructive = true;
    fs::remove_file(&path).unwrap();
    fs::write(&path, PRECIOUS).unwrap();
    prepare(&job, &mut NoHooks).unwrap();
}

#[test]
fn an_inode_that_was_given_again_is_not_ours() {
    let dir = tempfile::tempdir().unwrap();
    let mut kept = job(dir.path(), writes());
    kept.keep_files = true;
    drop(prepare(&kept, &mut NoHooks).unwrap());
    let path = dir.path().join("fathom.0");
    let ours = path.metadata().unwrap().ino();
    fs::remove_file(&path).unwrap();
    // The clock of the file system ticks on.
    std::thread::sleep(Duration::from_millis(30));
    let mut others = Vec::new();
    let reused = (0..200).find_map(|n| {
        let other = dir.path().join(format!("mine.{n}"));
        fs::write(&other, PRECIOUS).unwrap();
        let inode = other.metadata().unwrap().ino();
        others.push(other.clone());
        (inode == ours).then_some(other)
    });
    let Some(mine) = reused else {
        println!("skipped: this file system does not give inodes again");
        return;
    };
    fs::rename(&mine, &path).unwrap();
    let facts = crate::target_file::FileFacts::at(fs::File::open(dir.path()).unwrap(), "fathom.0");
    if facts.unwrap().identity.born_ns.is_none() {
        println!("skipped: this file system keeps no birth times");
        return;
    }
    let error = prepare(&kept, &mut NoHooks).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    let removal = remove_files_of_run(dir.path(), "fathom", 1, &mut NoHooks).unwrap();
    assert_eq!(removal.replaced.len(), 1, "{removal:?}");
    assert_eq!(fs::read(&path).unwrap(), PRECIOUS);
}

#[test]
fn what_others_took_away_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let data = top.join("data");
    fs::create_dir(&data).unwrap();
    let mut job = job(&data, reads(4 * 65536));
    job.workload.data_set.files.count = 4;
    let mut prepared = prepare(&job, &mut NoHooks).unwrap();
    assert!(prepared.disturbed().is_empty());
    fs::remove_file(data.join("fathom.1")).unwrap();
    fs::remove_file(data.join("fathom.2")).unwrap();
    fs::write(data.join("fathom.2"), "mine").unwrap();
    let remarks = prepared.disturbed();
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    assert!(remarks[0].contains("fathom.1") && remarks[0].contains("not there any more"));
    assert!(remarks[1].contains("fathom.2") && remarks[1].contains("left alone"));
    let moved = top.join("moved");
    fs::rename(&data, &moved).unwrap();
    let remarks = prepared.disturbed().join("\n");
    assert!(
        remarks.contains("moved or removed this directory"),
        "{remarks}"
    );
    let directory = prepared.directory().unwrap();
    assert!(directory.was_moved());
    let removal = cleanup(&mut prepared, false, &mut NoHooks).unwrap();
    assert_eq!(
        (
            removal.removed,
            removal.missing.len(),
            removal.replaced.len()
        ),
        (2, 1, 1)
    );
    drop(prepared);
    assert_eq!(
        fs::read_dir(&moved).unwrap().count(),
        1,
        "only the stranger's"
    );
    let gone = directory.remove_files_of_run(1, &mut NoHooks).unwrap_err();
    assert!(gone.to_string().contains("not there any more"), "{gone}");
}

#[test]
fn a_list_that_the_run_itself_removed_is_nobody_elses_doing() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let mut earlier = prepare(&job(&top, reads(65536)), &mut NoHooks).unwrap();
    let directory = earlier.directory().unwrap();
    cleanup(&mut earlier, false, &mut NoHooks).unwrap();
    drop(earlier);
    assert_eq!(fs::read_dir(&top).unwrap().count(), 0);
    let removal = directory.remove_files_of_run(1, &mut NoHooks).unwrap();
    assert_eq!(removal, Removal::default());
    // One that was made since and is gone was taken away.
    let later = prepare(&job(&top, reads(65536)), &mut NoHooks).unwrap();
    fs::remove_file(top.join("fathom.manifest")).unwrap();
    let gone = directory.remove_files_of_run(1, &mut NoHooks).unwrap_err();
    assert!(gone.to_string().contains("not there any more"), "{gone}");
    drop(later);
}

#[test]
fn a_copied_list_behind_a_link_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let (data, moved, elsewhere) = (top.join("data"), top.join("moved"), top.join("elsewhere"));
    fs::create_dir(&data).unwrap();
    drop(prepare(&job(&data, reads(65536)), &mut NoHooks).unwrap());
    fs::rename(&data, &moved).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let list = elsewhere.join("fathom.manifest");
    fs::copy(moved.join("fathom.manifest"), &list).unwrap();
    symlink(&elsewhere, &data).unwrap();
    let error = remove_files_of_run(&data, "fathom", 1, &mut NoHooks).unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert!(list.exists());
    // A link to the folder itself changes nothing.
    fs::remove_file(&data).unwrap();
    symlink(&moved, &data).unwrap();
    let removal = remove_files_of_run(&data, "fathom", 1, &mut NoHooks).unwrap();
    assert_eq!(removal.removed, 1);
    assert_eq!(fs::read_dir(&moved).unwrap().count(), 0);
}

#[test]
fn a_folder_of_kept_files_that_moves_away_is_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let (data, moved) = (top.join("data"), top.join("moved"));
    fs::create_dir(&data).unwrap();
    let mut kept = job(&data, reads(65536));
    kept.keep_files = true;
    drop(prepare(&kept, &mut NoHooks).unwrap());
    let again = prepare(&kept, &mut NoHooks).unwrap();
    assert!(again.disturbed().is_empty());
    fs::rename(&data, &moved).unwrap();
    let remarks = again.disturbed().join("\n");
    assert!(
        remarks.contains("moved or removed this directory"),
        "{remarks}"
    );
}

#[test]
fn holes_that_were_punched_since_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let prepared = prepare(&job(dir.path(), reads(4 * 65536)), &mut NoHooks).unwrap();
    assert_eq!(prepared.unwritten_share_now(), Some(0.0));
    let file = fs::File::options()
        .write(true)
        .open(dir.path().join("fathom.0"))
        .unwrap();
    let flags = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    if rustix::fs::fallocate(&file, flags, 0, 2 * 65536).is_err() {
        println!("skipped: no holes can be punched here");
        return;
    }
    assert_eq!(prepared.unwritten_share_now(), Some(0.5));
}
