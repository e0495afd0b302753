//! How ext2 to ext4, XFS and btrfs lie on their device, from the superblock
//! (Documentation/filesystems/ext4/super.rst, xfs_dsb of the XFS on-disk
//! format, btrfs on-disk format), the mount options or sysfs.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use fathom_deadline::paths;
use fathom_model::fingerprint::FilesystemFacts;
use fathom_model::stack::FilesystemLayout;

use crate::Sysroot;

/// The first part of a device, in which ext and XFS keep their superblock.
const HEAD_BYTES: usize = 4096;
/// btrfs keeps its own here.
const BTRFS_AT: u64 = 65_536;
const SECTOR_BYTES: u64 = 512;

/// Reads the superblock of a device of this host; `None` where that is not
/// allowed or there is none that is known.
pub(super) fn read_superblock(sys: &Sysroot, name: &str) -> Option<FilesystemLayout> {
    if !sys.is_host() {
        return None;
    }
    let path = Path::new("/dev").join(name.replace('!', "/"));
    let read = paths::on_device(&path, |path| {
        if !path.metadata()?.file_type().is_block_device() {
            return Err(ErrorKind::InvalidInput.into());
        }
        let file = File::open(path)?;
        let mut head = vec![0; HEAD_BYTES];
        file.read_exact_at(&mut head, 0)?;
        let mut btrfs = vec![0; HEAD_BYTES];
        if file.read_exact_at(&mut btrfs, BTRFS_AT).is_err() {
            btrfs.clear();
        }
        Ok((head, btrfs))
    });
    let (head, btrfs) = read.ok()?;
    parse_superblock(&head, &btrfs)
}

/// Reads a superblock from the first 4 KiB of a device and, for btrfs, the
/// 4 KiB at 64 KiB.
pub fn parse_superblock(head: &[u8], at_64_kib: &[u8]) -> Option<FilesystemLayout> {
    xfs(head)
        .or_else(|| btrfs(at_64_kib))
        .or_else(|| ext(head.get(1024..)?))
}

fn little(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + length)?.iter().rev();
    Some(bytes.fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

fn big(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + length)?.iter();
    Some(bytes.fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

fn plausible(bytes: u64) -> bool {
    bytes.is_power_of_two() && (512..=1 << 20).contains(&bytes)
}

fn of_blocks(count: u64, block_bytes: u64) -> Option<u64> {
    (count > 0).then(|| count.saturating_mul(block_bytes))
}

fn xfs(bytes: &[u8]) -> Option<FilesystemLayout> {
    let block_bytes = big(bytes, 4, 4)?;
    if bytes.get(..4)? != b"XFSB" || !plausible(block_bytes) {
        return None;
    }
    Some(FilesystemLayout {
        kind: "xfs".to_owned(),
        source: "superblock".to_owned(),
        block_bytes: Some(block_bytes),
        sector_bytes: big(bytes, 102, 2),
        stripe_unit_bytes: of_blocks(big(bytes, 184, 4)?, block_bytes),
        stripe_width_bytes: of_blocks(big(bytes, 188, 4)?, block_bytes),
    })
}

fn ext(bytes: &[u8]) -> Option<FilesystemLayout> {
    if little(bytes, 0x38, 2)? != 0xef53 {
        return None;
    }
    let block_bytes = 1024_u64.checked_shl(u32::try_from(little(bytes, 0x18, 4)?).ok()?)?;
    if !plausible(block_bytes) {
        return None;
    }
    // Extents or 64 bit make it ext4; a journal alone ext3.
    let (compatible, incompatible) = (little(bytes, 0x5c, 4)?, little(bytes, 0x60, 4)?);
    let kind = match (incompatible & 0x2c0 != 0, compatible & 4 != 0) {
        (true, _) => "ext4",
        (false, true) => "ext3",
        (false, false) => "ext2",
    };
    Some(FilesystemLayout {
        kind: kind.to_owned(),
        source: "superblock".to_owned(),
        block_bytes: Some(block_bytes),
        sector_bytes: None,
        stripe_unit_bytes: of_blocks(little(bytes, 0x164, 2)?, block_bytes),
        stripe_width_bytes: of_blocks(little(bytes, 0x170, 4)?, block_bytes),
    })
}

fn btrfs(bytes: &[u8]) -> Option<FilesystemLayout> {
    let block_bytes = little(bytes, 0x90, 4)?;
    if bytes.get(0x40..0x48)? != b"_BHRfS_M" || !plausible(block_bytes) {
        return None;
    }
    Some(FilesystemLayout {
        kind: "btrfs".to_owned(),
        source: "superblock".to_owned(),
        block_bytes: Some(block_bytes),
        sector_bytes: little(bytes, 0x94, 4),
        ..FilesystemLayout::default()
    })
}

/// What the mount table and sysfs tell. ext4 counts `stripe=` in blocks, XFS
/// `sunit=` and `swidth=` in sectors.
pub(super) fn layout_of_mount(
    sys: &Sysroot,
    filesystem: &FilesystemFacts,
    device: &str,
) -> Option<FilesystemLayout> {
    let number = |name: &str| -> Option<u64> {
        let options = filesystem.options.iter();
        let mut values = options.filter_map(|option| option.strip_prefix(name)?.strip_prefix('='));
        values.next()?.parse().ok()
    };
    let mut layout = FilesystemLayout {
        kind: filesystem.kind.clone(),
        source: "mount options".to_owned(),
        ..FilesystemLayout::default()
    };
    match filesystem.kind.as_str() {
        "xfs" => {
            layout.stripe_unit_bytes = number("sunit").map(|n| n.saturating_mul(SECTOR_BYTES));
            layout.stripe_width_bytes = number("swidth").map(|n| n.saturating_mul(SECTOR_BYTES));
        }
        "ext4" => {
            // Its blocks are as large as the file system says they are on
            // every host with pages of 4 KiB.
            layout.stripe_width_bytes = number("stripe").map(|n| n.saturating_mul(4096));
        }
        "btrfs" => {
            let folder = sys.names("/sys/fs/btrfs").into_iter().find(|uuid| {
                let members = sys.names(format!("/sys/fs/btrfs/{uuid}/devices"));
                members.iter().any(|member| member == device)
            })?;
            layout.source = "sysfs".to_owned();
            layout.block_bytes = sys.number(format!("/sys/fs/btrfs/{folder}/sectorsize"));
            layout.sector_bytes = sys.number(format!("/sys/fs/btrfs/{folder}/nodesize"));
        }
        _ => return None,
    }
    let known = layout.block_bytes.or(layout.stripe_unit_bytes);
    known.or(layout.stripe_width_bytes).map(|_| layout)
}

#[cfg(test)]
#[path = "superblock_tests.rs"]
mod tests;
