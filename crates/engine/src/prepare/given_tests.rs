//! Files and devices that were there before.

use std::fs;
use std::os::unix::fs::FileExt;
use std::process::Command;

use fathom_model::workload::{DataSet, OpMix, Verify};
use tempfile::NamedTempFile;

use super::tests::{Audience, job, reads};
use super::*;
use crate::guard::Loop;

const MIB: u64 = 1 << 20;

fn file(bytes: &[u8]) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    file
}

fn all_of_it() -> Workload {
    Workload {
        data_set: DataSet {
            size_bytes: None,
            ..reads(0).data_set
        },
        ..reads(0)
    }
}

fn writes() -> Workload {
    Workload {
        mix: OpMix::WRITE,
        ..all_of_it()
    }
}

#[test]
fn a_file_may_be_read_and_stays_as_it_is() {
    let content = vec![7; MIB as usize];
    let file = file(&content);
    let mut audience = Audience::default();
    let mut prepared = prepare(&job(file.path(), all_of_it()), &mut audience).unwrap();
    assert_eq!(prepared.layout.kind, TargetKind::File);
    assert_eq!(prepared.data.active_bytes, MIB);
    assert!(prepared.data.reused && !prepared.open.writable);
    assert!(prepared.notes.is_empty());
    cleanup(&mut prepared, false, &mut audience).unwrap();
    assert!(audience.created.is_empty());
    assert!(fs::read(file.path()).unwrap() == content);
}

#[test]
fn a_sparse_file_is_reported_as_such() {
    let file = file(b"");
    file.as_file().set_len(MIB).unwrap();
    let prepared = prepare(&job(file.path(), all_of_it()), &mut NoHooks).unwrap();
    assert_eq!(prepared.data.unwritten_share, Some(1.0));
    assert!(
        prepared.notes[0].contains("never written"),
        "{:?}",
        prepared.notes
    );
}

#[test]
fn a_file_is_overwritten_only_with_permission() {
    let content = vec![7; MIB as usize];
    let file = file(&content);
    let mut verified = all_of_it();
    verified.verify = Some(Verify {
        on_read: true,
        after: false,
        ..Verify::default()
    });
    let mut conditioned = all_of_it();
    conditioned.data_set.precondition = fathom_model::workload::Precondition::Fill;
    for (workload, text) in [
        (writes(), "would overwrite it"),
        (verified, "can be verified"),
        (conditioned.clone(), "preconditioning"),
    ] {
        let error = prepare(&job(file.path(), workload), &mut NoHooks).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error}");
        assert!(error.to_string().contains(text) && error.to_string().contains("--destructive"));
    }
    assert!(fs::read(file.path()).unwrap() == content);
    let mut permitted = job(file.path(), writes());
    permitted.destructive = true;
    let prepared = prepare(&permitted, &mut NoHooks).unwrap();
    assert!(prepared.open.writable);
    assert_eq!(prepared.data.prepared_bytes, 0);
    permitted.workload = conditioned;
    let mut prepared = prepare(&permitted, &mut NoHooks).unwrap();
    assert_eq!(prepared.data.prepared_bytes, MIB);
    assert!(fs::read(file.path()).unwrap() != content);
    cleanup(&mut prepared, false, &mut NoHooks).unwrap();
    assert!(file.path().exists());
}

#[test]
fn the_file_of_a_running_machine_is_refused_even_with_permission() {
    let content = vec![7; MIB as usize];
    let file = file(&content);
    let opened = fs::OpenOptions::new()
        .write(true)
        .open(file.path())
        .unwrap();
    let mut machine = Command::new("sleep")
        .arg("60")
        .stdout(opened)
        .spawn()
        .unwrap();
    let mut permitted = job(file.path(), writes());
    permitted.destructive = true;
    let refused = prepare(&permitted, &mut NoHooks).map(drop);
    permitted.workload = all_of_it();
    let read = prepare(&permitted, &mut NoHooks).map(drop);
    machine.kill().unwrap();
    machine.wait().unwrap();
    let error = refused.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("(sleep) has it open for writing"),
        "{error}"
    );
    read.unwrap();
    assert!(fs::read(file.path()).unwrap() == content);
}

#[test]
fn a_sparse_file_that_may_be_written_is_filled_before_it_is_read() {
    let file = file(b"");
    file.as_file().set_len(MIB).unwrap();
    let mut mixed = job(file.path(), all_of_it());
    mixed.workload.mix = OpMix {
        read_percent: 50,
        write_percent: 50,
        trim_percent: 0,
    };
    mixed.destructive = true;
    let prepared = prepare(&mixed, &mut NoHooks).unwrap();
    assert_eq!(prepared.data.prepared_bytes, MIB);
    assert_eq!(prepared.data.unwritten_share, Some(0.0));
    let bytes = fs::read(file.path()).unwrap();
    assert!(bytes.chunks(4096).all(|page| page.iter().any(|b| *b != 0)));
}

#[test]
fn sizes_that_a_file_does_not_have_are_errors() {
    let small = file(&[1; 8192]);
    let error = prepare(&job(small.path(), reads(MIB)), &mut NoHooks)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("too small") && error.contains("8.00 KiB"),
        "{error}"
    );
    let empty = file(b"");
    let error = prepare(&job(empty.path(), all_of_it()), &mut NoHooks)
        .unwrap_err()
        .to_string();
    assert!(error.contains("is empty"), "{error}");
    let shorter_than_a_block = file(&[1; 100]);
    assert!(prepare(&job(shorter_than_a_block.path(), all_of_it()), &mut NoHooks).is_err());
}

#[test]
fn zeros_without_end_can_be_read_at_a_given_size() {
    let zero = Path::new("/dev/zero");
    let prepared = prepare(&job(zero, reads(MIB)), &mut NoHooks).unwrap();
    assert_eq!(prepared.layout.kind, TargetKind::Stream);
    assert!(!prepared.open.direct_works && !prepared.open.writable);
    let error = prepare(&job(zero, all_of_it()), &mut NoHooks)
        .unwrap_err()
        .to_string();
    assert!(error.contains("give the size"), "{error}");
    let error = prepare(&job(zero, writes()), &mut NoHooks)
        .unwrap_err()
        .to_string();
    assert!(error.contains("only be read"), "{error}");
}

fn device() -> Option<Loop> {
    let image = NamedTempFile::new().unwrap();
    image.as_file().set_len(8 * MIB).unwrap();
    Loop::attach(image)
}

#[test]
fn an_empty_device_is_filled_and_held_with_permission() {
    let Some(device) = device() else { return };
    let mut the_job = job(&device.path, writes());
    let error = prepare(&the_job, &mut NoHooks).unwrap_err().to_string();
    assert!(error.contains("--destructive"), "{error}");
    the_job.destructive = true;
    the_job.workload.mix = OpMix {
        read_percent: 50,
        write_percent: 50,
        trim_percent: 0,
    };
    let prepared = prepare(&the_job, &mut NoHooks).unwrap();
    assert_eq!(prepared.layout.kind, TargetKind::Device);
    assert_eq!(prepared.data.prepared_bytes, 8 * MIB);
    assert_eq!(prepared.data.unwritten_share, Some(0.0));
    let error = prepare(&the_job, &mut NoHooks).unwrap_err().to_string();
    assert!(error.contains("in use"), "{error}");
    drop(prepared);
    // What a first trial wrote is good enough for a second.
    let prepared = prepare(&the_job, &mut NoHooks).unwrap();
    assert_eq!(prepared.data.prepared_bytes, 0);
    assert_eq!(prepared.data.unwritten_share, Some(0.0));
    the_job.workload.data_set.size_bytes = Some(16 * MIB);
    drop(prepared);
    let error = prepare(&the_job, &mut NoHooks).unwrap_err().to_string();
    assert!(error.contains("too small"), "{error}");
}

#[test]
fn a_device_with_a_file_system_may_only_be_read() {
    let Some(device) = device() else { return };
    let formatted = Command::new("mkfs.ext4")
        .args(["-q", "-F"])
        .arg(&device.path)
        .output();
    if !formatted.is_ok_and(|output| output.status.success()) {
        println!("skipped: mkfs.ext4 is not installed");
        return;
    }
    let before = fs::read(&device.path).unwrap();
    let mut the_job = job(&device.path, writes());
    the_job.destructive = true;
    let error = prepare(&the_job, &mut NoHooks).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert!(error.to_string().contains("ext2/3/4"), "{error}");
    the_job.workload = all_of_it();
    let prepared = prepare(&the_job, &mut NoHooks).unwrap();
    assert_eq!(prepared.data.prepared_bytes, 0);
    assert!(prepared.data.unwritten_share > Some(0.1));
    assert!(
        prepared
            .data
            .unwritten_method
            .unwrap()
            .contains("random places")
    );
    assert!(fs::read(&device.path).unwrap() == before);
}

#[test]
fn a_file_under_a_loop_device_is_not_overwritten() {
    let image = NamedTempFile::new().unwrap();
    image.as_file().write_all_at(&[7; 65536], 0).unwrap();
    let path = image.path().to_owned();
    let Some(_device) = Loop::attach(image) else {
        return;
    };
    let mut the_job = job(&path, writes());
    the_job.destructive = true;
    let error = prepare(&the_job, &mut NoHooks).unwrap_err().to_string();
    assert!(error.contains("lies on it"), "{error}");
}
