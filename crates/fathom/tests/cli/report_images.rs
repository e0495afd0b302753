//! `fathom report --svg` and `--png`: charts as files.

use std::fs;

use crate::bench::Bench;

#[test]
fn charts_are_written_as_files_and_replaced_by_the_next_run() {
    let bench = Bench::new();
    bench
        .fathom([
            "io",
            "sim:ssd",
            "--rw",
            "randread",
            "--runtime",
            "5",
            "--quiet",
        ])
        .expect_measured();
    for _ in 0..2 {
        let written = bench.fathom(["report", "--svg", "charts", "--png", "main.png"]);
        written.expect_status(0);
        assert!(written.stdout.contains("main.png"), "{}", written.stdout);
    }
    let files = fs::read_dir(bench.path().join("charts")).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 6, "{names:?}");
    assert_eq!(names[0], "001-trial-1-operations.svg");
    let svg = fs::read_to_string(bench.path().join("charts").join(&names[0])).unwrap();
    assert!(svg.starts_with("<svg xmlns=") && !svg.contains("var("));
    let png = fs::read(bench.path().join("main.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));

    // A picture of somebody else stays.
    fs::write(bench.path().join("mine.png"), b"\x89PNG and more").unwrap();
    bench
        .fathom(["report", "--png", "mine.png"])
        .expect_status(2)
        .expect_in_stderr("mine.png");
}

#[test]
fn a_file_of_another_format_is_no_folder() {
    let bench = Bench::new();
    let measured = ["io", "sim:ssd", "--rw", "randread", "--runtime", "5", "-q"];
    bench.fathom(measured).expect_measured();
    bench
        .fathom(["report", "--png", "main.svg"])
        .expect_status(2)
        .expect_in_stderr("help: --svg main.svg");
    assert!(!bench.path().join("main.svg").exists());
}

#[test]
fn a_report_is_written_in_the_format_that_its_file_promises() {
    let bench = Bench::new();
    let args = ["io", "sim:ssd", "--rw", "randread", "--runtime", "5s"];
    bench.fathom(args).expect_status(0);
    for (file, start) in [
        ("r.html", "<!doctype html>"),
        ("r.md", "### fathom"),
        ("r.csv", "run_id,"),
        ("r.json", "{"),
    ] {
        bench
            .fathom(["report", "latest", "-o", file])
            .expect_status(0);
        let text = fs::read_to_string(bench.path().join(file)).unwrap();
        assert!(text.starts_with(start), "{file}");
    }
    let shown = bench.fathom(["report", "latest", "--format", "markdown"]);
    shown.expect_status(0);
    assert!(shown.stdout.starts_with("### fathom"), "{}", shown.stdout);
    for (file, instead) in [("r.png", "--png FILE"), ("r.pdf", "--summary")] {
        let refused = bench.fathom(["report", "latest", "-o", file]);
        refused.expect_status(2).expect_in_stderr(instead);
        assert!(!bench.path().join(file).exists(), "{file}");
    }
}
