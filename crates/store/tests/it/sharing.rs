//! Several fathom processes on one store.

use fathom_model::RunState;
use fathom_store::Store;

use crate::children::{child, said};

#[test]
fn processes_that_start_together_on_a_new_store_all_get_their_runs_in() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep/below/fathom.db");
    let writers: Vec<_> = (0..8)
        .map(|_| child(&[], "write one run", &path).spawn().unwrap())
        .collect();
    let mut written: Vec<String> = Vec::new();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        written.extend(said(&output));
    }
    let store = Store::open(&path).unwrap();
    let runs = store.list(None).unwrap();
    assert_eq!((runs.len(), written.len()), (8, 8));
    for id in written {
        let run = store.load(&id).unwrap().record;
        assert_eq!(run.meta.state, RunState::Complete);
        assert_eq!(run.trials[0].samples.len(), 25);
    }
    assert!(store.check().unwrap().is_empty());
}

#[test]
fn a_reader_sees_a_run_of_another_process_grow_and_leaves_it_alone() {
    use std::io::{BufRead, BufReader};

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fathom.db");
    let mut writer = child(&[], "write until killed", &path).spawn().unwrap();
    let mut heard = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut lines = |count: usize| {
        let mut said = 0;
        while said < count {
            said += usize::from(heard.next().unwrap().unwrap().contains("said: "));
        }
    };
    lines(5);
    // Opening for writing must not take a living run for a dead one.
    let mut store = Store::open(&path).unwrap();
    let id = store.find("latest").unwrap();
    let early = store.load(&id).unwrap().record;
    assert_eq!(early.meta.state, RunState::Running);
    assert!(matches!(
        store.remove(&id),
        Err(fathom_store::Error::Alive { pid, .. }) if pid == writer.id()
    ));
    assert!(store.leftovers().unwrap().is_empty());
    lines(20);
    let late = store.load(&id).unwrap().record;
    let seconds = |run: &fathom_model::RunRecord| -> usize {
        run.trials.iter().map(|trial| trial.samples.len()).sum()
    };
    assert!(seconds(&late) > seconds(&early));
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert_eq!(store.list(None).unwrap()[0].state, RunState::Interrupted);
    store.remove(&id).unwrap();
    assert_eq!(
        store.leftovers().unwrap().len(),
        1,
        "its file is known still"
    );
}
