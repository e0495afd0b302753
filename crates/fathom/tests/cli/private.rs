//! What fathom writes is its owner's alone, whatever the umask is.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::bench::laboratory;

/// Calls fathom, or the laboratory where the line begins with its name, with an
/// open umask and a home of its own.
fn fathom(home: &Path, line: &str) -> Output {
    let call = match line.strip_prefix("fathom-lab ") {
        Some(line) => format!("{} {line}", laboratory().display()),
        None => format!("{} {line}", env!("CARGO_BIN_EXE_fathom")),
    };
    let script = format!("umask 000; exec {call}");
    Command::new("sh")
        .args(["-c", &script])
        .current_dir(home)
        .env("HOME", home)
        .env_remove("XDG_DATA_HOME")
        .env_remove("FATHOM_STORE")
        .stdin(Stdio::null())
        .output()
        .expect("a shell runs")
}

fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata()
        .expect("a file")
        .permissions()
        .mode()
        & 0o7777
}

/// Everything below a folder.
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(all_below(&path));
        }
        found.push(path);
    }
    found
}

#[test]
fn every_file_is_its_owners_alone() {
    let home = TempDir::new().unwrap();
    let here = home.path();
    let job = "[a]\nioengine=null\nsize=1m\nrw=read\nwrite_bw_log=l\nwrite_iolog=ops\n";
    fs::write(here.join("job.fio"), job).unwrap();
    fs::write(
        here.join("plan.yaml"),
        "plan: 1\ntargets: 'null:'\nworkloads:\n- {rw: read, runtime: 1s, size: 1m}\n",
    )
    .unwrap();
    fs::set_permissions(here.join("job.fio"), PermissionsExt::from_mode(0o644)).unwrap();
    fs::set_permissions(here.join("plan.yaml"), PermissionsExt::from_mode(0o644)).unwrap();
    let given = [here.join("job.fio"), here.join("plan.yaml")];
    for line in [
        "io null: --runtime 200ms --html page.html",
        "fio --output=result.txt job.fio",
        "runs export latest --format fio-logs --directory out/logs",
        "runs export latest --format fio-json --directory out/json",
        "report latest -o again.html",
        "report latest",
        "plan export --fio plan.yaml --out plan.fio --target /tmp",
        "record --for 2s --every 1s",
        "record --for 2s --every 1s -o mine.frec",
        "smallfile --top . --threads 1 --files 5 --operation create --output-json s.json --response-times Y",
        "fathom-lab s3 --address-file address --tls ca.pem -- true",
        "clean --yes",
    ] {
        let output = fathom(here, line);
        assert!(
            output
                .status
                .code()
                .is_some_and(|code| [0, 4].contains(&code)),
            "{line}: {}",
            text(&output)
        );
    }
    let all = all_below(here);
    let has = |end: &str| all.iter().any(|path| path.to_string_lossy().ends_with(end));
    for end in [
        "fathom.db",
        "page.html",
        "again.html",
        "result.txt",
        "_bw.1.log",
        "ops",
        "plan.fio",
        "mine.frec",
        "s.json",
        "address",
        "ca.pem",
        ".csv",
    ] {
        assert!(has(end), "{end} is missing in {all:?}");
    }
    for path in all.iter().filter(|path| !given.contains(path)) {
        // The data of a target are not output.
        if path.to_string_lossy().contains("smallfile.tree") {
            continue;
        }
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path), wanted, "{}", path.display());
    }
}

#[test]
fn an_open_store_is_tightened_and_a_folder_keeps_its_mode() {
    let home = TempDir::new().unwrap();
    let store = home.path().join("runs/fathom.db");
    let line = format!(
        "io null: --runtime 100ms --quiet --store {}",
        store.display()
    );
    fathom(home.path(), &line);
    fs::set_permissions(&store, PermissionsExt::from_mode(0o644)).unwrap();
    let folder = store.parent().unwrap();
    fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    // Reading changes nothing.
    let listed = fathom(
        home.path(),
        &format!("runs list --store {}", store.display()),
    );
    assert!(listed.status.success(), "{}", text(&listed));
    assert_eq!(mode(&store), 0o644);
    fathom(home.path(), &line);
    assert_eq!((mode(&store), mode(folder)), (0o600, 0o755));
}

/// Commands that write a file named `FILE`.
const WRITERS: [&str; 9] = [
    "io null: --runtime 100ms --html FILE",
    "fio --name=a --ioengine=null --size=1m --rw=read --output=FILE",
    "fio --name=a --ioengine=null --size=1m --rw=read --write_iolog=FILE",
    "report latest -o FILE",
    "plan export --fio plan.yaml --target /tmp --out FILE",
    "record --for 2s -o FILE",
    "fathom-lab s3 --address-file FILE -- true",
    "fathom-lab s3 --tls FILE -- true",
    "smallfile --top . --threads 1 --files 2 --operation create --output-json FILE",
];

#[test]
fn a_file_of_somebody_else_is_never_replaced_and_no_link_is_followed() {
    let home = TempDir::new().unwrap();
    let here = home.path();
    fs::write(
        here.join("plan.yaml"),
        "plan: 1\ntargets: 'null:'\nworkloads:\n- {rw: read, runtime: 1s, size: 1m}\n",
    )
    .unwrap();
    let first = fathom(here, "io null: --runtime 100ms --quiet");
    assert!(first.status.code().is_some(), "{}", text(&first));
    let runs = || {
        text(&fathom(here, "runs list --json"))
            .matches("\"id\"")
            .count()
    };
    let before = runs();
    let victim = here.join("victim");
    for line in WRITERS {
        fs::write(here.join("thesis"), "years of work").unwrap();
        let output = fathom(here, &line.replace("FILE", "thesis"));
        assert!(!output.status.success(), "{line}: {}", text(&output));
        assert!(
            text(&output).contains("thesis"),
            "{line}: {}",
            text(&output)
        );
        assert_eq!(
            fs::read_to_string(here.join("thesis")).unwrap(),
            "years of work",
            "{line}"
        );
        let link = here.join("link");
        let _ = fs::remove_file(&link);
        symlink(&victim, &link).unwrap();
        let output = fathom(here, &line.replace("FILE", "link"));
        assert!(!output.status.success(), "{line}: {}", text(&output));
        assert!(!victim.exists(), "{line}");
        assert!(link.is_symlink(), "{line}");
    }
    // It was refused before anything was measured.
    assert_eq!(runs(), before);
    let logs = "fio --name=a --ioengine=null --size=1m --rw=read --write_bw_log=x";
    symlink(&victim, here.join("x_bw.1.log")).unwrap();
    let output = fathom(here, logs);
    assert!(
        !output.status.success() && !victim.exists(),
        "{}",
        text(&output)
    );
    assert_eq!(runs(), before);
}

#[test]
fn what_fathom_wrote_may_be_written_again_and_force_does_the_rest() {
    let home = TempDir::new().unwrap();
    let here = home.path();
    fs::write(
        here.join("plan.yaml"),
        "plan: 1\ntargets: 'null:'\nworkloads:\n- {rw: read, runtime: 1s, size: 1m}\n",
    )
    .unwrap();
    for (number, line) in WRITERS.iter().enumerate() {
        // A recording is never replaced.
        if line.starts_with("record") {
            continue;
        }
        let name = format!("own-{number}");
        for _ in 0..2 {
            let output = fathom(here, &line.replace("FILE", &name));
            assert!(
                output
                    .status
                    .code()
                    .is_some_and(|code| [0, 4].contains(&code)),
                "{line}: {}",
                text(&output)
            );
        }
    }
    fs::write(here.join("thesis"), "years of work").unwrap();
    let output = fathom(here, "--force report latest -o thesis");
    assert!(output.status.success(), "{}", text(&output));
    let page = fs::read_to_string(here.join("thesis")).unwrap();
    assert!(page.starts_with("<!doctype html>"));
    let null = fathom(here, "report latest -o /dev/null");
    assert!(null.status.success(), "{}", text(&null));
}
