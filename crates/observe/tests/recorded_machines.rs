//! Fingerprints and counters of other machines, from recordings of their
//! `/proc` and `/sys`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod recording;

use std::path::Path;

use fathom_model::fingerprint::{DeviceFacts, TargetFingerprint};
use fathom_observe::{CapabilityStatus, Observer, doctor, host_fingerprint, target_fingerprint};
use recording::Machine;

fn target(machine: &Machine, path: &str) -> TargetFingerprint {
    target_fingerprint(&machine.sys, Path::new(path))
}

/// The stack as text, one `name kind > below` a device.
fn stack(target: &TargetFingerprint) -> Vec<String> {
    let line = |device: &DeviceFacts| {
        let below = device.below.join(" ");
        format!("{} {} > {below}", device.name, device.kind)
            .trim_end_matches(" > ")
            .to_owned()
    };
    target.devices.iter().map(line).collect()
}

fn leaves(machine: &Machine, path: &str) -> Vec<String> {
    let observer = Observer::new(&machine.sys, &target(machine, path));
    observer.leaves().map(str::to_owned).collect()
}

fn device<'a>(target: &'a TargetFingerprint, name: &str) -> &'a DeviceFacts {
    target
        .devices
        .iter()
        .find(|device| device.name == name)
        .unwrap()
}

#[test]
fn a_guest_made_from_a_container_image_is_no_container() {
    let machine = Machine::open("vm-virtio");
    let host = host_fingerprint(&machine.sys);
    assert_eq!(host.virtualization.as_deref(), Some("kvm"));
    assert_eq!(host.os.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
    assert_eq!(host.clocksource.as_deref(), Some("tsc"));
    assert_eq!((host.cpus, host.root), (2, true));
    assert_eq!(
        (host.memlock_bytes, host.open_files_limit),
        (Some(8 << 20), 20_000)
    );
    assert_eq!(
        host.clock_read_ns, None,
        "the running clock is not the recorded one"
    );
    let target = target(&machine, "/srv/data");
    assert_eq!(stack(&target), ["vda disk"]);
    let filesystem = target.filesystem.as_ref().unwrap();
    assert_eq!(
        (filesystem.kind.as_str(), filesystem.virtual_kind),
        ("ext4", false)
    );
    assert_eq!(filesystem.total_bytes, 66_053_021 * 4096);
    let vda = device(&target, "vda");
    assert_eq!(vda.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!(vda.read_ahead_bytes, Some(8 << 20));
    assert_eq!(vda.facts["transport"], "virtio");
    let memory = self::target(&machine, "/dev/shm/x");
    assert!(memory.filesystem.unwrap().virtual_kind && memory.devices.is_empty());
}

#[test]
fn an_old_kernel_with_lvm_behind_a_raid_controller() {
    let machine = Machine::open("centos7-lvm");
    let target = target(&machine, "/var/lib/data");
    assert_eq!(
        stack(&target),
        ["dm-0 dm > sda2", "sda2 partition > sda", "sda disk"]
    );
    let sda = device(&target, "sda");
    assert_eq!(sda.model.as_deref(), Some("DELL PERC H730 Mini"));
    assert_eq!(sda.firmware.as_deref(), Some("4.27"));
    assert_eq!(sda.scheduler.as_deref(), Some("deadline"));
    assert_eq!(
        (sda.write_cache.as_ref(), sda.discard_max_bytes),
        (None, None)
    );
    assert_eq!(
        (sda.rotational, sda.queue_requests),
        (Some(true), Some(128))
    );
    assert_eq!(device(&target, "dm-0").facts["dm_layer"], "LVM");
    let mut observer = Observer::new(&machine.sys, &target);
    assert_eq!(observer.leaves().collect::<Vec<_>>(), ["sda"]);
    let observation = observer.sample(None);
    assert_eq!(observation.devices.len(), 3);
    assert_eq!(observation.devices[2].discards, None);
    assert_eq!(
        (&observation.pressure, observation.cpu.unwrap().cpus),
        (&None, 2)
    );
    assert_eq!(
        observation.memory.unwrap().available_bytes,
        (51_000_000 + 102_400 + 8_192_000) << 10
    );
    let host = host_fingerprint(&machine.sys);
    assert_eq!(
        host.os.as_deref(),
        Some("CentOS Linux release 7.9.2009 (Core)")
    );
    assert_eq!(host.cpu_governor.as_deref(), Some("performance, powersave"));
    assert_eq!(host.virtualization.as_deref(), Some("none"));
}

#[test]
fn names_with_a_slash_are_found_in_every_place() {
    let machine = Machine::open("centos7-lvm");
    let by_folder = target(&machine, "/old/data");
    assert_eq!(
        stack(&by_folder),
        ["cciss!c0d0p1 partition > cciss!c0d0", "cciss!c0d0 disk"]
    );
    assert_eq!(
        target(&machine, "/dev/cciss/c0d0p1").devices,
        by_folder.devices
    );
    assert_eq!(leaves(&machine, "/old/data"), ["cciss!c0d0"]);
    assert_eq!(
        target(&machine, "/dev/mapper/centos-root").devices[0].name,
        "dm-0"
    );
}

#[test]
fn a_partition_without_its_disk_is_the_leaf() {
    let machine = Machine::open("centos7-lvm");
    let text = "   8 1 sda1 1 0 8 1 1 0 8 1 0 1 1\n   8 2 sda2 1 0 8 1 1 0 8 1 0 1 1\n";
    machine.write("/proc/diskstats", text);
    assert_eq!(leaves(&machine, "/boot"), ["sda1"]);
    assert_eq!(leaves(&machine, "/"), ["sda2"]);
}

#[test]
fn broken_stacks_end() {
    let machine = Machine::open("centos7-lvm");
    let slaves = "/sys/devices/virtual/block/dm-0/slaves";
    machine.write(&format!("{slaves}/dm-0"), "");
    machine.write(&format!("{slaves}/gone"), "");
    let target = target(&machine, "/");
    assert_eq!(target.devices[0].below, ["sda2"]);
    // A disk that claims to lie on what lies on it.
    let disk =
        "/sys/devices/pci0000:00/0000:00:02.0/0000:02:00.0/host0/target0:2:0/0:2:0:0/block/sda";
    machine.write(&format!("{disk}/slaves/dm-0"), "");
    let circle = self::target(&machine, "/");
    assert_eq!(circle.devices.len(), 3);
    assert_eq!(Observer::new(&machine.sys, &circle).leaves().count(), 0);
    machine.remove("/sys");
    assert_eq!(self::target(&machine, "/").devices.len(), 0);
    assert!(self::target(&machine, "/").filesystem.is_some());
}

#[test]
fn an_empty_tree_is_all_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let sys = fathom_observe::Sysroot::at(folder.path());
    let host = host_fingerprint(&sys);
    assert_eq!(
        (host.cpus, host.memory_bytes, host.virtualization),
        (0, 0, None)
    );
    let target = target_fingerprint(&sys, Path::new("/data"));
    assert_eq!(
        (target.filesystem.is_none(), target.devices.len()),
        (true, 0)
    );
    let observation = Observer::new(&sys, &target).sample(None);
    assert!(
        observation.devices.is_empty() && observation.cpu.is_none() && observation.memory.is_none()
    );
    let capabilities = doctor(&sys, None);
    assert!(
        capabilities
            .iter()
            .any(|one| one.status == CapabilityStatus::Missing)
    );
}

#[test]
fn a_volume_on_luks_on_a_multipath_namespace() {
    let machine = Machine::open("nvme-multipath-luks-lvm");
    let mut target = target(&machine, "/mnt/data/f");
    let expected = [
        "dm-1 dm > dm-0",
        "dm-0 dm > nvme0n1p2",
        "nvme0n1p2 partition > nvme0n1",
        "nvme0n1 nvme > nvme0c0n1 nvme0c1n1",
        "nvme0c0n1 nvme",
        "nvme0c1n1 nvme",
    ];
    assert_eq!(stack(&target), expected);
    assert_eq!(device(&target, "dm-1").facts["dm_name"], "vg-data");
    assert_eq!(device(&target, "dm-0").facts["dm_layer"], "CRYPT");
    let head = device(&target, "nvme0n1");
    assert_eq!(
        (head.model.as_deref(), head.serial.as_deref()),
        (Some("QEMU NVMe Ctrl"), Some("LAB0001"))
    );
    assert_eq!(head.facts["iopolicy"], "numa");
    let path = device(&target, "nvme0c1n1");
    assert_eq!(
        (
            path.facts["transport"].as_str(),
            path.facts["state"].as_str()
        ),
        ("pcie", "live")
    );
    assert_eq!(
        path.facts.get("pcie_link_width"),
        None,
        "an emulated drive has no link"
    );
    // The head and its partition show zeros on this kernel: they are not shown.
    let mut observer = Observer::new(&machine.sys, &target);
    assert_eq!(
        observer.leaves().collect::<Vec<_>>(),
        ["nvme0c0n1", "nvme0c1n1"]
    );
    let observation = observer.sample(None);
    let shown: Vec<_> = observation
        .devices
        .iter()
        .map(|device| device.name.as_str())
        .collect();
    assert_eq!(shown, ["dm-1", "dm-0", "nvme0c0n1", "nvme0c1n1"]);
    // A kernel that accounts on the head shows it; the paths remain the leaves.
    for device in &mut target.devices {
        device.facts.insert("iostats".to_owned(), "1".to_owned());
    }
    let mut observer = Observer::new(&machine.sys, &target);
    assert_eq!(observer.sample(None).devices.len(), 6);
    assert_eq!(observer.leaves().count(), 2);
}

#[test]
fn a_trained_down_link_shows() {
    let machine = Machine::open("nvme-multipath-luks-lvm");
    let adapter = "/sys/devices/pci0000:00/0000:00:05.0";
    for (file, value) in [
        ("current_link_speed", "8.0 GT/s PCIe\n"),
        ("max_link_speed", "16.0 GT/s PCIe\n"),
        ("current_link_width", "2\n"),
        ("max_link_width", "4\n"),
        ("numa_node", "0\n"),
    ] {
        machine.write(&format!("{adapter}/{file}"), value);
    }
    let target = target(&machine, "/dev/nvme0n1");
    let facts = &device(&target, "nvme0c0n1").facts;
    assert_eq!(facts["pcie_link_speed"], "8.0 GT/s PCIe");
    assert_eq!(
        (
            facts["pcie_link_width"].as_str(),
            facts["pcie_link_width_max"].as_str()
        ),
        ("2", "4")
    );
    assert_eq!(
        (facts["numa_node"].as_str(), facts["pcie_address"].as_str()),
        ("0", "0000:00:05.0")
    );
    assert!(target.filesystem.is_none());
}

#[test]
fn bcache_lies_on_its_backing_and_its_cache_device() {
    let machine = Machine::open("bcache-nvme");
    let target = target(&machine, "/mnt/b");
    assert_eq!(stack(&target)[0], "bcache0 bcache > nvme0n1 nvme1n1");
    assert_eq!(target.devices[0].facts["cache_mode"], "writethrough");
    let mut observer = Observer::new(&machine.sys, &target);
    assert_eq!(
        observer.leaves().collect::<Vec<_>>(),
        ["nvme0n1", "nvme1n1"]
    );
    assert_eq!(
        observer.sample(None).devices[0].name,
        "bcache0",
        "it counts, whatever iostats says"
    );
}

#[test]
fn raid_1_over_two_disks_and_a_loop_device_on_it() {
    let machine = Machine::open("md-loop-btrfs");
    let raid = ["md0 md > sda sdb", "sda disk", "sdb disk"];
    let target = target(&machine, "/mnt/md/f");
    assert_eq!(stack(&target), raid);
    let md = device(&target, "md0");
    assert_eq!(
        (md.facts["level"].as_str(), md.facts["degraded"].as_str()),
        ("raid1", "0")
    );
    assert_eq!(md.facts["sync_action"], "idle");
    let sda = device(&target, "sda");
    assert_eq!(
        sda.model.as_deref(),
        Some("QEMU HARDDISK"),
        "ATA is not a vendor"
    );
    assert_eq!(sda.facts["transport"], "sata");
    assert_eq!(sda.facts["sata_link"], "1.5 Gbps");
    assert_eq!(sda.write_cache.as_deref(), Some("write back"));
    assert_eq!(leaves(&machine, "/mnt/md/f"), ["sda", "sdb"]);

    let target = self::target(&machine, "/mnt/loop/new/file");
    assert_eq!(
        stack(&target),
        ["loop0 loop > md0", raid[0], raid[1], raid[2]]
    );
    let facts = &device(&target, "loop0").facts;
    assert_eq!(
        (facts["backing_file"].as_str(), facts["dio"].as_str()),
        ("/mnt/md/disk.img", "1")
    );
    assert_eq!(leaves(&machine, "/dev/loop0"), ["sda", "sdb"]);
}

#[test]
fn loop_devices_on_themselves_and_on_deleted_files_end() {
    let machine = Machine::open("md-loop-btrfs");
    let file = "/sys/devices/virtual/block/loop0/loop/backing_file";
    machine.write(file, "/mnt/loop/inside.img\n");
    assert_eq!(stack(&target(&machine, "/mnt/loop")), ["loop0 loop"]);
    machine.write(file, "/mnt/md/gone.img (deleted)\n");
    assert_eq!(target(&machine, "/mnt/loop").devices[0].below, ["md0"]);
}

#[test]
fn btrfs_lies_on_all_its_members() {
    let machine = Machine::open("md-loop-btrfs");
    let target = target(&machine, "/mnt/btr/sub/f");
    assert_eq!(stack(&target), ["nvme0n1 nvme", "nvme1n1 nvme"]);
    let filesystem = target.filesystem.unwrap();
    assert_eq!(
        (filesystem.kind.as_str(), filesystem.virtual_kind),
        ("btrfs", false)
    );
    assert_eq!(leaves(&machine, "/mnt/btr/sub/f"), ["nvme0n1", "nvme1n1"]);
    // Without sysfs for btrfs the mount table still names one.
    machine.remove("/sys/fs/btrfs");
    assert_eq!(leaves(&machine, "/mnt/btr/sub/f"), ["nvme0n1"]);
}

#[test]
fn an_overlay_in_a_container_is_traced_by_its_sizes() {
    let machine = Machine::open("container-overlay");
    let target = target(&machine, "/srv/f");
    let filesystem = target.filesystem.as_ref().unwrap();
    assert!(filesystem.virtual_kind);
    assert_eq!(filesystem.facts["upper_layer"], "ext4 on /dev/md0");
    assert_eq!(stack(&target)[0], "md0 md > sda sdb");
    let host = host_fingerprint(&machine.sys);
    assert_eq!(host.virtualization.as_deref(), Some("docker on qemu"));

    // Another file system of the same size makes it a guess; none is made.
    let statfs = machine.text("/statfs");
    let row = statfs
        .lines()
        .find(|line| line.starts_with("/etc/hosts "))
        .unwrap();
    machine.write(
        "/statfs",
        &format!("{statfs}\n{}", row.replace("/etc/hosts", "/data")),
    );
    let mounts = machine.text("/proc/self/mountinfo");
    let other = "99 53 259:0 / /data rw - xfs /dev/nvme0n1 rw";
    machine.write("/proc/self/mountinfo", &format!("{mounts}\n{other}\n"));
    let target = self::target(&machine, "/srv/f");
    assert_eq!(target.devices.len(), 0);
    assert!(target.filesystem.unwrap().facts["upper_layer"].contains("cannot be told"));
}

#[test]
fn an_overlay_over_memory_is_known_by_its_sizes() {
    let machine = Machine::open("container-overlay");
    let statfs = machine.text("/statfs");
    let root = statfs.lines().find(|line| line.starts_with("/ ")).unwrap();
    let others = statfs
        .lines()
        .filter(|line| !line.starts_with("/etc/hosts "));
    let others: Vec<&str> = others.collect();
    let of = |place: &str| root.replacen('/', place, 1);
    let memory = [of("/scratch"), of("/more")].join("\n");
    machine.write("/statfs", &format!("{}\n{memory}\n", others.join("\n")));
    let mounts = machine.text("/proc/self/mountinfo");
    let mounts = mounts.replace("upperdir=/mnt/md/docker/overlay2/x/diff", "upperdir=t/u");
    let memory = "98 53 0:50 / /scratch rw - tmpfs t rw\n99 53 0:51 / /more rw - tmpfs m rw";
    machine.write("/proc/self/mountinfo", &format!("{mounts}\n{memory}\n"));
    let target = target(&machine, "/srv/f");
    let filesystem = target.filesystem.unwrap();
    assert_eq!(filesystem.facts["upper_layer"], "tmpfs on t");
}

#[test]
fn an_overlay_seen_from_its_host_is_traced_by_its_path() {
    let machine = Machine::open("md-loop-btrfs");
    let mounts = machine.text("/proc/self/mountinfo");
    let overlay = |options: &str| {
        format!("{mounts}\n98 30 0:99 / /mnt/ovl rw - overlay overlay rw,{options}\n")
    };
    machine.write(
        "/proc/self/mountinfo",
        &overlay("lowerdir=/a,upperdir=/mnt/md/up,workdir=/w"),
    );
    assert_eq!(leaves(&machine, "/mnt/ovl/f"), ["sda", "sdb"]);
    machine.write("/proc/self/mountinfo", &overlay("lowerdir=/a:/b"));
    let target = target(&machine, "/mnt/ovl/f");
    assert!(target.filesystem.unwrap().facts["upper_layer"].contains("read-only"));
    assert_eq!(target.devices.len(), 0);
    // Overlays on one another for ever.
    machine.write(
        "/proc/self/mountinfo",
        &overlay("lowerdir=/a,upperdir=/mnt/ovl/up"),
    );
    assert_eq!(self::target(&machine, "/mnt/ovl/f").devices.len(), 0);
}

#[test]
fn the_doctor_reads_a_recorded_machine_without_trying_anything() {
    let machine = Machine::open("nvme-multipath-luks-lvm");
    machine.write("/sys/module/nvme/parameters/poll_queues", "0\n");
    let capabilities = doctor(&machine.sys, Some(Path::new("/mnt/data")));
    let found = |name: &str| capabilities.iter().find(|one| one.name == name).unwrap();
    assert_eq!(found("clock source").status, CapabilityStatus::Limited);
    assert_eq!(found("clock source").found, "hpet");
    assert!(found("clock source").remedy.is_some());
    assert_eq!(
        found("device counters").found,
        "counters of nvme0c0n1, nvme0c1n1"
    );
    assert_eq!(found("poll queues").status, CapabilityStatus::Limited);
    assert_eq!(found("open file limit").found, "1024");
    assert_eq!(found("pressure (PSI)").status, CapabilityStatus::Ok);
    assert!(!capabilities.iter().any(|one| one.name == "io_uring"));
    for one in &capabilities {
        assert_eq!(
            one.remedy.is_some(),
            one.status != CapabilityStatus::Ok,
            "{}",
            one.name
        );
    }
}

#[test]
fn temperatures_are_read_without_asking_the_drive() {
    let machine = Machine::open("nvme-multipath-luks-lvm");
    let controller = "/sys/devices/pci0000:00/0000:00:05.0/nvme/nvme0";
    machine.write(&format!("{controller}/hwmon3/temp1_input"), "41850\n");
    machine.write(&format!("{controller}/hwmon3/temp1_max"), "81850\n");
    let target = target(&machine, "/dev/nvme0n1");
    let facts = &device(&target, "nvme0c0n1").facts;
    assert_eq!(facts["temperature_celsius"], "41");
    assert_eq!(facts["temperature_warning_celsius"], "81");
    assert!(!facts.contains_key("temperature_critical_celsius"));
    assert!(
        !facts.contains_key("health"),
        "a recorded drive is not asked"
    );
}

#[test]
fn a_host_of_many_nodes_says_on_which_of_them_a_drive_is() {
    let machine = Machine::open("rhel8-numa");
    let host = host_fingerprint(&machine.sys);
    assert_eq!(
        host.facts.get("numa_nodes").map(String::as_str),
        Some("0-7")
    );
    let data = target(&machine, "/data");
    assert_eq!(stack(&data), ["nvme1n1 nvme"]);
    let facts = &device(&data, "nvme1n1").facts;
    assert_eq!(facts.get("numa_node").map(String::as_str), Some("6"));
    assert_eq!(leaves(&machine, "/"), ["nvme0n1"]);
}
