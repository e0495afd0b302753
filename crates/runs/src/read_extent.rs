//! How much of a target `quick` reads, where nobody says it.

use std::fs::File;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::Path;

use fathom_deadline::paths;
use fathom_model::Target;
use fathom_studies::quick::ReadExtent;

use crate::surroundings::fixed_bytes;

/// Blocks that are looked at, as many as a load on a device looks at.
const SAMPLES: u64 = 256;
const BLOCK_BYTES: u64 = 4096;

/// All of what has a size of its own and is full of data; where something was never written,
/// which is answered without the medium, a part. With `may_write` that part is filled.
pub fn read_extent(target: &Target, may_write: bool) -> ReadExtent {
    match target {
        Target::Sim(model) => of_drive(model),
        target => target
            .path()
            .map_or(ReadExtent::Part, |path| of_path(path, may_write)),
    }
}

fn of_drive(model: &str) -> ReadExtent {
    // The run reports one that cannot be opened.
    let Ok(drive) = fathom_drives::open_drive(model, 0) else {
        return ReadExtent::Part;
    };
    let bytes = drive.capacity_bytes();
    match drive.written_share(0, bytes) {
        Some(share) if share < 1.0 => ReadExtent::Prepared,
        _ => ReadExtent::All(bytes),
    }
}

fn of_path(path: &Path, may_write: bool) -> ReadExtent {
    match fixed_bytes(path) {
        Some(bytes) if is_full(path, bytes) => ReadExtent::All(bytes),
        Some(_) if may_write => ReadExtent::Prepared,
        _ => ReadExtent::Part,
    }
}

/// Whether there is data in all blocks that are looked at. The run reports what cannot be
/// read.
fn is_full(path: &Path, bytes: u64) -> bool {
    let look = move |path: &Path| {
        let file = File::open(path)?;
        let mut block = [0; BLOCK_BYTES as usize];
        for place in places(bytes / BLOCK_BYTES) {
            file.read_exact_at(&mut block, place * BLOCK_BYTES)?;
            if block.iter().all(|byte| *byte == 0) {
                return Ok(false);
            }
        }
        Ok(bytes >= BLOCK_BYTES)
    };
    let is_device = paths::metadata(path).is_ok_and(|found| found.file_type().is_block_device());
    let is_full = match is_device {
        true => paths::on_device(path, look),
        false => paths::read(path, look),
    };
    is_full.unwrap_or(false)
}

/// Blocks at equal distances.
fn places(blocks: u64) -> impl Iterator<Item = u64> {
    let samples = SAMPLES.min(blocks);
    (0..samples).map(move |sample| {
        let place = u128::from(sample) * u128::from(blocks) / u128::from(samples);
        place as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_read_of_what_is_full_of_data() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let target = Target::Path(path.clone());
        assert_eq!(read_extent(&target, true), ReadExtent::Part, "none there");
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        let whole = ReadExtent::All(1 << 20);
        assert_eq!(read_extent(&target, false), whole);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(2 << 20).unwrap();
        assert_eq!(read_extent(&target, false), ReadExtent::Part);
        assert_eq!(read_extent(&target, true), ReadExtent::Prepared);
        let folder = Target::Path(folder.path().to_owned());
        assert_eq!(read_extent(&folder, true), ReadExtent::Part);
    }

    #[test]
    fn a_simulated_drive_says_what_it_holds() {
        let of = |model: &str| read_extent(&Target::Sim(model.to_owned()), false);
        assert_eq!(of("array?size=64MiB"), ReadExtent::All(64 << 20));
        assert_eq!(of("thin?size=64MiB"), ReadExtent::Prepared);
        assert_eq!(of("nothing"), ReadExtent::Part);
    }
}
