//! Parts of a recording, joined by every command that takes recordings.

use crate::bench::{Bench, finish};

/// Three parts, with the recorder stopped in between.
fn three_parts(bench: &Bench) {
    std::fs::create_dir(bench.path().join("r")).unwrap();
    for _ in 0..3 {
        let args = [
            "record",
            "--for",
            "1s",
            "--every",
            "100ms",
            "--rotate-size",
            "1MiB",
            "--output",
            "r/host.frec",
        ];
        bench.fathom(args).expect_status(0);
    }
}

#[test]
fn a_folder_of_parts_is_one_recording_for_every_command() {
    let bench = Bench::new();
    three_parts(&bench);
    let one = bench.fathom(["diagnose", "r/host.frec", "--json"]).json();
    let remarks = one["remarks"].to_string();
    let beside = "2 other parts of this recording (host.2.frec, …) lie beside";
    assert!(remarks.contains(beside), "{remarks}");
    for given in [
        vec!["r"],
        vec!["r/host.frec", "r/host.1.frec", "r/host.2.frec"],
    ] {
        let of = |command: &str| {
            let mut args = vec![command];
            args.extend(&given);
            args.push("--json");
            bench.fathom(args)
        };
        let found = of("diagnose").json();
        let source = found["sources"][0].as_str().unwrap();
        assert!(
            source.starts_with("3 parts of a recording of fathom"),
            "{source}"
        );
        let (all, part) = (found["samples"].as_u64(), one["samples"].as_u64());
        assert!(all > part, "{all:?} {part:?}");
        let alarms = of("alarms");
        assert!(matches!(alarms.status, Some(0 | 10)), "{}", alarms.stderr);
        let alarms = alarms.json();
        assert_eq!(alarms["sources"].as_array().unwrap().len(), 1);
        let read = alarms["readings"].as_array().unwrap();
        assert!(
            read.iter().any(|one| one["quantity"] == "cpu_busy"),
            "{alarms}"
        );
        let table = of("use").json();
        assert!(table["resources"].as_array().unwrap().len() > 2, "{table}");
    }
    let every = bench.fathom(["watch", "r", "--plain", "--every", "500ms"]);
    every.expect_status(0);
    let blocks = every.stdout.matches("\nCPU     ").count();
    assert!((3..=9).contains(&blocks), "{blocks}: {}", every.stdout);
    let two = bench.fathom(["watch", "r", "--plain", "--every", "100ms", "--count", "2"]);
    assert_eq!(
        two.stdout.matches("\nCPU     ").count(),
        2,
        "{}",
        two.stdout
    );
}

#[test]
fn two_recorders_at_once_are_refused_and_so_is_an_empty_folder() {
    let bench = Bench::new();
    let start = |name: &str| {
        let args = [
            "record", "--for", "2s", "--every", "100ms", "--output", name,
        ];
        bench.command(args).spawn().unwrap()
    };
    std::fs::create_dir(bench.path().join("r")).unwrap();
    let both = [start("r/a.frec"), start("r/b.frec")];
    for child in both {
        finish(child).expect_status(0);
    }
    for command in ["diagnose", "use", "alarms", "watch"] {
        let refused = bench.fathom([command, "r"]);
        refused
            .expect_status(2)
            .expect_in_stderr("two recorders ran side by side");
        let empty = bench.fathom([command, "data"]);
        empty
            .expect_status(2)
            .expect_in_stderr("no recording of fathom is in this folder");
    }
}

/// A recording of this host under another name, cut off in its last reading.
fn cut_off(bench: &Bench, name: &str) {
    let args = ["record", "--for", "1s", "--every", "100ms"];
    let args = args.into_iter().chain(["--output", "whole.frec"]);
    bench.fathom(args).expect_status(0);
    let whole = std::fs::read(bench.path().join("whole.frec")).unwrap();
    std::fs::write(bench.path().join(name), &whole[..whole.len() - 30]).unwrap();
}

#[test]
fn names_of_files_are_names_of_their_owner() {
    let bench = Bench::new();
    cut_off(&bench, "secret-20261121-153000.frec");
    for format in ["text", "json", "markdown", "html"] {
        let file = "secret-20261121-153000.frec";
        let output = bench.fathom(["diagnose", file, "--format", format, "--anonymise"]);
        output.expect_status(0);
        assert!(!output.stdout.contains("secret"), "{}", output.stdout);
        assert!(output.stdout.contains("recording-1"), "{}", output.stdout);
    }
}

#[test]
fn a_damaged_file_does_not_block_its_folder() {
    let bench = Bench::new();
    three_parts(&bench);
    let whole = std::fs::read(bench.path().join("r/host.frec")).unwrap();
    std::fs::write(bench.path().join("r/torn.frec"), &whole[..50]).unwrap();
    for command in ["diagnose", "use", "alarms"] {
        let read = bench.fathom([command, "r", "--json"]);
        assert!(matches!(read.status, Some(0 | 10)), "{}", read.stderr);
        let told = "torn.frec was left out: this is not a recording of fathom, or its beginning is damaged";
        assert!(read.stdout.contains(told), "{command}: {}", read.stdout);
    }
    bench
        .fathom(["watch", "r", "--plain", "--count", "1"])
        .expect_status(0)
        .expect_in_stderr("torn.frec was left out");
    bench.fathom(["diagnose", "r/torn.frec"]).expect_status(2);
}
