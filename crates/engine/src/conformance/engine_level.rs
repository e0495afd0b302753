//! What an engine does with single operations.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::Arc;

use fathom_model::workload::{EngineKind, SyncCall};
use fathom_model::{OpKind, Workload};

use super::engines;
use crate::arena::Buffers;
use crate::engine::{Completion, Engine, Op, Queued};
use crate::engines::{self, Materials, Visitor};
use crate::open::{OpenMode, WorkerFiles};

const BLOCK: u32 = 4096;
const SLOTS: u32 = 9;

/// An engine with its buffers, for one test.
struct Bench<'a> {
    engine: &'a mut dyn DynEngine,
    buffers: &'a mut Buffers,
}

/// What tests need of an engine, behind a pointer.
trait DynEngine {
    fn max_depth(&self) -> u32;
    fn queue(&mut self, op: &Op, buffer: u32) -> Queued;
    fn reap(&mut self, min: u32, timeout_ns: Option<u64>) -> Vec<Completion>;
}

impl<E: Engine> DynEngine for E {
    fn max_depth(&self) -> u32 {
        self.capabilities().max_depth
    }

    fn queue(&mut self, op: &Op, buffer: u32) -> Queued {
        Engine::queue(self, op, buffer)
    }

    fn reap(&mut self, min: u32, timeout_ns: Option<u64>) -> Vec<Completion> {
        let mut out = Vec::new();
        Engine::reap(self, min, timeout_ns, &mut out).unwrap();
        out
    }
}

impl Bench<'_> {
    /// One operation in slot 0, to its end.
    fn one(&mut self, kind: OpKind, offset: u64, len: u32) -> i32 {
        let op = Op {
            slot: 0,
            kind,
            file: 0,
            offset,
            len,
        };
        assert_eq!(self.engine.queue(&op, 0), Queued::Yes);
        for _ in 0..1000 {
            if let Some(ended) = self.engine.reap(1, Some(1_000_000_000)).first() {
                assert_eq!(ended.slot, 0);
                return ended.result;
            }
        }
        panic!("{kind:?} did not end");
    }
}

struct With<F> {
    buffers: Buffers,
    test: F,
}

impl<F: FnOnce(Bench<'_>)> Visitor for With<F> {
    type Output = ();

    fn visit<E: Engine>(self, mut engine: E, _notes: Vec<String>) {
        let mut buffers = self.buffers;
        (self.test)(Bench {
            engine: &mut engine,
            buffers: &mut buffers,
        });
        engine.close();
        drop(engine);
        drop(buffers);
    }
}

/// Runs `test` on an engine that has `file` open.
fn on(kind: EngineKind, file: File, bytes: u64, write: bool, test: impl FnOnce(Bench<'_>)) {
    let (buffers, _) = Buffers::new(SLOTS, u64::from(BLOCK), false).unwrap();
    let mut workload = Workload::example("conformance");
    workload.sync.call = SyncCall::Fsync;
    let materials = Materials {
        kind,
        worker: 0,
        files: WorkerFiles {
            files: Arc::from([file]),
        },
        sizes: vec![bytes],
        buffers: buffers.view(),
        slots: SLOTS,
        workload: &workload,
        mode: OpenMode {
            write,
            ..OpenMode::NOTHING
        },
        blocks: None,
    };
    engines::enter(materials, Vec::new(), With { buffers, test }).unwrap();
}

fn open(path: &Path, write: bool) -> File {
    OpenOptions::new()
        .read(true)
        .write(write)
        .open(path)
        .unwrap()
}

/// A file of eight blocks; block n is filled with n + 1.
fn test_file(dir: &tempfile::TempDir) -> std::path::PathBuf {
    let path = dir.path().join("file");
    let bytes: Vec<u8> = (0..8u8).flat_map(|n| vec![n + 1; BLOCK as usize]).collect();
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn what_is_in_the_file_is_read() {
    for kind in engines() {
        let dir = tempfile::tempdir().unwrap();
        let path = test_file(&dir);
        on(kind, open(&path, false), 8 * 4096, false, |mut bench| {
            for n in [5u8, 0, 7] {
                let result = bench.one(OpKind::Read, u64::from(n) * 4096, BLOCK);
                assert_eq!(result, 4096, "{kind:?}");
                let block = bench.buffers.block(0, BLOCK);
                assert!(block.iter().all(|b| *b == n + 1), "{kind:?} block {n}");
            }
        });
    }
}

#[test]
fn what_is_written_and_flushed_is_in_the_file() {
    for kind in engines() {
        let dir = tempfile::tempdir().unwrap();
        let path = test_file(&dir);
        on(kind, open(&path, true), 8 * 4096, true, |mut bench| {
            bench.buffers.block(0, BLOCK).fill(0xEE);
            assert_eq!(bench.one(OpKind::Write, 3 * 4096, BLOCK), 4096, "{kind:?}");
            assert_eq!(bench.one(OpKind::Sync, 0, 0), 0, "{kind:?}");
            // Three flags of `sync_file_range`, to the end of the file, and beyond it.
            for (flags, end) in [(1, 4 * 4096), (2, 1 << 33), (7, 64 * 4096)] {
                let (offset, len) = Op::of_range(flags, 3 * 4096, end);
                assert_eq!(bench.one(OpKind::Sync, offset, len), 0, "{kind:?} {flags}");
            }
        });
        let bytes = std::fs::read(&path).unwrap();
        assert!(
            bytes[3 * 4096..4 * 4096].iter().all(|b| *b == 0xEE),
            "{kind:?}"
        );
        assert_eq!((bytes[3 * 4096 - 1], bytes[4 * 4096]), (3, 5), "{kind:?}");
    }
}

#[test]
fn a_trim_leaves_zeros_and_only_there() {
    for kind in engines() {
        let dir = tempfile::tempdir().unwrap();
        let path = test_file(&dir);
        on(kind, open(&path, true), 8 * 4096, true, |mut bench| {
            let result = bench.one(OpKind::Trim, 2 * 4096, 2 * BLOCK);
            if result == -libc::EOPNOTSUPP {
                println!("skipped: {kind:?}: no holes on this file system");
                return;
            }
            assert_eq!(result, 2 * 4096, "{kind:?}");
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                bytes[2 * 4096..4 * 4096].iter().all(|b| *b == 0),
                "{kind:?}"
            );
            assert_eq!((bytes[2 * 4096 - 1], bytes[4 * 4096]), (2, 5), "{kind:?}");
        });
    }
}

#[test]
fn at_the_end_of_the_file_a_read_is_short() {
    for kind in engines() {
        let dir = tempfile::tempdir().unwrap();
        let path = test_file(&dir);
        std::fs::write(&path, vec![1u8; 4096 + 100]).unwrap();
        on(kind, open(&path, false), 4096 + 100, false, |mut bench| {
            assert_eq!(bench.one(OpKind::Read, 4096, BLOCK), 100, "{kind:?}");
            assert_eq!(bench.one(OpKind::Read, 1 << 20, BLOCK), 0, "{kind:?}");
            assert_eq!(bench.one(OpKind::Read, 0, BLOCK), 4096, "{kind:?}");
        });
    }
}

#[test]
fn failures_come_back_as_their_errno() {
    for kind in engines().filter(|kind| *kind != EngineKind::Mmap) {
        // The kernel takes no native asynchronous writes to this device.
        let full = Path::new("/dev/full");
        if full.exists() && kind != EngineKind::Libaio {
            on(kind, open(full, true), 1 << 20, true, |mut bench| {
                assert_eq!(
                    bench.one(OpKind::Write, 0, BLOCK),
                    -libc::ENOSPC,
                    "{kind:?}"
                );
            });
        }
        let dir = tempfile::tempdir().unwrap();
        let path = test_file(&dir);
        on(kind, open(&path, false), 8 * 4096, false, |mut bench| {
            assert_eq!(bench.one(OpKind::Write, 0, BLOCK), -libc::EBADF, "{kind:?}");
            // The engine goes on after a failure.
            assert_eq!(bench.one(OpKind::Read, 0, BLOCK), 4096, "{kind:?}");
        });
    }
}

#[test]
fn a_file_that_is_cut_short_under_a_map_fails_and_does_not_kill() {
    let dir = tempfile::tempdir().unwrap();
    let path = test_file(&dir);
    on(
        EngineKind::Mmap,
        open(&path, true),
        8 * 4096,
        true,
        |mut bench| {
            assert_eq!(bench.one(OpKind::Read, 7 * 4096, BLOCK), 4096);
            let file = open(&path, true);
            file.set_len(4096).unwrap();
            assert_eq!(bench.one(OpKind::Read, 7 * 4096, BLOCK), -libc::EIO);
            assert_eq!(bench.one(OpKind::Write, 7 * 4096, BLOCK), -libc::EIO);
            assert_eq!(bench.one(OpKind::Read, 0, BLOCK), 4096);
            // When the file is back, so is the map.
            file.set_len(8 * 4096).unwrap();
            assert_eq!(bench.one(OpKind::Read, 7 * 4096, BLOCK), 4096);
            assert!(bench.buffers.block(0, BLOCK).iter().all(|b| *b == 0));
        },
    );
}

#[test]
fn a_whole_queue_comes_back_each_slot_once_with_its_own_block() {
    for kind in engines() {
        let dir = tempfile::tempdir().unwrap();
        let path = test_file(&dir);
        on(kind, open(&path, false), 8 * 4096, false, |bench| {
            let depth = bench.engine.max_depth().min(8);
            for round in 0..50u32 {
                for slot in 0..depth {
                    let op = Op {
                        slot,
                        kind: OpKind::Read,
                        file: 0,
                        offset: u64::from((slot + round) % 8) * 4096,
                        len: BLOCK,
                    };
                    assert_eq!(
                        bench.engine.queue(&op, SLOTS - 1 - slot),
                        Queued::Yes,
                        "{kind:?}"
                    );
                }
                let mut seen = 0u32;
                while seen.count_ones() < depth {
                    for ended in bench.engine.reap(1, Some(1_000_000_000)) {
                        assert_eq!(ended.result, 4096, "{kind:?}");
                        assert_eq!(seen & 1 << ended.slot, 0, "{kind:?}: twice");
                        seen |= 1 << ended.slot;
                    }
                }
                for slot in 0..depth {
                    let block = bench.buffers.block(SLOTS - 1 - slot, BLOCK);
                    let expected = ((slot + round) % 8) as u8 + 1;
                    assert!(block.iter().all(|b| *b == expected), "{kind:?} slot {slot}");
                }
                assert_eq!(bench.engine.reap(0, None), [], "{kind:?}: nothing is left");
            }
        });
    }
}

#[test]
fn waiting_ends_at_the_timeout() {
    // A pipe is what never becomes readable.
    let (reader, writer) = std::io::pipe().unwrap();
    for kind in engines().filter(|kind| *kind == EngineKind::Uring) {
        let file = File::from(std::os::fd::OwnedFd::from(reader.try_clone().unwrap()));
        on(kind, file, 1 << 20, false, |bench| {
            let op = Op {
                slot: 0,
                kind: OpKind::Read,
                file: 0,
                offset: u64::MAX,
                len: BLOCK,
            };
            assert_eq!(bench.engine.queue(&op, 0), Queued::Yes);
            assert_eq!(bench.engine.reap(1, Some(2_000_000)), [], "{kind:?}");
            assert_eq!(bench.engine.reap(0, None), [], "{kind:?}");
            rustix::io::write(&writer, b"now").unwrap();
            let ended = bench.engine.reap(1, Some(10_000_000_000));
            assert_eq!(ended, [Completion { slot: 0, result: 3 }], "{kind:?}");
        });
    }
}

#[test]
fn a_flush_beside_writes_comes_first_and_they_are_taken_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let file = open(&test_file(&dir), true);
    let op = |slot, kind, offset, len| Op {
        slot,
        kind,
        file: 0,
        offset,
        len,
    };
    let write = |slot: u32| op(slot, OpKind::Write, u64::from(slot * BLOCK), BLOCK);
    on(EngineKind::Libaio, file, 8 * 4096, true, |bench| {
        let engine = bench.engine;
        let taken = |engine: &mut dyn DynEngine| -> Vec<u32> {
            let ended = engine.reap(1, Some(1_000_000_000));
            assert!(ended.iter().all(|e| e.result >= 0), "{ended:?}");
            ended.iter().map(|e| e.slot).collect()
        };
        for slot in 0..3 {
            assert_eq!(engine.queue(&write(slot), slot), Queued::Yes);
        }
        let flush = op(SLOTS - 1, OpKind::Sync, Op::UNDRAINED, 0);
        assert_eq!(engine.queue(&flush, 0), Queued::Yes);
        assert_eq!(
            engine.queue(&write(3), 3),
            Queued::Busy,
            "it is after the flush"
        );
        assert_eq!(taken(engine), [SLOTS - 1]);
        assert_eq!(engine.queue(&write(3), 3), Queued::Yes);
        let mut writes: Vec<u32> = Vec::new();
        for _ in 0..4 {
            let ended = taken(engine);
            assert_eq!(ended.len(), 1, "{ended:?}");
            writes.extend(ended);
        }
        writes.sort_unstable();
        assert_eq!(writes, [0, 1, 2, 3]);
    });
}
