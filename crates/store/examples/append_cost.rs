//! What an interval costs: bytes, system calls and time of `Store::append`,
//! and of the end of a trial. The figures of
//! `docs/decisions/0001-store-durability.md` come from here:
//!
//! ```text
//! cargo run -p fathom-store --example append_cost -- /mnt/disk/fathom.db 3600
//! strace -f -c -e trace=pwrite64,fsync,fdatasync target/debug/examples/append_cost …
//! ```

#![allow(clippy::print_stdout, missing_docs)]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use fathom_model::RunState;
use fathom_store::Store;

#[path = "../src/fixtures.rs"]
mod fixtures;

/// `write_bytes` of `/proc/self/io`: bytes sent towards storage.
fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    io.lines()
        .find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok())
        .unwrap_or(0)
}

fn size(path: &Path, suffix: &str) -> u64 {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    std::fs::metadata(name).map_or(0, |metadata| metadata.len())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("name a file for the store")?;
    let seconds: u32 = arguments.next().map_or(Ok(600), |text| text.parse())?;
    let path = Path::new(&path);

    let mut load = fixtures::Load::new(11, 20_000.0);
    let series: Vec<_> = (0..seconds)
        .map(|i| (load.sample(i), fixtures::observation(&mut load.rng, i, 3)))
        .collect();

    let mut store = Store::open(path)?;
    let meta = fixtures::meta(&format!("cost-{}", std::process::id()), 1);
    let run = store.begin_run(&meta)?;
    let trial = store.begin_trial(run, &meta.schedule.trials[0], 0, None)?;
    let before = written();
    let mut times: Vec<Duration> = Vec::new();
    for (sample, observation) in &series {
        let start = Instant::now();
        let observations = std::slice::from_ref(observation);
        store.append(trial, std::slice::from_ref(sample), observations)?;
        times.push(start.elapsed());
    }
    let appended = written() - before;
    times.sort();
    println!(
        "append: {} B each, median {:?}, p99 {:?}, max {:?}",
        appended / u64::from(seconds),
        times[times.len() / 2],
        times[times.len() * 99 / 100],
        times[times.len() - 1],
    );
    println!("log {} B, file {} B", size(path, "-wal"), size(path, ""));
    let start = Instant::now();
    store.end_trial(trial, RunState::Complete, &fixtures::end())?;
    println!(
        "end_trial: {:?}, {} B",
        start.elapsed(),
        written() - before - appended
    );
    store.end_run(run, RunState::Complete, 1, None)?;
    let start = Instant::now();
    let loaded = store.load(&meta.id)?;
    println!(
        "load: {:?}, {} samples",
        start.elapsed(),
        loaded.record.trials[0].samples.len()
    );
    drop(store);
    println!(
        "closed: log {} B, file {} B",
        size(path, "-wal"),
        size(path, "")
    );
    Ok(())
}
