//! The exam on real components: what fathom says of targets that were shaped
//! with, or without, one fault. What this machine lacks is skipped with the
//! reason; times are not asserted.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fathom_exam::Grade;
use fathom_exam::real::{RealAnswer, Rig, all};
use fathom_lab::real::or_skip;

use crate::bench::Bench;
use crate::measured::expect_mostly;

/// Loads take turns: what disturbs one must not disturb another.
static TURN: Mutex<()> = Mutex::new(());

/// Sits the scenarios whose name is listed.
fn sit(names: &[&str]) -> Vec<RealAnswer> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new();
    let fathom = Path::new(env!("CARGO_BIN_EXE_fathom"));
    let rig = Rig::new(fathom, bench.path(), false).expect("a folder");
    let rig = rig.without_fio();
    let scenarios = all();
    let chosen = names.iter().map(|name| {
        let found = scenarios.iter().find(|s| s.name == *name);
        found.unwrap_or_else(|| panic!("there is no scenario '{name}'"))
    });
    chosen.filter_map(|s| or_skip(s.sit(&rig))).collect()
}

/// Sits each scenario in rounds; returns the answers that were right. A scenario
/// that this machine cannot set up counts as expected.
#[track_caller]
fn expect_right(names: &[&str]) -> Vec<RealAnswer> {
    let mut right = Vec::new();
    for name in names {
        expect_mostly(name, || match sit(&[name]).pop() {
            Some(answer) if answer.grade == Grade::Right => {
                println!("{answer:?}");
                right.push(answer);
                Ok(())
            }
            Some(answer) => Err(format!("{answer:#?}")),
            None => Ok(()),
        });
    }
    right
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn data_that_never_came_from_a_device_are_seen() {
    expect_right(&[
        "warm file, buffered reads",
        "sparse file, direct reads",
        "tmpfs",
    ]);
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn what_a_file_system_does_to_data_is_seen() {
    expect_right(&["btrfs with zstd, compressible writes", "nearly full ext4"]);
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn a_cap_is_kept_and_never_gets_a_wrong_name() {
    let answers = expect_right(&["device with a cap", "throttle of the control group"]);
    for held in answers.iter().flat_map(|answer| &answer.held) {
        // Never above the limit; a busy machine may stay below it.
        let error = held.error().expect("a figure");
        assert!(error <= held.bar, "{held:?}");
    }
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn a_cap_lowered_in_the_middle_is_a_change_of_level() {
    expect_right(&["cap lowered in the middle"]);
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn errors_are_seen_and_never_counted_as_work() {
    for answer in expect_right(&["device that returns EIO"]) {
        let held = &answer.held[0];
        let counted = held.measured.expect("a count");
        // The server also counts the reads with which the target was tried.
        assert!(counted > 0.0 && counted <= held.truth, "{held:?}");
    }
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn others_on_the_cores_or_on_the_device_are_seen() {
    expect_right(&["programs on every core", "reader on the same device"]);
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn a_small_cache_ends_where_the_drive_says() {
    for answer in expect_right(&["small SLC cache behind a loop device"]) {
        for held in &answer.held {
            println!("{held:?}");
        }
    }
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn sound_drives_pass() {
    expect_right(&[
        "sound drive behind a loop device",
        "sound drive as a file",
        "hard disk, one pass",
    ]);
}
