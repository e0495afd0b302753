use std::path::Path;

use fathom_model::{RunState, Sample};

use crate::fixtures::{self, Load, SECOND_NS};
use crate::{Error, Store, TrialKey};

/// A store with one run of one finished trial of `seconds` seconds.
fn finished_run(store: &mut Store, id: &str, seconds: u32) -> Vec<Sample> {
    let meta = fixtures::meta(id, 1);
    let run = store.begin_run(&meta).unwrap();
    let trial = store
        .begin_trial(
            run,
            &meta.schedule.trials[0],
            17,
            Some(&fixtures::target_facts()),
        )
        .unwrap();
    let samples = append(store, trial, seconds);
    store
        .end_trial(trial, RunState::Complete, &fixtures::end())
        .unwrap();
    store.end_run(run, RunState::Complete, 99, None).unwrap();
    samples
}

fn append(store: &mut Store, trial: TrialKey, seconds: u32) -> Vec<Sample> {
    let mut load = Load::new(5, 300.0);
    let mut all = Vec::new();
    for i in 0..seconds {
        let sample = load.sample(i);
        let observation = fixtures::observation(&mut load.rng, i, 2);
        store
            .append(trial, std::slice::from_ref(&sample), &[observation])
            .unwrap();
        all.push(sample);
    }
    all
}

#[test]
fn a_run_is_read_back_as_it_was_written() {
    let mut store = Store::in_memory().unwrap();
    let samples = finished_run(&mut store, "20261121-153042-k3f9", 30);
    let loaded = store.load("20261121-153042-k3f9").unwrap();
    assert!(loaded.damage.is_empty(), "{:?}", loaded.damage);
    let mut meta = fixtures::meta("20261121-153042-k3f9", 1);
    meta.state = RunState::Complete;
    meta.ended_unix_ns = Some(99);
    assert_eq!(loaded.record.meta, meta);
    let [trial] = &loaded.record.trials[..] else {
        panic!("one trial was run");
    };
    assert_eq!(trial.spec, meta.schedule.trials[0]);
    assert_eq!(trial.started_unix_ns, 17);
    assert_eq!(trial.state, RunState::Complete);
    assert_eq!(trial.target_before, Some(fixtures::target_facts()));
    assert_eq!(trial.end, Some(fixtures::end()));
    assert_eq!(trial.samples, samples);
    assert_eq!(trial.observations.len(), 30);
    assert_eq!(trial.observations[7].start_ns, 7 * SECOND_NS as i64 - 500);

    let listing = &store.list(None).unwrap()[0];
    assert_eq!(listing.targets, ["/mnt/data"]);
    assert_eq!((listing.complete_trials, listing.planned_trials), (1, 1));
    assert!(listing.stored_bytes > 1000);
    let ops: u64 = samples.iter().map(Sample::data_ops).sum();
    let stored: (i64, i64, i64) = store
        .connection
        .query_row("SELECT ops, bytes, measured_ns FROM trial", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!((stored.0 as u64, stored.1 as u64), (ops, ops * 4096));
    assert!(stored.2 as u64 > 29 * SECOND_NS);
}

#[test]
fn ids_are_unique() {
    let mut store = Store::in_memory().unwrap();
    store.begin_run(&fixtures::meta("a", 1)).unwrap();
    let error = store.begin_run(&fixtures::meta("a", 1)).unwrap_err();
    assert!(matches!(error, Error::DuplicateRun { id } if id == "a"));
}

#[test]
fn what_has_ended_takes_no_more_data() {
    let mut store = Store::in_memory().unwrap();
    let meta = fixtures::meta("a", 2);
    let run = store.begin_run(&meta).unwrap();
    let trial = store
        .begin_trial(run, &meta.schedule.trials[0], 0, None)
        .unwrap();
    append(&mut store, trial, 1);
    store
        .end_run(run, RunState::Interrupted, 5, Some("signal"))
        .unwrap();
    let sample = Load::new(1, 10.0).sample(2);
    assert!(matches!(
        store.append(trial, &[sample], &[]),
        Err(Error::NotOpen { .. })
    ));
    assert!(matches!(
        store.begin_trial(run, &meta.schedule.trials[1], 0, None),
        Err(Error::NotOpen { .. })
    ));
    let run = store.load("a").unwrap().record;
    assert_eq!(run.meta.state, RunState::Interrupted);
    assert_eq!(run.meta.reason.as_deref(), Some("signal"));
    assert_eq!(run.trials[0].state, RunState::Interrupted);
    assert_eq!(run.trials[0].samples.len(), 1);
}

#[test]
fn runs_are_found_by_what_users_type() {
    let mut store = Store::in_memory().unwrap();
    assert!(matches!(store.find("latest"), Err(Error::NoSuchRun { .. })));
    for (id, started) in [("20261121-a", 30), ("20261121-b", 10), ("2026", 20)] {
        let mut meta = fixtures::meta(id, 1);
        meta.started_unix_ns = started;
        store.begin_run(&meta).unwrap();
    }
    for (text, id) in [
        ("latest", "20261121-a"),
        ("latest~0", "20261121-a"),
        ("latest~1", "2026"),
        ("last~1", "2026"),
        ("latest~2", "20261121-b"),
        ("20261121-b", "20261121-b"),
        ("2026", "2026"),
    ] {
        assert_eq!(store.find(text).unwrap(), id, "{text}");
    }
    let ids = |beginning| store.ids(beginning).unwrap();
    assert_eq!(ids(""), ["20261121-a", "2026", "20261121-b"]);
    assert_eq!(ids("202611"), ["20261121-a", "20261121-b"]);
    assert!(ids("%").is_empty() && ids("' OR ''='").is_empty());
    for text in ["latest~3", "latest~x", "", "%", "2027"] {
        assert!(
            matches!(store.find(text), Err(Error::NoSuchRun { .. })),
            "{text}"
        );
    }
    let error = store.find("20261121").unwrap_err();
    assert_eq!(
        error.to_string(),
        "'20261121' matches 2 runs: 20261121-a, 20261121-b; write more of the id"
    );
    let ids: Vec<String> = store
        .list(Some(2))
        .unwrap()
        .into_iter()
        .map(|r| r.id)
        .collect();
    assert_eq!(ids, ["20261121-a", "2026"]);
}

#[test]
fn a_run_is_found_by_its_label_and_by_its_tags() {
    let mut store = Store::in_memory().unwrap();
    let ids = ["20261121-a", "20261122-b", "20261123-c"];
    for (id, started) in ids.into_iter().zip([1, 2, 3]) {
        let mut meta = fixtures::meta(id, 1);
        meta.started_unix_ns = started;
        store.begin_run(&meta).unwrap();
    }
    store.set_label(ids[0], Some("before")).unwrap();
    let tags = ["golden".to_owned(), "rack 4".to_owned()];
    store.set_tags(ids[1], &tags).unwrap();
    for (text, id) in [("before", ids[0]), ("golden", ids[1]), ("rack 4", ids[1])] {
        assert_eq!(store.find(text).unwrap(), id, "{text}");
    }
    assert!(store.find("gold").is_err(), "a part of a tag is none");
    store.set_tags(ids[2], &tags).unwrap();
    assert!(matches!(
        store.find("golden"),
        Err(Error::Ambiguous { candidates, .. }) if candidates == [ids[2], ids[1]]
    ));
}

#[test]
fn a_run_of_this_process_cannot_be_removed_before_it_ends() {
    let mut store = Store::in_memory().unwrap();
    let run = store.begin_run(&fixtures::meta("a", 1)).unwrap();
    assert!(matches!(store.remove("a"), Err(Error::Alive { pid, .. })
        if pid == std::process::id()));
    store.end_run(run, RunState::Failed, 5, None).unwrap();
    store.remove("a").unwrap();
    assert!(store.list(None).unwrap().is_empty());
    assert!(matches!(store.remove("a"), Err(Error::NoSuchRun { .. })));
}

#[test]
fn removing_a_run_removes_its_series_and_no_others() {
    let mut store = Store::in_memory().unwrap();
    finished_run(&mut store, "a", 3);
    finished_run(&mut store, "b", 3);
    let before = store.load("b").unwrap().record;
    store.remove("a").unwrap();
    assert_eq!(store.load("b").unwrap().record, before);
    let chunks: u32 = store
        .connection
        .query_row("SELECT count(*) FROM chunk", [], |row| row.get(0))
        .unwrap();
    assert_eq!(chunks, 1);
}

#[test]
fn files_are_leftovers_once_their_run_is_over() {
    let mut store = Store::in_memory().unwrap();
    let run = store.begin_run(&fixtures::meta("a", 1)).unwrap();
    let (one, two) = (Path::new("/mnt/fathom.0"), Path::new("/mnt/fathom.1"));
    store.note_file(run, one, false).unwrap();
    store.note_files(run, [two], true).unwrap();
    assert_eq!(store.leftovers().unwrap(), [], "the run goes on");
    store.forget_file(one).unwrap();
    store.end_run(run, RunState::Complete, 5, None).unwrap();
    store.remove("a").unwrap();
    let left = store.leftovers().unwrap();
    assert_eq!(left.len(), 1, "notes outlive their run");
    assert_eq!((left[0].path.as_path(), left[0].keep), (two, true));
    assert_eq!(left[0].run_id, "a");
    store.forget_file(two).unwrap();
    assert!(store.leftovers().unwrap().is_empty());
}

#[test]
fn a_file_of_the_first_schema_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(include_str!("schema/0001.sql")).unwrap();
    old.pragma_update(None, "application_id", crate::schema::APPLICATION_ID)
        .unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    drop(old);
    let mut store = Store::open(&path).unwrap();
    let meta = fixtures::meta("20260101-000000-old1", 1);
    let run = store.begin_run(&meta).unwrap();
    store.end_run(run, RunState::Complete, 99, None).unwrap();
    assert_eq!(store.load(&meta.id).unwrap().record.meta.hosts, meta.hosts);
}
