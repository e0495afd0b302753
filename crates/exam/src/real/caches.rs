//! Data that never came from, or never went to, a device.

use std::fs;
use std::path::Path;

use fathom_lab::Error;
use fathom_lab::real::FileSystem;
use fathom_model::verdict::Limiter;

use super::rig::{Rig, RigLoad, fill, io_error};
use super::{RealScenario, Seen, faulty, remarked};

const MIB: u64 = 1 << 20;

pub(super) fn scenarios() -> Vec<RealScenario> {
    let memory = &[Limiter::Cache, Limiter::Memory, Limiter::GeneratorCpu];
    vec![
        faulty("warm file, buffered reads", &["V01", "V02"], memory, warm),
        // Holes are answered from the map of the file system, not from a cache.
        faulty(
            "sparse file, direct reads",
            &["V04", "V01"],
            &[Limiter::Filesystem, Limiter::GeneratorCpu],
            sparse,
        ),
        faulty("tmpfs", &["V06"], memory, tmpfs),
        faulty(
            "btrfs with zstd, compressible writes",
            &["V01", "V05"],
            &[Limiter::Cache, Limiter::Filesystem, Limiter::GeneratorCpu],
            compressing,
        ),
        // How full it is changes nothing at this size: what limits a sound device
        // behind a loop at a depth of 4 limits this one.
        remarked(
            "nearly full ext4",
            &["V44"],
            &[Limiter::QueueDepth, Limiter::Device],
            nearly_full,
        ),
    ]
}

fn both(rig: &Rig, target: &Path, load: &RigLoad) -> Result<Seen, Error> {
    Ok(Seen {
        judged: rig.fathom(target, load)?,
        fio: rig.fio(target, load)?,
        held: Vec::new(),
    })
}

fn warm(rig: &Rig) -> Result<Seen, Error> {
    let path = rig.room()?.join("data");
    fill(&path, 64 * MIB)?;
    fs::read(&path).map_err(|source| io_error("read", &path, source))?;
    let load = RigLoad {
        buffered: true,
        depth: 1,
        ..RigLoad::READS
    };
    both(rig, &path, &load)
}

fn sparse(rig: &Rig) -> Result<Seen, Error> {
    let path = rig.room()?.join("sparse");
    fs::File::create(&path)
        .and_then(|file| file.set_len(256 * MIB))
        .map_err(|source| io_error("make", &path, source))?;
    both(rig, &path, &RigLoad::READS)
}

fn tmpfs(rig: &Rig) -> Result<Seen, Error> {
    let memory = FileSystem::in_memory(&rig.room()?, 64 * MIB)?;
    let load = RigLoad {
        fathom: &["--size", "16m"],
        fio: &["--size=16m"],
        ..RigLoad::READS
    };
    both(rig, memory.path(), &load)
}

fn compressing(rig: &Rig) -> Result<Seen, Error> {
    let compressing = FileSystem::compressing(&rig.room()?, 512 * MIB)?;
    let load = RigLoad {
        rw: "write",
        bs: "128k",
        fathom: &["--size", "128m", "--compress", "90"],
        fio: &[
            "--size=128m",
            "--buffer_compress_percentage=90",
            "--refill_buffers",
        ],
        ..RigLoad::READS
    };
    both(rig, compressing.path(), &load)
}

fn nearly_full(rig: &Rig) -> Result<Seen, Error> {
    // The test file, and the 16 MiB that a preparation leaves free.
    let full = FileSystem::nearly_full(&rig.room()?, 512 * MIB, 30 * MIB)?;
    let load = RigLoad {
        rw: "randwrite",
        fathom: &["--size", "12m"],
        fio: &["--size=12m"],
        ..RigLoad::READS
    };
    both(rig, full.path(), &load)
}
