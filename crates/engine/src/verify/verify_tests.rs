use std::path::PathBuf;
use std::sync::Arc;

use fathom_model::rng::Rng;
use fathom_model::workload::{
    BlockSizes, DataSet, FileLayout, OpMix, Pattern, Verify, WeightedSize,
};
use fathom_model::{Job, OpKind, Target, Workload};
use proptest::prelude::*;

use super::*;
use crate::access::{Access, AccessStream, Layout, TargetKind};

const BLOCK: usize = 4096;

fn job(workload: Workload, run_tag: u64) -> Job {
    Job {
        workload,
        target: Target::Null,
        seed: 1,
        run_tag,
        destructive: false,
        keep_files: false,
        file_prefix: "fathom".to_owned(),
    }
}

fn workload() -> Workload {
    Workload {
        mix: OpMix {
            read_percent: 50,
            write_percent: 50,
            trim_percent: 0,
        },
        verify: Some(Verify {
            on_read: true,
            after: true,
            ..Verify::default()
        }),
        ..Workload::example("verified")
    }
}

/// Files in memory, and one verifier.
struct Disk {
    ledger: Arc<Ledger>,
    verifier: Verifier,
    files: Vec<Vec<u8>>,
}

impl Disk {
    fn new(workload: &Workload, run_tag: u64, size: u64) -> Disk {
        let layout =
            Layout::new(TargetKind::Directory, workload, size, |_| PathBuf::new()).unwrap();
        let ledger = Arc::new(Ledger::new(&job(workload.clone(), run_tag), &layout).unwrap());
        let files = (0u32..).zip(&layout.files).map(|(n, file)| {
            let mut bytes = vec![0x5A; file.size_bytes as usize];
            ledger.stamp_prepared(n, 0, &mut bytes);
            bytes
        });
        Disk {
            files: files.collect(),
            verifier: Verifier::new(&ledger, 16, workload.block.max_bytes()),
            ledger,
        }
    }

    fn slice(&mut self, access: &Access) -> &mut [u8] {
        let start = access.offset as usize;
        &mut self.files[access.file as usize][start..start + access.bytes as usize]
    }

    fn write(&mut self, access: &Access) {
        let mut block = vec![0xA7; access.bytes as usize];
        self.verifier.begin(0, access, &mut block);
        self.slice(access).copy_from_slice(&block);
        self.verifier.finish(0, access, &block, true).unwrap();
    }

    fn read(&mut self, access: &Access) -> Result<(), Mismatch> {
        let access = Access {
            kind: OpKind::Read,
            ..*access
        };
        let mut block = self.slice(&access).to_vec();
        self.verifier.begin(0, &access, &mut block);
        self.verifier.finish(0, &access, &block, true)
    }
}

fn at(file: u32, block: u64) -> Access {
    Access {
        kind: OpKind::Write,
        file,
        offset: block * BLOCK as u64,
        bytes: BLOCK as u32,
    }
}

fn two_files() -> Disk {
    let mut w = workload();
    w.data_set.files = FileLayout {
        count: 2,
        shared: false,
    };
    Disk::new(&w, 9, 2 * 16 * BLOCK as u64)
}

#[test]
fn what_was_prepared_or_written_is_accepted() {
    let mut disk = two_files();
    for (file, block) in [(0, 0), (1, 0), (1, 15)] {
        disk.read(&at(file, block)).unwrap();
        disk.write(&at(file, block));
        disk.read(&at(file, block)).unwrap();
    }
}

fn kind_of(result: Result<(), Mismatch>) -> (MismatchKind, u64, String) {
    let mismatch = result.expect_err("a mismatch should have been found");
    (mismatch.kind, mismatch.offset, mismatch.to_string())
}

#[test]
fn changed_bytes_are_wrong() {
    let mut disk = two_files();
    disk.write(&at(0, 3));
    for position in [8, 100, 4095] {
        disk.slice(&at(0, 3))[position] ^= 1;
        let (kind, offset, text) = kind_of(disk.read(&at(0, 3)));
        assert_eq!(kind, MismatchKind::Wrong, "{text}");
        assert_eq!(offset, 3 * 4096 + position as u64 / 512 * 512);
        disk.slice(&at(0, 3))[position] ^= 1;
    }
    disk.slice(&at(0, 3)).fill(0x33);
    let (kind, _, text) = kind_of(disk.read(&at(0, 3)));
    assert_eq!(kind, MismatchKind::Wrong);
    assert!(text.contains("did not write"), "{text}");
}

#[test]
fn a_lost_write_is_stale() {
    let mut disk = two_files();
    let prepared = disk.slice(&at(0, 1)).to_vec();
    disk.write(&at(0, 1));
    let first = disk.slice(&at(0, 1)).to_vec();
    disk.write(&at(0, 1));
    disk.slice(&at(0, 1)).copy_from_slice(&first);
    let (kind, offset, text) = kind_of(disk.read(&at(0, 1)));
    assert_eq!((kind, offset), (MismatchKind::Stale, 4096));
    assert!(
        text.contains("expected write 2") && text.contains("found write 1"),
        "{text}"
    );
    disk.slice(&at(0, 1)).copy_from_slice(&prepared);
    let (kind, _, text) = kind_of(disk.read(&at(0, 1)));
    assert_eq!(kind, MismatchKind::Stale);
    assert!(text.contains("found prepared data"), "{text}");
}

#[test]
fn a_block_of_another_place_or_file_is_misplaced() {
    let mut disk = two_files();
    for from in [at(0, 6), at(1, 5)] {
        disk.write(&at(0, 5));
        disk.write(&from);
        let other = disk.slice(&from).to_vec();
        disk.slice(&at(0, 5)).copy_from_slice(&other);
        let (kind, _, text) = kind_of(disk.read(&at(0, 5)));
        assert_eq!(kind, MismatchKind::Misplaced, "{text}");
    }
}

#[test]
fn half_a_write_is_torn() {
    let mut disk = two_files();
    disk.write(&at(0, 2));
    let before = disk.slice(&at(0, 2)).to_vec();
    disk.write(&at(0, 2));
    disk.slice(&at(0, 2))[2048..].copy_from_slice(&before[2048..]);
    let (kind, offset, _) = kind_of(disk.read(&at(0, 2)));
    assert_eq!((kind, offset), (MismatchKind::Torn, 2 * 4096 + 2048));
    // The other half.
    disk.write(&at(0, 2));
    disk.slice(&at(0, 2))[..512].copy_from_slice(&before[..512]);
    assert_eq!(kind_of(disk.read(&at(0, 2))).0, MismatchKind::Torn);
}

#[test]
fn a_block_of_another_run_is_foreign_and_zeros_are_zeroed() {
    let mut disk = two_files();
    let w = Workload {
        data_set: DataSet {
            files: FileLayout {
                count: 2,
                shared: false,
            },
            ..workload().data_set
        },
        ..workload()
    };
    let mut other = Disk::new(&w, 10, 2 * 16 * BLOCK as u64);
    let foreign = other.slice(&at(0, 7)).to_vec();
    disk.slice(&at(0, 7)).copy_from_slice(&foreign);
    assert_eq!(kind_of(disk.read(&at(0, 7))).0, MismatchKind::Foreign);
    disk.slice(&at(0, 7))[1024..1536].fill(0);
    disk.slice(&at(0, 8)).fill(0);
    let (kind, offset, _) = kind_of(disk.read(&at(0, 8)));
    assert_eq!((kind, offset), (MismatchKind::Zeroed, 8 * 4096));
}

#[test]
fn nothing_is_asked_after_a_trim_or_a_failed_write() {
    let mut w = workload();
    w.mix = OpMix {
        read_percent: 40,
        write_percent: 40,
        trim_percent: 20,
    };
    let mut disk = Disk::new(&w, 9, 16 * BLOCK as u64);
    let trim = Access {
        kind: OpKind::Trim,
        ..at(0, 1)
    };
    disk.verifier.begin(0, &trim, &mut []);
    disk.verifier.finish(0, &trim, &[], true).unwrap();
    disk.slice(&at(0, 1)).fill(0);
    disk.read(&at(0, 1)).unwrap();
    disk.write(&at(0, 1));
    disk.read(&at(0, 1)).unwrap();
    let mut block = vec![0; BLOCK];
    disk.verifier.begin(1, &at(0, 1), &mut block);
    disk.slice(&at(0, 1))[..700].copy_from_slice(&block[..700]);
    let _ = disk.verifier.finish(1, &at(0, 1), &block, false);
    disk.read(&at(0, 1)).unwrap();
    disk.write(&at(0, 1));
    disk.slice(&at(0, 1))[9] ^= 1;
    assert!(disk.read(&at(0, 1)).is_err());
}

#[test]
fn a_cancelled_write_leaves_the_old_data_in_order() {
    let mut disk = two_files();
    let mut block = vec![0; BLOCK];
    disk.verifier.begin(3, &at(0, 4), &mut block);
    disk.verifier.cancel(&at(0, 4));
    disk.read(&at(0, 4)).unwrap();
}

#[test]
fn units_are_what_no_access_cuts_through() {
    let sizes = |block, align_bytes| {
        let w = Workload {
            block,
            align_bytes,
            ..workload()
        };
        let layout = Layout::new(TargetKind::Device, &w, 1 << 20, |_| PathBuf::new()).unwrap();
        Ledger::new(&job(w, 1), &layout).map(|ledger| ledger.unit_bytes())
    };
    assert_eq!(sizes(BlockSizes::Fixed(65536), 65536).unwrap(), 65536);
    assert_eq!(sizes(BlockSizes::Fixed(65536), 4096).unwrap(), 4096);
    let entry = |bytes| WeightedSize { bytes, weight: 1 };
    let mixed = BlockSizes::Weighted(vec![entry(4096), entry(6144)]);
    assert_eq!(sizes(mixed, 4096).unwrap(), 2048);
    assert!(sizes(BlockSizes::Fixed(1000), 1).is_err());
}

#[test]
fn too_large_a_ledger_is_refused_with_the_remedy() {
    let w = Workload {
        block: BlockSizes::Fixed(512),
        align_bytes: 512,
        ..workload()
    };
    let layout = Layout::new(TargetKind::Device, &w, 1 << 50, |_| PathBuf::new()).unwrap();
    let error = Ledger::new(&job(w, 1), &layout).unwrap_err().to_string();
    assert!(error.contains("smaller working set"), "{error}");
}

/// An operation in flight on the simulated disk.
struct Flight {
    slot: usize,
    access: Access,
    block: Vec<u8>,
    /// Which bytes have been moved already.
    moved: Vec<bool>,
}

/// Drives random operations against files in memory, as a drive with many
/// operations in flight would: each block moves in pieces that cut through
/// sectors, at any time between submission and completion, in any order.
fn storm(w: &Workload, seed: u64, steps: u32) -> Result<(), Mismatch> {
    let size = 24 * w.block.max_bytes() + 1000;
    let mut disk = Disk::new(w, 9, size);
    let layout = Layout::new(TargetKind::Directory, w, size, |_| PathBuf::new()).unwrap();
    let mut stream = AccessStream::new(w, &layout, 0, seed).unwrap();
    let mut rng = Rng::new(seed);
    let mut free: Vec<usize> = (0..16).collect();
    let mut flights: Vec<Flight> = Vec::new();
    for _ in 0..steps {
        match rng.below(3) {
            0 => {
                let Some(slot) = free.pop() else { continue };
                let access = stream.next();
                let mut block = vec![rng.next_u64() as u8; access.bytes as usize];
                disk.verifier.begin(slot, &access, &mut block);
                flights.push(Flight {
                    slot,
                    access,
                    moved: vec![false; block.len()],
                    block,
                });
            }
            1 if !flights.is_empty() => {
                let index = rng.below(flights.len() as u64) as usize;
                let flight = &mut flights[index];
                let cut = rng.below(flight.block.len() as u64) as usize;
                let range = if rng.below(2) == 0 {
                    0..cut
                } else {
                    cut..flight.block.len()
                };
                transfer(&mut disk, flight, range);
            }
            2 if !flights.is_empty() => {
                let index = rng.below(flights.len() as u64) as usize;
                let mut flight = flights.swap_remove(index);
                let done = rng.below(20) != 0;
                if done {
                    let all = 0..flight.block.len();
                    transfer(&mut disk, &mut flight, all);
                }
                disk.verifier
                    .finish(flight.slot, &flight.access, &flight.block, done)?;
                free.push(flight.slot);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Moves the bytes of a range that have not been moved before.
fn transfer(disk: &mut Disk, flight: &mut Flight, range: std::ops::Range<usize>) {
    let on_disk = disk.slice(&flight.access);
    for at in range {
        if !std::mem::replace(&mut flight.moved[at], true) {
            match flight.access.kind {
                OpKind::Read => flight.block[at] = on_disk[at],
                OpKind::Write => on_disk[at] = flight.block[at],
                _ => on_disk[at] = 0,
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn overlap_in_flight_is_never_a_false_alarm(
        seed in any::<u64>(),
        trim_percent in prop_oneof![Just(0u8), Just(10)],
        pattern in prop_oneof![
            Just(Pattern::Sequential),
            Just(Pattern::Random(fathom_model::workload::Distribution::Uniform)),
            Just(Pattern::Random(fathom_model::workload::Distribution::Zipf { theta: 1.5 })),
        ],
        sizes in prop_oneof![
            Just(BlockSizes::Fixed(1024)),
            Just(BlockSizes::Range { min_bytes: 512, max_bytes: 4096, step_bytes: 512 }),
        ],
        misalign_bytes in prop_oneof![Just(0u64), Just(32)],
    ) {
        let w = Workload {
            pattern,
            block: sizes,
            align_bytes: 512,
            misalign_bytes,
            mix: OpMix { read_percent: 60 - trim_percent, write_percent: 40, trim_percent },
            ..workload()
        };
        if let Err(mismatch) = storm(&w, seed, 4000) {
            return Err(TestCaseError::fail(mismatch.to_string()));
        }
    }
}

#[test]
fn a_storm_does_notice_a_disk_that_loses_writes() {
    let mut disk = Disk::new(&workload(), 9, 64 * BLOCK as u64);
    let mut found = 0;
    for block in 0..64 {
        disk.write(&at(0, block));
        let kept = disk.slice(&at(0, block)).to_vec();
        disk.write(&at(0, block));
        if block % 4 == 0 {
            disk.slice(&at(0, block)).copy_from_slice(&kept);
        }
        found += u32::from(disk.read(&at(0, block)).is_err());
    }
    assert_eq!(found, 16);
    assert_eq!(disk.ledger.unit_bytes(), 4096);
}
