use fathom_model::OpKind;
use fathom_model::workload::{CacheMode, EngineKind, OpMix};
use fathom_model::{Job, Target, Workload};

use super::*;
use crate::prepare::NoHooks;

const MIB: u64 = 1 << 20;

fn job(target: &str) -> Job {
    let mut workload = Workload::example("ping");
    workload.engine = EngineKind::Psync;
    workload.data_set.size_bytes = None;
    Job {
        workload,
        target: target.parse::<Target>().unwrap(),
        seed: 11,
        run_tag: 1,
        destructive: false,
        keep_files: false,
        file_prefix: "ping".to_owned(),
    }
}

#[test]
fn a_directory_is_read_from_a_file_that_nobody_sees() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(&dir.path().display().to_string());
    job.workload.data_set.size_bytes = Some(4 * MIB);
    let mut one = OneByOne::open(&job, &mut NoHooks).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_eq!(one.facts().active_bytes, 4 * MIB);
    let singles: Vec<Single> = (0..50).map(|_| one.next()).collect();
    assert!(singles.iter().all(|s| s.failed.is_none()), "{singles:?}");
    assert!(singles.iter().all(|s| s.kind == OpKind::Read));
    assert!(
        singles
            .windows(2)
            .all(|w| w[0].started_ns < w[1].started_ns)
    );
    // Random data were read: no hole.
    let block = one.buffers.block(0, 4096);
    assert!(block.iter().filter(|byte| **byte == 0).count() < 64);
}

#[test]
fn writes_are_flushed_when_asked_and_the_flush_is_part_of_the_latency() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(&dir.path().display().to_string());
    job.workload.data_set.size_bytes = Some(MIB);
    job.workload.mix = OpMix::WRITE;
    job.workload.sync.every_writes = 1;
    let mut one = OneByOne::open(&job, &mut NoHooks).unwrap();
    let single = one.next();
    assert_eq!(single.failed, None);
    assert!(single.flush_ns.is_some_and(|ns| ns <= single.latency_ns));
}

#[test]
fn a_file_of_the_users_is_read_and_never_written_unasked() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), vec![7; 1 << 20]).unwrap();
    let mut job = job(&file.path().display().to_string());
    job.workload.cache = CacheMode::Buffered;
    let mut one = OneByOne::open(&job, &mut NoHooks).unwrap();
    assert_eq!(one.next().failed, None);
    assert_eq!(one.buffers.block(0, 4096), &[7; 4096]);
    job.workload.mix = OpMix::WRITE;
    let refused = OneByOne::open(&job, &mut NoHooks).err().unwrap();
    assert!(refused.to_string().contains("--destructive"), "{refused}");
}

#[test]
fn a_simulated_drive_answers_in_its_own_time() {
    let mut job = job("sim:hdd");
    job.workload.pattern =
        fathom_model::workload::Pattern::Random(fathom_model::workload::Distribution::EachOnce);
    let mut one = OneByOne::open(&job, &mut NoHooks).unwrap();
    assert!(one.is_simulated());
    let mut due_ns = 0;
    for _ in 0..20 {
        let single = one.next();
        assert_eq!(single.failed, None);
        assert!(single.latency_ns > 100_000, "{single:?}");
        assert!(single.started_ns >= due_ns);
        due_ns = single.started_ns + 1_000_000_000;
        one.rest_until(due_ns);
    }
    let again: Vec<u64> = {
        let mut other = OneByOne::open(&job, &mut NoHooks).unwrap();
        (0..3).map(|_| other.next().offset).collect()
    };
    let mut third = OneByOne::open(&job, &mut NoHooks).unwrap();
    assert!(again.iter().all(|offset| third.next().offset == *offset));
}

#[test]
fn the_null_target_answers_at_once_and_failures_have_their_errno() {
    let mut one = OneByOne::open(&job("null:"), &mut NoHooks).unwrap();
    assert!((0..1000).all(|_| one.next().failed.is_none()));
    assert_eq!(failure(-5, 4096), Some(5));
    assert_eq!(failure(100, 4096), Some(0));
    assert_eq!(failure(0, 0), None);
}
