//! Lists on real file systems: whose they are and what they say.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

fn dir() -> (tempfile::TempDir, OwnedFd) {
    let dir = tempfile::tempdir().unwrap();
    let fd = File::open(dir.path()).unwrap().into();
    (dir, fd)
}

fn noted(dir: &Path, name: &str) -> ListedFile {
    let facts = FileFacts::at(File::open(dir).unwrap(), name).unwrap();
    let mut entry = ListedFile::creating(0xABC);
    entry.identify(&facts.identity);
    entry.state = FileState::Written;
    entry
}

#[test]
fn what_is_saved_is_opened_again() {
    let (dir, fd) = dir();
    std::fs::write(dir.path().join("t with space.0"), "x").unwrap();
    let entry = noted(dir.path(), "t with space.0");
    let mut manifest = Manifest::open(&fd, dir.path(), "t with space").unwrap();
    assert!(manifest.entries.is_empty());
    manifest.entries.insert("t with space.0".to_owned(), entry);
    manifest.save().unwrap();
    let again = manifest.again().unwrap();
    assert_eq!(again.entries, manifest.entries);
    drop((manifest, again));
    let manifest = Manifest::open(&fd, dir.path(), "t with space").unwrap();
    assert_eq!(manifest.entries["t with space.0"], entry);
    let mode = manifest.path.metadata().unwrap().mode();
    assert_eq!(mode & 0o7777, 0o600);
}

#[test]
fn a_second_user_is_turned_away() {
    let (dir, fd) = dir();
    let _held = Manifest::open(&fd, dir.path(), "t").unwrap();
    let error = Manifest::open(&fd, dir.path(), "t").unwrap_err();
    assert!(error.to_string().contains("another fathom"), "{error}");
    Manifest::open(&fd, dir.path(), "other").unwrap();
}

#[test]
fn a_strangers_file_is_left_alone() {
    let (dir, fd) = dir();
    for content in ["hello\n", "fathom test files 3\n", "\0\u{fe}"] {
        let path = dir.path().join("t.manifest");
        std::fs::write(&path, content).unwrap();
        let error = Manifest::open(&fd, dir.path(), "t").unwrap_err();
        assert!(error.to_string().contains("not a list"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
    let secret = dir.path().join("secret");
    std::fs::write(&secret, "").unwrap();
    symlink(&secret, dir.path().join("u.manifest")).unwrap();
    let error = Manifest::open(&fd, dir.path(), "u").unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert_eq!(secret.metadata().unwrap().len(), 0);
    std::fs::create_dir(dir.path().join("v.manifest")).unwrap();
    assert!(Manifest::open(&fd, dir.path(), "v").is_err());
    let pipe = dir.path().join("w.manifest");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
    let error = Manifest::open(&fd, dir.path(), "w").unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    assert!(Manifest::open(&fd, dir.path(), "../x").is_err());
}

/// What an attacker may have planted, and what fathom says about it.
#[test]
fn a_list_that_others_may_have_written_is_refused_and_kept() {
    let (dir, fd) = dir();
    let path = dir.path().join("t.manifest");
    let plant = |text: &str, mode: u32| {
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let refused = |why: &str| {
        let before = std::fs::read(&path).unwrap();
        let error = Manifest::open(&fd, dir.path(), "t")
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{error}");
        assert!(error.contains("cannot be trusted") && error.contains("t.manifest"));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    };
    for mode in [0o666, 0o620, 0o602] {
        plant("", mode);
        refused("others may write to it");
    }
    plant("", 0o600);
    std::fs::hard_link(&path, dir.path().join("other name")).unwrap();
    refused("second name");
    std::fs::remove_file(dir.path().join("other name")).unwrap();
    Manifest::open(&fd, dir.path(), "t").unwrap();
    plant("fathom test files 1\nwritten 7 0 ../secret\n", 0o600);
    refused("line 2 names a file");
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can give a file away");
        return;
    }
    plant("", 0o600);
    std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
    refused("belongs to uid 65534");
}

#[test]
fn a_list_that_changes_hands_during_a_run_is_not_read_again() {
    let (dir, fd) = dir();
    let mut manifest = Manifest::open(&fd, dir.path(), "t").unwrap();
    manifest
        .entries
        .insert("t.0".to_owned(), ListedFile::creating(1));
    manifest.save().unwrap();
    let mode = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(&manifest.path, mode).unwrap();
    let error = manifest.reload().unwrap_err().to_string();
    assert!(error.contains("during the run"), "{error}");
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&manifest.path, mode).unwrap();
    let text = std::fs::read_to_string(&manifest.path).unwrap();
    std::fs::write(&manifest.path, text + "written 5 1 ../secret/important\n").unwrap();
    assert!(manifest.reload().is_err());
    assert_eq!(manifest.entries.len(), 1);
}

#[test]
fn lists_of_the_first_version_are_completed_and_kept() {
    let (dir, fd) = dir();
    let path = |name: &str| dir.path().join(name);
    let listed = |names: &[&str]| {
        let lines = names.iter().map(|name| {
            let inode = path(name).metadata().map_or(99, |facts| facts.ino());
            format!("written {inode} {:016x} {name}\n", 7)
        });
        format!("fathom test files 1\n{}", lines.collect::<String>())
    };
    std::fs::write(path("t.0"), "ours").unwrap();
    std::fs::write(path("t.manifest"), listed(&["t.0", "t.1"])).unwrap();
    let manifest = Manifest::open(&fd, dir.path(), "t").unwrap();
    let facts = FileFacts::at(&fd, "t.0").unwrap();
    assert_eq!(manifest.entries["t.0"].born_ns, facts.identity.born_ns);
    assert!(manifest.owns("t.0", &facts));
    let text = std::fs::read_to_string(path("t.manifest")).unwrap();
    assert!(text.starts_with("fathom test files 2\n"), "{text}");
    drop(manifest);
    // A file that is younger than the list got the inode of an older one.
    std::fs::write(path("u.manifest"), "fathom test files 1\n").unwrap();
    let written = path("u.manifest").metadata().unwrap().modified().unwrap();
    std::thread::sleep(Duration::from_millis(30));
    std::fs::write(path("u.0"), "mine").unwrap();
    std::fs::write(path("u.manifest"), listed(&["u.0"])).unwrap();
    let list = File::options()
        .write(true)
        .open(path("u.manifest"))
        .unwrap();
    list.set_modified(written).unwrap();
    let facts = FileFacts::at(&fd, "u.0").unwrap();
    let manifest = Manifest::open(&fd, dir.path(), "u").unwrap();
    match facts.identity.born_ns {
        Some(_) => assert!(!manifest.owns("u.0", &facts)),
        None => println!("skipped: this file system keeps no birth times"),
    }
}

#[test]
fn a_reused_inode_is_not_the_listed_file() {
    let (dir, fd) = dir();
    let path = dir.path().join("t.0");
    std::fs::write(&path, "").unwrap();
    let mut manifest = Manifest::open(&fd, dir.path(), "t").unwrap();
    manifest
        .entries
        .insert("t.0".to_owned(), noted(dir.path(), "t.0"));
    let ours = FileFacts::at(&fd, "t.0").unwrap();
    assert!(manifest.owns("t.0", &ours));
    let later = FileIdentity {
        born_ns: ours.identity.born_ns.map(|ns| ns + 1),
        ..ours.identity
    };
    let stranger = FileFacts {
        identity: later,
        ..ours
    };
    assert_eq!(manifest.owns("t.0", &stranger), later.born_ns.is_none());
    // Without birth times the owner decides.
    let mut unborn = ours;
    unborn.identity.born_ns = None;
    assert!(manifest.owns("t.0", &unborn));
    unborn.owner += 1;
    assert!(!manifest.owns("t.0", &unborn));
    // One that is being created has to be empty, plain and the user's.
    manifest
        .entries
        .insert("t.0".to_owned(), ListedFile::creating(1));
    assert!(manifest.owns("t.0", &ours));
    let filled = FileFacts {
        size_bytes: 1,
        ..ours
    };
    let foreign = FileFacts {
        owner: ours.owner + 1,
        ..ours
    };
    let linked = FileFacts { links: 2, ..ours };
    for stranger in [filled, foreign, linked] {
        assert!(!manifest.owns("t.0", &stranger), "{stranger:?}");
    }
}

#[test]
fn a_long_history_is_left_behind() {
    let (dir, fd) = dir();
    let mut manifest = Manifest::open(&fd, dir.path(), "t").unwrap();
    let entry = noted(dir.path(), "t.manifest");
    manifest.entries.insert("t.0".to_owned(), entry);
    manifest.save().unwrap();
    let line = std::fs::read_to_string(&manifest.path).unwrap();
    let line = line.lines().nth(1).unwrap().to_owned() + "\n";
    let end = manifest.list.file.metadata().unwrap().len();
    let history = line.repeat((2 << 20) / line.len());
    manifest
        .list
        .file
        .write_all_at(history.as_bytes(), end)
        .unwrap();
    drop(manifest);
    let manifest = Manifest::open(&fd, dir.path(), "t").unwrap();
    assert_eq!(manifest.entries["t.0"], entry);
    assert!(manifest.list.file.metadata().unwrap().len() < 1000);
}
