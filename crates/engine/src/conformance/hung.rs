//! Operations that do not come back.

use fathom_model::workload::{Bounds, EngineKind};

use super::engines;
use super::group_level::job;
use crate::Group;
use crate::group::EndReason;
use crate::prepare::{NoHooks, prepare};
use crate::target_file::TargetFile;

/// A pipe takes the file's place before the load starts: reads wait for ever.
#[test]
fn hung_operations_are_seen_and_left_behind() {
    let Some(kind) = engines().find(|kind| *kind == EngineKind::Uring) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(kind, dir.path(), |w| {
        w.queue_depth = 3;
        w.bounds = Bounds::default();
    });
    job.workload.workers = 2;
    let mut prepared = prepare(&job, &mut NoHooks).unwrap();
    let path = dir.path().join("file");
    std::fs::remove_file(&path).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap();
    // As if it had been prepared: what takes a file's place is not opened.
    assert!(Group::start(&job, &prepared).is_err());
    let resolved = path.canonicalize().unwrap();
    let (file, _) = TargetFile::look(&resolved).unwrap();
    prepared.layout.files[0].file = Some(file);
    // Open for both, so that nobody waits for the other end.
    let pipe = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();

    let mut group = Group::start(&job, &prepared).unwrap();
    assert_eq!(group.stuck(0), [], "nothing was started yet");
    group.go();
    let mut stuck = group.stuck(0);
    while stuck.len() < 6 {
        std::thread::yield_now();
        stuck = group.stuck(0);
    }
    let text = path.display().to_string();
    assert!(stuck.iter().all(|op| op.message.contains(&text)));
    assert!(stuck[0].message.starts_with("read of 4096 bytes at offset"));
    assert_eq!(group.stuck(3_600_000_000_000), [], "none for an hour");
    assert!(!group.is_finished());

    group.stop();
    let end = group.abandon();
    assert_eq!(end.report.stuck.len(), 6);
    assert_eq!(end.end_reason, EndReason::Stopped, "the first reason stays");
    // Lets the threads that were left behind go home.
    rustix::io::write(&pipe, &[0; 6 * 4096]).unwrap();
}
