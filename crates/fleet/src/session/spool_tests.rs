//! What is kept, for how long, and what comes back.

use proptest::prelude::*;

use super::*;

fn note(text: &str) -> Event {
    Event::Note(text.to_owned())
}

fn texts(events: &[Event]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Note(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[test]
fn what_was_not_stored_comes_back_once() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("held");
    let unstored = UnstoredEvents::default();
    let now = Instant::now();
    for text in ["a", "b", "c"] {
        unstored.keep(&note(text));
    }
    // Handled is not stored: it counts some seconds later.
    unstored.handled(2, now);
    unstored.handled(2, now + STORED_AFTER / 2);
    assert!(unstored.write(&place, "20261121-run", 3).unwrap());
    assert_eq!(
        texts(&read(&place, "20261121-run", 3).unwrap()),
        ["a", "b", "c"]
    );
    unstored.handled(2, now + STORED_AFTER);
    unstored.write(&place, "20261121-run", 3).unwrap();
    assert_eq!(texts(&read(&place, "20261121-run", 3).unwrap()), ["c"]);
    let held = list(&place);
    assert_eq!(
        (held.len(), held[0].run.as_str(), held[0].place),
        (1, "20261121-run", 3)
    );
    forget(&place, "20261121-run", 3);
    assert!(list(&place).is_empty());
    unstored.handled(3, now + 2 * STORED_AFTER);
    unstored.handled(3, now + 3 * STORED_AFTER);
    assert!(!unstored.write(&place, "20261121-run", 3).unwrap());
}

#[test]
fn memory_and_files_have_their_limits() {
    let directory = tempfile::tempdir().unwrap();
    let unstored = UnstoredEvents::default();
    let large = "x".repeat(MEMORY_BYTES / 4);
    for _ in 0..8 {
        unstored.keep(&note(&large));
    }
    assert!(unstored.lock().bytes <= MEMORY_BYTES);
    let unstored = UnstoredEvents::default();
    unstored.keep(&note("a"));
    for run in 0..MOST_FILES + 5 {
        unstored
            .write(directory.path(), &format!("run-{run}"), 0)
            .unwrap();
    }
    assert_eq!(list(directory.path()).len(), MOST_FILES);
}

proptest! {
    #[test]
    fn no_name_leads_elsewhere(name in "[a-z./\\\\-]{0,20}") {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("held");
        let unstored = UnstoredEvents::default();
        unstored.keep(&note("a"));
        let written = unstored.write(&place, &name, 0).unwrap();
        prop_assert_eq!(written, is_run_id(&name));
        for entry in fs::read_dir(directory.path()).unwrap() {
            prop_assert_eq!(entry.unwrap().file_name(), "held");
        }
        prop_assert_eq!(read(&place, &name, 0).is_ok(), written);
    }

    #[test]
    fn a_damaged_file_gives_what_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let directory = tempfile::tempdir().unwrap();
        let mut text = serde_json::to_vec(&note("whole")).unwrap();
        text.push(b'\n');
        text.extend(bytes);
        fs::write(file_of(directory.path(), "r", 0), text).unwrap();
        let events = read(directory.path(), "r", 0).unwrap();
        prop_assert!(!events.is_empty());
    }
}
