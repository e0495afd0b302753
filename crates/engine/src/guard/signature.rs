//! Marks that file systems, volume managers and partition tables leave on a
//! device, with the places where they leave them.
//!
//! Sources: the kernel's on-disk structures and the formats' own descriptions.
//! Marks shorter than four bytes are backed by further fields, because random
//! bytes that an earlier test has left would match them now and then.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::layouts::{self, Hit, has, u32_at};

/// Something that was recognised on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// What it is, for people: `ext2/3/4 file system`.
    pub what: &'static str,
    /// Where its mark lies.
    pub offset: u64,
}

impl Signature {
    /// The command that erases it from a device, for people.
    pub(super) fn erase_command(&self, device: &Path) -> String {
        let device = device.display();
        if !NOT_IN_WIPEFS.contains(&self.what) {
            return format!("wipefs --all {device}");
        }
        let sector = self.offset / 512;
        format!("dd if=/dev/zero of={device} bs=512 seek={sector} count=1 conv=notrunc")
    }
}

/// What wipefs does not look for.
const NOT_IN_WIPEFS: &[&str] = &[
    "AIX volume group",
    "Amiga partition table",
    "BeOS file system",
    "dm-cache metadata",
    "dm-era metadata",
    "dm-thin pool metadata",
    "dm-writecache volume",
    "dm-zoned volume",
    "HP-UX volume group",
    "JFFS2 file system",
    "qcow2 disk image",
    "QED disk image",
    "Solaris partition table",
    "tar archive",
    "VHD disk image",
    "VHDX disk image",
    "VirtualBox disk image",
    "VMware disk image",
    "VxVM disk",
    "Windows dynamic disk",
    "XFS log",
];

/// Bytes that are read at each end.
const HEAD_BYTES: usize = (4 << 20) + (64 << 10);
const TAIL_BYTES: usize = 2 << 20;

/// Marks at fixed distances from the start.
#[rustfmt::skip]
const AT_START: &[(&str, usize, &[u8])] = &[
    ("XFS file system", 0, b"XFSB"),
    ("LUKS encrypted volume", 0, b"LUKS\xba\xbe"),
    ("Ceph bluestore", 0, b"bluestore block device"),
    ("squashfs file system", 0, b"hsqs"),
    ("cramfs file system", 0, b"\x45\x3d\xcd\x28"),
    ("dm-integrity volume", 0, b"integrt\0"),
    ("dm-verity hash volume", 0, b"verity\0\0"),
    ("VDO volume", 0, b"dmvdo001"),
    ("Linux software RAID (md 1.1)", 0, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    ("LVM1 physical volume", 0, b"HM\x01\0"),
    ("LVM1 physical volume", 0, b"HM\x02\0"),
    ("LVM snapshot", 0, b"SnAp"),
    ("zonefs file system", 0, b"SFOZ"),
    ("squashfs file system", 0, b"sqsh"),
    ("cramfs file system", 0, b"\x28\xcd\x3d\x45"),
    ("romfs file system", 0, b"-rom1fs-"),
    ("UBI volume", 0, b"UBI#"),
    ("UBIFS file system", 0, b"\x31\x18\x10\x06"),
    ("JFFS2 file system", 0, b"\x85\x19\x03\x20"),
    ("JFFS2 file system", 0, b"\x19\x85\x20\x03"),
    ("SGI partition table", 0, b"\x0b\xe5\xa9\x41"),
    ("AIX partition table", 0, b"\xc9\xc2\xd4\xc1"),
    ("Amiga partition table", 0, b"RDSK"),
    ("dm-writecache volume", 0, b"\x21\x93\x48\x23"),
    ("dm-zoned volume", 0, b"DBZD"),
    ("DRBD metadata", 0, b"$DRBDmgr=q"),
    ("qcow2 disk image", 0, b"QFI\xfb"),
    ("QED disk image", 0, b"QED\0"),
    ("VMware disk image", 0, b"KDMV"),
    ("VMware disk image", 0, b"COWD"),
    ("VHDX disk image", 0, b"vhdxfile"),
    ("VHD disk image", 0, b"conectix"),
    ("QNX4 file system", 4, b"QNX4FS"),
    ("OCFS file system", 8, b"OracleCFS"),
    ("DRBD proxy log", 28, b"DRBDdlh*"),
    ("dm-thin pool metadata", 32, b"\xba\x52\x9c\x01\0\0\0\0"),
    ("dm-cache metadata", 32, b"\x33\xb8\x5d\0\0\0\0\0"),
    ("dm-era metadata", 32, b"\x7b\x07\xc1\x7e\0\0\0\0"),
    ("BeOS file system", 32, b"BFS1"),
    ("VirtualBox disk image", 64, b"\x7f\x10\xda\xbe"),
    ("tar archive", 257, b"ustar\x0000"),
    ("tar archive", 257, b"ustar  \0"),
    ("Solaris partition table", 524, b"\xee\xde\x0d\x60"),
    ("BeOS file system", 544, b"1SFB"),
    ("BeOS file system", 544, b"BFS1"),
    ("VxFS file system", 1024, b"\xf5\xfc\x01\xa5"),
    ("VxFS file system", 8192, b"\xa5\x01\xfc\xf5"),
    ("Windows dynamic disk", 3072, b"PRIVHEAD"),
    ("AIX volume group", 3584, b"_LVM"),
    ("NSS pool", 4096, b"SPB5"),
    ("NVDIMM block translation table", 4096, b"BTT_ARENA_INFO\0"),
    ("firmware RAID (HighPoint)", 4640, b"\xf0\x16\x78\x5a"),
    ("firmware RAID (HighPoint)", 4640, b"\xfd\x16\x78\x5a"),
    ("HPFS file system", 8192, b"\x49\xe8\x95\xf9"),
    ("HP-UX volume group", 8192, b"LVMREC01"),
    ("ReiserFS file system", 8244, b"ReIsErFs"),
    ("Ultrix partition table", 16312, b"\x57\x29\x03\0"),
    ("ISO 9660 file system", 32777, b"CDROM"),
    ("Reiser4 file system", 65536, b"ReIsEr4"),
    ("VxVM disk", 131_074, b"VXVM"),
    ("NTFS file system", 3, b"NTFS    "),
    ("exFAT file system", 3, b"EXFAT   "),
    ("ReFS file system", 3, b"ReFS\0\0\0\0"),
    ("BitLocker volume", 3, b"-FVE-FS-"),
    ("APFS container", 32, b"NXSB"),
    ("Oracle ASM disk", 32, b"ORCLDISK"),
    ("FAT file system", 54, b"FAT12   "),
    ("FAT file system", 54, b"FAT16   "),
    ("FAT file system", 54, b"FAT     "),
    ("FAT file system", 82, b"FAT32   "),
    ("GPT partition table", 512, b"EFI PART"),
    ("GPT partition table", 4096, b"EFI PART"),
    ("Stratis pool", 516, b"!Stra0tis"),
    ("f2fs file system", 1024, b"\x10\x20\xf5\xf2"),
    ("EROFS file system", 1024, b"\xe2\xe1\xf5\xe0"),
    ("HFS+ file system", 1024, b"H+\0\x04"),
    ("HFSX file system", 1024, b"HX\0\x05"),
    ("NILFS2 file system", 1024, b"\x02\0\0\0\0\0\x34\x34"),
    ("OCFS2 file system", 1024, b"OCFSV2"),
    ("OCFS2 file system", 2048, b"OCFSV2"),
    ("OCFS2 file system", 4096, b"OCFSV2"),
    ("OCFS2 file system", 8192, b"OCFSV2"),
    ("Linux software RAID (md 1.2)", 4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    ("bcache device", 4120, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    ("bcachefs file system", 4120, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    ("JFS file system", 32768, b"JFS1"),
    ("ISO 9660 file system", 32769, b"CD001"),
    ("UDF file system", 32769, b"BEA01"),
    ("ReiserFS file system", 65588, b"ReIsEr"),
    ("Btrfs file system", 65600, b"_BHRfS_M"),
    ("GFS2 file system", 65536, b"\x01\x16\x19\x70\0\0\0\x01"),
    ("VMFS volume", 1 << 20, b"\x0d\xd0\x01\xc0"),
    ("VMFS file system", 2 << 20, b"\x5e\xf1\xab\x2f"),
];

/// Marks at fixed distances from the end.
#[rustfmt::skip]
const AT_END: &[(&str, usize, &[u8])] = &[
    ("GPT partition table (backup)", 512, b"EFI PART"),
    ("GPT partition table (backup)", 4096, b"EFI PART"),
    ("firmware RAID (DDF)", 512, b"\xde\x11\xde\x11"),
    ("firmware RAID (DDF)", 257 * 512, b"\xde\x11\xde\x11"),
    ("firmware RAID (Intel)", 1024, b"Intel Raid ISM Cfg Sig. "),
    ("firmware RAID (LSI)", 512, b"$XIDE$"),
    ("firmware RAID (Nvidia)", 1024, b"NVIDIA"),
    ("firmware RAID (Adaptec)", 512, b"\x37\xfc\x4d\x1e"),
    ("firmware RAID (Silicon Image)", 512 - 96, b"\0\0\0\x2f"),
    ("firmware RAID (HighPoint)", 11 * 512, b"\xf3\x16\x78\x5a"),
    ("firmware RAID (HighPoint)", 11 * 512, b"\xfd\x16\x78\x5a"),
    ("VHD disk image", 512, b"conectix"),
];

/// Sectors before the end in which controllers of Promise keep their metadata,
/// which depends on the model.
const PROMISE_SECTORS: [usize; 12] = [16, 63, 255, 256, 399, 675, 735, 911, 951, 974, 991, 3087];

/// Every mark that is found on a device or image of `size_bytes`.
///
/// # Errors
/// When it cannot be read. A mark beyond the end is not there.
pub fn scan_signatures(file: &File, size_bytes: u64) -> io::Result<Vec<Signature>> {
    let head = read(file, 0, HEAD_BYTES.min(size_bytes as usize))?;
    let tail_start = size_bytes.saturating_sub(TAIL_BYTES as u64);
    let tail = read(file, tail_start, (size_bytes - tail_start) as usize)?;
    let mut found = Vec::new();
    let mut add = |what, offset| {
        if !found.iter().any(|s: &Signature| s.what == what) {
            found.push(Signature { what, offset });
        }
    };
    for (what, offset, mark) in AT_START {
        if has(&head, *offset, mark) {
            add(what, *offset as u64);
        }
    }
    for (what, distance, mark) in AT_END {
        if let Some(offset) = tail.len().checked_sub(*distance)
            && has(&tail, offset, mark)
        {
            add(what, tail_start + offset as u64);
        }
    }
    let structured = at_start(&head).into_iter().chain(at_end(&tail, tail_start));
    for (what, offset) in structured.flatten().chain(zfs(&head, 0)) {
        add(what, offset);
    }
    if found.is_empty()
        && let Some((what, offset)) = mbr(&head)
    {
        found.push(Signature { what, offset });
    }
    Ok(found)
}

/// Formats near the start that have more than a mark.
fn at_start(head: &[u8]) -> [Option<Hit>; 12] {
    [
        swap(head),
        ext(head),
        lvm(head),
        layouts::ufs(head),
        layouts::minix(head),
        layouts::fat(head),
        layouts::hfs(head),
        layouts::bsd_label(head),
        layouts::sun_label(head),
        layouts::apple_map(head),
        layouts::xfs_log(head),
        layouts::luks_secondary(head),
    ]
}

/// Formats near the end that have more than a mark.
fn at_end(tail: &[u8], start: u64) -> [Option<Hit>; 5] {
    [
        zfs(tail, start),
        md_at_end(tail, start),
        drbd(tail, start),
        promise(tail, start),
        layouts::firmware_raid(tail, start),
    ]
}

fn read(file: &File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let mut got = 0;
    while got < len {
        match file.read_at(&mut bytes[got..], offset + got as u64) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(got);
    Ok(bytes)
}

/// Swap and hibernation marks end the first page, whatever the page size.
fn swap(head: &[u8]) -> Option<Hit> {
    const MARKS: [&[u8]; 6] = [
        b"SWAPSPACE2",
        b"SWAP-SPACE",
        b"S1SUSPEND\0",
        b"S2SUSPEND\0",
        b"ULSUSPEND\0",
        b"LINHIB0001",
    ];
    [4096, 8192, 16384, 32768, 65536]
        .into_iter()
        .find_map(|page| {
            let offset = page - 10;
            let hit = MARKS.iter().any(|mark| has(head, offset, mark));
            hit.then_some(("swap space", offset as u64))
        })
}

/// The mark has two bytes only: block size, revision and first data block
/// must make sense as well.
fn ext(head: &[u8]) -> Option<Hit> {
    let field = |offset: usize| u32_at(head, 1024 + offset);
    // A journal of its own has no inodes.
    let journal = field(96)? & 0x8 != 0;
    let plausible = has(head, 1080, b"\x53\xef")
        && (field(0)? > 0 || journal)
        && field(4)? > 0
        && field(20)? <= 1
        && field(24)? <= 6
        && field(76)? <= 1;
    plausible.then_some(("ext2/3/4 file system", 1080))
}

/// The label lies in one of the first four sectors.
fn lvm(head: &[u8]) -> Option<Hit> {
    (0..4).map(|sector| sector * 512).find_map(|at| {
        let hit = has(head, at, b"LABELONE") && has(head, at + 24, b"LVM2 001");
        hit.then_some(("LVM physical volume", at as u64))
    })
}

/// Two labels of 256 KiB at each end; the second half of each is an array of
/// uberblocks. `piece` starts at a multiple of 256 KiB when its device does.
fn zfs(piece: &[u8], start: u64) -> Option<Hit> {
    const LITTLE: [u8; 8] = 0x00BA_B10C_u64.to_le_bytes();
    const BIG: [u8; 8] = 0x00BA_B10C_u64.to_be_bytes();
    let labels = if start == 0 {
        [0, 256 << 10]
    } else {
        // Labels at the end are aligned to 256 KiB below the aligned size.
        let end = (start + piece.len() as u64) / (256 << 10) * (256 << 10);
        let back = |bytes: u64| end.saturating_sub(bytes).saturating_sub(start) as usize;
        [back(512 << 10), back(256 << 10)]
    };
    labels.into_iter().find_map(|label| {
        (0..128)
            .map(|slot| label + (128 << 10) + slot * 1024)
            .find_map(|at| {
                let hit = has(piece, at, &LITTLE) || has(piece, at, &BIG);
                hit.then_some(("ZFS pool member", start + at as u64))
            })
    })
}

/// md 0.90 lies in the last whole 64 KiB but one, md 1.0 eight to twelve KiB
/// before the end.
fn md_at_end(tail: &[u8], start: u64) -> Option<Hit> {
    let size = start + tail.len() as u64;
    let old = (size & !0xFFFF).checked_sub(64 << 10);
    let new = (size / 512)
        .checked_sub(16)
        .map(|sector| (sector & !7) * 512);
    let at = |offset: Option<u64>, mark: &[u8]| {
        let offset = offset.filter(|offset| *offset >= start)?;
        has(tail, (offset - start) as usize, mark).then_some(offset)
    };
    let old = at(old, b"\xfc\x4e\x2b\xa9\0\0\0\0").or(at(old, b"\xa9\x2b\x4e\xfc\0\0\0\0"));
    let new = at(new, b"\xfc\x4e\x2b\xa9\x01\0\0\0");
    old.map(|offset| ("Linux software RAID (md 0.90)", offset))
        .or(new.map(|offset| ("Linux software RAID (md 1.0)", offset)))
}

/// Internal metadata end the device.
fn drbd(tail: &[u8], start: u64) -> Option<Hit> {
    let size = start + tail.len() as u64;
    let offset = (size & !4095).checked_sub(4096)?;
    let at = usize::try_from(offset.checked_sub(start)?).ok()? + 60;
    let hit = [
        b"\x83\x74\x02\x6b",
        b"\x83\x74\x02\x6c",
        b"\x83\x74\x02\x6d",
    ]
    .into_iter()
    .any(|mark| has(tail, at, mark));
    hit.then_some(("DRBD metadata", offset))
}

fn promise(tail: &[u8], start: u64) -> Option<Hit> {
    PROMISE_SECTORS.into_iter().find_map(|sectors| {
        let at = tail.len().checked_sub(sectors * 512)?;
        let hit = has(tail, at, b"Promise Technology, Inc.");
        hit.then_some(("firmware RAID (Promise)", start + at as u64))
    })
}

/// The mark has two bytes only: all four entries must make sense and one must
/// be in use.
fn mbr(head: &[u8]) -> Option<Hit> {
    let entries = head.get(446..510)?.chunks(16);
    let sane = entries.clone().all(|entry| entry[0] & 0x7F == 0);
    let used = entries
        .clone()
        .any(|entry| entry[4] != 0 && entry[12..16] != [0; 4]);
    (has(head, 510, b"\x55\xaa") && sane && used).then_some(("MBR partition table", 510))
}
