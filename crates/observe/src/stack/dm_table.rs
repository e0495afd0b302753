//! What `dmsetup table` prints
//! (Documentation/admin-guide/device-mapper of the kernel): a line a segment,
//! `NAME: START LENGTH TARGET ARGUMENTS`, all in sectors of 512 bytes.

/// Lines at most; a host with more mappings shows those.
const LINES_MAX: usize = 10_000;
const SECTOR_BYTES: u64 = 512;

/// The table of one mapping.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DmTable {
    /// Name of the mapping.
    pub name: String,
    /// Its segments in the order of their places.
    pub segments: Vec<DmSegment>,
}

/// One segment of a mapping.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DmSegment {
    /// Where it begins in the mapping.
    pub start_bytes: u64,
    /// `linear`, `striped`, `crypt`, `thin`, `cache`, `multipath`, ….
    pub target: String,
    /// Devices below by number, with the place at which this begins on each.
    pub below: Vec<((u32, u32), Option<u64>)>,
    /// Bytes on one device before the next: of `striped` and `raid`, and the
    /// block of `thin-pool` and `cache`.
    pub chunk_bytes: Option<u64>,
    /// Arguments that are words: `allow_discards`, `writethrough`, ….
    pub words: Vec<String>,
}

/// Reads the tables of all mappings; lines that are none are left out.
pub fn parse_dm_table(text: &str) -> Vec<DmTable> {
    let mut tables: Vec<DmTable> = Vec::new();
    for line in text.lines().take(LINES_MAX) {
        let Some((name, segment)) = parse_line(line) else {
            continue;
        };
        match tables.iter_mut().find(|table| table.name == name) {
            Some(table) => table.segments.push(segment),
            None => tables.push(DmTable {
                name: name.to_owned(),
                segments: vec![segment],
            }),
        }
    }
    tables
}

fn parse_line(line: &str) -> Option<(&str, DmSegment)> {
    let (name, rest) = line.split_once(": ")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let start: u64 = words.first()?.parse().ok()?;
    words.get(1)?.parse::<u64>().ok()?;
    let target = *words.get(2)?;
    let arguments = &words[3..];
    let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES);
    let sectors = |index: usize| arguments.get(index)?.parse().ok().map(bytes);
    let mut segment = DmSegment {
        start_bytes: bytes(start),
        target: target.to_owned(),
        ..DmSegment::default()
    };
    let plain = arguments
        .iter()
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    segment.words = plain.map(|word| (*word).to_owned()).collect();
    match target {
        "linear" | "delay" | "flakey" => {
            segment
                .below
                .push((number(arguments.first()?)?, sectors(1)));
        }
        // Cipher, key, offset of the vector, device, offset.
        "crypt" => segment.below.push((number(arguments.get(3)?)?, sectors(4))),
        "striped" => {
            segment.chunk_bytes = sectors(1);
            let pairs = arguments.get(2..)?.chunks_exact(2);
            let pairs = pairs.filter_map(|pair| Some((number(pair[0])?, pair[1].parse().ok()?)));
            segment.below = pairs
                .map(|(n, at): (_, u64)| (n, Some(bytes(at))))
                .collect();
        }
        // Level, number of parameters, chunk, …, number of devices, devices.
        "raid" => {
            segment.chunk_bytes = sectors(2);
            segment.below = numbers(arguments);
        }
        "thin-pool" => {
            segment.below = numbers(arguments);
            segment.chunk_bytes = sectors(2);
        }
        "cache" => {
            segment.below = numbers(arguments);
            segment.chunk_bytes = sectors(3);
        }
        _ => segment.below = numbers(arguments),
    }
    Some((name, segment))
}

fn numbers(arguments: &[&str]) -> Vec<((u32, u32), Option<u64>)> {
    let all = arguments.iter().filter_map(|word| number(word));
    all.map(|number| (number, None)).collect()
}

fn number(word: &str) -> Option<(u32, u32)> {
    let (major, minor) = word.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = "\
vg-data: 0 2097152 linear 8:2 2048
vg-data: 2097152 1024 linear 8:18 4096
luks: 0 999 crypt aes-xts-plain64 :64:logon:cryptsetup:x 0 8:3 32768 1 allow_discards
fast: 0 4096 striped 2 128 8:16 2048 8:32 384
vg-thin: 0 100 thin 253:4 1
vg-pool-tpool: 0 100 thin-pool 253:2 253:3 128 0 0
mpatha: 0 100 multipath 0 1 alua 1 1 service-time 0 2 2 8:64 1 1 8:80 1 1
No devices found
";

    #[test]
    fn places_and_chunks_are_bytes() {
        let tables = parse_dm_table(TABLES);
        let of = |name: &str| tables.iter().find(|t| t.name == name).unwrap();
        assert_eq!(tables.len(), 6);
        assert_eq!(of("vg-data").segments.len(), 2);
        assert_eq!(of("vg-data").segments[0].below, [((8, 2), Some(1 << 20))]);
        let crypt = &of("luks").segments[0];
        assert_eq!(crypt.below, [((8, 3), Some(16 << 20))]);
        assert!(crypt.words.contains(&"allow_discards".to_owned()));
        let striped = &of("fast").segments[0];
        assert_eq!(striped.chunk_bytes, Some(65_536));
        assert_eq!(striped.below[1], ((8, 32), Some(384 * 512)));
        assert_eq!(of("vg-pool-tpool").segments[0].chunk_bytes, Some(65_536));
        assert_eq!(of("mpatha").segments[0].below.len(), 2);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "([a-z]{1,3}: [0-9]{1,20} [0-9]{1,20} (linear|striped|crypt|cache|raid)( [0-9:]{0,12}){0,8}\n|\\PC*\n){0,6}") {
            proptest::prop_assert!(parse_dm_table(&text).len() <= 6);
        }
    }
}
