use std::fs;
use std::path::Path;

use super::*;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn value(readings: &[HostReading], quantity: &str, instance: &str) -> Option<f64> {
    let found = readings.iter();
    let mut found = found.filter(|r| r.quantity == quantity && r.instance == instance);
    found.next().map(|reading| reading.value)
}

#[test]
fn a_disk_with_requests_of_which_none_completes_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let stat = |reads: u64, in_flight: u64| {
        let text = format!("{reads} 0 0 0 0 0 0 0 {in_flight} 0 0\n");
        write(root, "/sys/class/block/sda/stat", &text);
    };
    write(root, "/sys/class/block/sda/size", "1000\n");
    stat(5, 2);
    let mut watch = MachineWatch::start(&Sysroot::at(root));
    let begun = watch.begun_ns;
    watch.last_ns = begun;
    let mut silent = |second: u64| {
        let readings = watch.advance(begun + second * 1_000_000_000);
        value(&readings, "disk_silent", "sda").unwrap()
    };
    assert_eq!(silent(2).round(), 2.0);
    assert_eq!(silent(5).round(), 5.0);
    stat(6, 2);
    assert_eq!(silent(6), 0.0);
    stat(6, 0);
    assert_eq!(silent(8), 0.0);
}

#[test]
fn rates_are_per_second_and_shares_of_the_interval() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let stat = |user: u64, idle: u64| {
        format!("cpu {user} 0 0 {idle} 0 0 0 0\ncpu0 {user} 0 0 {idle} 0 0 0 0\nprocs_running 4\n")
    };
    write(root, "/proc/stat", &stat(100, 100));
    write(
        root,
        "/proc/meminfo",
        "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\nBuffers: 0 kB\nCached: 0 kB\nDirty: 0 kB\nWriteback: 0 kB\nSwapTotal: 100 kB\nSwapFree: 40 kB\n",
    );
    write(root, "/proc/vmstat", "pswpin 10\npswpout 10\noom_kill 0\n");
    write(root, "/sys/class/block/sda/size", "1000\n");
    write(root, "/sys/class/block/sda/queue/nr_requests", "64\n");
    write(
        root,
        "/sys/class/block/sda/stat",
        "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
    );
    write(root, "/sys/class/net/eth0/statistics/rx_bytes", "0\n");
    write(root, "/sys/class/net/eth0/statistics/tx_bytes", "0\n");
    write(root, "/sys/class/net/eth0/speed", "1000\n");
    write(root, "/sys/class/net/eth0/device/x", "\n");
    let mut watch = MachineWatch::start(&Sysroot::at(root));
    let begun = watch.begun_ns;
    watch.last_ns = begun;
    write(root, "/proc/stat", &stat(175, 125));
    write(root, "/proc/vmstat", "pswpin 20\npswpout 20\noom_kill 1\n");
    write(
        root,
        "/sys/class/block/sda/stat",
        "100 0 2048 500 100 0 0 300 2 900 6900 0 0 0 0 5 500\n",
    );
    write(
        root,
        "/sys/class/net/eth0/statistics/rx_bytes",
        "125000000\n",
    );
    let readings = watch.advance(begun + 2_000_000_000);
    let of = |quantity: &str, instance: &str| value(&readings, quantity, instance);
    assert_eq!(of("cpu_busy", ""), Some(0.75));
    assert_eq!(of("core_busy", "cpu0"), Some(0.75));
    assert_eq!(of("run_queue_per_core", ""), Some(3.0));
    assert_eq!(of("memory_used", ""), Some(0.75));
    assert_eq!(of("swap_bytes", ""), Some(20.0 * 4096.0 / 2.0));
    assert_eq!(of("oom_kills", ""), Some(0.5));
    assert_eq!(of("disk_operations", "sda"), Some(100.0));
    assert_eq!(of("disk_bytes", "sda"), Some(524_288.0));
    assert_eq!(of("disk_wait", "sda"), Some(0.004));
    assert_eq!(of("disk_queue", "sda"), Some(3.2));
    assert_eq!(of("disk_queue_share", "sda"), Some(0.05));
    assert_eq!(of("nic_use", "eth0"), Some(0.5));
    assert_eq!(readings[0].at_seconds, 2.0);
}

#[test]
fn a_link_trained_down_is_in_the_states_and_in_the_picture() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let port = "/sys/devices/pci0000:00/0000:00:01.1";
    let drive = format!("{port}/0000:01:00.0");
    for (path, text) in [
        (format!("{port}/max_link_speed"), "16.0 GT/s PCIe\n"),
        (format!("{port}/max_link_width"), "4\n"),
        (format!("{drive}/class"), "0x010802\n"),
        (format!("{drive}/current_link_speed"), "8.0 GT/s PCIe\n"),
        (format!("{drive}/max_link_speed"), "16.0 GT/s PCIe\n"),
        (format!("{drive}/current_link_width"), "4\n"),
        (format!("{drive}/max_link_width"), "4\n"),
        (format!("{drive}/nvme/nvme0/nvme0n1/size"), "1000\n"),
        (
            format!("{drive}/nvme/nvme0/nvme0n1/stat"),
            "0 0 0 0 0 0 0 0 0 0 0\n",
        ),
    ] {
        write(root, &path, text);
    }
    for (link, target) in [
        (
            "sys/bus/pci/devices/0000:01:00.0",
            "../../../devices/pci0000:00/0000:00:01.1/0000:01:00.0",
        ),
        (
            "sys/class/block/nvme0n1",
            "../../devices/pci0000:00/0000:00:01.1/0000:01:00.0/nvme/nvme0/nvme0n1",
        ),
    ] {
        let link = root.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, link).unwrap();
    }
    let sys = Sysroot::at(root);
    let states = read_states(&sys);
    assert_eq!(
        value(&states, "link_below_rated", "0000:01:00.0"),
        Some(1.0)
    );
    let picture = machine_picture(&sys, &[]);
    let adapter = picture
        .iter()
        .find(|node| node.name == "0000:01:00.0")
        .unwrap();
    let link = adapter.link.as_ref().unwrap();
    assert!(link.below_rated && link.narrowest, "{link:?}");
    assert_eq!(link.now.as_deref(), Some("8.0 GT/s x4"));
    assert_eq!(link.most.as_deref(), Some("16.0 GT/s x4"));
    let disk = picture.iter().find(|node| node.name == "nvme0n1").unwrap();
    assert_eq!(disk.above.as_deref(), Some("0000:01:00.0"));
    assert!(picture.iter().any(|node| node.kind == "socket"));
}

#[test]
fn the_running_host_can_be_read() {
    let sys = Sysroot::host();
    let mut watch = MachineWatch::start(&sys);
    let begun = watch.begun_ns;
    let readings = watch.advance(begun + 1_000_000_000);
    assert!(value(&readings, "memory_used", "").is_some_and(|share| (0.0..=1.0).contains(&share)));
    let states = read_states(&sys);
    assert!(states.iter().all(|state| state.value.is_finite()));
    assert!(machine_picture(&sys, &readings).len() < 100_000);
}
