//! Child processes: this test binary again, with a role in its environment.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fathom_model::RunState;
use fathom_store::{Error, Store};

use crate::fixtures::{self, Load};

const ROLE: &str = "FATHOM_TEST_ROLE";
const STORE: &str = "FATHOM_TEST_STORE";

/// A command that starts a child in a role on a store. `around` is put before
/// it, for example `unshare --mount`.
pub(crate) fn child(around: &[&str], role: &str, store: &Path) -> Command {
    let this = std::env::current_exe().unwrap();
    let mut words: Vec<&OsStr> = around.iter().map(OsStr::new).collect();
    words.push(this.as_os_str());
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .args(["children::role", "--exact", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .env(STORE, store)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What a child said with [`say`].
pub(crate) fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| line.split_once("said: "))
        .map(|(_, words)| words.to_owned())
        .collect()
}

/// Tells the parent something, at once.
pub(crate) fn say(words: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "said: {words}").unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "a role that other tests start"]
fn role() {
    let Ok(role) = std::env::var(ROLE) else {
        println!("skipped: no role was given");
        return;
    };
    let store = PathBuf::from(std::env::var_os(STORE).unwrap());
    match role.as_str() {
        "write until killed" => write_until_killed(&store),
        "write one run" => write_one_run(&store),
        "fill the disk" => crate::places::fill_the_disk(&store),
        "read where nothing can be written" => crate::places::read_only_place(&store),
        "open" => match Store::open(&store) {
            Ok(_) => say("opened"),
            Err(error) => say(error),
        },
        other => panic!("no role is called {other}"),
    }
}

/// Trials of eight seconds, one after the other; says what is committed.
fn write_until_killed(path: &Path) {
    let mut store = Store::open(path).unwrap();
    let meta = fixtures::meta(&format!("killed-{}", std::process::id()), 1);
    let run = store.begin_run(&meta).unwrap();
    let mut load = Load::new(3, 300.0);
    let file = PathBuf::from(format!("/mnt/fathom.{}", std::process::id()));
    store.note_file(run, &file, false).unwrap();
    say(format!("run {}", meta.id));
    for trial in 0.. {
        let key = store
            .begin_trial(run, &fixtures::trial(trial), 1, None)
            .unwrap();
        for second in 0..8 {
            let observation = fixtures::observation(&mut load.rng, second, 1);
            store
                .append(key, &[load.sample(second)], &[observation])
                .unwrap();
            say(format!("second {trial} {second}"));
        }
        store
            .end_trial(key, RunState::Complete, &fixtures::end())
            .unwrap();
        say(format!("end {trial}"));
    }
}

fn write_one_run(path: &Path) {
    let mut store = Store::open(path).unwrap();
    let meta = fixtures::meta(&format!("shared-{}", std::process::id()), 1);
    let run = store.begin_run(&meta).unwrap();
    let trial = store
        .begin_trial(run, &meta.schedule.trials[0], 1, None)
        .unwrap();
    let mut load = Load::new(3, 300.0);
    for second in 0..25 {
        store.append(trial, &[load.sample(second)], &[]).unwrap();
    }
    assert!(matches!(
        store.begin_run(&meta),
        Err(Error::DuplicateRun { .. })
    ));
    store
        .end_trial(trial, RunState::Complete, &fixtures::end())
        .unwrap();
    store.end_run(run, RunState::Complete, 2, None).unwrap();
    say(meta.id);
}
