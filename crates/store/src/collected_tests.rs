//! Seconds and ends that come later, each stored once.

use super::*;
use crate::fixtures;

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("runs.db")).unwrap();
    (directory, store)
}

/// A run that ended after two seconds of its first trial.
fn interrupted(store: &mut Store) -> Vec<Sample> {
    let meta = fixtures::meta("a", 2);
    let run = store.begin_run(&meta).unwrap();
    let spec = fixtures::trial(0);
    let trial = store.begin_trial(run, &spec, 5, None).unwrap();
    let samples: Vec<Sample> = (0..4).map(sample).collect();
    store.append(trial, &samples[..2], &[]).unwrap();
    store
        .end_run(run, RunState::Interrupted, 9, Some("killed"))
        .unwrap();
    samples
}

fn sample(index: u32) -> Sample {
    let start_ns = u64::from(index) * 1_000_000_000;
    Sample::new(fathom_model::Phase::Measure, index, start_ns)
}

#[test]
fn what_was_held_completes_a_run_once() {
    let (_directory, mut store) = store();
    let samples = interrupted(&mut store);
    let end = TrialEnd {
        reason: Some("the coordinator was lost".to_owned()),
        ..TrialEnd::default()
    };
    let second = fixtures::trial(1);
    let parts = [
        Collected {
            position: 0,
            samples: samples[1..].to_vec(),
            end: Some((RunState::Interrupted, end)),
            ..Collected::default()
        },
        Collected {
            position: 1,
            begin: Some(TrialBegin {
                spec: &second,
                started_unix_ns: 7,
                target_before: None,
            }),
            samples: samples[..1].to_vec(),
            ..Collected::default()
        },
        // Seconds of a trial that nobody has heard of.
        Collected {
            position: 77,
            samples: samples[..1].to_vec(),
            ..Collected::default()
        },
    ];
    let added = store.add_collected("a", &parts).unwrap();
    assert_eq!((added.seconds, added.ends), (4, 1));
    let record = store.load("a").unwrap().record;
    assert_eq!(record.trials.len(), 2);
    assert_eq!(record.trials[0].samples, samples);
    let end = record.trials[0].end.as_ref().unwrap();
    assert_eq!(end.reason.as_deref(), Some("the coordinator was lost"));
    assert_eq!(record.trials[1].state, RunState::Interrupted);
    assert_eq!(record.trials[1].samples.len(), 1);
    // The same once more changes nothing.
    let again = store.add_collected("a", &parts[..2]).unwrap();
    assert_eq!(again, Added::default());
    assert_eq!(store.load("a").unwrap().record.trials, record.trials);
}

#[test]
fn only_runs_that_are_there_and_over_take_more() {
    let (_directory, mut store) = store();
    assert!(matches!(
        store.add_collected("b", &[]),
        Err(Error::NoSuchRun { .. })
    ));
    store.begin_run(&fixtures::meta("b", 1)).unwrap();
    assert!(matches!(
        store.add_collected("b", &[]),
        Err(Error::Alive { .. })
    ));
}
