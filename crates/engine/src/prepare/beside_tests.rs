//! Several trials on one target at the same time, on real files and devices.

use std::fs;

use fathom_model::workload::{DataSet, OpMix, Verify};
use fathom_model::{Target, Workload};

use super::super::{NoHooks, Prepared, cleanup, prepare, prepare_beside};
use super::*;
use crate::guard::Loop;

const MIB: u64 = 1 << 20;

fn job(target: &Path, mix: OpMix, size_bytes: u64) -> Job {
    Job {
        workload: Workload {
            mix,
            data_set: DataSet::of_bytes(size_bytes),
            ..Workload::example("beside")
        },
        target: Target::Path(target.to_owned()),
        seed: 3,
        run_tag: 7,
        destructive: true,
        keep_files: false,
        file_prefix: "t".to_owned(),
    }
}

fn ready(job: &Job, others: &[&Prepared]) -> Prepared {
    prepare_beside(job, others, &mut NoHooks).expect("it can be prepared")
}

#[test]
fn test_files_that_two_trials_share_are_made_once_and_only_grow() {
    let dir = tempfile::tempdir().expect("a directory");
    let large = ready(&job(dir.path(), OpMix::READ, 4 * MIB), &[]);
    let small = ready(&job(dir.path(), OpMix::WRITE, MIB), &[&large]);
    assert_eq!(small.layout.files[0].path, large.layout.files[0].path);
    assert!(small.data.reused);
    let length = || fs::metadata(dir.path().join("t.0")).expect("there").len();
    assert_eq!(length(), 4 * MIB);
    let larger = ready(&job(dir.path(), OpMix::READ, 8 * MIB), &[&large, &small]);
    assert_eq!(length(), 8 * MIB);
    // As long as one of them lives, no other fathom gets at the files.
    drop((large, small));
    let stranger = job(dir.path(), OpMix::READ, MIB);
    let refused = prepare(&stranger, &mut NoHooks).expect_err("they are in use");
    assert!(refused.to_string().contains("another fathom"), "{refused}");
    drop(larger);
    let mut again = ready(&stranger, &[]);
    cleanup(&mut again, false, &mut NoHooks).expect("removed");
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);
}

#[test]
fn the_first_of_two_that_share_files_can_clean_up_after_both() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut two_files = job(dir.path(), OpMix::WRITE, 2 * MIB);
    two_files.workload.data_set.files.count = 2;
    let mut first = ready(&job(dir.path(), OpMix::WRITE, MIB), &[]);
    let mut second = ready(&two_files, &[&first]);
    cleanup(&mut first, false, &mut NoHooks).expect("its own are removed");
    assert!(dir.path().join("t.1").exists(), "the other one's stays");
    cleanup(&mut second, false, &mut NoHooks).expect("removed");
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);
}

#[test]
fn contents_that_one_trial_checks_are_kept_from_the_others() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut checks = job(dir.path(), OpMix::WRITE, MIB);
    checks.workload.verify = Some(Verify {
        on_read: false,
        after: true,
        ..Verify::default()
    });
    let checking = ready(&checks, &[]);
    let writes = job(dir.path(), OpMix::WRITE, MIB);
    let refused = prepare_beside(&writes, &[&checking], &mut NoHooks).expect_err("a clash");
    assert!(
        refused.to_string().contains("checks its contents"),
        "{refused}"
    );
    let refused = prepare_beside(
        &checks,
        &[
            &ready(&job(dir.path(), OpMix::READ, MIB), &[&checking]),
            &checking,
        ],
        &mut NoHooks,
    );
    assert!(refused.is_err(), "two would stamp the same blocks");
    ready(&job(dir.path(), OpMix::READ, MIB), &[&checking]);
    let mut elsewhere = job(dir.path(), OpMix::WRITE, MIB);
    elsewhere.file_prefix = "u".to_owned();
    ready(&elsewhere, &[&checking]);
}

#[test]
fn two_trials_may_write_to_a_device_that_is_the_runs_own() {
    let image = tempfile::NamedTempFile::new().expect("a file");
    image.as_file().set_len(4 * MIB).expect("a size");
    let Some(device) = Loop::attach(image) else {
        return;
    };
    let writes = job(&device.path, OpMix::WRITE, MIB);
    let first = ready(&writes, &[]);
    let second = ready(&writes, &[&first]);
    let reads = ready(&job(&device.path, OpMix::READ, MIB), &[&first, &second]);
    let alone = prepare(&writes, &mut NoHooks).expect_err("somebody has it");
    assert!(alone.to_string().contains("in use"), "{alone}");
    drop((first, reads));
    assert!(prepare(&writes, &mut NoHooks).is_err(), "one still has it");
    drop(second);
    ready(&writes, &[]);
}
