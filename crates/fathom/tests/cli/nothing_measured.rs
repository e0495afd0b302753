//! Runs that fail before anything is measured, and names that lead nowhere.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn fathom(here: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(line.split(' '))
        .current_dir(here)
        .env("FATHOM_STORE", here.join("store/fathom.db"))
        .stdin(Stdio::null())
        .output()
        .expect("fathom runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn reports(here: &Path) -> usize {
    fs::read_dir(here.join("store/reports")).map_or(0, Iterator::count)
}

#[test]
fn a_name_that_leads_nowhere_is_a_usage_error_with_what_to_type() {
    let home = TempDir::new().unwrap();
    let here = home.path();
    fs::write(here.join("drive.toml"), "model = \"floppy\"\n").unwrap();
    for line in [
        "io sim:@missing --runtime 1s",
        "io sim:floppy --runtime 1s",
        "io sim:@drive.toml --runtime 1s",
        "io sim:ssd?wheels=4 --runtime 1s",
        "io nowhere --runtime 1s",
        "quick sim:floppy",
        "ping sim:@missing",
        "ping sim:floppy -c 1",
        "ping nowhere/x",
        "ab sim:ssd sim:floppy --rw randread",
        "curve load sim:floppy",
        "disks sim:floppy",
        "disks nowhere",
        "snia iops sim:floppy",
        "snia iops nowhere",
        "meta sim:ssd",
        "enumerate sim:ssd",
        "enumerate nowhere",
        "s3 put sim:ssd",
        "stack sim:ssd",
        "stack nowhere/x",
        "net sim:ssd",
        "diagnose nowhere",
        "watch nowhere",
        "use nowhere",
        "alarms nowhere",
        "io @nowhere",
        "io sim:ssd --slo @nowhere",
        "s3 put s3://bucket --endpoint @nowhere",
        "report nowhere",
        "compare nowhere elsewhere",
        "explain nowhere",
    ] {
        let output = fathom(here, line);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{line}: {out}{err}");
        assert_eq!(out, "", "{line}");
        assert_eq!(err.matches("error: ").count(), 1, "{line}: {err}");
        assert_eq!(err.matches("\nhelp: ").count(), 1, "{line}: {err}");
    }
    // The second side is looked at before the first one is measured.
    let err = text(&fathom(here, "ab sim:ssd sim:@missing --rw randread").stderr);
    assert!(!err.contains("measure"), "{err}");
    assert!(err.contains("6 of 12 trials"), "{err}");
}

#[test]
fn a_target_that_is_not_there_leaves_no_run_and_one_message() {
    let home = TempDir::new().unwrap();
    let here = home.path();
    fs::write(
        here.join("plan.yaml"),
        "plan: 1\ntargets: /nonexistent/x\nworkloads:\n- {rw: read, runtime: 1s, size: 1m}\n",
    )
    .unwrap();
    let first = fathom(here, "io null: --runtime 100ms --quiet --json");
    let latest = text(&fathom(here, "runs list --json").stdout);
    assert!(
        first.status.code().is_some() && latest.contains("\"id\""),
        "{latest}"
    );
    let before = reports(here);
    for line in [
        "io /nonexistent/x --rw randread --size 1m --runtime 1s",
        "quick /nonexistent/x --seconds 1 --size 64m",
        "meta /nonexistent/x",
        "run plan.yaml",
        "ab /nonexistent/x /nonexistent/y --rw read --size 1m --runtime 1s",
        "curve load /nonexistent/x --slo p99<2ms",
        "ping /nonexistent/x -c 1",
    ] {
        let output = fathom(here, line);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{line}: {out}{err}");
        assert_eq!(out, "", "{line}");
        assert_eq!(err.matches("does not exist").count(), 1, "{line}: {err}");
        assert_eq!(
            text(&fathom(here, "runs list --json").stdout),
            latest,
            "{line}"
        );
        assert_eq!(reports(here), before, "{line}");
    }
}

#[test]
fn a_refused_file_leaves_no_run() {
    let home = TempDir::new().unwrap();
    let here = home.path();
    fs::write(here.join("mine"), vec![7; 1 << 20]).unwrap();
    let output = fathom(here, "io mine --rw randwrite --runtime 1s");
    let err = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{err}");
    assert_eq!(text(&output.stdout), "");
    let listed = text(&fathom(here, "runs list").stdout);
    assert!(listed.contains("nothing has been measured"), "{listed}");
    assert_eq!(fs::read(here.join("mine")).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn names_that_lead_nowhere_have_one_status() {
    let home = TempDir::new().unwrap();
    let here = home.path();
    fathom(here, "io null: --runtime 100ms --quiet");
    for line in [
        "plan check nope.yaml",
        "plan show nope.yaml",
        "plan export --fio nope.yaml",
        "run nope.yaml",
        "crosscheck nope.yaml",
        "gosbench nope.yaml",
        "judge nope",
        "diagnose nope",
        "use nope",
        "alarms nope",
        "report nope",
        "runs show nope",
        "runs rm nope",
        "runs export nope",
        "compare latest nope",
        "smallfile --top /nonexistent --operation create",
        "report latest --store /nonexistent/x.db",
    ] {
        let output = fathom(here, line);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {err}");
        assert!(err.lines().count() <= 3, "{line}: {err}");
    }
    let err = text(&fathom(here, "report nope").stderr);
    assert!(err.contains("help: fathom runs list"), "{err}");
}

#[test]
fn a_store_with_an_impossible_version_says_that_it_is_damaged() {
    let home = TempDir::new().unwrap();
    let here = home.path();
    fathom(here, "io null: --runtime 100ms --quiet");
    let store = here.join("store/fathom.db");
    let whole = fs::read(&store).unwrap();
    for version in [-1_i32, 0, 1] {
        let mut bytes = whole.clone();
        // `user_version` in the header of SQLite's files.
        bytes[60..64].copy_from_slice(&version.to_be_bytes());
        fs::write(&store, &bytes).unwrap();
        let output = fathom(here, "runs list");
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{version}: {err}");
        assert!(
            err.contains("is damaged") && err.contains("move it away"),
            "{version}: {err}"
        );
        // Nothing was changed: with its own version it is whole again.
        let mut bytes = fs::read(&store).unwrap();
        bytes[60..64].copy_from_slice(&whole[60..64]);
        fs::write(&store, &bytes).unwrap();
        let listed = text(&fathom(here, "runs list --json").stdout);
        assert_eq!(listed.matches("\"id\"").count(), 1, "{version}: {listed}");
    }
}
