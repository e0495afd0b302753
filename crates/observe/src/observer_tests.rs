use super::*;
use std::fs;
use std::path::Path;

fn facts(name: &str, below: &[&str]) -> DeviceFacts {
    DeviceFacts {
        name: name.to_owned(),
        below: below.iter().map(|&name| name.to_owned()).collect(),
        ..DeviceFacts::default()
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn stat(reads: u64, in_flight: u64, queue_ms: u64) -> String {
    format!(
        "{reads} 0 {} 1 0 0 0 0 {in_flight} 5 {queue_ms} 0 0 0 0 0 0\n",
        reads * 8
    )
}

fn target(devices: Vec<DeviceFacts>) -> TargetFingerprint {
    TargetFingerprint {
        devices,
        ..TargetFingerprint::default()
    }
}

#[test]
fn leaves_are_the_lowest_devices_with_counters() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "sys/class/block/dm-0/stat", &stat(1, 0, 0));
    write(root.path(), "sys/class/block/sda/stat", &stat(2, 0, 0));
    write(root.path(), "sys/class/block/nvme0n1/stat", &stat(3, 0, 0));
    let devices = vec![
        facts("dm-0", &["sda", "nvme0n1"]),
        facts("sda", &[]),
        // The path's counters are hidden here, so the head counts.
        facts("nvme0n1", &["nvme0c0n1"]),
        facts("nvme0c0n1", &[]),
    ];
    let observer = Observer::new(&Sysroot::at(root.path()), &target(devices));
    assert_eq!(observer.leaves().collect::<Vec<_>>(), ["sda", "nvme0n1"]);
    assert_eq!(observer.devices.len(), 3);
}

#[test]
fn a_disk_under_two_targets_is_observed_once() {
    let root = tempfile::tempdir().unwrap();
    for name in ["sda", "sda1", "sda2"] {
        write(
            root.path(),
            &format!("sys/class/block/{name}/stat"),
            &stat(1, 0, 0),
        );
    }
    let of = |name: &str| target(vec![facts(name, &["sda"]), facts("sda", &[])]);
    let targets = [of("sda1"), of("sda2")];
    let mut observer = Observer::of_targets(&Sysroot::at(root.path()), &targets);
    assert_eq!(observer.sample(None).devices.len(), 3);
    assert_eq!(observer.leaves().collect::<Vec<_>>(), ["sda"]);
}

#[test]
fn a_device_that_does_not_account_is_not_a_leaf() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "sys/class/block/dm-0/stat", &stat(1, 0, 0));
    write(root.path(), "sys/class/block/sda/stat", &stat(0, 0, 0));
    let mut silent = facts("sda", &[]);
    silent.facts.insert("iostats".to_owned(), "0".to_owned());
    let mut stacked = facts("dm-0", &["sda1"]);
    stacked.facts.insert("iostats".to_owned(), "0".to_owned());
    let mut partition = facts("sda1", &["sda"]);
    partition.kind = "partition".to_owned();
    write(root.path(), "sys/class/block/sda1/stat", &stat(0, 0, 0));
    let devices = vec![stacked, partition, silent];
    let observer = Observer::new(&Sysroot::at(root.path()), &target(devices));
    assert_eq!(observer.leaves().collect::<Vec<_>>(), ["dm-0"]);
    assert_eq!(observer.devices.len(), 1);
}

#[test]
fn samples_are_differences_on_the_callers_axis() {
    let root = tempfile::tempdir().unwrap();
    let diskstats = |reads: u64| format!("   8 0 sda {}", stat(reads, 2, 7));
    write(root.path(), "proc/diskstats", &diskstats(100));
    let sys = Sysroot::at(root.path());
    let before = monotonic_ns();
    let mut observer = Observer::new(&sys, &target(vec![facts("sda", &[])]));
    write(root.path(), "proc/diskstats", &diskstats(150));
    let origin = monotonic_ns() + 1_000_000_000;
    let observation = observer.sample(Some(origin));
    assert!(observation.start_ns < 0);
    assert_eq!(observation.devices.len(), 1);
    let device = &observation.devices[0];
    assert_eq!((device.name.as_str(), device.leaf), ("sda", true));
    assert_eq!(
        (device.reads, device.read_bytes, device.in_flight),
        (50, 50 * 8 * 512, 2)
    );
    assert_eq!(
        (&observation.cpu, &observation.memory, &observation.pressure),
        (&None, &None, &None)
    );
    assert_eq!(observation.own.unwrap().storage_read_bytes, None);
    let next = observer.sample(None);
    assert_eq!(next.devices[0].reads, 0);
    assert!(
        u64::try_from(next.start_ns).unwrap() >= before,
        "plain monotonic time"
    );
}

#[test]
fn a_device_that_is_away_is_left_out_and_comes_back() {
    let root = tempfile::tempdir().unwrap();
    let path = "sys/class/block/sda/stat";
    write(root.path(), path, &stat(100, 0, 0));
    let sys = Sysroot::at(root.path());
    let mut observer = Observer::new(&sys, &target(vec![facts("sda", &[])]));
    write(root.path(), path, "");
    assert_eq!(observer.sample(None).devices.len(), 0);
    write(root.path(), path, &stat(7, 0, 0));
    assert_eq!(observer.sample(None).devices[0].reads, 7);
}

#[test]
fn quiet_means_nothing_in_flight_and_nothing_between() {
    let window = Duration::from_millis(1);
    let root = tempfile::tempdir().unwrap();
    let path = "sys/class/block/sda/stat";
    write(root.path(), path, &stat(100, 0, 50));
    let sys = Sysroot::at(root.path());
    let devices = target(vec![facts("sda", &[])]);
    let mut observer = Observer::new(&sys, &devices);
    assert_eq!(observer.busy(window), Some(Vec::new()));
    write(root.path(), path, &stat(110, 0, 60));
    assert_eq!(
        observer.busy(window),
        Some(Vec::new()),
        "what was before does not count"
    );
    assert_eq!(
        observer.sample(None).devices[0].reads,
        10,
        "nothing was taken away"
    );
    write(root.path(), path, &stat(110, 1, 60));
    let busy = observer.busy(window).unwrap();
    assert_eq!(busy[0].name, "sda");
    assert_eq!(Observer::new(&sys, &target(Vec::new())).busy(window), None);
}

#[test]
fn the_running_host_is_observed() {
    let sys = Sysroot::host();
    let target = crate::target_fingerprint(&sys, Path::new(env!("CARGO_MANIFEST_DIR")));
    let mut observer = Observer::new(&sys, &target);
    let origin = monotonic_ns();
    let observation = observer.sample(Some(origin));
    assert!(observation.start_ns <= 0);
    assert!(observation.cpu.unwrap().cpus > 0);
    assert!(observation.memory.unwrap().total_bytes > 1 << 20);
    assert!(observation.own.is_some());
    assert_eq!(
        observation.devices.iter().any(|device| device.leaf),
        observer.leaves().count() > 0
    );
}
