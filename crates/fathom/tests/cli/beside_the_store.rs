//! What lies in the folder of a store, and is not always fathom's.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::bench::Bench;

const RUN: [&str; 5] = ["io", "null:", "--runtime", "300ms", "--quiet"];

#[test]
fn clean_removes_nothing_that_it_did_not_list() {
    let bench = Bench::new();
    let agents = bench.store().with_file_name("agents");
    fs::create_dir(&agents).unwrap();
    fs::write(agents.join("notes.txt"), "my notes").unwrap();
    fs::write(agents.join("empty"), "").unwrap();
    let limits = bench.store().with_file_name("changed-limits");
    let precious = bench.path().join("io.max");
    fs::write(&precious, "mine").unwrap();
    fs::write(&limits, format!("1 1\t{}\tother\n", precious.display())).unwrap();
    fs::set_permissions(&limits, fs::Permissions::from_mode(0o666)).unwrap();
    let cleaned = bench.fathom(["clean", "--yes"]);
    cleaned.expect_status(0);
    assert!(
        cleaned.stdout.contains("nothing to clean"),
        "{}",
        cleaned.stdout
    );
    assert_eq!(fs::read_dir(&agents).unwrap().count(), 2);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
}

#[test]
fn a_removed_run_takes_its_report_along_and_nothing_else() {
    let bench = Bench::new();
    let reports = bench.store().with_file_name("reports");
    for own in [true, false] {
        bench.fathom(RUN).expect_measured();
        let listed = fs::read_dir(&reports)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let report = listed.into_iter().next().unwrap();
        if !own {
            fs::write(&report, "my notes on this run").unwrap();
        }
        let id = report.file_stem().unwrap().to_string_lossy().into_owned();
        bench.fathom(["runs", "rm", &id, "--yes"]).expect_status(0);
        assert_eq!(report.exists(), !own);
    }
}

#[test]
fn a_store_that_is_taken_away_is_named() {
    let bench = Bench::new();
    let run = ["io", "null:", "--runtime", "3s", "--quiet"];
    let child = bench.command(run).spawn().unwrap();
    let begun = std::time::Instant::now();
    while !bench.store().with_file_name("fathom.db-wal").exists() && begun.elapsed().as_secs() < 20
    {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    fs::rename(bench.store(), bench.path().join("elsewhere")).unwrap();
    let output = crate::bench::finish(child);
    output.expect_measured();
    output.expect_in_stderr("was removed, moved or replaced");
}
