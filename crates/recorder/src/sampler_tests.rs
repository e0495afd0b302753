//! Frames of trees that are written for the purpose.

use std::fs;
use std::path::Path;

use super::*;
use crate::kind::{Kind, cpu, disk, filesystem, group, host, link, memory, pressure, process};

/// A tree with a file of this content at each path.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        put(folder.path(), path, content);
    }
    folder
}

fn put(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn at(seconds: u64) -> Instant {
    Instant {
        unix_ms: 1_700_000_000_000 + seconds as i64 * 1000,
        monotonic_ns: 5_000_000_000 + seconds * 1_000_000_000,
    }
}

fn row(frame: &Frame, kind: Kind, name: &str) -> Row {
    let found = frame.of(kind).find(|row| &*row.name == name);
    found
        .unwrap_or_else(|| panic!("no {kind:?} {name:?}"))
        .clone()
}

const STAT: &str = "cpu  10 1 20 300 4 5 6 7 0 0\ncpu0 5 1 10 150 2 3 3 4 0 0\ncpu1 5 0 10 150 2 2 3 3 0 0\nintr 1 2 3\nctxt 99\nbtime 1700000000\nprocesses 42\nprocs_running 3\nprocs_blocked 2\nsoftirq 1\n";

#[test]
fn the_host_as_a_whole_is_read() {
    let root = tree(&[
        ("proc/stat", STAT),
        ("proc/loadavg", "1.25 0.50 0.07 3/99 1234\n"),
        (
            "proc/locks",
            "1: FLOCK  ADVISORY  WRITE 7 fe:00:12 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 8 fe:00:12 0 EOF\n2: POSIX  ADVISORY  READ 9 00:1b:13 128 128\n",
        ),
        (
            "proc/meminfo",
            "MemTotal: 1000 kB\nMemFree: 5 kB\nMemAvailable: 400 kB\nDirty: 8 kB\nWriteback: 1 kB\n",
        ),
        (
            "proc/vmstat",
            "nr_free_pages 1\npswpin 2\npswpout 3\npgmajfault 9\n",
        ),
        (
            "proc/pressure/io",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=70\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=60\n",
        ),
        ("proc/sys/kernel/hostname", "db1\n"),
        ("proc/sys/kernel/osrelease", "5.14.0\n"),
    ]);
    let mut sampler = Sampler::new(&Sysroot::at(root.path()));
    let facts = sampler.host();
    assert_eq!((facts.name.as_str(), facts.cpus), ("db1", 2));
    assert_eq!(facts.booted_unix_s, Some(1_700_000_000));
    let frame = sampler.sample(at(0));
    let of_host = row(&frame, Kind::Host, "");
    assert_eq!(of_host.value(host::RUNNING), Some(3));
    assert_eq!(of_host.value(host::BLOCKED), Some(2));
    assert_eq!(of_host.value(host::LOAD_1M), Some(1250));
    assert_eq!(of_host.value(host::LOCK_WAITERS), Some(1));
    let all = row(&frame, Kind::Cpu, "all");
    assert_eq!(all.values, [10, 1, 20, 300, 4, 5, 6, 7]);
    assert_eq!(row(&frame, Kind::Cpu, "1").value(cpu::SOFTIRQ), Some(3));
    let of_memory = row(&frame, Kind::Memory, "");
    assert_eq!(of_memory.value(memory::AVAILABLE), Some(400 << 10));
    assert_eq!(of_memory.value(memory::SWAP_TOTAL), None);
    let page = rustix::param::page_size() as u64;
    assert_eq!(of_memory.value(memory::SWAPPED_OUT), Some(3 * page));
    let stalls = row(&frame, Kind::Pressure, "");
    assert_eq!(stalls.value(pressure::IO_FULL), Some(60));
    assert_eq!(stalls.value(pressure::CPU_SOME), None);
}

#[test]
fn whole_devices_that_were_used_are_read() {
    let diskstats = "\
   8       0 sda 10 1 80 5 20 2 160 9 1 7 14 3 0 24 2 4 6
   8       1 sda1 9 1 72 5 20 2 160 9 0 7 14 3 0 24 2 4 6
   8      16 sdb 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 253       0 zram0 5 0 40 1 0 0 0 0 0 1 1
 104       0 cciss/c0d0 1 0 8 1 0 0 0 0 0 1 1
";
    let root = tree(&[
        ("proc/diskstats", diskstats),
        ("sys/block/sda/size", "1"),
        ("sys/block/sdb/size", "1"),
        ("sys/block/zram0/size", "1"),
        ("sys/block/cciss!c0d0/size", "1"),
        ("sys/class/block/sda1/partition", "1"),
        ("sys/class/block/sda/queue/nr_requests", "64\n"),
        ("sys/class/block/sda/device/ioerr_cnt", "0x1f\n"),
    ]);
    let mut sampler = Sampler::new(&Sysroot::at(root.path()));
    let frame = sampler.sample(at(0));
    let names: Vec<&str> = frame.of(Kind::Disk).map(|row| &*row.name).collect();
    assert_eq!(names, ["sda", "cciss/c0d0"]);
    let sda = row(&frame, Kind::Disk, "sda");
    let expected = [
        10,
        1,
        80 * 512,
        5,
        20,
        2,
        160 * 512,
        9,
        1,
        7,
        14,
        3,
        24 * 512,
        2,
        4,
        6,
        64,
        0x1f,
    ];
    assert_eq!(sda.values, expected);
    assert_eq!(
        row(&frame, Kind::Disk, "cciss/c0d0").value(disk::FLUSHES),
        None
    );
}

#[test]
fn links_and_tcp_are_read() {
    let root = tree(&[
        (
            "proc/net/dev",
            "Inter-| Receive | Transmit\n face |bytes packets\n    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n  eth0: 100 10 1 2 3 0 0 0 200 20 4 5 6 0 0 0\n  eth1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        ),
        (
            "proc/net/snmp",
            "Ip: a b\nIp: 1 2\nTcp: RtoMin InSegs OutSegs RetransSegs InErrs\nTcp: -1 50 60 7 1\n",
        ),
        (
            "proc/net/netstat",
            "TcpExt: SyncookiesSent TCPOFOQueue TCPOFODrop\nTcpExt: 0 44 5\nIpExt: InNoRoutes\nIpExt: 0\n",
        ),
        (
            "proc/net/softnet_stat",
            "0000ff 00000002 0000000a 0\n000001 00000001 00000001 0\n",
        ),
    ]);
    let frame = Sampler::new(&Sysroot::at(root.path())).sample(at(0));
    assert_eq!(frame.of(Kind::Link).count(), 1);
    let eth0 = row(&frame, Kind::Link, "eth0");
    assert_eq!(eth0.value(link::RECEIVE_DROPS), Some(5));
    assert_eq!(eth0.value(link::SENT_BYTES), Some(200));
    assert_eq!(eth0.value(link::SPEED), None);
    let of_tcp = row(&frame, Kind::Tcp, "");
    assert_eq!(of_tcp.values, [50, 60, 7, 1, 3, 11, 44]);
}

fn process_stat(pid: u32, command: &str, cpu_ticks: u64, wait_ticks: u64) -> String {
    let mut fields = vec!["0".to_owned(); 50];
    fields[0] = "S".to_owned();
    fields[11] = cpu_ticks.to_string();
    fields[19] = "77".to_owned();
    fields[39] = wait_ticks.to_string();
    format!("{pid} ({command}) {}\n", fields.join(" "))
}

#[test]
fn processes_that_write_are_named_with_their_rate() {
    let root = tempfile::tempdir().unwrap();
    let process = |pid: u32, name: &str, bytes: u64, ticks: u64| {
        let io = format!("rchar: 1\nread_bytes: 0\nwrite_bytes: {bytes}\n");
        put(
            root.path(),
            &format!("proc/{pid}/stat"),
            &process_stat(pid, name, ticks, ticks / 2),
        );
        put(root.path(), &format!("proc/{pid}/io"), &io);
        put(root.path(), &format!("proc/{pid}/comm"), name);
    };
    process(10, "idle", 500, 5);
    process(11, "writer", 1000, 5);
    let mut sampler = Sampler::new(&Sysroot::at(root.path()));
    assert_eq!(sampler.sample(at(0)).of(Kind::Process).count(), 0);
    process(11, "writer", 9000, 105);
    process(12, "new one", 300, 0);
    let frame = sampler.sample(at(2));
    let writer = row(&frame, Kind::Process, "11 writer");
    assert_eq!(writer.value(process::WRITE_BYTES), Some(4000));
    let tick_ms = 1000 / rustix::param::clock_ticks_per_second();
    assert_eq!(writer.value(process::CPU), Some(50 * tick_ms));
    assert_eq!(writer.value(process::IO_WAIT), Some(25 * tick_ms));
    // Started since: what it did at all.
    let new = row(&frame, Kind::Process, "12 new one");
    assert_eq!(new.value(process::WRITE_BYTES), Some(300));
    assert_eq!(frame.of(Kind::Process).count(), 2);
    // Gone.
    fs::rename(root.path().join("proc/11"), root.path().join("gone")).unwrap();
    assert_eq!(sampler.sample(at(3)).of(Kind::Process).count(), 0);
}

#[test]
fn the_first_rates_are_of_all_processes() {
    let root = tempfile::tempdir().unwrap();
    let write = |pid: u32, bytes: u64| {
        let io = format!("rchar: 1\nread_bytes: 0\nwrite_bytes: {bytes}\n");
        put(
            root.path(),
            &format!("proc/{pid}/stat"),
            &process_stat(pid, "worker", 0, 0),
        );
        put(root.path(), &format!("proc/{pid}/io"), &io);
        put(root.path(), &format!("proc/{pid}/comm"), "worker");
    };
    (1..=700).for_each(|pid| write(pid, 0));
    let mut sampler = Sampler::new(&Sysroot::at(root.path()));
    assert_eq!(sampler.sample(at(0)).of(Kind::Process).count(), 0);
    for pid in [1, 350, 700] {
        write(pid, u64::from(pid) * 1000);
    }
    let frame = sampler.sample(at(1));
    assert_eq!(frame.of(Kind::Process).count(), 3);
    let busiest = row(&frame, Kind::Process, "700 worker");
    assert_eq!(busiest.value(process::WRITE_BYTES), Some(700_000));
}

#[test]
fn groups_of_version_2_without_children_are_read() {
    let mounts = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n36 1 8:1 / / rw - ext4 /dev/sda1 rw\n37 1 8:1 /b /b rw - ext4 /dev/sda1 rw\n";
    let root = tree(&[
        ("proc/self/mountinfo", mounts),
        ("statfs", "/ 4096 1000 250 77\n/b 4096 1000 250 77\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpu io memory\n"),
        (
            "sys/fs/cgroup/system.slice/io.stat",
            "8:0 rbytes=900 wbytes=0 rios=9 wios=0\n",
        ),
        (
            "sys/fs/cgroup/system.slice/db.service/io.stat",
            "8:0 rbytes=100 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n",
        ),
        (
            "sys/fs/cgroup/system.slice/db.service/io.pressure",
            "some avg10=0.00 total=1000\n",
        ),
        (
            "sys/fs/cgroup/system.slice/db.service/io.max",
            "8:0 rbps=5000 wbps=max riops=max wiops=max\n",
        ),
    ]);
    let mut sampler = Sampler::new(&Sysroot::at(root.path()));
    let frame = sampler.sample(at(0));
    assert_eq!(frame.of(Kind::Group).count(), 0);
    let space = row(&frame, Kind::Filesystem, "/");
    assert_eq!(space.value(filesystem::AVAILABLE), Some(250 * 4096));
    assert_eq!(frame.of(Kind::Filesystem).count(), 1);
    let folder = "sys/fs/cgroup/system.slice/db.service";
    put(
        root.path(),
        &format!("{folder}/io.stat"),
        "8:0 rbytes=4100 wbytes=8 rios=3 wios=2\n9:0 rbytes=0 wbytes=0 rios=2 wios=0\n",
    );
    put(
        root.path(),
        &format!("{folder}/io.pressure"),
        "some avg10=0.00 total=501000\n",
    );
    let frame = sampler.sample(at(1));
    let found = row(&frame, Kind::Group, "system.slice/db.service");
    assert_eq!(found.values, [4000, 8, 4, 2, 500, 800]);
    assert_eq!(found.value(group::LIMIT_USED), Some(800));
    assert_eq!(found.value(group::IO_STALLED), Some(500));
    assert_eq!(frame.of(Kind::Group).count(), 1);
}

#[test]
fn an_empty_tree_gives_an_empty_frame() {
    let root = tempfile::tempdir().unwrap();
    let mut sampler = Sampler::new(&Sysroot::at(root.path()));
    assert!(sampler.sample(at(0)).rows.is_empty());
    assert!(sampler.sample(at(1)).rows.is_empty());
    assert_eq!(sampler.host().name, "unknown host");
}

#[test]
fn this_host_is_read() {
    let mut sampler = Sampler::new(&Sysroot::host());
    let first = sampler.sample(Instant::now());
    let second = sampler.sample(Instant::now());
    assert!(second.at.monotonic_ns >= first.at.monotonic_ns);
    for kind in [Kind::Cpu, Kind::Memory, Kind::Host] {
        assert!(second.of(kind).count() > 0, "{kind:?}");
    }
    for row in &second.rows {
        assert_eq!(row.values.len(), row.kind.fields().len(), "{row:?}");
    }
}
