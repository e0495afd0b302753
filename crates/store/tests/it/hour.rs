//! An hour of one-second samples in the file.

use std::path::Path;

use fathom_model::{RunState, Sample};
use fathom_store::Store;

use crate::fixtures::{self, Load};

const MIB: u64 = 1 << 20;

fn size(path: &Path, suffix: &str) -> u64 {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    std::fs::metadata(name).map_or(0, |metadata| metadata.len())
}

/// Reads and writes of 16 workers merged into one group, log-normal
/// latencies over hundreds of buckets, three devices.
#[test]
fn an_hour_takes_far_less_than_twenty_mebibytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fathom.db");
    let mut store = Store::open(&path).unwrap();
    let meta = fixtures::meta("hour", 1);
    let run = store.begin_run(&meta).unwrap();
    let trial = store
        .begin_trial(run, &meta.schedule.trials[0], 1, None)
        .unwrap();
    let mut load = Load::new(11, 20_000.0);
    let mut ops = 0;
    for second in 0..3600 {
        let sample = load.sample(second);
        for op in &sample.ops {
            let buckets = op.service.buckets().count();
            assert!((300..=900).contains(&buckets), "{buckets} buckets");
        }
        ops += sample.data_ops();
        let observation = fixtures::observation(&mut load.rng, second, 3);
        store.append(trial, &[sample], &[observation]).unwrap();
    }
    let (log, file) = (size(&path, "-wal"), size(&path, ""));
    println!("during the hour: log {log} B, file {file} B");
    assert!(file < MIB, "no checkpoint happened while measuring");
    assert!(log < 70 * MIB, "the log has its bound");

    store
        .end_trial(trial, RunState::Complete, &fixtures::end())
        .unwrap();
    store.end_run(run, RunState::Complete, 2, None).unwrap();
    let listed = store.list(None).unwrap().remove(0);
    let loaded = store.load("hour").unwrap();
    assert!(loaded.damage.is_empty());
    assert_eq!(loaded.record.trials[0].observations.len(), 3600);
    let samples = &loaded.record.trials[0].samples;
    assert_eq!(samples.len(), 3600);
    assert_eq!(samples.iter().map(Sample::data_ops).sum::<u64>(), ops);
    drop(store);
    let file = size(&path, "");
    println!("packed: series {} B, file {file} B", listed.stored_bytes);
    assert!(listed.stored_bytes < 9 * MIB);
    assert!(file < 10 * MIB);
    assert_eq!(size(&path, "-wal"), 0);
}
