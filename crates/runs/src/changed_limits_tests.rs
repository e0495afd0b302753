use super::*;

const BEFORE: &str = "254:0 riops=max wiops=max";
const WROTE: &str = "254:0 riops=900 wiops=900";

fn limit(path: &Path, line: &str) -> LimitLine {
    LimitLine {
        path: path.to_owned(),
        line: line.to_owned(),
    }
}

/// A file as the test wrote it, and its note.
fn noted(folder: &Path) -> (PathBuf, io::Result<ChangedLimits>) {
    let path = folder.join("io.max");
    fs::write(&path, WROTE).unwrap();
    let (back, wrote) = (limit(&path, BEFORE), limit(&path, WROTE));
    let store = folder.join("fathom.db");
    (path, ChangedLimits::note(&store, vec![back], &[wrote]))
}

/// As [`noted`], by a process that was killed.
fn forgotten(folder: &Path) -> (PathBuf, Forgotten) {
    let (path, changed) = noted(folder);
    std::mem::forget(changed.unwrap());
    let store = folder.join("fathom.db");
    let note = fs::read_to_string(note_of(&store)).unwrap();
    // The same number, another start.
    let pid = std::process::id();
    let rest = note.split_once('\t').unwrap().1;
    fs::write(note_of(&store), format!("{pid} 1\t{rest}")).unwrap();
    (path, Forgotten::beside(&store).unwrap())
}

fn why(standings: Vec<Standing>) -> String {
    match &standings[..] {
        [Standing::Left(why)] => why.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn limits_are_set_back_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fathom.db");
    let (path, changed) = noted(folder.path());
    assert_eq!(Forgotten::beside(&store), None, "its owner lives");
    assert!(noted(folder.path()).1.is_err(), "one at a time");
    drop(changed);
    assert_eq!(fs::read_to_string(&path).unwrap(), BEFORE);
    assert!(!note_of(&store).exists());
}

#[test]
fn what_a_killed_process_changed_is_found_and_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, forgotten) = forgotten(folder.path());
    assert_eq!(forgotten.limits[0].back, limit(&path, BEFORE));
    assert_eq!(forgotten.limits[0].standing().unwrap(), Standing::Changed);
    assert_eq!(forgotten.set_back().unwrap(), [Standing::Changed]);
    assert_eq!(fs::read_to_string(&path).unwrap(), BEFORE);
    let store = folder.path().join("fathom.db");
    assert_eq!(Forgotten::beside(&store), None);
}

#[test]
fn a_limit_that_somebody_set_since_stays() {
    const OWN: &str = "254:0 rbps=max wbps=max riops=50 wiops=max";
    let folder = tempfile::tempdir().unwrap();
    let (path, forgotten) = forgotten(folder.path());
    fs::write(&path, OWN).unwrap();
    let why = why(forgotten.set_back().unwrap());
    assert_eq!(why, format!("it has '{OWN}', which the test did not write"));
    assert_eq!(fs::read_to_string(&path).unwrap(), OWN);
    let store = folder.path().join("fathom.db");
    assert_eq!(Forgotten::beside(&store), None, "said once");
    // While the test goes on as well.
    let (path, changed) = noted(folder.path());
    let changed = changed.unwrap();
    assert!(changed.are_own().is_ok(), "as the test wrote it");
    changed.write_back().unwrap();
    assert!(changed.are_own().is_ok(), "as it was");
    fs::write(&path, OWN).unwrap();
    assert!(changed.are_own().is_err());
    assert!(changed.write_back().is_err());
    // What was meant to be restored, and what was left, are both said.
    let error = changed.set_back().unwrap_err();
    let left = LeftAsTheyStand::of(&error).unwrap().to_string();
    assert!(left.contains(OWN) && left.contains(&format!("before the test: '{BEFORE}'")));
    assert!(
        !note_of(&store).exists(),
        "nothing is left for `fathom clean`"
    );
    drop(changed);
    assert_eq!(fs::read_to_string(&path).unwrap(), OWN);
}

#[test]
fn a_limit_of_another_group_boot_or_older_note_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (path, forgotten) = forgotten(folder.path());
    let of = |mark: Option<Mark>| {
        let back = limit(&path, BEFORE);
        why(vec![Changed { back, mark }.restore().unwrap()])
    };
    let mark = forgotten.limits[0].mark.clone().unwrap();
    let group = (mark.group.0, mark.group.1 + 1);
    let other = of(Some(Mark {
        group,
        ..mark.clone()
    }));
    assert!(other.contains("another control group"), "{other}");
    let boot_id = "another".to_owned();
    let restarted = of(Some(Mark { boot_id, ..mark }));
    assert!(restarted.contains("restarted"), "{restarted}");
    let old = of(None);
    assert!(old.contains("an older fathom"), "{old}");
    assert_eq!(fs::read_to_string(&path).unwrap(), WROTE);
    let noted = format!("1 1\t{}\t{BEFORE}\n", path.display());
    assert_eq!(entry(noted.trim_end()).unwrap().1.mark, None);
}

#[test]
fn a_note_that_others_may_have_written_changes_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fathom.db");
    let path = folder.path().join("io.max");
    let note = note_of(&store);
    fs::write(&note, format!("1 1\t{}\tanything\n", path.display())).unwrap();
    assert!(Forgotten::beside(&store).is_some());
    fs::set_permissions(&note, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(Forgotten::beside(&store), None);
    let elsewhere = folder.path().join("elsewhere");
    fs::set_permissions(&note, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&note, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &note).unwrap();
    assert_eq!(Forgotten::beside(&store), None);
}

#[test]
fn a_link_in_place_of_a_limit_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let precious = folder.path().join("precious");
    fs::write(&precious, "mine").unwrap();
    let path = folder.path().join("io.max");
    std::os::unix::fs::symlink(&precious, &path).unwrap();
    let limit = limit(&path, "254:0 riops=max");
    assert!(limit.write().is_err() && limit.found().is_err());
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
}

#[test]
fn only_limits_are_ever_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fathom.db");
    fs::write(note_of(&store), "1 1\t/etc/passwd\troot\nx\n\n1\t2\t3\n").unwrap();
    assert_eq!(Forgotten::beside(&store), None);
}
