use super::*;

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

#[test]
fn files_and_folders_are_their_owners_alone() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a/b");
    make_folder(&folder).unwrap();
    make_folder(&folder).unwrap();
    assert_eq!((mode(&folder), mode(&dir.path().join("a"))), (0o700, 0o700));
    let file = folder.join("f");
    create_new(&file).unwrap();
    append(&folder.join("list")).unwrap();
    replace(&folder.join("note"), b"text").unwrap();
    for name in ["f", "list", "note"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    assert_eq!(
        create_new(&file).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    let names = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(names, 3, "no draft stays");
}

#[test]
fn a_folder_that_exists_keeps_its_mode() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    make_folder(dir.path()).unwrap();
    assert_eq!(mode(dir.path()), 0o755);
    std::fs::write(dir.path().join("f"), "").unwrap();
    assert!(make_folder(&dir.path().join("f")).is_err());
    assert!(make_folder(&dir.path().join("f/g")).is_err());
}

#[test]
fn what_others_may_read_is_tightened_and_links_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    std::fs::write(&file, "x").unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert!(!tighten(&link).unwrap());
    assert_eq!(mode(&file), 0o644);
    assert!(tighten(&file).unwrap());
    assert_eq!(mode(&file), 0o600);
    assert!(!tighten(&file).unwrap());
    assert!(!tighten(&dir.path().join("none")).unwrap());
    assert!(append(&link).is_err());
    std::fs::set_permissions(&file, Permissions::from_mode(0o664)).unwrap();
    append(&file).unwrap().write_all(b"y").unwrap();
    assert_eq!(mode(&file), 0o600);
    assert_eq!(std::fs::read(&file).unwrap(), b"xy");
    // A link is replaced, and what it names stays.
    replace(&link, b"own").unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"xy");
    assert!(link.symlink_metadata().unwrap().is_file());
}

#[test]
fn a_pipe_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: mkfifo is not installed");
        return;
    }
    assert!(append(&pipe).is_err());
    assert!(!tighten(&pipe).unwrap());
}
