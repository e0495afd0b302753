//! Formats whose marks are short or all too likely: further fields of their
//! layouts have to make sense.

/// What it is, and where its mark lies.
pub(super) type Hit = (&'static str, u64);

pub(super) fn has(bytes: &[u8], offset: usize, mark: &[u8]) -> bool {
    bytes.get(offset..offset + mark.len()) == Some(mark)
}

pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    let field = bytes.get(offset..offset + 2)?;
    field.try_into().ok().map(u16::from_le_bytes)
}

pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let field = bytes.get(offset..offset + 4)?;
    field.try_into().ok().map(u32::from_le_bytes)
}

/// UFS 1 and 2 of BSD and Solaris. The mark lies in the superblock, which has
/// one of four places, in the byte order of its machine.
pub(super) fn ufs(head: &[u8]) -> Option<Hit> {
    const MARKS: [u32; 2] = [0x0001_1954, 0x1954_0119];
    const PLACES: [usize; 4] = [0, 8 << 10, 64 << 10, 256 << 10];
    PLACES.into_iter().find_map(|superblock| {
        let at = superblock + 1372;
        let mark = u32_at(head, at)?;
        let hit = MARKS.contains(&mark) || MARKS.contains(&mark.swap_bytes());
        hit.then_some(("UFS file system", at as u64))
    })
}

/// The maps and the first zone with data must have their places.
pub(super) fn minix(head: &[u8]) -> Option<Hit> {
    let field = |offset: usize| u16_at(head, 1024 + offset);
    // Versions 1 and 2 have their mark at 16, version 3 at 24.
    let old = [0x137F, 0x138F, 0x2468, 0x2478].contains(&field(16)?);
    let new = field(24)? == 0x4D5A;
    let (inode_map, at) = match (old, new) {
        (true, _) => (4, 16),
        (_, true) => (6, 24),
        _ => return None,
    };
    let inodes = if new {
        u32_at(head, 1024)?
    } else {
        u32::from(field(0)?)
    };
    let inode_blocks = u32::from(field(inode_map)?);
    let zone_blocks = u32::from(field(inode_map + 2)?);
    let first_zone = u32::from(field(inode_map + 4)?);
    let log_zone = field(inode_map + 6)?;
    let plausible = inodes > 0
        && inode_blocks > 0
        && zone_blocks > 0
        && first_zone >= inode_blocks + zone_blocks
        && log_zone <= 4;
    plausible.then_some(("Minix file system", 1024 + at as u64))
}

/// A FAT boot sector that does not name its format.
pub(super) fn fat(head: &[u8]) -> Option<Hit> {
    let jump = (*head.first()? == 0xEB && *head.get(2)? == 0x90) || *head.first()? == 0xE9;
    let sector = u16_at(head, 11)?;
    let cluster = *head.get(13)?;
    let fats = *head.get(16)?;
    let media = *head.get(21)?;
    let plausible = jump
        && (512..=4096).contains(&sector)
        && sector.is_power_of_two()
        && cluster.is_power_of_two()
        && u16_at(head, 14)? > 0
        && (1..=2).contains(&fats)
        && (media == 0xF0 || media >= 0xF8);
    (plausible && has(head, 510, b"\x55\xaa")).then_some(("FAT file system", 510))
}

/// HFS of old Macintoshes: blocks are multiples of 512 bytes, and the map of
/// them begins in sector 3.
pub(super) fn hfs(head: &[u8]) -> Option<Hit> {
    let block = u32_at(head, 1024 + 20)?.swap_bytes();
    let plausible = has(head, 1024, b"BD")
        && u16_at(head, 1024 + 18)? > 0
        && (512..1 << 24).contains(&block)
        && block.is_multiple_of(512);
    plausible.then_some(("HFS file system", 1024))
}

/// The mark stands twice in a BSD label, which has one of four places.
pub(super) fn bsd_label(head: &[u8]) -> Option<Hit> {
    const MARK: [u8; 4] = 0x8256_4557_u32.to_le_bytes();
    [0, 64, 128, 512].into_iter().find_map(|at| {
        let hit = has(head, at, &MARK) && has(head, at + 132, &MARK);
        hit.then_some(("BSD partition table", at as u64))
    })
}

/// The 16-bit words of a Sun label cancel one another out.
pub(super) fn sun_label(head: &[u8]) -> Option<Hit> {
    let sector = head.get(..512)?;
    let words = sector.chunks_exact(2);
    let sum = words.fold([0, 0], |sum: [u8; 2], word| {
        [sum[0] ^ word[0], sum[1] ^ word[1]]
    });
    let hit = has(sector, 508, b"\xda\xbe") && sum == [0, 0];
    hit.then_some(("Sun partition table", 508))
}

/// A driver descriptor and the first entry of the map.
pub(super) fn apple_map(head: &[u8]) -> Option<Hit> {
    [512, 2048].into_iter().find_map(|at| {
        let hit = has(head, 0, b"ER") && has(head, at, b"PM\0\0");
        hit.then_some(("Apple partition map", at as u64))
    })
}

/// An external log is full of records, each of which begins a sector.
pub(super) fn xfs_log(head: &[u8]) -> Option<Hit> {
    let sectors = (0..512).map(|sector| sector * 512);
    let mut records = sectors.filter(|at| has(head, *at, b"\xfe\xed\xba\xbe"));
    records.next().map(|at| ("XFS log", at as u64))
}

/// Secondary LUKS2 headers, for all sizes that the first may have.
pub(super) fn luks_secondary(head: &[u8]) -> Option<Hit> {
    (14..=22).map(|power| 1_usize << power).find_map(|at| {
        let hit = has(head, at, b"SKUL\xba\xbe");
        hit.then_some(("LUKS encrypted volume", at as u64))
    })
}

/// Metadata that the BIOS of a cheap RAID controller left at the end of a
/// device, with a checksum because their marks are short.
pub(super) fn firmware_raid(tail: &[u8], start: u64) -> Option<Hit> {
    let at = tail.len().checked_sub(512)?;
    let sector = &tail[at..];
    let sum = |bytes: &[u8]| bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    let via = has(sector, 0, b"\x55\xaa") && sector[2] <= 1 && sum(&sector[..50]) == sector[50];
    let words = sector[..128].chunks_exact(2);
    let word_sum = words.fold(0_u16, |sum, word| {
        sum.wrapping_add(u16::from_le_bytes([word[0], word[1]]))
    });
    let jmicron = has(sector, 0, b"JM") && word_sum <= 1;
    let what = match (via, jmicron) {
        (true, _) => "firmware RAID (VIA)",
        (_, true) => "firmware RAID (JMicron)",
        _ => return None,
    };
    Some((what, start + at as u64))
}
