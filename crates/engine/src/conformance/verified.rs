//! Contents: what is written is what is read, past the page cache too, and what
//! was damaged is found.

use std::os::unix::fs::FileExt;
use std::path::Path;

use fathom_model::workload::{
    BlockSizes, CacheMode, Content, EngineKind, OnError, OpMix, Part, Payload, Verify,
};
use fathom_model::{ErrorClass, Job, OpKind, Target};

use super::engines;
use super::group_level::{FILE_BYTES, check_sums, errors, job, ops, run, run_after};
use crate::GroupEnd;
use crate::prepare::{NoHooks, prepare};

fn verified(kind: EngineKind, dir: &Path, mix: OpMix) -> Job {
    let mut job = job(kind, dir, |w| {
        w.verify = Some(Verify {
            on_read: true,
            after: false,
            ..Verify::default()
        });
        w.mix = mix;
        w.workers = 2;
        w.on_error = OnError::Continue;
        w.bounds.ops = Some(2000);
    });
    job.target = Target::Path(dir.to_owned());
    job
}

const MIXED: OpMix = OpMix {
    read_percent: 60,
    write_percent: 40,
    trim_percent: 0,
};

#[test]
fn what_is_written_is_what_is_read() {
    for kind in engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run(&verified(kind, dir.path(), MIXED));
        assert_eq!(end.report.errors, [], "{kind:?}");
        assert_eq!(
            ops(&end, OpKind::Read) + ops(&end, OpKind::Write),
            2000,
            "{kind:?}"
        );
        check_sums(&end, kind);
    }
}

#[test]
fn payload_that_is_generated_ahead_carries_the_right_stamps() {
    for kind in engines() {
        for (depth, write_percent) in [(1, 100), (1, 50), (5, 60)] {
            let dir = tempfile::tempdir().unwrap();
            let mix = OpMix {
                read_percent: 100 - write_percent,
                write_percent,
                trim_percent: 0,
            };
            let mut job = verified(kind, dir.path(), mix);
            job.workload.block = BlockSizes::Fixed(64 << 10);
            job.workload.align_bytes = 64 << 10;
            job.workload.queue_depth = depth;
            job.workload.sync.every_writes = 7;
            job.workload.workers = 1;
            let end = run(&job);
            assert_eq!(end.report.errors, [], "{kind:?}");
            assert_eq!(
                ops(&end, OpKind::Read) + ops(&end, OpKind::Write),
                2000,
                "{kind:?}"
            );
            check_sums(&end, kind);
        }
    }
}

#[test]
fn direct_io_moves_the_same_bytes() {
    for kind in engines().filter(|kind| *kind != EngineKind::Mmap) {
        let dir = tempfile::tempdir().unwrap();
        let mut job = verified(kind, dir.path(), MIXED);
        job.workload.cache = CacheMode::Direct;
        let end = run(&job);
        if !end.report.direct {
            println!("skipped: {kind:?}: {:?}", end.report.fallbacks);
            continue;
        }
        assert_eq!(end.report.errors, [], "{kind:?}");
        assert_eq!(
            ops(&end, OpKind::Read) + ops(&end, OpKind::Write),
            2000,
            "{kind:?}"
        );
        check_sums(&end, kind);
    }
}

#[test]
fn a_damaged_block_is_found_and_is_no_work() {
    for kind in engines() {
        let dir = tempfile::tempdir().unwrap();
        let end = run_after(&verified(kind, dir.path(), OpMix::READ), || {
            damage_all(dir.path());
        });
        let wrong = errors(&end, ErrorClass::Verify);
        assert!(wrong > 0, "{kind:?}");
        assert_eq!(ops(&end, OpKind::Read) + wrong, 2000, "{kind:?}");
        let first = &end.report.errors[0];
        assert_eq!(first.class, ErrorClass::Verify);
        assert!(first.message.contains("expected"), "{}", first.message);
    }
}

/// Changes a byte in the middle of every test file in a directory.
fn damage_all(dir: &Path) {
    let mut damaged = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        let bytes = file.metadata().unwrap().len();
        if bytes < FILE_BYTES / 2 {
            continue;
        }
        let mut byte = [0];
        file.read_exact_at(&mut byte, bytes / 2 + 100).unwrap();
        file.write_all_at(&[!byte[0]], bytes / 2 + 100).unwrap();
        damaged += 1;
    }
    assert!(damaged > 0, "there was nothing to damage");
}

/// Writes every block of the test files once, then reads them all in a trial
/// that knows nothing of the first but where it wrote.
fn write_then_read(kind: EngineKind, dir: &Path, payload: Payload) -> GroupEnd {
    let by_content = payload.content != Content::Random;
    let passes = |mix, verify| {
        let mut job = verified(kind, dir, mix);
        job.workload.bounds.ops = None;
        job.workload.each_worker.passes = Some(1);
        job.workload.payload = payload.clone();
        job.workload.verify = Some(Verify {
            by_content,
            ..verify
        });
        job
    };
    let end = run(&passes(OpMix::WRITE, Verify::default()));
    assert_eq!(end.report.errors, [], "{kind:?}");
    damage_at_will(dir, kind);
    let mut job = passes(
        OpMix::READ,
        Verify {
            on_read: true,
            earlier: true,
            ..Verify::default()
        },
    );
    job.seed += 1;
    run(&job)
}

/// Psync's trial stands for all: one block is damaged.
fn damage_at_will(dir: &Path, kind: EngineKind) {
    if kind == EngineKind::Psync {
        damage_all(dir);
    }
}

#[test]
fn what_an_earlier_trial_wrote_is_verified() {
    let parts = Content::Parts(vec![Part::Bytes(b"fathom".to_vec()), Part::Offset]);
    for content in [Content::Random, Content::Bytes(vec![1, 2, 3]), parts] {
        for kind in engines() {
            let dir = tempfile::tempdir().unwrap();
            let payload = Payload {
                content: content.clone(),
                ..Payload::default()
            };
            let end = write_then_read(kind, dir.path(), payload);
            let blocks = FILE_BYTES / 4096;
            let wrong = errors(&end, ErrorClass::Verify);
            assert_eq!(ops(&end, OpKind::Read) + wrong, blocks, "{kind:?}");
            // Two workers with a file each.
            let damaged = if kind == EngineKind::Psync { 2 } else { 0 };
            assert_eq!(wrong, damaged, "{kind:?} {:?}", end.report.errors);
            if let Some(first) = end.report.errors.first() {
                let place = dir.path().join("conformance.");
                let text = &first.message;
                assert!(text.contains(&place.display().to_string()), "{text}");
                assert!(
                    text.contains("expected") && text.contains("found"),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn nothing_that_was_never_written_passes_for_an_earlier_trials() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = verified(EngineKind::Psync, dir.path(), OpMix::READ);
    job.workload.verify = Some(Verify {
        on_read: true,
        earlier: true,
        ..Verify::default()
    });
    let error = prepare(&job, &mut NoHooks).unwrap_err().to_string();
    assert!(error.contains("let a trial write it first"), "{error}");
    let plain = Job {
        workload: fathom_model::Workload {
            verify: None,
            ..job.workload.clone()
        },
        ..job.clone()
    };
    run(&plain);
    let end = run(&job);
    assert_eq!(ops(&end, OpKind::Read), 0);
    assert_eq!(errors(&end, ErrorClass::Verify), 2000);
}
