#![allow(clippy::print_stdout, reason = "a skipped test says why")]

use std::fs::File;
use std::io::Read;
use std::process::Command;

use super::*;

fn made(program: &str, arguments: &[&str], mebibytes: u64) -> Option<FilesystemLayout> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image");
    File::create(&path)
        .unwrap()
        .set_len(mebibytes << 20)
        .unwrap();
    let made = Command::new(program)
        .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
        .args(arguments)
        .arg(&path)
        .output();
    let Some(output) = made.ok().filter(|output| output.status.success()) else {
        println!("skipped: {program} is not there or cannot make this");
        return None;
    };
    drop(output);
    let mut bytes = Vec::new();
    File::open(&path)
        .unwrap()
        .take(70_000)
        .read_to_end(&mut bytes)
        .unwrap();
    Some(parse_superblock(&bytes[..4096], &bytes[65_536..69_632]).expect("a superblock"))
}

#[test]
fn what_mkfs_was_told_is_read_again() {
    let ext = ["-q", "-F", "-b", "4096", "-E", "stride=16,stripe_width=48"];
    if let Some(layout) = made("mkfs.ext4", &ext, 64) {
        assert_eq!(
            (layout.kind.as_str(), layout.block_bytes),
            ("ext4", Some(4096))
        );
        assert_eq!(layout.stripe_unit_bytes, Some(65_536));
        assert_eq!(layout.stripe_width_bytes, Some(3 * 65_536));
    }
    if let Some(layout) = made("mkfs.xfs", &["-q", "-f", "-d", "su=64k,sw=3"], 1024) {
        assert_eq!(
            (layout.kind.as_str(), layout.block_bytes),
            ("xfs", Some(4096))
        );
        assert_eq!(layout.stripe_unit_bytes, Some(65_536));
        assert_eq!(layout.stripe_width_bytes, Some(3 * 65_536));
        assert_eq!(layout.sector_bytes, Some(512));
    }
    if let Some(layout) = made("mkfs.btrfs", &["-q", "-f"], 128) {
        assert_eq!(
            (layout.kind.as_str(), layout.block_bytes),
            ("btrfs", Some(4096))
        );
        assert_eq!(layout.sector_bytes, Some(16_384));
    }
}

#[test]
fn options_tell_what_the_superblock_may_not() {
    let mount = |kind: &str, options: &str| FilesystemFacts {
        kind: kind.to_owned(),
        options: options.split(',').map(str::to_owned).collect(),
        ..FilesystemFacts::default()
    };
    let sys = Sysroot::at("/nowhere");
    let xfs = layout_of_mount(&sys, &mount("xfs", "rw,sunit=1024,swidth=3072"), "md0").unwrap();
    assert_eq!(xfs.stripe_unit_bytes, Some(512 << 10));
    assert_eq!(xfs.stripe_width_bytes, Some(1536 << 10));
    let ext = layout_of_mount(&sys, &mount("ext4", "rw,stripe=384"), "md0").unwrap();
    assert_eq!(ext.stripe_width_bytes, Some(1536 << 10));
    assert_eq!(layout_of_mount(&sys, &mount("ext4", "rw"), "sda1"), None);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_survived(mut head in proptest::collection::vec(0_u8.., 0..4096), magic in 0..3_usize) {
        if magic == 0 && head.len() > 4 {
            head[..4].copy_from_slice(b"XFSB");
        } else if head.len() > 1024 + 0x40 {
            head[1024 + 0x38] = 0x53;
            head[1024 + 0x39] = 0xef;
        }
        if let Some(layout) = parse_superblock(&head, &head) {
            proptest::prop_assert!(layout.block_bytes.is_some_and(plausible));
        }
    }
}
