use super::*;
use std::io::Write;

/// A file that survives a reboot; the temporary folder may be tmpfs.
fn file_on_disk() -> tempfile::NamedTempFile {
    tempfile::NamedTempFile::new_in("/var/tmp").unwrap()
}

#[test]
fn a_written_file_has_nothing_unwritten() {
    let mut file = file_on_disk();
    file.write_all(&vec![3; 1 << 20]).unwrap();
    let found = unwritten_bytes(file.path(), file.as_file(), 0, 1 << 20).unwrap();
    assert_eq!(found.bytes, 0, "{}", found.method);
}

#[test]
fn holes_are_counted_within_the_range() {
    let file = file_on_disk();
    file.as_file().set_len(4 << 20).unwrap();
    file.as_file()
        .write_all_at(&vec![3; 1 << 20], 1 << 20)
        .unwrap();
    let of = |start, end| {
        unwritten_bytes(file.path(), file.as_file(), start, end)
            .unwrap()
            .bytes
    };
    assert_eq!(of(0, 4 << 20), 3 << 20);
    assert_eq!(of(1 << 20, 2 << 20), 0);
    assert_eq!(of(512 << 10, 1 << 20), 512 << 10);
    assert_eq!(of(0, 2 << 20), 1 << 20);
}

#[test]
fn preallocated_blocks_are_unwritten() {
    use rustix::fs::{FallocateFlags, fallocate};
    let file = file_on_disk();
    if fallocate(file.as_file(), FallocateFlags::empty(), 0, 1 << 20).is_err() {
        println!("skipped: no fallocate on this file system");
        return;
    }
    file.as_file().write_all_at(&[1; 4096], 0).unwrap();
    let found = unwritten_bytes(file.path(), file.as_file(), 0, 1 << 20).unwrap();
    if found.method != "FIEMAP" {
        println!("skipped: no FIEMAP on this file system");
        return;
    }
    assert_eq!(found.bytes, (1 << 20) - 4096);
}

#[test]
fn both_ways_agree_on_many_pieces() {
    let file = file_on_disk();
    let pieces = 700_u64;
    file.as_file().set_len(pieces * 16_384).unwrap();
    for piece in 0..pieces {
        file.as_file()
            .write_all_at(&[9; 8192], piece * 16_384)
            .unwrap();
    }
    file.as_file().sync_data().unwrap();
    let end = pieces * 16_384;
    let by_holes = unwritten_by_holes(file.path(), file.as_file(), 0, end).unwrap();
    assert_eq!(by_holes.bytes, pieces * 8192);
    match unwritten_by_extents(file.as_file(), 0, end) {
        Ok(by_extents) => assert_eq!(by_extents.bytes, pieces * 8192),
        Err(error) => println!("skipped: FIEMAP: {error}"),
    }
}

#[test]
fn a_file_in_memory_is_answered_by_seeking() {
    let Ok(file) = tempfile::NamedTempFile::new_in("/dev/shm") else {
        println!("skipped: no /dev/shm");
        return;
    };
    file.as_file().set_len(1 << 20).unwrap();
    file.as_file().write_all_at(&[1; 4096], 0).unwrap();
    let found = unwritten_bytes(file.path(), file.as_file(), 0, 1 << 20).unwrap();
    assert_eq!(found.bytes, (1 << 20) - 4096);
    assert!(found.method.starts_with("SEEK_HOLE"), "{}", found.method);
}

#[test]
fn sampling_finds_the_share_of_zero_blocks() {
    // Reading a plain file is the same call as reading a device. What its name
    // leads to by now does not matter.
    let mut file = file_on_disk();
    std::fs::rename(file.path(), file.path().with_extension("moved")).unwrap();
    std::fs::write(file.path(), "another").unwrap();
    file.write_all(&vec![0; 4 << 20]).unwrap();
    file.write_all(&vec![5; 12 << 20]).unwrap();
    let found = unwritten_by_sampling(file.path(), file.as_file(), 0, 16 << 20).unwrap();
    let share = found.bytes as f64 / (16 << 20) as f64;
    assert!((share - 0.25).abs() < 0.01, "{share} {}", found.method);
    assert!(
        found.method.contains("of 1000 sampled 4096-byte blocks"),
        "{}",
        found.method
    );
    std::fs::remove_file(file.path().with_extension("moved")).unwrap();
    let nothing = unwritten_by_sampling(file.path(), file.as_file(), 4096, 8191);
    assert!(nothing.is_err());
}

#[test]
fn an_aligned_buffer_is_aligned_and_long_enough() {
    for length in [512, 4096, 65_536] {
        let mut buffer = AlignedBuffer::new(length);
        assert_eq!(buffer.bytes().len(), length);
        assert_eq!(buffer.bytes().as_ptr() as usize % length, 0);
    }
}
