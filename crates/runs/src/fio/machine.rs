//! This machine, as job files see it.

use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use fathom_compat::fio::request::{FioListed, FioPath, FioReadError, FioSurroundings};
use fathom_deadline::paths;
use fathom_model::workload::Replay;

use crate::surroundings;

/// More than any job file has; keeps a wrong file from being read whole.
const JOB_FILE_BYTES_MAX: u64 = 1 << 20;
/// Directories within directories that `opendir` looks into.
const DEPTH_MAX: usize = 32;

/// This machine.
pub struct Machine;

impl FioSurroundings for Machine {
    fn read(&self, path: &str) -> Result<String, FioReadError> {
        let mut bytes = Vec::new();
        let read = match path {
            "-" => std::io::stdin()
                .take(JOB_FILE_BYTES_MAX + 1)
                .read_to_end(&mut bytes),
            path => paths::open(Path::new(path))
                .and_then(|file| file.take(JOB_FILE_BYTES_MAX + 1).read_to_end(&mut bytes)),
        };
        read?;
        match bytes.len() as u64 > JOB_FILE_BYTES_MAX {
            true => Err(FioReadError::TooLong),
            false => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    fn bytes(&self, path: &Path, most: usize) -> Result<Vec<u8>, FioReadError> {
        let mut bytes = Vec::new();
        paths::open(path).and_then(|file| file.take(most as u64).read_to_end(&mut bytes))?;
        Ok(bytes)
    }

    fn free_bytes(&self, path: &Path) -> Option<u64> {
        let directory = path
            .ancestors()
            .skip(1)
            .find(|parent| paths::is_dir(parent));
        let space = paths::space(directory.unwrap_or(Path::new("."))).ok()?;
        Some(space.available.saturating_mul(space.block_bytes))
    }

    fn variable(&self, name: &str) -> Option<String> {
        let value = std::env::var_os(name)?;
        Some(value.to_string_lossy().into_owned())
    }

    fn cpus(&self) -> u64 {
        std::thread::available_parallelism().map_or(1, |n| n.get() as u64)
    }

    fn memory_mib(&self) -> u64 {
        surroundings::memory_bytes().unwrap_or(0) >> 20
    }

    fn page_bytes(&self) -> u64 {
        rustix::param::page_size() as u64
    }

    fn look(&self, path: &Path) -> FioPath {
        let Ok(metadata) = paths::metadata(path) else {
            return FioPath::Missing;
        };
        match metadata.file_type() {
            kind if kind.is_dir() => FioPath::Directory,
            kind if kind.is_file() => FioPath::File(metadata.len()),
            kind if kind.is_block_device() => FioPath::Device(device_bytes(path).unwrap_or(0)),
            _ => FioPath::Other,
        }
    }

    fn files_below(&self, directory: &Path, limit: usize) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut open = vec![(directory.to_owned(), 0)];
        while let Some((directory, depth)) = open.pop() {
            for entry in paths::entries(&directory).unwrap_or_default() {
                // Links are not followed: they may lead in circles.
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && depth < DEPTH_MAX => {
                        open.push((entry.path(), depth + 1));
                    }
                    Ok(kind) if kind.is_file() => files.push(entry.path()),
                    _ => {}
                }
                if files.len() >= limit {
                    files.sort();
                    return files;
                }
            }
        }
        files.sort();
        files
    }

    fn cpus_of_node(&self, node: u32) -> Vec<u32> {
        let path = format!("/sys/devices/system/node/node{node}/cpulist");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut cpus = Vec::new();
        for part in text.trim().split(',') {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            if let (Ok(low), Ok(high)) = (low.parse::<u32>(), high.parse::<u32>()) {
                cpus.extend(low..=high.min(low.saturating_add(8191)));
            }
        }
        cpus
    }

    fn listed(&self, replay: &Replay) -> Result<FioListed, FioReadError> {
        let listed = fathom_engine::listed_files(replay);
        let listed = listed.map_err(|error| FioReadError::NotReplayed(error.to_string()))?;
        Ok(FioListed {
            names: listed.names,
            reach_bytes: listed.reach_bytes,
        })
    }
}

/// Devices have no length in their metadata.
fn device_bytes(path: &Path) -> Option<u64> {
    use std::io::Seek;
    let mut file = paths::open(path).ok()?;
    file.seek(std::io::SeekFrom::End(0)).ok()
}
