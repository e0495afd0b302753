//! Several fathom processes on one store.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

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
        assert!(output.status.success(), "{output:?}");
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

/// SQLite keeps a lock on the index of the log for as long as a store is open:
/// without it, the next process that comes would take the log for one that
/// nobody uses, and empty it under the others.
#[test]
fn opening_a_store_again_leaves_the_locks_of_those_that_are_open() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fathom.db");
    let index = directory.path().join("fathom.db-shm");
    let first = Store::open(&path).unwrap();
    if locks_on(&path).is_none() {
        println!("skipped: this kernel does not list locks");
        return;
    }
    assert_eq!(locks_on(&index), Some(1));
    for file in [&path, &index, &directory.path().join("fathom.db-wal")] {
        std::fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
    }
    let second = Store::open(&path).unwrap();
    assert_eq!(locks_on(&index), Some(1));
    drop(second);
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(locks_on(&index), Some(1));
    drop(reader);
    drop(first);
    assert_eq!(locks_on(&index), None, "the last one takes the log away");
}

/// How many locks this process holds on a file, by the kernel's list. Nothing
/// where there is no list or no such file.
fn locks_on(path: &Path) -> Option<usize> {
    let inode = std::fs::metadata(path).ok()?.ino().to_string();
    let list = std::fs::read_to_string("/proc/locks").ok()?;
    let own = std::process::id().to_string();
    // 1: POSIX  ADVISORY  READ 4711 fe:01:1234 128 128
    let locks = list.lines().filter_map(|line| line.split_once(": "));
    let ours = locks.map(|(_, lock)| lock).filter(|lock| {
        let words: Vec<&str> = lock.split_whitespace().collect();
        let file = words.get(4).and_then(|file| file.rsplit(':').next());
        words.get(3) == Some(&own.as_str()) && file == Some(&inode)
    });
    // The kernel writes the list page by page: where others lock meanwhile, a lock may be
    // on two of them.
    Some(ours.collect::<BTreeSet<&str>>().len())
}

/// A line has some ten bytes at least, a pipe 64 KiB.
const LINES_IN_PIPE_MAX: usize = 8000;

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
    let seconds = |run: &fathom_model::RunRecord| -> usize {
        run.trials.iter().map(|trial| trial.samples.len()).sum()
    };
    // What the pipe held already may have been written before the first look.
    let grows = (0..LINES_IN_PIPE_MAX / 20).any(|_| {
        lines(20);
        seconds(&store.load(&id).unwrap().record) > seconds(&early)
    });
    assert!(grows);
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
