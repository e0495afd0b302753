//! What is never touched, whatever happens.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use tempfile::TempDir;

use super::tests::{Audience, earlier_run, job, names, reads};
use super::*;

const MIB: u64 = 1 << 20;

#[test]
fn a_strangers_file_is_never_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fathom.1");
    fs::write(&path, "precious").unwrap();
    let mut workload = reads(2 * MIB);
    workload.data_set.files.count = 2;
    let error = prepare(&job(dir.path(), workload), &mut NoHooks).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert!(error.to_string().contains("did not make it"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(names(&dir), ["fathom.1"]);
}

#[test]
fn a_file_that_took_the_place_of_ours_is_a_strangers() {
    let dir = tempfile::tempdir().unwrap();
    let the_job = job(dir.path(), reads(MIB));
    earlier_run(&the_job);
    let path = dir.path().join("fathom.0");
    fs::rename(&path, dir.path().join("moved")).unwrap();
    fs::write(&path, "precious").unwrap();
    let error = prepare(&the_job, &mut NoHooks).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    fs::remove_file(&path).unwrap();
    symlink(dir.path().join("moved"), &path).unwrap();
    assert!(prepare(&the_job, &mut NoHooks).is_err());
    fs::remove_file(&path).unwrap();
    fs::hard_link(dir.path().join("moved"), &path).unwrap();
    assert!(prepare(&the_job, &mut NoHooks).is_err());
}

#[test]
fn cleanup_leaves_what_was_put_in_the_place_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let precious = elsewhere.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let mut workload = reads(4 * MIB);
    workload.data_set.files.count = 4;
    let mut prepared = prepare(&job(dir.path(), workload), &mut NoHooks).unwrap();
    let path = |n: u32| dir.path().join(format!("fathom.{n}"));
    // A symbolic link, a hard link, another file; the fourth is gone.
    for n in 0..4 {
        fs::remove_file(path(n)).unwrap();
    }
    symlink(&precious, path(0)).unwrap();
    fs::hard_link(&precious, path(1)).unwrap();
    fs::write(path(2), "mine").unwrap();
    cleanup(&mut prepared, false, &mut NoHooks).unwrap();
    assert_eq!(names(&dir), ["fathom.0", "fathom.1", "fathom.2"]);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
}

#[test]
fn cleanup_follows_the_directory_and_not_its_path() {
    let parent = tempfile::tempdir().unwrap();
    let (here, there) = (parent.path().join("here"), parent.path().join("there"));
    fs::create_dir(&here).unwrap();
    let mut prepared = prepare(&job(&here, reads(MIB)), &mut NoHooks).unwrap();
    fs::rename(&here, &there).unwrap();
    fs::create_dir(&here).unwrap();
    fs::write(here.join("fathom.0"), "precious").unwrap();
    cleanup(&mut prepared, false, &mut NoHooks).unwrap();
    assert_eq!(
        fs::read_to_string(here.join("fathom.0")).unwrap(),
        "precious"
    );
    assert_eq!(fs::read_dir(&there).unwrap().count(), 0);
}

#[test]
fn a_stop_or_an_error_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let the_job = job(dir.path(), reads(64 * MIB));
    let mut audience = Audience {
        stop_during: Some("filling"),
        ..Audience::default()
    };
    let error = prepare(&the_job, &mut audience).unwrap_err();
    assert!(matches!(error, Error::Stopped), "{error}");
    assert!(names(&dir).is_empty());
    assert_eq!(audience.created.len(), audience.removed.len());
    let mut audience = Audience {
        forbid: true,
        ..Audience::default()
    };
    let error = prepare(&the_job, &mut audience).unwrap_err();
    assert!(
        error.to_string().contains("no notes can be made"),
        "{error}"
    );
    assert!(names(&dir).is_empty());
}

#[test]
fn a_stopped_extension_is_not_taken_for_written() {
    let dir = tempfile::tempdir().unwrap();
    earlier_run(&job(dir.path(), reads(MIB)));
    let mut audience = Audience {
        stop_during: Some("filling"),
        ..Audience::default()
    };
    let longer = job(dir.path(), reads(64 * MIB));
    assert!(matches!(
        prepare(&longer, &mut audience),
        Err(Error::Stopped)
    ));
    assert_eq!(names(&dir), ["fathom.0", "fathom.manifest"]);
    assert_eq!(earlier_run(&longer).prepared_bytes, 64 * MIB);
}

#[test]
fn files_in_use_by_another_trial_are_not_shared() {
    let dir = tempfile::tempdir().unwrap();
    let the_job = job(dir.path(), reads(MIB));
    let _first = prepare(&the_job, &mut NoHooks).unwrap();
    let error = prepare(&the_job, &mut NoHooks).unwrap_err();
    assert!(error.to_string().contains("another fathom"), "{error}");
}

/// A small memory file system, or `None` with the reason printed.
struct Mount(TempDir);

impl Mount {
    fn tmpfs(options: &str) -> Option<Mount> {
        let dir = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(dir.path())
            .output();
        if mount.is_ok_and(|output| output.status.success()) {
            Some(Mount(dir))
        } else {
            println!("skipped: file systems cannot be mounted here");
            None
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn read_only_and_full_file_systems_are_told() {
    let Some(mount) = Mount::tmpfs("ro,size=32m") else {
        return;
    };
    let error = prepare(&job(mount.0.path(), reads(MIB)), &mut NoHooks)
        .unwrap_err()
        .to_string();
    assert!(error.contains("mounted read-only"), "{error}");
    drop(mount);
    let Some(mount) = Mount::tmpfs("size=32m") else {
        return;
    };
    let error = prepare(&job(mount.0.path(), reads(30 * MIB)), &mut NoHooks).unwrap_err();
    assert!(matches!(error, Error::NoSpace { .. }), "{error}");
    assert!(names(&mount.0).is_empty());
    // Room that somebody else takes while the files are being filled.
    struct Greedy(PathBuf);
    impl PrepareHooks for Greedy {
        fn progress(&mut self, _: PrepareProgress<'_>) {}
        fn creating(&mut self, path: &Path) -> Result<(), CreationRefused> {
            if path.ends_with("fathom.0") {
                fs::write(&self.0, vec![1; 28 << 20]).unwrap();
            }
            Ok(())
        }
        fn removed(&mut self, _: &Path) {}
        fn stop_requested(&self) -> bool {
            false
        }
    }
    let mut greedy = Greedy(mount.0.path().join("greedy"));
    let error = prepare(&job(mount.0.path(), reads(8 * MIB)), &mut greedy).unwrap_err();
    assert!(error.to_string().contains("ran out of room"), "{error}");
    assert_eq!(names(&mount.0), ["greedy"]);
}
