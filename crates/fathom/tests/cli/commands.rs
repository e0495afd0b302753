//! Commands that look at things: explain, doctor, runs, report, help.

use std::fs;

use crate::bench::Bench;

#[test]
fn explain_knows_the_words_of_answers() {
    let bench = Bench::new();
    let depth = bench.fathom(["explain", "queue_depth"]);
    depth.expect_status(0);
    assert!(depth.stdout.starts_with("queue depth (limiter)"));
    let document = ["explain", "queue_depth", "--json"];
    bench.fathom(document).expect_status(2);
}

#[test]
fn explain_teaches_each_check_and_suggests_the_nearest() {
    let bench = Bench::new();
    let list = bench.fathom(["explain"]);
    list.expect_status(0);
    let ids: Vec<&str> = list
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.starts_with('V') && word[1..].chars().all(|c| c.is_ascii_digit()))
        .collect();
    for expected in [
        "V01", "V02", "V03", "V04", "V06", "V07", "V20", "V22", "V23", "V24", "V25", "V26", "V30",
        "V37",
    ] {
        assert!(ids.contains(&expected), "{expected} is not in {ids:?}");
    }
    for id in ids {
        let text = bench.fathom(["explain", id]);
        text.expect_status(0);
        assert!(
            text.stdout.len() > 200,
            "{id} is explained:\n{}",
            text.stdout
        );
    }
    bench
        .fathom(["explain", "app_vs_device_bytes"])
        .expect_status(0);
    for (id, words) in [
        ("rate-limit", "token buckets"),
        ("plateau", "Longer queues bring no more"),
        ("link-below-rated", "A PCIe link is slower"),
    ] {
        let text = bench.fathom(["explain", id]);
        text.expect_status(0);
        assert!(text.stdout.contains(words), "{}", text.stdout);
    }
    bench
        .fathom(["explain", "APP_VS_DEVICE_BYTE"])
        .expect_status(2)
        .expect_in_stderr("V01")
        .expect_in_stderr("help: `fathom explain` lists all");
}

#[test]
fn an_explanation_is_printed_or_written_in_each_format() {
    let bench = Bench::new();
    let json = bench
        .fathom(["explain", "v01", "--json"])
        .expect_status(0)
        .json();
    assert_eq!(json["schema"], "fathom.rules/1");
    assert_eq!(json["rules"][0]["id"], "V01");
    let all = bench
        .fathom(["explain", "--format", "json"])
        .expect_status(0)
        .json();
    assert!(
        all["rules"]
            .as_array()
            .is_some_and(|rules| rules.len() > 100)
    );
    let written = bench.fathom(["explain", "V01", "--format", "markdown", "-o", "v01.md"]);
    written.expect_status(0);
    assert_eq!(written.stdout, "");
    let page = fs::read_to_string(bench.path().join("v01.md")).unwrap();
    assert!(page.starts_with("# V01 "), "{page}");
    fs::write(bench.path().join("mine.txt"), "mine").unwrap();
    bench
        .fathom(["explain", "V01", "-o", "mine.txt"])
        .expect_status(2);
    assert_eq!(
        fs::read_to_string(bench.path().join("mine.txt")).unwrap(),
        "mine"
    );
}

#[test]
fn doctor_says_what_the_machine_allows() {
    let bench = Bench::new();
    let text = bench.fathom(["doctor", "data"]);
    text.expect_status(0);
    assert!(text.stdout.contains("io_uring"), "{}", text.stdout);
    let json = bench
        .fathom(["doctor", "data", "--json"])
        .expect_status(0)
        .json();
    assert!(json.as_array().unwrap().len() > 8);
    assert!(bench.data_files().is_empty(), "what it tried out is gone");
}

#[test]
fn a_list_shows_of_small_files_how_many_were_made() {
    let bench = Bench::new();
    let made = ["meta", "data", "--files", "50", "--phases", "create,stat"];
    bench.fathom(made).expect_status(0);
    let list = bench.fathom(["runs", "list"]).stdout;
    assert!(list.contains("create "), "{list}");
}

#[test]
fn runs_are_listed_shown_exported_reported_and_removed() {
    let bench = Bench::new();
    bench.fathom(["runs", "list"]).expect_status(0);
    let (_, result) = bench.json([
        "io",
        "data",
        "--rw",
        "randread",
        "--size",
        "4M",
        "--number-ios",
        "500",
    ]);
    let id = result["run"]["id"].as_str().unwrap();
    let list = bench.fathom(["runs", "list", "--limit", "1"]);
    assert!(list.stdout.contains(id) && !list.stdout.contains("not shown"));
    bench
        .fathom(["io", "null:", "--rw", "randwrite", "--number-ios", "500"])
        .expect_status(0);
    let list = bench.fathom(["runs", "list", "--limit", "1"]);
    assert!(
        list.stdout.contains("1 older run not shown: --limit"),
        "{}",
        list.stdout
    );
    let nothing = bench.fathom(["compare", "latest~1", "latest"]);
    nothing.expect_status(9);
    assert!(
        nothing.stderr.contains("share no workload"),
        "{}",
        nothing.stderr
    );
    bench
        .fathom(["runs", "rm", "latest", "--yes"])
        .expect_status(0);
    assert!(bench.fathom(["runs", "list"]).stdout.contains(id));
    let shown = bench.fathom(["runs", "show", "latest", "--json"]).json();
    assert_eq!(shown, result, "the store gives back what was shown");
    let csv = bench.fathom(["runs", "export", id, "--csv"]);
    csv.expect_status(0);
    assert!(csv.stdout.lines().count() >= 2, "{}", csv.stdout);
    bench.fathom(["runs", "export", id]).expect_status(0).json();
    bench
        .fathom(["report", id, "-o", "report.html"])
        .expect_status(0);
    assert!(
        fs::read_to_string(bench.path().join("report.html"))
            .unwrap()
            .contains(id)
    );
    let unasked = bench.fathom(["runs", "rm", id]);
    unasked.expect_status(2);
    assert!(unasked.stderr.contains("--yes"), "{}", unasked.stderr);
    bench.fathom(["runs", "rm", id, "--yes"]).expect_status(0);
    bench
        .fathom(["runs", "show", id])
        .expect_status(2)
        .expect_in_stderr(id);
}

#[test]
fn every_command_teaches_by_example() {
    let bench = Bench::new();
    let commands: [&[&str]; 17] = [
        &["ab"],
        &["compare"],
        &["quick"],
        &["io"],
        &["run"],
        &["plan", "new"],
        &["plan", "check"],
        &["plan", "show"],
        &["plan", "schema"],
        &["runs", "list"],
        &["runs", "show"],
        &["runs", "export"],
        &["runs", "rm"],
        &["report"],
        &["explain"],
        &["doctor"],
        &["clean"],
    ];
    for command in commands {
        let help = bench.fathom(command.iter().chain(&["--help"]));
        help.expect_status(0);
        assert!(
            help.stdout.contains("Example"),
            "{command:?}:\n{}",
            help.stdout
        );
    }
    bench.fathom(["man"]).expect_status(0);
    bench.fathom(["completions", "bash"]).expect_status(0);
}

#[test]
fn formats_are_what_they_say() {
    let bench = Bench::new();
    let args = ["io", "null:", "--rw", "randread", "--number-ios", "1000"];
    let csv = bench.fathom(args.iter().chain(&["--csv"]));
    assert!(csv.stdout.lines().count() >= 2, "{}", csv.stdout);
    let columns = csv.stdout.lines().next().unwrap().split(',').count();
    assert!(
        csv.stdout
            .lines()
            .all(|line| line.split(',').count() >= columns)
    );
    let markdown = bench.fathom(args.iter().chain(&["--markdown"]));
    assert!(markdown.stdout.contains("|---") || markdown.stdout.contains("| ---"));
    let quiet = bench.fathom(args.iter().chain(&["--quiet"]));
    assert_eq!(quiet.stderr, "");
}

#[test]
fn a_report_goes_through_a_link_and_does_not_replace_it() {
    let bench = Bench::new();
    bench
        .fathom(["io", "null:", "--rw", "randread", "--number-ios", "1000"])
        .expect_measured();
    let link = bench.path().join("link.html");
    std::os::unix::fs::symlink("real.html", &link).unwrap();
    bench
        .fathom(["report", "latest", "-o", "link.html"])
        .expect_status(2);
    assert!(!bench.path().join("real.html").exists());
    bench
        .fathom(["report", "latest", "-o", "link.html", "--force"])
        .expect_status(0);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(
        fs::read_to_string(bench.path().join("real.html"))
            .unwrap()
            .contains("<html")
    );
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure_and_named() {
    let bench = Bench::new();
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["io", "--help"],
        &["record", "list"],
        &["runs", "list"],
        &["explain", "V01"],
        &["snia", "iops", "sim:ssd", "--dry-run"],
    ] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let mut command = bench.command(arguments);
        let output = command.stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(
            stderr.contains("cannot write to standard output: No space left"),
            "{arguments:?}: {stderr}"
        );
    }
}

#[test]
fn a_command_of_a_group_that_is_typed_without_it_is_shown_with_it() {
    let bench = Bench::new();
    for (typed, meant) in [("tag", "'runs tag'"), ("rm", "'runs rm'")] {
        let outcome = bench.fathom([typed]);
        outcome.expect_status(2).expect_in_stderr(meant);
        assert!(!outcome.stderr.contains("gluster"), "{}", outcome.stderr);
    }
    let plan = bench.fathom(["show"]);
    plan.expect_status(2)
        .expect_in_stderr("'runs show'")
        .expect_in_stderr("'plan show'");
}

/// Every command that prints one document writes it where `-o` says, and nothing else to
/// standard output.
#[test]
fn a_document_goes_to_its_file() {
    let bench = Bench::new();
    let result = crate::judge::fixture("fio2.json").display().to_string();
    let ticket = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/iostat/ticket.json"
    );
    let commands: [&[&str]; 6] = [
        &["judge", &result],
        &["diagnose", ticket],
        &["use", ticket],
        &["stack", "."],
        &["doctor", "."],
        &["runs", "list"],
    ];
    for (number, words) in commands.into_iter().enumerate() {
        let file = bench.path().join(format!("document-{number}"));
        let path = file.display().to_string();
        let outcome = bench.fathom(words.iter().copied().chain(["-o", &path]));
        assert_eq!(outcome.stdout, "", "{words:?}: {}", outcome.stderr);
        let written = fs::read_to_string(&file).unwrap_or_default();
        assert!(!written.is_empty(), "{words:?}: {}", outcome.stderr);
    }
    // What is another's stays, and is told before the host is watched.
    let other = bench.path().join("other.txt");
    fs::write(&other, "mine").unwrap();
    let path = other.display().to_string();
    let refused = bench.fathom(["diagnose", ticket, "-o", &path]);
    assert_ne!(refused.status, Some(0), "{}", refused.stdout);
    assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
}

#[test]
fn tags_are_words_labels_lines_and_a_run_is_removed_once() {
    let bench = Bench::new();
    let measured = [
        "io",
        "null:",
        "--rw",
        "randread",
        "--number-ios",
        "1000",
        "-q",
    ];
    bench.fathom(measured).expect_measured();
    for bad in ["", "a b", "a,b"] {
        bench
            .fathom(["runs", "tag", "latest", bad])
            .expect_status(2)
            .expect_in_stderr("a tag is one word");
    }
    let tagged = bench.fathom(["runs", "tag", "latest", "one", "two", "one"]);
    assert!(tagged.stdout.ends_with(": one, two\n"), "{}", tagged.stdout);
    let named = bench.fathom(["runs", "rename", "latest", "new\nname"]);
    assert_eq!(named.stdout.lines().count(), 1, "{}", named.stdout);
    let removed = bench.fathom(["runs", "rm", "latest", "latest", "--yes"]);
    removed.expect_status(0);
    assert_eq!(
        removed.stdout.matches("removed").count(),
        1,
        "{}",
        removed.stdout
    );
    let elsewhere = ["runs", "rm", "x", "--yes", "--store", "none.db"];
    bench.fathom(elsewhere).expect_status(2);
    assert!(!bench.path().join("none.db").exists());
}
