//! When the store cannot be used, the result is still shown.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::bench::{Bench, finish, is_root, op};

const READ: [&str; 8] = [
    "io",
    "data",
    "--rw",
    "randread",
    "--size",
    "4M",
    "--number-ios",
    "200",
];

#[test]
fn an_unusable_store_does_not_cost_the_result() {
    let bench = Bench::new();
    fs::write(
        bench.store(),
        "this is not a database, but it is longer than a header would be",
    )
    .unwrap();
    let (output, result) = bench.json(READ);
    output.expect_measured().expect_in_stderr("not be stored");
    assert_eq!(op(&result, 0, "read")["ops"], 200);
    bench.fathom(["runs", "list"]).expect_status(1);
}

#[test]
fn a_store_whose_disk_fills_up_does_not_cost_the_result() {
    if !is_root() {
        println!("skipped: a small file system needs root");
        return;
    }
    let bench = Bench::new();
    let place = bench.path().join("small");
    fs::create_dir(&place).unwrap();
    let mount = |args: &[&str]| {
        assert!(
            Command::new(args[0])
                .args(&args[1..])
                .arg(&place)
                .status()
                .unwrap()
                .success()
        );
    };
    mount(&["mount", "-t", "tmpfs", "-o", "size=2M", "none"]);
    let store = place.join("fathom.db");
    let child = bench
        .command([
            "io",
            "data",
            "--rw",
            "randread",
            "--size",
            "4M",
            "--runtime",
            "6s",
            "--json",
        ])
        .env("FATHOM_STORE", &store)
        .args(["--html", "report.html"])
        .spawn()
        .expect("fathom starts");
    sleep(Duration::from_millis(2500));
    // Takes whatever is left.
    let _ = fs::write(place.join("filler"), vec![0u8; 4 << 20]);
    let output = finish(child);
    let result = output.json();
    mount(&["umount"]);
    output.expect_measured().expect_in_stderr("not be stored");
    let seconds = result["trials"][0]["intervals"].as_array().unwrap().len();
    assert!(seconds >= 5, "every second is in the result: {seconds}");
}
