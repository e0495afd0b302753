//! A mount that falls silent while a file on it is read. What is silent is remembered
//! for the whole process, so this has a process to itself: any test beside it that
//! looks at the same mount would be told that it does not answer.

use std::io::Read;
use std::sync::mpsc::channel;
use std::time::Duration;

use fathom_deadline::{MountTable, NotResponding, ask_within, paths};

#[test]
fn a_mount_that_does_not_answer_ends_the_reading() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, "text").unwrap();
    let mut file = paths::open_bounded(&path).unwrap();
    let real = path.canonicalize().unwrap();
    let name = MountTable::read().of(&real).unwrap().name();
    // Somebody else's question about this mount is not answered.
    let (release, held) = channel::<()>();
    let stuck = ask_within(Duration::from_millis(20), &name, move || held.recv());
    assert!(stuck.is_err());
    let error = file.read(&mut [0; 4]).unwrap_err();
    let silent = error.get_ref().and_then(|error| error.downcast_ref());
    assert!(silent.is_some_and(|silent: &NotResponding| silent.what == name));
    release.send(()).unwrap();
}
