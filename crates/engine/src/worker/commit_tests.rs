use super::*;

fn every(writes: u32) -> Rhythm {
    Rhythm {
        every: [writes, 0],
        ..Rhythm::NEVER
    }
}

#[test]
fn an_undrained_flush_waits_for_no_write_and_covers_the_last_file() {
    let rhythm = Rhythm {
        undrained: true,
        ..every(2)
    };
    let mut commit = Commit::new(rhythm, true, 4);
    commit.write_queued(1);
    assert_eq!(commit.next_flush(), None, "one write is not two");
    commit.write_queued(3);
    commit.started(10);
    assert!(commit.blocks(OpKind::Write), "until the flush is queued");
    assert_eq!(commit.next_flush(), Some(3), "both writes are in flight");
    assert_eq!(commit.flush_flags(), Op::UNDRAINED);
    commit.flush_queued(3);
    assert!(!commit.blocks(OpKind::Write), "writes go on beside it");
    commit.write_queued(0);
    commit.write_queued(0);
    assert_eq!(commit.next_flush(), None, "one flush at a time");
    for _ in 0..4 {
        commit.write_ended(true);
    }
    assert_eq!(commit.flush_ended(true), None, "nothing is committed");
    assert_eq!(commit.next_flush(), Some(0));
    commit.flush_queued(0);
    assert_eq!(commit.flush_ended(true), None);
    assert!(!commit.is_closing());
    // The final flush covers every file that was written.
    assert!(commit.start_final());
    let mut flushed = Vec::new();
    while let Some(file) = commit.next_flush() {
        assert_eq!(commit.flush_flags(), 0);
        commit.flush_queued(file);
        flushed.push(file);
        commit.flush_ended(true);
    }
    assert_eq!(flushed, [0, 1, 3]);
}

#[test]
fn two_rhythms_flush_each_with_its_call() {
    let rhythm = Rhythm {
        every: [2, 3],
        other_is_stronger: true,
        ..Rhythm::NEVER
    };
    let mut commit = Commit::new(rhythm, false, 1);
    let mut flushes = Vec::new();
    for write in 1..=12 {
        commit.write_queued(0);
        commit.started(write);
        commit.write_ended(true);
        if commit.is_closing() {
            flushes.push((write, commit.flushes_with_other()));
            commit.flush_queued(0);
            assert!(commit.flush_ended(true).is_some());
        }
    }
    let usual = [2, 4, 8, 10].map(|write| (write, false));
    let other = [3, 6, 9, 12].map(|write| (write, true));
    let mut expected = [usual, other].concat();
    expected.sort_unstable();
    assert_eq!(flushes, expected);
}

#[test]
fn a_range_is_what_has_ended_since_the_last_one() {
    let range = |files: [&[(u32, u64)]; 2]| {
        let mut commit = Commit::new(RANGES, true, 2);
        for _ in 0..8 {
            commit.write_queued(1);
        }
        for (file, offset) in files.concat() {
            commit.write_ended(true);
            commit.wrote(&write(file, offset));
        }
        assert_eq!(commit.next_flush(), Some(1), "writes are in flight");
        let flush = commit.flush(1).map(|(offset, len)| sync(offset, len));
        flush.map(|op| (op.range().unwrap(), op.len))
    };
    let five = [(1, 8192), (1, 0), (1, 4096), (1, 12288), (1, 16384)];
    assert_eq!(range([&five, &[]]), Some(((0, 2), 20480)));
    // What lies between is included, what another file got is not.
    let apart = [(1, 1 << 30), (0, 0)];
    assert_eq!(range([&apart, &[(1, 4096)]]), Some(((4096, 2), 1 << 30)));
    let none: &[(u32, u64)] = &[];
    assert_eq!(range([none, none]), None);
    assert_eq!(range([&[(0, 0)], none]), None);
    // The length has 32 bits: to the end of the file.
    assert_eq!(
        range([&[(1, 4096), (1, 1 << 33)], none]),
        Some(((4096, 2), 0))
    );
    // Nor does every start fit beside the flags: the whole file.
    assert_eq!(range([&[(1, 1 << 60)], none]), Some(((0, 2), 0)));
}

const RANGES: Rhythm = Rhythm {
    every: [8, 0],
    other_is_stronger: false,
    undrained: true,
    range_flags: libc::SYNC_FILE_RANGE_WRITE,
};

fn write(file: u32, offset: u64) -> Op {
    Op {
        slot: 0,
        kind: OpKind::Write,
        file,
        offset,
        len: 4096,
    }
}

fn sync(offset: u64, len: u32) -> Op {
    Op {
        kind: OpKind::Sync,
        len,
        ..write(1, offset)
    }
}

#[test]
fn a_range_sync_begins_anew_and_leaves_the_final_flush() {
    let mut commit = Commit::new(RANGES, true, 1);
    for n in 0..8 {
        commit.write_queued(0);
        commit.write_ended(true);
        commit.wrote(&write(0, n * 4096));
    }
    assert!(commit.blocks(OpKind::Write));
    commit.flush_queued(0);
    assert!(!commit.blocks(OpKind::Write) && commit.flushes_beside());
    assert_eq!(commit.flush(0), None, "nothing was written since");
    assert_eq!(commit.flush_ended(true), None, "nothing is committed");
    for _ in 0..8 {
        commit.write_queued(0);
    }
    commit.skip_flush();
    assert!(!commit.blocks(OpKind::Write), "there was nothing to sync");
    assert!(commit.start_final());
    assert!(!commit.follows_ranges());
    assert_eq!(commit.flush(0), Some((0, 0)), "a real flush");
}

#[test]
fn flushes_come_before_ranges() {
    let ranges = RangeSync {
        every_writes: 8,
        wait_before: true,
        write: false,
        wait_after: true,
    };
    let mut sync = SyncPolicy {
        ranges: Some(ranges),
        ..SyncPolicy::default()
    };
    let rhythm = Rhythm::of(&sync);
    assert_eq!((rhythm.every, rhythm.range_flags), ([8, 0], 1 | 4));
    sync.every_writes = 3;
    assert_eq!(Rhythm::of(&sync).range_flags, 0);
    sync.every_writes = 0;
    sync.ranges = Some(RangeSync {
        wait_before: false,
        wait_after: false,
        ..ranges
    });
    assert_eq!(Rhythm::of(&sync), Rhythm::NEVER);
}

#[test]
fn a_batch_commits_when_all_its_files_are_flushed() {
    let mut commit = Commit::new(every(3), false, 100);
    commit.write_queued(1);
    commit.write_queued(70);
    commit.started(10);
    assert!(!commit.blocks(OpKind::Write));
    commit.write_queued(1);
    commit.started(20);
    assert!(commit.blocks(OpKind::Write) && commit.blocks(OpKind::Trim));
    assert!(!commit.blocks(OpKind::Read));
    assert_eq!(commit.next_flush(), None, "writes are in flight");
    for _ in 0..3 {
        commit.write_ended(true);
    }
    assert_eq!(commit.next_flush(), Some(1));
    commit.flush_queued(1);
    assert_eq!(commit.next_flush(), None, "one flush at a time");
    assert_eq!(commit.flush_ended(true), None, "the other file is dirty");
    assert_eq!(commit.next_flush(), Some(70));
    commit.flush_queued(70);
    assert_eq!(commit.flush_ended(true), Some(10));
    assert!(!commit.blocks(OpKind::Write));
}

#[test]
fn what_failed_is_not_committed() {
    for (write_ok, flush_ok) in [(false, true), (true, false)] {
        let mut commit = Commit::new(every(1), false, 1);
        commit.write_queued(0);
        commit.started(1);
        commit.write_ended(write_ok);
        commit.flush_queued(commit.first_dirty().unwrap());
        assert_eq!(commit.flush_ended(flush_ok), None);
        // The next batch starts clean.
        commit.write_queued(0);
        commit.started(2);
        commit.write_ended(true);
        commit.flush_queued(0);
        assert_eq!(commit.flush_ended(true), Some(2));
    }
}

#[test]
fn the_final_flush_covers_what_no_batch_did() {
    let mut commit = Commit::new(every(0), true, 1);
    assert!(!commit.start_final(), "nothing was written");
    commit.write_queued(0);
    commit.started(1);
    assert!(!commit.is_closing());
    commit.write_ended(true);
    assert!(commit.start_final());
    assert_eq!(commit.next_flush(), Some(0));
    commit.flush_queued(0);
    assert_eq!(
        commit.flush_ended(true),
        None,
        "a final flush does not commit"
    );
    assert!(!commit.is_closing());
}
