//! The same figures as iostat's, from counters that are known.

use std::io::Cursor;

use super::*;
use crate::format::reader::RecordingReader;
use crate::frame::{Instant, Row};
use crate::recording;

const SECOND_NS: u64 = 1_000_000_000;

fn frame(second: u64, rows: Vec<Row>) -> Frame {
    let at = Instant {
        unix_ms: 1_795_275_930_000 + second as i64 * 1000,
        monotonic_ns: second * SECOND_NS,
    };
    Frame { at, rows }
}

fn row(kind: Kind, name: &str, values: &[(usize, u64)]) -> Row {
    let mut row = Row::absent(kind, name.into());
    for (place, value) in values {
        row.values[*place] = *value;
    }
    row
}

fn moment(before: Vec<Row>, after: Vec<Row>, seconds: u64) -> Moment {
    let mut moments = Moments::new(SECOND_NS);
    assert!(moments.advance(&frame(100, before)).is_none());
    moments.advance(&frame(100 + seconds, after)).unwrap()
}

fn disk_row(scale: u64) -> Row {
    let values = [
        (disk::READS, 200 * scale),
        (disk::READ_BYTES, 819_200 * scale),
        (disk::READ_MS, 500 * scale),
        (disk::WRITES, 40 * scale),
        (disk::WRITE_BYTES, 163_840 * scale),
        (disk::WRITE_MS, 20 * scale),
        (disk::BUSY_MS, 1_000 * scale),
        (disk::QUEUE_MS, 3_000 * scale),
        (disk::FLUSHES, 4 * scale),
    ];
    row(Kind::Disk, "sda", &values)
}

#[test]
fn rates_and_times_are_those_of_iostat() {
    let found = moment(vec![disk_row(1)], vec![disk_row(2)], 2);
    let disk = &found.disks[0];
    // r/s, w/s, rkB/s, wkB/s, f/s: growth over seconds.
    assert_eq!((disk.reads, disk.writes, disk.flushes), (100.0, 20.0, 2.0));
    assert_eq!((disk.read_bytes, disk.write_bytes), (409_600.0, 81_920.0));
    // r_await, w_await: growth of times over growth of operations.
    assert_eq!(
        (disk.read_wait_ms, disk.write_wait_ms),
        (Some(2.5), Some(0.5))
    );
    // aqu-sz: weighted time over time; util: time with any in flight.
    assert_eq!((disk.queue, disk.util), (Some(1.5), Some(0.5)));
    assert_eq!(found.seconds, Some(2.0));
    assert_eq!(found.at.unwrap().to_string(), "2026-11-21T15:47:12");
}

#[test]
fn cpus_pressure_and_swap_are_shares_and_rates() {
    let cpu = |name: &str, busy: u64, idle: u64| {
        let ticks = [busy, 0, busy, idle, idle, 0, busy, 0];
        let values: Vec<(usize, u64)> = ticks.into_iter().enumerate().collect();
        row(Kind::Cpu, name, &values)
    };
    let rows = |scale: u64| {
        vec![
            row(Kind::Host, "", &[(host::LOAD_1M, 2500), (host::RUNNING, 3)]),
            cpu("all", 10 * scale, 35 * scale),
            cpu("0", 10 * scale, scale),
            cpu("7", 20 * scale, scale),
            row(Kind::Pressure, "", &[(pressure::IO_SOME, 250_000 * scale)]),
            row(
                Kind::Memory,
                "",
                &[(memory::SWAPPED_IN, 8192 * scale), (memory::DIRTY, 77)],
            ),
            row(
                Kind::Tcp,
                "",
                &[
                    (tcp::SENT_SEGMENTS, 98 * scale),
                    (tcp::RETRANSMITS, 2 * scale),
                ],
            ),
        ]
    };
    let found = moment(rows(1), rows(2), 1);
    let all = found.cpu.unwrap();
    assert_eq!(
        (all.user, all.system, all.iowait, all.idle),
        (0.1, 0.2, 0.35, 0.35)
    );
    let busiest = found.busiest_cpu.unwrap();
    assert_eq!(busiest.number, 7);
    assert!((busiest.interrupts - 20.0 / 62.0).abs() < 1e-9);
    assert_eq!(
        (found.load, found.runnable, found.blocked),
        (Some(2.5), Some(2.0), None)
    );
    assert_eq!(
        (found.io_pressure_some, found.io_pressure_full),
        (Some(0.25), None)
    );
    assert_eq!(found.swap_in_bytes_per_second, Some(8192.0));
    assert_eq!(found.swap_out_bytes_per_second, None);
    assert_eq!(found.memory.unwrap().dirty_bytes, 77);
    assert_eq!(found.retransmits, Some((2.0, 0.02)));
}

#[test]
fn links_mounts_and_doers_are_told() {
    let rows = |scale: u64| {
        vec![
            row(
                Kind::Link,
                "eth0",
                &[
                    (link::SENT_BYTES, 62_500_000 * scale),
                    (link::SPEED, 1_000_000_000),
                ],
            ),
            row(
                Kind::Nfs,
                "nas:/a on /b",
                &[
                    (nfs::OPERATIONS, 10 * scale),
                    (nfs::TRANSMISSIONS, 12 * scale),
                    (nfs::ROUND_TRIP_MS, 400 * scale),
                    (nfs::EXECUTE_MS, 500 * scale),
                ],
            ),
            row(
                Kind::Process,
                "7 cp",
                &[(process::WRITE_BYTES, 4096), (process::CPU, 1500)],
            ),
            row(
                Kind::Group,
                "a/b",
                &[(group::READ_BYTES, 5), (group::IO_STALLED, 2000)],
            ),
        ]
    };
    let found = moment(rows(1), rows(2), 1);
    assert_eq!(found.network_use, Some(0.5));
    let mount = &found.nfs[0];
    assert_eq!(
        (mount.round_trip_ms, mount.execute_ms),
        (Some(40.0), Some(50.0))
    );
    assert_eq!((mount.queue, mount.retransmits), (0.5, 2.0));
    assert_eq!(
        (found.processes[0].cpus, found.processes[0].io_wait),
        (1.5, None)
    );
    assert_eq!(found.groups[0].io_wait, Some(1.0));
}

#[test]
fn a_time_without_a_recorder_is_no_moment() {
    let mut moments = Moments::new(SECOND_NS);
    assert!(moments.advance(&frame(10, vec![disk_row(1)])).is_none());
    assert!(moments.advance(&frame(500, vec![disk_row(2)])).is_none());
    let found = moments.advance(&frame(501, vec![disk_row(3)])).unwrap();
    assert_eq!(found.disks[0].reads, 200.0);
    // Nor is one that lies before.
    assert!(moments.advance(&frame(400, vec![disk_row(4)])).is_none());
}

#[test]
fn a_file_becomes_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.frec");
    let facts = HostFacts {
        name: "db1".to_owned(),
        cpus: 4,
        ..HostFacts::default()
    };
    let header = crate::format::Header::new(facts, SECOND_NS);
    let mut writer = crate::RecordingWriter::create(&path, &header).unwrap();
    for second in 1..=5 {
        writer
            .append(&frame(second, vec![disk_row(second)]))
            .unwrap();
    }
    writer.finish().unwrap();
    let found = recording(&path).unwrap();
    assert_eq!(found.moments.len(), 4);
    assert_eq!(
        (found.host.name.as_deref(), found.host.cpus),
        (Some("db1"), Some(4))
    );
    assert!(found.remarks.is_empty());
    // Cut in the middle of the last blocks.
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 30]).unwrap();
    let found = recording(&path).unwrap();
    assert!(found.remarks[0].contains("cut off"), "{:?}", found.remarks);
    assert!(RecordingReader::new(Cursor::new(bytes)).is_ok());
}
