use super::*;
use crate::format::Header;
use crate::frame::Row;
use crate::kind::{Kind, disk, smart};

const SECOND_NS: u64 = 1_000_000_000;
const BEGUN_MS: i64 = 1_795_275_930_000;

fn facts(name: &str, booted_unix_s: u64) -> HostFacts {
    HostFacts {
        name: name.to_owned(),
        cpus: 4,
        booted_unix_s: Some(booted_unix_s),
        ..HostFacts::default()
    }
}

/// A reading of a disk with 10 reads a second since the host was started.
fn frame(second: u64, up: u64) -> Frame {
    let mut row = Row::absent(Kind::Disk, "sda".into());
    for (place, value) in [
        (disk::READS, 10 * up),
        (disk::WRITES, 0),
        (disk::READ_MS, 50 * up),
        (disk::WRITE_MS, 0),
        (disk::QUEUE_MS, 50 * up),
    ] {
        row.values[place] = value;
    }
    Frame {
        at: Instant {
            unix_ms: BEGUN_MS + second as i64 * 1000,
            monotonic_ns: up * SECOND_NS,
        },
        rows: vec![row],
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, host: &HostFacts, frames: &[Frame]) -> PathBuf {
        let path = self.0.path().join(name);
        let header = Header::new(host.clone(), SECOND_NS);
        let mut writer = crate::RecordingWriter::create(&path, &header).unwrap();
        for frame in frames {
            writer.append(frame).unwrap();
        }
        writer.finish().unwrap();
        path
    }
}

fn seconds(from: u64, to: u64) -> Vec<Frame> {
    (from..=to)
        .map(|second| frame(second, 1000 + second))
        .collect()
}

#[test]
fn parts_follow_one_another_whatever_their_order_and_the_common_reading_counts_once() {
    let folder = Folder::new();
    let host = facts("db1", 500);
    let old = folder.write("a.1.frec", &host, &seconds(0, 5));
    let new = folder.write("a.frec", &host, &seconds(5, 9));
    let found = joined(&[new, old]).unwrap();
    assert_eq!(found.moments.len(), 9);
    assert!(found.moments.iter().all(|m| m.disks[0].reads == 10.0));
    assert!(found.remarks.is_empty(), "{:?}", found.remarks);
    assert!(
        found.source.starts_with("2 parts of a recording"),
        "{}",
        found.source
    );
}

#[test]
fn a_gap_is_told_and_no_rate_reaches_over_it() {
    let folder = Folder::new();
    let old = folder.write("a.1.frec", &facts("db1", 500), &seconds(0, 5));
    let new = folder.write("a.frec", &facts("db1", 501), &seconds(3605, 3609));
    let found = joined(&[old.clone(), new.clone()]).unwrap();
    assert_eq!(found.moments.len(), 5 + 4);
    let remark = &found.remarks[0];
    assert!(
        remark.contains("nothing was recorded for 60 min"),
        "{remark}"
    );
    assert!(!remark.contains("started again"), "{remark}");
    let numbers = joined_readings(&[old, new]).unwrap();
    assert_eq!(numbers.seconds, 3609.0);
    let queue: Vec<_> = numbers
        .readings
        .iter()
        .filter(|r| r.quantity == "disk_queue")
        .collect();
    assert_eq!(queue.len(), 9);
    assert_eq!((queue[4].at_seconds, queue[5].at_seconds), (5.0, 3606.0));
    assert!(
        queue
            .iter()
            .all(|r| r.seconds == 1.0 && (r.value - 0.05).abs() < 1e-9)
    );
}

#[test]
fn a_restart_of_the_host_goes_on_by_its_clock() {
    let folder = Folder::new();
    let old = folder.write("a.1.frec", &facts("db1", 500), &seconds(0, 5));
    let after: Vec<Frame> = (60..=64).map(|second| frame(second, second - 30)).collect();
    let new = folder.write("a.frec", &facts("db1", 2000), &after);
    let found = joined(&[old, new]).unwrap();
    assert_eq!(found.moments.len(), 5 + 4);
    assert!(found.moments.iter().all(|m| m.disks[0].reads == 10.0));
    let remark = &found.remarks[0];
    assert!(
        remark.contains("for 55 s") && remark.contains("started again"),
        "{remark}"
    );
}

#[test]
fn two_recorders_and_two_hosts_are_refused() {
    let folder = Folder::new();
    let host = facts("db1", 500);
    let one = folder.write("a.frec", &host, &seconds(0, 9));
    let other = folder.write("b.frec", &host, &seconds(4, 12));
    let error = joined(&[one.clone(), other]).unwrap_err().to_string();
    assert!(
        error.contains("hold the same time (from 2026-11-21"),
        "{error}"
    );
    let strange = folder.write("c.frec", &facts("db2", 500), &seconds(20, 21));
    let error = joined(&[one.clone(), strange]).unwrap_err().to_string();
    assert!(error.contains("is of db1 and"), "{error}");
    let empty = folder.write("d.frec", &host, &[]);
    let found = joined(&[one, empty.clone()]).unwrap();
    assert!(
        found.remarks[0].starts_with("d.frec was left out: it holds no reading: the recorder"),
        "{:?}",
        found.remarks
    );
    assert!(
        joined(&[empty])
            .unwrap_err()
            .to_string()
            .contains("no reading")
    );
}

#[test]
fn errors_on_the_way_to_a_disk_count_from_the_first_answer() {
    let folder = Folder::new();
    let crc = |second: u64, errors: u64| {
        let mut row = Row::absent(Kind::Smart, "sda".into());
        row.values[smart::CRC] = errors;
        row.values[smart::PENDING] = 8;
        let mut frame = frame(second, 1000 + second);
        frame.rows.push(row);
        frame
    };
    let frames = [crc(0, 70), frame(1, 1001), crc(2, 73)];
    let path = folder.write("a.frec", &facts("db1", 500), &frames);
    let found = joined_readings(&[path]).unwrap().readings;
    let values = |quantity: &str| -> Vec<f64> {
        let of = found.iter().filter(|r| r.quantity == quantity);
        of.map(|r| r.value).collect()
    };
    assert_eq!(values("drive_crc_growth"), [0.0, 3.0]);
    assert_eq!(values("drive_pending"), [8.0, 8.0]);
}

#[test]
fn a_damaged_part_is_left_out_and_alone_it_is_said_to_be_damaged() {
    let folder = Folder::new();
    let host = facts("db1", 500);
    let whole = folder.write("a.frec", &host, &seconds(0, 5));
    let bytes = std::fs::read(&whole).unwrap();
    let damaged = |name: &str, bytes: &[u8]| {
        let path = folder.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let mut flipped = bytes.clone();
    let behind_header = bytes[4..].windows(4).position(|w| w == b"fRec").unwrap() + 4;
    for byte in &mut flipped[behind_header..] {
        *byte ^= 0x55;
    }
    for (bad, why) in [
        (
            damaged("cut.frec", &bytes[..20]),
            "its beginning is damaged",
        ),
        (
            damaged("flip.frec", &flipped),
            "it is damaged, and holds no",
        ),
    ] {
        let found = joined(&[bad.clone(), whole.clone()]).unwrap();
        assert_eq!(found.moments.len(), 5);
        let told = &found.remarks[0];
        assert!(
            told.contains("was left out") && told.contains(why),
            "{told}"
        );
        let alone = joined(&[bad]).unwrap_err().to_string();
        assert!(alone.contains(why), "{alone}");
    }
}

#[test]
fn clocks_of_a_damaged_part_are_no_end() {
    let at = |unix_ms, monotonic_ns| Instant {
        unix_ms,
        monotonic_ns,
    };
    let mut clock = Clock::default();
    clock.advance(&mut at(i64::MIN, 5), None);
    let step = clock.advance(&mut at(i64::MAX, 4), Some(1));
    assert!(matches!(step, ReadingGap::Gap { .. }));
}
