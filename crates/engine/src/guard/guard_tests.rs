use std::io::Write;
use std::process::Command;

use tempfile::{NamedTempFile, TempPath};

use super::*;

const SIZE: u64 = 320 << 20;

fn image() -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    file.as_file().set_len(SIZE).unwrap();
    file
}

fn found(file: &NamedTempFile) -> Vec<&'static str> {
    let size = file.as_file().metadata().unwrap().len();
    let found = scan_signatures(file.as_file(), size).unwrap();
    found.into_iter().map(|s| s.what).collect()
}

fn put(file: &NamedTempFile, offset: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    file.as_file().write_all_at(bytes, offset).unwrap();
}

/// Runs a formatter; false when it is not installed.
fn format(command: &str, arguments: &[&str], file: &NamedTempFile) -> bool {
    let result = Command::new(command)
        .args(arguments)
        .arg(file.path())
        .output();
    match result {
        Ok(output) => {
            assert!(output.status.success(), "{command}: {output:?}");
            true
        }
        Err(_) => {
            println!("skipped: {command} is not installed");
            false
        }
    }
}

#[test]
fn real_formats_are_recognised() {
    let cases: [(&str, &[&str], &str); 9] = [
        ("mkfs.ext4", &["-q", "-F"], "ext2/3/4 file system"),
        ("mkfs.ext2", &["-q", "-F"], "ext2/3/4 file system"),
        ("mkfs.xfs", &["-q", "-f"], "XFS file system"),
        ("mkfs.btrfs", &["-q", "-f"], "Btrfs file system"),
        ("mkfs.vfat", &[], "FAT file system"),
        ("mkfs.exfat", &[], "exFAT file system"),
        ("mkfs.ntfs", &["-q", "-F", "-Q"], "NTFS file system"),
        ("mkfs.f2fs", &["-q", "-f"], "f2fs file system"),
        ("mkswap", &["-q"], "swap space"),
    ];
    for (command, arguments, what) in cases {
        let file = image();
        if format(command, arguments, &file) {
            assert_eq!(found(&file), [what], "{command}");
        }
    }
}

#[test]
fn partition_tables_are_recognised() {
    for (script, what) in [
        ("label: gpt\n,,\n", "GPT partition table"),
        ("label: dos\n,,\n", "MBR partition table"),
    ] {
        let file = image();
        let child = Command::new("sfdisk")
            .arg("-q")
            .arg(file.path())
            .stdin(std::process::Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            println!("skipped: sfdisk is not installed");
            continue;
        };
        child
            .stdin
            .take()
            .unwrap()
            .write_all(script.as_bytes())
            .unwrap();
        assert!(child.wait().unwrap().success());
        assert!(found(&file).contains(&what), "{:?}", found(&file));
    }
}

#[test]
fn marks_are_found_where_their_formats_put_them() {
    let blank = NamedTempFile::new().unwrap();
    assert!(found(&blank).is_empty());
    let cases: [(u64, &[u8], &str); 17] = [
        (0, b"LUKS\xba\xbe", "LUKS encrypted volume"),
        (0, b"bluestore block device\n", "Ceph bluestore"),
        (512, b"EFI PART", "GPT partition table"),
        (4096, b"EFI PART", "GPT partition table"),
        (SIZE - 512, b"EFI PART", "GPT partition table (backup)"),
        (
            4096,
            b"\xfc\x4e\x2b\xa9\x01\0\0\0",
            "Linux software RAID (md 1.2)",
        ),
        (
            0,
            b"\xfc\x4e\x2b\xa9\x01\0\0\0",
            "Linux software RAID (md 1.1)",
        ),
        (
            SIZE - 8192,
            b"\xfc\x4e\x2b\xa9\x01\0\0\0",
            "Linux software RAID (md 1.0)",
        ),
        (
            SIZE - 65536,
            b"\xfc\x4e\x2b\xa9\0\0\0\0",
            "Linux software RAID (md 0.90)",
        ),
        (131_072, b"\x0c\xb1\xba\0\0\0\0\0", "ZFS pool member"),
        (
            SIZE - (128 << 10),
            b"\0\0\0\0\0\xba\xb1\x0c",
            "ZFS pool member",
        ),
        (65_600, b"_BHRfS_M", "Btrfs file system"),
        (32_769, b"CD001", "ISO 9660 file system"),
        (65_526, b"SWAPSPACE2", "swap space"),
        (SIZE - 4096 + 60, b"\x83\x74\x02\x6d", "DRBD metadata"),
        (
            4120,
            &[
                0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba,
                0x6d, 0x81,
            ],
            "bcache device",
        ),
        (2 << 20, b"\x5e\xf1\xab\x2f", "VMFS file system"),
    ];
    for (offset, mark, what) in cases {
        let file = image();
        put(&file, offset, mark);
        assert_eq!(found(&file), [what]);
    }
    let file = image();
    put(&file, 512, b"LABELONE");
    assert!(found(&file).is_empty());
    put(&file, 536, b"LVM2 001");
    assert_eq!(found(&file), ["LVM physical volume"]);
}

// An earlier test leaves random bytes; a mark of two bytes appears in them
// once in 65,536 devices and must not be enough.
#[test]
fn random_bytes_with_a_short_mark_are_no_format() {
    let mut rng = fathom_model::rng::Rng::new(4);
    let mut bytes: Vec<u8> = (0..8192).map(|_| rng.next_u64() as u8).collect();
    bytes[510..512].copy_from_slice(b"\x55\xaa");
    bytes[1080..1082].copy_from_slice(b"\x53\xef");
    let file = image();
    put(&file, 0, &bytes);
    assert!(found(&file).is_empty(), "{:?}", found(&file));
}

#[test]
fn tiny_images_are_no_problem() {
    for size in [0, 1, 511, 512, 4095, 70_000] {
        let file = NamedTempFile::new().unwrap();
        file.as_file().set_len(size).unwrap();
        assert!(found(&file).is_empty());
    }
}

#[test]
fn what_is_no_block_device_is_told() {
    let file = image();
    let error = inspect_device(file.path()).unwrap_err();
    assert!(error.to_string().contains("not a block device"), "{error}");
    assert!(inspect_device(Path::new("/nonexistent")).is_err());
}

/// A loop device that is detached at the end, or `None` with the reason printed.
pub(crate) struct Loop {
    pub(crate) path: PathBuf,
    /// Closed: a process that another test starts would hold it open for a moment.
    _image: TempPath,
}

impl Loop {
    pub(crate) fn attach(image: NamedTempFile) -> Option<Loop> {
        let output = Command::new("losetup")
            .args(["-f", "--show"])
            .arg(image.path())
            .output();
        match output {
            Ok(output) if output.status.success() => Some(Loop {
                path: PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()),
                _image: image.into_temp_path(),
            }),
            _ => {
                println!("skipped: loop devices cannot be attached here");
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.path).status();
    }
}

#[test]
fn an_empty_device_may_be_claimed_once() {
    let Some(device) = Loop::attach(image()) else {
        return;
    };
    let guard = inspect_device(&device.path).unwrap();
    assert_eq!(guard.size_bytes, SIZE);
    assert!(guard.logical_block_bytes >= 512);
    assert_eq!(guard.reasons, [""; 0]);
    let claim = guard.claim().unwrap();
    let error = guard.claim().unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    let again = inspect_device(&device.path).unwrap();
    assert!(again.reasons[0].contains("in use"), "{:?}", again.reasons);
    drop(claim);
    guard.claim().unwrap();
}

#[test]
fn a_device_with_a_file_system_is_refused_with_the_remedy() {
    let file = image();
    if !format("mkfs.ext4", &["-q", "-F"], &file) {
        return;
    }
    let Some(device) = Loop::attach(file) else {
        return;
    };
    let error = inspect_device(&device.path)
        .unwrap()
        .claim()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("ext2/3/4 file system") && error.contains("wipefs --all /dev/loop"),
        "{error}"
    );
    let dir = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .arg(&device.path)
        .arg(dir.path())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: file systems cannot be mounted here");
        return;
    }
    let reasons = inspect_device(&device.path).unwrap().reasons;
    let unmounted = Command::new("umount").arg(dir.path()).status();
    assert!(unmounted.unwrap().success());
    let mount_point = format!("is mounted at {}", dir.path().display());
    assert!(
        reasons.iter().any(|r| r.contains(&mount_point)),
        "{reasons:?}"
    );
}

#[test]
fn a_device_that_another_process_holds_is_refused() {
    let Some(device) = Loop::attach(image()) else {
        return;
    };
    let open = File::open(&device.path).unwrap();
    let mut holder = Command::new("sleep").arg("60").stdin(open).spawn().unwrap();
    let reasons = inspect_device(&device.path).unwrap().reasons;
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(reasons.iter().any(|r| r.contains("(sleep)")), "{reasons:?}");
}

#[test]
fn a_file_under_a_loop_device_is_in_use() {
    let file = image();
    let path = file.path().to_owned();
    assert!(file_users(&path).is_empty());
    let Some(device) = Loop::attach(file) else {
        return;
    };
    let users = file_users(&path);
    drop(device);
    assert!(
        users.iter().any(|u| u.contains("loop device loop")),
        "{users:?}"
    );
}

#[test]
fn a_file_that_another_process_writes_is_in_use() {
    let file = image();
    assert_eq!(file_writers(file.path()), [""; 0]);
    let hold = |options: &std::fs::OpenOptions| {
        let opened = options.open(file.path()).unwrap();
        let mut holder = Command::new("sleep")
            .arg("60")
            .stdin(opened)
            .spawn()
            .unwrap();
        let found = file_writers(file.path());
        holder.kill().unwrap();
        holder.wait().unwrap();
        found
    };
    let reader = hold(File::options().read(true));
    assert_eq!(reader, [""; 0]);
    let writer = hold(File::options().read(true).write(true));
    assert!(
        writer[0].ends_with("(sleep) has it open for writing; end that first"),
        "{writer:?}"
    );
}

#[test]
fn a_second_loop_device_over_a_mounted_one_is_refused() {
    // Closed: what another test starts would hold it open until it is itself.
    let image = image().into_temp_path();
    let path = image.to_path_buf();
    let attach = |arguments: &[&str]| {
        let made = Command::new("losetup")
            .args(arguments)
            .arg("--show")
            .arg("-f")
            .arg(&path)
            .output();
        let made = made.ok().filter(|made| made.status.success())?;
        Some(String::from_utf8_lossy(&made.stdout).trim().to_owned())
    };
    let detach = |device: &str| {
        Command::new("losetup")
            .args(["-d", device])
            .status()
            .unwrap()
    };
    let Some(first) = attach(&["-o", "67108864"]) else {
        println!("skipped: loop devices cannot be attached here");
        return;
    };
    let formatted = Command::new("mkfs.ext4")
        .args(["-q", "-F", &first])
        .status();
    if !formatted.is_ok_and(|status| status.success()) {
        detach(&first);
        println!("skipped: mkfs.ext4 is not installed");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").arg(&first).arg(dir.path()).status();
    let mounted = mounted.is_ok_and(|status| status.success());
    let second = attach(&[]).unwrap();
    let apart = attach(&["--sizelimit", "33554432"]).unwrap();
    let of_second = inspect_device(Path::new(&second)).unwrap().reasons;
    let of_file = file_users(&path);
    // What does not overlap with the mounted part does with the whole.
    let of_apart = inspect_device(Path::new(&apart)).unwrap().reasons;
    detach(&second);
    let alone = inspect_device(Path::new(&apart)).unwrap().reasons;
    if mounted {
        Command::new("umount").arg(dir.path()).status().unwrap();
    }
    detach(&apart);
    detach(&first);
    let name = |device: &str| device.trim_start_matches("/dev/").to_owned();
    let told = of_second.join("\n");
    assert!(
        told.contains(&format!("{} holds the same data", name(&first))),
        "{told}"
    );
    if mounted {
        assert!(told.contains("is mounted at"), "{told}");
    }
    assert_eq!(of_file.len(), 3, "{of_file:?}");
    assert!(of_apart.join(" ").contains(&name(&second)), "{of_apart:?}");
    assert!(
        !of_apart.join(" ").contains(&format!("{} ", name(&first))),
        "{of_apart:?}"
    );
    assert!(alone.is_empty(), "{alone:?}");
}

#[test]
fn what_takes_the_place_of_a_device_is_not_claimed() {
    let (Some(first), Some(second)) = (Loop::attach(image()), Loop::attach(image())) else {
        return;
    };
    let folder = tempfile::tempdir_in("/dev").unwrap();
    let node = folder.path().canonicalize().unwrap().join("node");
    let make = |device: &Loop| {
        let number = std::fs::metadata(&device.path).unwrap().rdev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let numbers = [major.to_string(), minor.to_string()];
        let mut mknod = Command::new("mknod");
        let made = mknod.arg(&node).arg("b").args(numbers).status();
        made.is_ok_and(|status| status.success())
    };
    if !make(&first) {
        println!("skipped: device nodes cannot be made here");
        return;
    }
    let guard = inspect_device(&node).unwrap();
    assert_eq!(guard.reasons, [""; 0]);
    std::fs::rename(&node, folder.path().join("moved")).unwrap();
    assert!(make(&second));
    let error = guard.claim().unwrap_err().to_string();
    assert!(error.contains("open for writing"), "{error}");
    std::fs::rename(folder.path().join("moved"), &node).unwrap();
    guard.claim().unwrap();
}
