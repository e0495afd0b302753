//! Places where a store cannot be, or cannot grow.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use fathom_model::RunState;
use fathom_store::{Error, Store};

use crate::children::{child, said, say};
use crate::fixtures::{self, Load};

fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fathom.db");
    (directory, path)
}

/// A store with one finished run of a few seconds.
fn small_store(path: &Path) {
    let mut store = Store::open(path).unwrap();
    let meta = fixtures::meta("small", 1);
    let run = store.begin_run(&meta).unwrap();
    let trial = store
        .begin_trial(run, &meta.schedule.trials[0], 1, None)
        .unwrap();
    store
        .append(trial, &[Load::new(3, 300.0).sample(0)], &[])
        .unwrap();
    store
        .end_trial(trial, RunState::Complete, &fixtures::end())
        .unwrap();
    store.end_run(run, RunState::Complete, 2, None).unwrap();
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout == b"0\n")
}

/// Ways to a mount namespace of one's own, which ends with the child.
fn namespace() -> Option<&'static [&'static str]> {
    let around: &[&str] = &["unshare", "--mount"];
    let works = is_root()
        && Command::new("unshare")
            .args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
            .output()
            .is_ok_and(|output| output.status.success());
    works.then_some(around)
}

fn mount(arguments: &[&str], at: &Path) {
    let status = Command::new("mount").args(arguments).arg(at).status();
    assert!(status.unwrap().success(), "mount {arguments:?}");
}

#[test]
fn a_file_of_another_program_is_refused_and_left_untouched() {
    let (_directory, path) = place();
    let foreign = rusqlite::Connection::open(&path).unwrap();
    foreign.execute_batch("CREATE TABLE mail (id)").unwrap();
    drop(foreign);
    let texts = [
        (fs::read(&path).unwrap(), "the database of another program"),
        (vec![b'x'; 5000], "it is not a SQLite database"),
        (b"#!/bin/sh\n".to_vec(), "it is not a SQLite database"),
    ];
    for (content, expected) in texts {
        fs::write(&path, &content).unwrap();
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        for result in [Store::open(&path), Store::open_read_only(&path)] {
            let error = result.unwrap_err();
            assert!(matches!(&error, Error::Foreign { .. }), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), content);
        assert_eq!(mode(), 0o664);
    }
}

#[test]
fn a_store_that_is_taken_away_under_a_run_is_named() {
    let (directory, path) = place();
    let mut store = Store::open(&path).unwrap();
    let meta = fixtures::meta("taken", 1);
    let run = store.begin_run(&meta).unwrap();
    let trial = store
        .begin_trial(run, &meta.schedule.trials[0], 1, None)
        .unwrap();
    let sample = Load::new(3, 300.0).sample(0);
    store
        .append(trial, std::slice::from_ref(&sample), &[])
        .unwrap();
    fs::rename(&path, directory.path().join("elsewhere")).unwrap();
    let mut displaced = || {
        let refused = store.append(trial, std::slice::from_ref(&sample), &[]);
        assert!(
            matches!(refused, Err(Error::Displaced { .. })),
            "{refused:?}"
        );
    };
    displaced();
    // Another store in its place is not taken for it.
    small_store(&path);
    displaced();
}

#[test]
fn a_newer_schema_is_refused_and_left_untouched() {
    let (_directory, path) = place();
    small_store(&path);
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    newer.close().unwrap();
    let content = fs::read(&path).unwrap();
    for result in [Store::open(&path), Store::open_read_only(&path)] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::NewerSchema { found: 99, .. }));
        assert!(error.to_string().contains("use a newer fathom"), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), content);
}

#[test]
fn a_path_that_cannot_be_a_file_is_named() {
    let (directory, path) = place();
    for result in [
        Store::open(directory.path()),
        Store::open_read_only(directory.path()),
        Store::open("/dev/null"),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::NotAFile { .. }), "{error}");
    }
    fs::write(&path, b"").unwrap();
    let below = Store::open(path.join("fathom.db")).unwrap_err();
    assert!(below.to_string().contains("fathom.db"), "{below}");
    let missing = Store::open_read_only(directory.path().join("none.db")).unwrap_err();
    assert!(matches!(missing, Error::Missing { .. }), "{missing}");
    // An empty file is a store to be.
    assert!(Store::open(&path).unwrap().list(None).unwrap().is_empty());
}

#[test]
fn strange_names_are_only_names() {
    let (directory, _) = place();
    for name in ["file:x?mode=memory", "a b#c%20.db", "ü'\";--.db"] {
        let path = directory.path().join(name);
        small_store(&path);
        let store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.find("latest").unwrap(), "small");
        assert!(path.is_file());
    }
}

#[test]
fn a_run_from_the_future_is_not_the_latest() {
    let (_directory, path) = place();
    let mut store = Store::open(&path).unwrap();
    // The store was just made.
    let made = fs::metadata(&path).unwrap().modified().unwrap();
    let since = made.duration_since(std::time::UNIX_EPOCH).unwrap();
    let now_ns = since.as_nanos() as u64;
    let ten_years_ns = 315_576_000 * 1_000_000_000;
    let begin = |store: &mut Store, id: &str, started_unix_ns: u64| {
        let meta = fixtures::meta(id, 1);
        let meta = fathom_model::RunMeta {
            started_unix_ns,
            ..meta
        };
        let run = store.begin_run(&meta).unwrap();
        store
            .end_run(run, RunState::Complete, started_unix_ns + 2, None)
            .unwrap();
    };
    begin(&mut store, "before", now_ns - 2_000_000_000);
    begin(&mut store, "wrong-clock", now_ns + ten_years_ns);
    begin(&mut store, "newest", now_ns - 1_000_000_000);
    for (name, id) in [
        ("latest", "newest"),
        ("latest~1", "before"),
        ("latest~2", "wrong-clock"),
    ] {
        assert_eq!(store.find(name).unwrap(), id);
    }
    let listed = store.list(None).unwrap();
    let ids: Vec<&str> = listed.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, ["newest", "before", "wrong-clock"]);
}

#[test]
fn missing_permission_is_named() {
    let (directory, path) = place();
    small_store(&path);
    // The binary must be reachable for the ordinary user too.
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let open = |mode: u32, directory_mode: u32, path: &Path| -> Option<String> {
        if path.exists() {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let parent = fs::Permissions::from_mode(directory_mode);
        fs::set_permissions(directory.path(), parent).unwrap();
        let mut command = child(&[], "open", path);
        if is_root() {
            command.uid(65534).gid(65534);
        }
        let said = command.output().map(|output| said(&output));
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        said.ok()?.pop()
    };
    let Some(unreadable) = open(0o000, 0o755, &path) else {
        println!("skipped: no child can be started as an ordinary user");
        return;
    };
    assert!(
        unreadable.starts_with("no permission for the store"),
        "{unreadable}"
    );
    let protected = open(0o444, 0o755, &path).unwrap();
    assert!(
        protected.starts_with("no permission for the store"),
        "{protected}"
    );
    let absent = directory.path().join("new.db");
    let uncreatable = open(0o444, 0o555, &absent).unwrap();
    assert!(
        uncreatable.starts_with("no permission for the store"),
        "{uncreatable}"
    );
    let closed = directory.path().join("closed/new.db");
    let no_directory = open(0o444, 0o555, &closed).unwrap();
    assert!(
        no_directory.starts_with("no permission for the store"),
        "{no_directory}"
    );
}

#[test]
fn a_read_only_file_system_can_be_read_and_says_why_it_cannot_be_written() {
    let Some(around) = namespace() else {
        println!("skipped: mounting needs root");
        return;
    };
    let (_directory, path) = place();
    let output = child(around, "read where nothing can be written", &path)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert_eq!(said(&output), ["done"]);
}

/// In the child, in a mount namespace of its own.
pub(crate) fn read_only_place(path: &Path) {
    let directory = path.parent().unwrap();
    mount(&["-t", "tmpfs", "-o", "size=4m", "none"], directory);
    small_store(path);
    let fresh = directory.join("fresh.db");
    // A log that was never folded in, as after a power cut.
    let unclean = directory.join("unclean.db");
    let other = directory.join("other.db");
    let store = Store::open(&other).unwrap();
    for suffix in ["", "-wal"] {
        let from = format!("{}{suffix}", other.display());
        fs::copy(from, format!("{}{suffix}", unclean.display())).unwrap();
    }
    drop(store);
    mount(&["-o", "remount,ro"], directory);

    let store = Store::open_read_only(path).unwrap();
    assert_eq!(store.load("small").unwrap().record.trials.len(), 1);
    for path in [path, fresh.as_path()] {
        let error = Store::open(path).unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
        assert!(error.to_string().contains("set FATHOM_STORE"), "{error}");
    }
    // Half of it would be worse than nothing.
    let error = Store::open_read_only(&unclean).unwrap_err();
    assert!(error.to_string().contains("unclean.db"), "{error}");
    say("done");
}

#[test]
fn a_full_file_system_is_named_and_costs_no_earlier_data() {
    let Some(around) = namespace() else {
        println!("skipped: mounting needs root");
        return;
    };
    let (_directory, path) = place();
    let output = child(around, "fill the disk", &path).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert_eq!(said(&output), ["done"]);
}

/// In the child, in a mount namespace of its own.
pub(crate) fn fill_the_disk(path: &Path) {
    let directory = path.parent().unwrap();
    mount(&["-t", "tmpfs", "-o", "size=1m", "none"], directory);
    let mut store = Store::open(path).unwrap();
    let meta = fixtures::meta("full", 1);
    let run = store.begin_run(&meta).unwrap();
    let trial = store
        .begin_trial(run, &meta.schedule.trials[0], 1, None)
        .unwrap();
    let mut load = Load::new(3, 20_000.0);
    let mut stored = 0;
    let error = loop {
        match store.append(trial, &[load.sample(stored)], &[]) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    assert!(stored > 10, "only {stored} seconds were stored");
    // A second failure is no worse, and reading goes on.
    store
        .append(trial, &[load.sample(stored)], &[])
        .unwrap_err();
    let seconds = |store: &Store| store.load("full").unwrap().record.trials[0].samples.len();
    assert_eq!(seconds(&store), stored as usize);
    drop(store);
    let store = Store::open_read_only(path).unwrap();
    assert_eq!(seconds(&store), stored as usize);
    // Another run can measure without this store.
    let mut elsewhere = Store::in_memory().unwrap();
    elsewhere.begin_run(&meta).unwrap();
    say("done");
}
