//! Formats that are rare, old, or of other systems.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use tempfile::NamedTempFile;

use super::{Signature, scan_signatures};

const SIZE: u64 = 64 << 20;

/// What is found on an image with these bytes at these places; those from the
/// end are negative.
fn found(pieces: &[(i64, &[u8])]) -> Vec<Signature> {
    let file = NamedTempFile::new().unwrap();
    file.as_file().set_len(SIZE).unwrap();
    for (at, bytes) in pieces {
        let at = SIZE.wrapping_add_signed(*at) % SIZE;
        file.as_file().write_all_at(bytes, at).unwrap();
    }
    scan_signatures(file.as_file(), SIZE).unwrap()
}

/// Bytes and where they stand; below 0 from the end.
type Piece<'b> = (i64, &'b [u8]);

#[test]
fn marks_that_stand_alone_are_found() {
    let promise = b"Promise Technology, Inc.";
    let cases: &[(i64, &[u8], &str)] = &[
        (4086, b"S1SUSPEND\0", "swap space"),
        (4086, b"SWAP-SPACE", "swap space"),
        (65_536 + 1372, b"\x19\x01\x54\x19", "UFS file system"),
        (8192 + 1372, b"\x54\x19\x01\0", "UFS file system"),
        (262_144 + 1372, b"\0\x01\x19\x54", "UFS file system"),
        (1024, b"\xf5\xfc\x01\xa5\x07\0\0\0", "VxFS file system"),
        (8192, b"\xa5\x01\xfc\xf5\0\0\0\x07", "VxFS file system"),
        (0, b"SFOZ", "zonefs file system"),
        (0, b"HM\x01\0", "LVM1 physical volume"),
        (0, b"\x0b\xe5\xa9\x41", "SGI partition table"),
        (508, b"\xda\xbe\xda\xbe", "Sun partition table"),
        (0, b"SnAp\x01\0\0\0", "LVM snapshot"),
        (-63 * 512, promise, "firmware RAID (Promise)"),
        (-3087 * 512, promise, "firmware RAID (Promise)"),
        (-1024, b"NVIDIA  ", "firmware RAID (Nvidia)"),
        (-512, b"$XIDE$", "firmware RAID (LSI)"),
        (-512, b"\x37\xfc\x4d\x1e", "firmware RAID (Adaptec)"),
        (-416, b"\0\0\0\x2f", "firmware RAID (Silicon Image)"),
        (4640, b"\xf0\x16\x78\x5a", "firmware RAID (HighPoint)"),
        (-11 * 512, b"\xf3\x16\x78\x5a", "firmware RAID (HighPoint)"),
        (-512, b"JM\x01\0\xb5\xb2", "firmware RAID (JMicron)"),
        (-257 * 512, b"\xde\x11\xde\x11", "firmware RAID (DDF)"),
        (0, b"QFI\xfb\0\0\0\x03", "qcow2 disk image"),
        (0, b"KDMV", "VMware disk image"),
        (0, b"vhdxfile", "VHDX disk image"),
        (257, b"ustar\x0000", "tar archive"),
        (0, b"\xfe\xed\xba\xbe\0\0\0\x01", "XFS log"),
        (0, b"UBI#\x01", "UBI volume"),
        (-4096 + 60, b"\x83\x74\x02\x6c", "DRBD metadata"),
        (131_072, b"\0\0VXVM", "VxVM disk"),
        (0x8000, b"SKUL\xba\xbe\0\x02", "LUKS encrypted volume"),
        (0x40_0000, b"SKUL\xba\xbe\0\x02", "LUKS encrypted volume"),
        (65_536, b"ReIsEr4", "Reiser4 file system"),
    ];
    for (at, mark, what) in cases {
        let found = found(&[(*at, mark)]);
        let names: Vec<&str> = found.iter().map(|one| one.what).collect();
        assert_eq!(names, [*what]);
    }
}

#[test]
fn formats_with_short_marks_are_known_by_their_fields() {
    let fat = b"\xeb\x3c\x90MSDOS5.0\0\x02\x04\x01\0\x02\0\x02\0\0\xf8\x80\0";
    let minix = b"\x64\0\xe8\x03\x01\0\x01\0\x0a\0\0\0\xff\xff\xff\x7f\x8f\x13\x01\0";
    let minix3 = b"\xe8\x03\0\0\0\0\x04\0\x04\0\x1e\0\0\0\0\0\xff\xff\xff\x7f\x10\x27\0\0\x5a\x4d";
    let hfs = b"BD\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\x64\0\0\x10\0";
    let bsd = b"\x57\x45\x56\x82";
    let cases: &[(&[Piece], &str)] = &[
        (&[(0, fat), (510, b"\x55\xaa")], "FAT file system"),
        (&[(1024, minix)], "Minix file system"),
        (&[(1024, minix3)], "Minix file system"),
        (&[(1024, &hfs[..18]), (1042, &hfs[18..])], "HFS file system"),
        (&[(512, bsd), (644, bsd)], "BSD partition table"),
        (&[(64, bsd), (196, bsd)], "BSD partition table"),
        (&[(0, b"ER\x02\0"), (512, b"PM\0\0")], "Apple partition map"),
        (
            &[(-512, b"\x55\xaa\0"), (-462, b"\xff")],
            "firmware RAID (VIA)",
        ),
    ];
    for (pieces, what) in cases {
        let whole = found(pieces);
        let names: Vec<&str> = whole.iter().map(|one| one.what).collect();
        assert_eq!(names, [*what]);
        if pieces.len() > 1 {
            assert_eq!(found(&pieces[..1]), [], "{what}");
        }
    }
}

#[test]
fn a_journal_on_a_device_of_its_own_is_found() {
    let file = NamedTempFile::new().unwrap();
    file.as_file().set_len(SIZE).unwrap();
    let mut mke2fs = Command::new("mke2fs");
    let made = mke2fs
        .args(["-q", "-F", "-O", "journal_dev"])
        .arg(file.path());
    if !made.status().is_ok_and(|status| status.success()) {
        println!("skipped: mke2fs is not installed");
        return;
    }
    let found = scan_signatures(file.as_file(), SIZE).unwrap();
    assert_eq!(found[0].what, "ext2/3/4 file system");
}

#[test]
fn marks_that_wipefs_does_not_know_are_erased_otherwise() {
    let command = |at, mark| found(&[(at, mark)])[0].erase_command(Path::new("/dev/sdx"));
    assert_eq!(command(4086, b"SWAPSPACE2"), "wipefs --all /dev/sdx");
    assert_eq!(
        command(131_072, b"\0\0VXVM"),
        "dd if=/dev/zero of=/dev/sdx bs=512 seek=256 count=1 conv=notrunc"
    );
}

// An earlier test leaves random bytes everywhere.
#[test]
fn random_bytes_are_no_format() {
    for seed in 0..8 {
        let mut rng = fathom_model::rng::Rng::new(seed);
        let mut draw = |bytes: usize| -> Vec<u8> {
            let words = (0..bytes / 8).flat_map(|_| rng.next_u64().to_le_bytes());
            words.collect()
        };
        let (head, tail) = (draw(5 << 20), draw(2 << 20));
        assert_eq!(found(&[(0, &head), (-(2 << 20), &tail)]), []);
    }
}
