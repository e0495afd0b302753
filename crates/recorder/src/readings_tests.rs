use super::*;
use crate::frame::{Instant, Row};

const SECOND_NS: u64 = 1_000_000_000;

fn row(kind: Kind, name: &str, values: &[(usize, u64)]) -> Row {
    let mut row = Row::absent(kind, name.into());
    for (place, value) in values {
        row.values[*place] = *value;
    }
    row
}

/// What two frames, two seconds apart, tell.
fn readings(before: Vec<Row>, after: Vec<Row>) -> Vec<HostReading> {
    let host = HostFacts {
        cpus: 4,
        ..HostFacts::default()
    };
    let mut readings = Readings::new(&host, SECOND_NS);
    let frame = |second: u64, rows| Frame {
        at: Instant {
            unix_ms: 0,
            monotonic_ns: second * SECOND_NS,
        },
        rows,
    };
    readings.advance(&frame(10, before));
    readings.advance(&frame(12, after))
}

fn value(found: &[HostReading], quantity: &str, instance: &str) -> Option<f64> {
    let mut of = found
        .iter()
        .filter(|r| r.quantity == quantity && r.instance == instance);
    of.next().map(|reading| reading.value)
}

#[test]
fn disks_have_the_numbers_that_a_live_host_gives() {
    let at = |scale: u64| {
        let values = [
            (disk::READS, 100 * scale),
            (disk::WRITES, 100 * scale),
            (disk::READ_BYTES, 4096 * scale),
            (disk::WRITE_BYTES, 4096 * scale),
            (disk::READ_MS, 300 * scale),
            (disk::WRITE_MS, 100 * scale),
            (disk::QUEUE_MS, 11_400 * scale),
            (disk::BUSY_MS, 900 * scale),
            (disk::FLUSHES, 2 * scale),
            (disk::FLUSH_MS, 5000 * scale),
            (disk::QUEUE_REQUESTS, 64),
            (disk::ERRORS, scale),
        ];
        vec![row(Kind::Disk, "sda", &values)]
    };
    let found = readings(at(1), at(2));
    for (quantity, expected) in [
        ("disk_operations", 100.0),
        ("disk_bytes", 4096.0),
        ("disk_wait", 0.002),
        ("disk_queue", 3.2),
        ("disk_queue_share", 0.05),
        ("disk_in_use", 0.45),
        ("disk_flush_wait", 2.5),
        ("disk_errors", 0.5),
    ] {
        assert_eq!(value(&found, quantity, "sda"), Some(expected), "{quantity}");
    }
}

#[test]
fn a_disk_that_completes_nothing_is_silent_until_it_does() {
    let mut all = Readings::new(&HostFacts::default(), SECOND_NS);
    let mut at = |second: u64, reads: u64, in_flight: u64| {
        let values = [(disk::READS, reads), (disk::IN_FLIGHT, in_flight)];
        let frame = Frame {
            at: Instant {
                unix_ms: 0,
                monotonic_ns: second * SECOND_NS,
            },
            rows: vec![row(Kind::Disk, "sda", &values)],
        };
        value(&all.advance(&frame), "disk_silent", "sda")
    };
    at(10, 100, 0);
    // That a request was there all the time is not known yet.
    assert_eq!(at(11, 100, 4), Some(0.0));
    assert_eq!(at(12, 100, 4), Some(1.0));
    assert_eq!(at(15, 100, 8), Some(4.0));
    assert_eq!(at(16, 101, 8), Some(0.0));
    assert_eq!(at(17, 101, 0), Some(0.0));
}

/// Holds what two frames tell against what is expected.
fn expect(before: Vec<Row>, after: Vec<Row>, expected: &[(&str, &str, f64)]) -> Vec<HostReading> {
    let found = readings(before, after);
    for (quantity, instance, expected) in expected {
        let value = value(&found, quantity, instance);
        assert!(
            value.is_some_and(|value| (value - expected).abs() < 1e-9),
            "{quantity}: {value:?}"
        );
    }
    found
}

#[test]
fn cpus_memory_and_links_have_theirs() {
    let cpu_row = |name: &str, scale: u64| {
        let values = [
            (cpu::USER, 10 * scale),
            (cpu::IDLE, 20 * scale),
            (cpu::IOWAIT, 20 * scale),
            (cpu::SOFTIRQ, 50 * scale),
        ];
        row(Kind::Cpu, name, &values)
    };
    let at = |scale: u64| {
        let of_memory = [
            (memory::TOTAL, 100),
            (memory::AVAILABLE, 25),
            (memory::SWAPPED_IN, 10 * scale),
            (memory::SWAPPED_OUT, 30 * scale),
        ];
        let of_link = [
            (link::RECEIVED_BYTES, 200 * scale),
            (link::SENT_BYTES, 100 * scale),
            (link::SPEED, 1000),
        ];
        vec![
            cpu_row("all", scale),
            cpu_row("3", scale),
            row(Kind::Memory, "", &of_memory),
            row(Kind::Link, "eth0", &of_link),
        ]
    };
    let expected = [
        ("cpu_busy", "", 0.6),
        ("cpu_iowait", "", 0.2),
        ("cpu_idle", "", 0.2),
        ("core_interrupt", "cpu3", 0.5),
        ("memory_used", "", 0.75),
        ("swap_bytes", "", 20.0),
        ("nic_use", "eth0", 0.8),
    ];
    expect(at(1), at(2), &expected);
}

#[test]
fn services_and_states_have_theirs() {
    let space = [(filesystem::TOTAL, 100), (filesystem::AVAILABLE, 10)];
    let members = [(raid::MEMBERS, 4), (raid::WORKING, 3), (raid::ACTION, 2)];
    let worn = [(health::USED, 95), (health::SPARE, 12)];
    let after = vec![
        row(Kind::Process, "77 ceph-mds", &[(process::CPU, 900)]),
        row(Kind::Process, "78 radosgw", &[(process::CPU, 1500)]),
        row(Kind::Process, "79 postgres", &[(process::CPU, 990)]),
        row(Kind::Filesystem, "/data", &space),
        row(Kind::Raid, "md0", &members),
        row(Kind::Health, "nvme0n1", &worn),
        row(Kind::Bus, "0000:01:00.0", &[(bus::BELOW_RATED, 1)]),
        row(Kind::Mount, "/mnt/nas", &[(mount::SILENT, 1)]),
    ];
    let expected = [
        ("metadata_cpu", "ceph-mds (77)", 0.9),
        ("gateway_cpu", "radosgw (78)", 1.5),
        ("space_used", "/data", 0.9),
        ("array_resync", "md0", 1.0),
        ("array_degraded", "md0", 1.0),
        ("drive_worn", "nvme0n1", 0.95),
        ("drive_spare", "nvme0n1", 0.12),
        ("link_below_rated", "0000:01:00.0", 1.0),
        ("mount_silent", "/mnt/nas", 1.0),
    ];
    let found = expect(Vec::new(), after, &expected);
    assert!(!found.iter().any(|r| r.instance.contains("postgres")));
    let states: Vec<_> = found
        .iter()
        .filter(|r| r.quantity == "space_used")
        .collect();
    assert!(states.len() == 1 && states[0].seconds == 0.0);
    // What is not told is no zero.
    assert_eq!(value(&found, "inodes_used", "/data"), None);
}

#[test]
fn recordings_tell_what_the_rules_say_that_they_tell() {
    let name = |kind: Kind| match kind {
        Kind::Cpu => vec!["all", "0"],
        Kind::Process => vec!["7 ceph-mds", "8 minio"],
        _ => vec!["x"],
    };
    let all = |value: u64| -> Vec<Row> {
        let rows = Kind::ALL.iter().flat_map(|kind| {
            let names = name(*kind).into_iter();
            names.map(move |name| {
                let mut row = Row::absent(*kind, name.into());
                row.values.fill(value);
                row
            })
        });
        rows.collect()
    };
    let found = readings(all(1), all(3));
    let told = |quantity: &str| found.iter().any(|r| r.quantity == quantity);
    for rule in fathom_rules::alarm::TABLE.rules {
        // Commit latency is made of the times of flushes.
        let quantity = match rule.quantity {
            Some("commit_latency") => "disk_flush_wait",
            quantity => quantity.unwrap_or_default(),
        };
        let says = rule.read_from.contains(&"recording");
        assert_eq!(told(quantity), says, "{}: {quantity}", rule.id);
    }
}
