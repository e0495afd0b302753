use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use fathom_model::{RunState, Sample};
use proptest::prelude::*;
use rusqlite::params;

use crate::fixtures::{self, Load};
use crate::rows::unsigned;
use crate::{CodecError, Error, RunKey, Store, TrialKey};

/// A store with one run whose single trial is still open, and holds one chunk
/// per second.
fn open_trial(mut store: Store, seconds: u32) -> (Store, RunKey, TrialKey) {
    let meta = fixtures::meta("run-a", 1);
    let run = store.begin_run(&meta).unwrap();
    let spec = &meta.schedule.trials[0];
    let trial = store
        .begin_trial(run, spec, 17, Some(&fixtures::target_facts()))
        .unwrap();
    let mut load = Load::new(5, 300.0);
    for second in 0..seconds {
        let sample = load.sample(second);
        let observation = fixtures::observation(&mut load.rng, second, 1);
        store.append(trial, &[sample], &[observation]).unwrap();
    }
    (store, run, trial)
}

fn execute(store: &Store, sql: &str) {
    assert!(
        store.connection.execute(sql, []).unwrap() > 0,
        "{sql} does nothing"
    );
}

fn chunks(store: &Store) -> u32 {
    let count = "SELECT count(*) FROM chunk";
    store
        .connection
        .query_row(count, [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_damaged_second_is_named_and_the_others_are_read() {
    let (mut store, _, trial) = open_trial(Store::in_memory().unwrap(), 8);
    // One altered bit, one cut blob, one of a later format.
    for (number, change) in [
        (1, "substr(series, 1, 30) || x'00' || substr(series, 32)"),
        (3, "substr(series, 1, 40)"),
        (5, "x'07' || substr(series, 2)"),
    ] {
        let key = trial.chunks().0 + number;
        execute(
            &store,
            &format!("UPDATE chunk SET series = CAST({change} AS BLOB) WHERE key = {key}"),
        );
    }
    let assert_readable = |store: &Store| {
        let loaded = store.load("run-a").unwrap();
        let trial = &loaded.record.trials[0];
        let seconds: Vec<u32> = trial.samples.iter().map(|s| s.index).collect();
        assert_eq!(seconds, [0, 2, 4, 6, 7]);
        assert_eq!(trial.observations.len(), 5);
        let messages: Vec<String> = loaded.damage.iter().map(Error::to_string).collect();
        assert_eq!(messages.len(), 3);
        assert_eq!(
            messages[0],
            "run run-a, trial 0, chunk 1 of its series: the checksum does not match: \
             the data were altered after they were stored"
        );
        assert!(messages[2].contains("format version 7 is not known"));
    };
    assert_readable(&store);
    // Compaction keeps what it cannot read, for a version that can.
    store
        .end_trial(trial, RunState::Complete, &fixtures::end())
        .unwrap();
    assert_eq!(chunks(&store), 7, "only 6 and 7 were neighbours");
    assert_readable(&store);
}

#[test]
fn damaged_texts_cost_no_more_than_themselves() {
    let (mut store, _, trial) = open_trial(Store::in_memory().unwrap(), 2);
    store
        .end_trial(trial, RunState::Complete, &fixtures::end())
        .unwrap();
    execute(&store, "UPDATE trial SET end = '{\"engine\":3}'");
    execute(&store, "UPDATE trial SET target_before = 'x'");
    let loaded = store.load("run-a").unwrap();
    let read = &loaded.record.trials[0];
    assert_eq!(loaded.damage.len(), 2);
    assert_eq!((read.samples.len(), read.end.is_none()), (2, true));
    assert!(loaded.damage[1].to_string().contains("trial 0, its end"));

    execute(&store, "UPDATE run SET schedule = substr(schedule, 1, 20)");
    let error = store.load("run-a").unwrap_err();
    assert!(
        matches!(&error, Error::Damaged { run, part, source: CodecError::Checksum }
            if run == "run-a" && part == "the schedule"),
        "{error}"
    );
    assert_eq!(store.list(None).unwrap().len(), 1, "it is still listed");
}

#[test]
fn a_run_without_its_process_is_shown_and_reopened_as_interrupted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fathom.db");
    let (mut store, run, _) = open_trial(Store::open(&path).unwrap(), 3);
    store
        .note_file(run, Path::new("/mnt/fathom.0"), false)
        .unwrap();
    // The same process id, used again by a process that started later.
    execute(&store, "UPDATE run SET owner_start_ticks = 1");
    let shown = store.list(None).unwrap().remove(0);
    assert_eq!(shown.state, RunState::Interrupted);
    let loaded = store.load("run-a").unwrap().record;
    assert_eq!(loaded.meta.state, RunState::Interrupted);
    assert_eq!(loaded.trials[0].state, RunState::Interrupted);
    assert_eq!(store.leftovers().unwrap().len(), 1);

    let read_only = Store::open_read_only(&path).unwrap();
    assert_eq!(
        read_only.list(None).unwrap()[0].state,
        RunState::Interrupted
    );
    drop((store, read_only));

    let mut store = Store::open(&path).unwrap();
    let (state, reason, ended): (String, String, i64) = store
        .connection
        .query_row("SELECT state, reason, ended_unix_ns FROM run", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(state, "interrupted");
    assert!(reason.starts_with("its process ended"));
    assert_eq!(Some(unsigned(ended)), shown.ended_unix_ns);
    let ops: i64 = store
        .connection
        .query_row("SELECT ops FROM trial", [], |row| row.get(0))
        .unwrap();
    let samples = &store.load("run-a").unwrap().record.trials[0].samples;
    assert_eq!(
        unsigned(ops),
        samples.iter().map(Sample::data_ops).sum::<u64>()
    );

    let before = store.load("run-a").unwrap().record;
    assert_eq!(chunks(&store), 3);
    store.shrink().unwrap();
    assert_eq!(chunks(&store), 1, "shrinking packs what the kill left");
    assert_eq!(store.load("run-a").unwrap().record, before);
}

#[test]
fn an_owner_out_of_sight_is_given_up_after_a_day_of_silence() {
    let (store, ..) = open_trial(Store::in_memory().unwrap(), 1);
    execute(&store, "UPDATE run SET owner_pid_namespace = 'pid:[1]'");
    assert_eq!(store.list(None).unwrap()[0].state, RunState::Running);
    execute(&store, "UPDATE chunk SET written_unix_ns = 1");
    execute(&store, "UPDATE run SET started_unix_ns = 1");
    assert_eq!(store.list(None).unwrap()[0].state, RunState::Interrupted);
}

#[test]
fn a_full_disk_is_named_and_costs_no_earlier_data() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fathom.db");
    let (mut store, run, trial) = open_trial(Store::open(&path).unwrap(), 5);
    let pages: u32 = store
        .connection
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    store
        .connection
        .query_row(
            &format!("PRAGMA max_page_count = {}", pages + 3),
            [],
            |_| Ok(()),
        )
        .unwrap();
    let mut load = Load::new(1, 20_000.0);
    let mut stored = 5;
    let error = loop {
        match store.append(trial, &[load.sample(stored)], &[]) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Full { .. }), "{error}");
    assert!(error.to_string().contains("no space left"));
    assert!(stored < 20);
    let seconds = |store: &Store| store.load("run-a").unwrap().record.trials[0].samples.len();
    assert_eq!(seconds(&store), stored as usize);
    // The end needs no new page, and compaction even frees some.
    store
        .end_trial(trial, RunState::Failed, &fixtures::end())
        .unwrap();
    store
        .end_run(run, RunState::Failed, 9, Some("store full"))
        .unwrap();
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(seconds(&store), stored as usize);
    assert!(store.check().unwrap().is_empty());
}

#[test]
fn the_log_stays_within_its_bound() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fathom.db");
    let (store, ..) = open_trial(Store::open(&path).unwrap(), 1);
    for key in 0..100 {
        store
            .connection
            .execute(
                "INSERT INTO chunk VALUES (?, 0, 0, 0, 0, 0, zeroblob(1 << 20))",
                params![key],
            )
            .unwrap();
    }
    let log = fs::metadata(directory.path().join("fathom.db-wal")).unwrap();
    assert!(log.len() < 68 << 20, "{} bytes", log.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever happened to the file: no panic, and an error that names it.
    #[test]
    fn a_scrambled_file_never_panics(
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fathom.db");
        drop(open_trial(Store::open(&path).unwrap(), 4));
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        let length = file.metadata().unwrap().len() as usize;
        for (at, garbage) in hits {
            file.write_all_at(&garbage.to_le_bytes(), at.index(length) as u64).unwrap();
        }
        if let Some(cut) = cut {
            file.set_len(cut.index(length) as u64).unwrap();
        }
        let tour = || -> Result<(), Error> {
            let mut store = Store::open(&path)?;
            store.check()?;
            for run in store.list(None)? {
                store.load(&run.id)?;
            }
            store.leftovers()?;
            store.shrink()
        };
        if let Err(error) = tour() {
            let text = error.to_string();
            prop_assert!(text.contains("fathom.db") || text.contains("run "), "{}", text);
        }
    }
}
