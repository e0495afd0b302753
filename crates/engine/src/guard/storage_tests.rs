//! Hosts as sysfs shows them, with devices that this machine has not.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use super::super::usage::family;
use super::*;

/// A host made of files.
struct Host {
    root: tempfile::TempDir,
    backings: BTreeMap<String, Backing>,
    mounts: String,
}

impl Host {
    fn new() -> Host {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("sys/dev/block")).unwrap();
        Host {
            root,
            backings: BTreeMap::new(),
            mounts: String::new(),
        }
    }

    fn write(&self, path: &Path, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A device at `place` below `sys/devices`, of so many sectors.
    fn device(&self, place: &str, number: &str, sectors: u64) -> PathBuf {
        let dir = Path::new("sys/devices").join(place);
        self.write(&dir.join("dev"), &format!("{number}\n"));
        self.write(&dir.join("size"), &format!("{sectors}\n"));
        let link = self.root.path().join("sys/dev/block").join(number);
        symlink(self.root.path().join(&dir), link).unwrap();
        dir
    }

    fn partition(&self, place: &str, number: &str, (start, sectors): (u64, u64)) {
        let dir = self.device(place, number, sectors);
        self.write(&dir.join("partition"), "1\n");
        self.write(&dir.join("start"), &format!("{start}\n"));
    }

    fn mapped(&self, name: &str, number: &str, uuid: &str, on: &str) {
        let dir = self.device(name, number, 1 << 20);
        self.write(&dir.join("dm/uuid"), uuid);
        let below = self.root.path().join("sys/devices").join(on);
        let slave = self.root.path().join(&dir).join("slaves");
        fs::create_dir_all(&slave).unwrap();
        symlink(&below, slave.join("slave")).unwrap();
        fs::create_dir_all(below.join("holders")).unwrap();
        symlink(
            self.root.path().join(&dir),
            below.join("holders").join(name),
        )
        .unwrap();
    }

    /// A loop device over a file from an offset on.
    fn loop_over(&mut self, name: &str, number: &str, (offset, sectors): (u64, u64), on: Backing) {
        let dir = self.device(name, number, sectors);
        self.write(&dir.join("loop/offset"), &format!("{offset}\n"));
        self.backings.insert(name.to_owned(), on);
    }

    fn mount(&mut self, number: &str) {
        self.mounts += &format!("22 1 {number} / /mnt rw - ext4 /nonexistent rw\n");
    }

    fn shared(&self, number: DeviceNumber) -> Vec<String> {
        self.write(Path::new("proc/self/mountinfo"), &self.mounts);
        let backing = |dir: &Path| {
            let name = dir.file_name()?.to_str()?;
            self.backings.get(name).cloned()
        };
        let root = self.root.path();
        let family = family(root, number).unwrap();
        Storage::new(root, &backing).shared(&family, number)
    }
}

fn file(inode: u64) -> Backing {
    Backing::File {
        path: PathBuf::from("/images/a"),
        identity: Some(((8, 1), inode)),
    }
}

#[test]
fn a_second_loop_device_over_a_file_is_in_the_way() {
    let mut host = Host::new();
    host.loop_over("loop0", "7:0", (64 << 20, 1 << 20), file(5));
    host.loop_over("loop1", "7:1", (0, 2 << 20), file(5));
    host.loop_over("loop2", "7:2", (0, 1 << 20), file(6));
    let told = host.shared((7, 1)).join("\n");
    assert!(
        told.contains("loop0") && told.contains("losetup -d"),
        "{told}"
    );
    assert!(!told.contains("loop2"), "{told}");
    assert!(host.shared((7, 2)).is_empty());
    host.mount("7:0");
    let told = host.shared((7, 1)).join("\n");
    assert!(told.contains("loop0 is mounted at /mnt"), "{told}");
}

#[test]
fn stretches_of_a_file_that_do_not_overlap_are_apart() {
    let mut host = Host::new();
    host.loop_over("loop0", "7:0", (0, 2048), file(5));
    host.loop_over("loop1", "7:1", (1 << 20, 2048), file(5));
    host.mount("7:0");
    assert!(host.shared((7, 1)).is_empty(), "{:?}", host.shared((7, 1)));
    host.loop_over("loop2", "7:2", ((1 << 20) + 4096, 8), file(5));
    assert_eq!(host.shared((7, 1)).len(), 1);
}

#[test]
fn a_file_that_cannot_be_examined_is_known_by_its_path() {
    let mut host = Host::new();
    let unknown = Backing::File {
        path: PathBuf::from("/images/a"),
        identity: None,
    };
    host.loop_over("loop0", "7:0", (0, 8), unknown);
    host.loop_over("loop1", "7:1", (0, 8), file(5));
    assert_eq!(host.shared((7, 1)).len(), 1);
}

#[test]
fn a_loop_device_over_a_used_disk_or_partition_is_refused() {
    let mut host = Host::new();
    host.device("sda", "8:0", 1 << 20);
    host.partition("sda/sda1", "8:1", (2048, 4096));
    host.partition("sda/sda2", "8:2", (8192, 4096));
    host.loop_over("loop0", "7:0", (0, 4096), Backing::Device((8, 1)));
    assert!(host.shared((7, 0)).is_empty(), "{:?}", host.shared((7, 0)));
    host.mount("8:1");
    let told = host.shared((7, 0)).join("\n");
    assert!(
        told.contains("it lies on sda1, and sda1 is mounted"),
        "{told}"
    );
    // The other partition has nothing to do with it.
    assert!(host.shared((8, 2)).is_empty(), "{:?}", host.shared((8, 2)));
    // A volume group uses the partition below another loop device.
    host.loop_over("loop1", "7:1", (0, 4096), Backing::Device((8, 2)));
    host.mapped("dm-0", "253:0", "LVM-abc\n", "sda/sda2");
    let told = host.shared((7, 1)).join("\n");
    assert!(told.contains("dm-0 is built on that"), "{told}");
}

#[test]
fn a_loop_device_over_the_whole_disk_holds_its_partitions() {
    let mut host = Host::new();
    host.device("sda", "8:0", 1 << 20);
    host.partition("sda/sda1", "8:1", (2048, 4096));
    host.loop_over("loop0", "7:0", (0, 1 << 20), Backing::Device((8, 0)));
    host.mount("8:1");
    let told = host.shared((7, 0)).join("\n");
    assert!(told.contains("sda1 is mounted at /mnt"), "{told}");
}

#[test]
fn a_mapping_of_a_mounted_disk_is_refused() {
    let mut host = Host::new();
    host.device("sda", "8:0", 1 << 20);
    host.mapped("dm-0", "253:0", "\n", "sda");
    assert!(host.shared((253, 0)).is_empty());
    host.mount("8:0");
    let told = host.shared((253, 0)).join("\n");
    assert!(
        told.contains("it lies on sda, and sda is mounted"),
        "{told}"
    );
}

#[test]
fn two_mappings_of_a_disk_are_in_the_way_of_each_other_but_volumes_are_not() {
    let mut host = Host::new();
    host.device("sda", "8:0", 1 << 20);
    host.mapped("dm-0", "253:0", "\n", "sda");
    host.mapped("dm-1", "253:1", "\n", "sda");
    host.mount("253:1");
    let told = host.shared((253, 0)).join("\n");
    assert!(told.contains("dm-1 holds the same data"), "{told}");
    let mut host = Host::new();
    host.device("sda", "8:0", 1 << 20);
    host.mapped("dm-0", "253:0", "LVM-ab\n", "sda");
    host.mapped("dm-1", "253:1", "LVM-ac\n", "sda");
    host.mapped("dm-2", "253:2", "CRYPT-x\n", "dm-1");
    host.mount("253:2");
    assert!(
        host.shared((253, 0)).is_empty(),
        "{:?}",
        host.shared((253, 0))
    );
}

#[test]
fn a_partition_of_a_mounted_disk_is_refused() {
    let mut host = Host::new();
    host.device("sda", "8:0", 1 << 20);
    host.partition("sda/sda1", "8:1", (2048, 4096));
    host.mount("8:0");
    let told = host.shared((8, 1)).join("\n");
    assert!(told.contains("it lies on sda"), "{told}");
}

#[test]
fn devices_in_a_circle_come_to_an_end() {
    let mut host = Host::new();
    host.loop_over("loop0", "7:0", (0, 8), Backing::Device((7, 1)));
    host.loop_over("loop1", "7:1", (0, 8), Backing::Device((7, 0)));
    assert!(host.shared((7, 0)).len() < 10);
}
