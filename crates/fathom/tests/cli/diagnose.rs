//! `fathom diagnose`: the method of a support engineer, on recordings whose
//! truth is known.

use std::path::{Path, PathBuf};

use crate::bench::Bench;

fn example(name: &str) -> PathBuf {
    let folder = "../../examples/iostat";
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(name)
}

fn diagnose(bench: &Bench, files: &[&str], flags: &[&str]) -> crate::bench::Output {
    let mut args = vec!["diagnose".into()];
    args.extend(files.iter().map(|f| example(f).into_os_string()));
    args.extend(flags.iter().map(Into::into));
    bench.fathom(args)
}

#[test]
fn the_ticket_is_no_matter_of_the_disk() {
    let bench = Bench::new();
    let files = ["ticket.json", "test-load.json", "uptime.txt"];
    let output = diagnose(&bench, &files, &["--json"]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    let found = output.json();
    assert_eq!(found["schema"], "fathom.diagnosis/1");
    assert_eq!(
        (&found["answer"], &found["limiter"]),
        (&"no".into(), &"cpu_queue".into())
    );
    let evidence: Vec<&str> = found["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line.as_str())
        .collect();
    assert!(
        evidence[0].contains("load average of 2.5 for each of 32 CPUs"),
        "{evidence:?}"
    );
    assert!(
        evidence[1].contains("sda: peaks at 240 of 1,000"),
        "{evidence:?}"
    );
    let ceiling = found["ceiling"]["operations"].as_f64().unwrap();
    assert!((ceiling / 1_000.0 - 1.0).abs() < 0.02, "{ceiling}");
}

#[test]
fn text_and_page_say_the_same() {
    let bench = Bench::new();
    let files = ["ticket.json", "test-load.json", "uptime.txt"];
    let text = diagnose(&bench, &files, &[]).stdout;
    assert!(
        text.starts_with("NO: the storage is not the bottleneck; CPUs are\n"),
        "{text}"
    );
    assert!(
        text.contains("sda over time (full height: the ceiling"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let page = diagnose(&bench, &files, &["--format", "html"]).stdout;
    assert!(page.contains("<h1>NO: ") && page.contains("<polyline class=\"reads\""));
    assert!(page.contains("class=\"ceiling\"") && !page.contains("<script"));
}

#[test]
fn without_a_ceiling_it_is_said_what_would_settle_it() {
    let bench = Bench::new();
    // The test load alone: the volume works, and nothing says how much it can.
    let found = diagnose(&bench, &["test-load.json"], &["--json"]).json();
    assert_eq!(found["answer"], "not_proven");
    let settle = found["settle"].to_string();
    assert!(settle.contains("--ceiling-iops"), "{settle}");
    // At its known limit, with hardly any waiting, it is not blamed.
    let limits = ["--ceiling-iops", "1000", "--json"];
    let full = diagnose(&bench, &["test-load.json"], &limits).json();
    assert_ne!(full["answer"], "yes");
    assert!(
        full["evidence"]
            .to_string()
            .contains("at 90 % of its ceiling"),
        "{full}"
    );
}

#[test]
fn wrong_calls_are_told() {
    let bench = Bench::new();
    let missing = diagnose(&bench, &["absent.json"], &[]);
    assert_eq!(missing.status, Some(2));
    assert!(
        missing.stderr.contains("absent.json: "),
        "{}",
        missing.stderr
    );
    let disk = diagnose(&bench, &["ticket.json"], &["--disk", "/dev/sdz"]);
    assert_eq!(disk.status, Some(2));
    assert!(
        disk.stderr.contains("--disk sdz: the recording has sda"),
        "{}",
        disk.stderr
    );
    let three = ["ticket.json", "test-load.json", "ticket.json"];
    let three = diagnose(&bench, &three, &[]);
    assert_eq!(three.status, Some(2));
    assert!(
        three.stderr.contains("a third recording"),
        "{}",
        three.stderr
    );
}
