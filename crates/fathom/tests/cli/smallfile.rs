//! `fathom smallfile`: command lines of smallfile, its lines, JSON and CSV.

use serde_json::Value;

use crate::bench::{Bench, Output};

fn smallfile(bench: &Bench, line: &str) -> Output {
    let top = bench.data().display().to_string();
    let line = format!("smallfile --top {top} {line}");
    bench.fathom(line.split_whitespace())
}

/// The number behind `name = ` in the lines.
fn figure(output: &Output, name: &str) -> f64 {
    let line = output
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name} = ")));
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{}", output.stdout));
    line.split_whitespace().next().unwrap().parse().unwrap()
}

const SHAPE: &str = "--threads 2 --files 60 --file-size 4 --files-per-dir 20 --stonewall N";

#[test]
fn operations_follow_one_another_on_the_same_files() {
    let bench = Bench::new();
    let operations = [
        "create",
        "stat",
        "ls-l",
        "readdir",
        "read",
        "chmod",
        "overwrite",
        "read",
        "append",
        "rename",
        "truncate-overwrite",
        "setxattr",
        "delete-renamed",
    ];
    for operation in operations {
        let output = smallfile(
            &bench,
            &format!("{SHAPE} --xattr-size 16 --xattr-count 2 --operation {operation}"),
        );
        if operation == "setxattr" && output.stderr.contains("not supported") {
            println!("skipped: this file system has no extended attributes");
            continue;
        }
        output.expect_status(0);
        assert_eq!(figure(&output, "total files"), 120.0, "{operation}");
        assert_eq!(figure(&output, "total threads"), 2.0);
        assert!(
            output
                .stdout
                .contains("100.00% of requested files processed")
        );
        let threads = output
            .stdout
            .lines()
            .filter(|line| line.starts_with("host = "));
        assert_eq!(threads.count(), 2, "{operation}");
        assert!(output.stdout.contains(",thr = 01,elapsed = "));
        assert!(output.stdout.contains(",files = 60,records = "));
        if operation == "create" {
            let file = bench.data().join("smallfile.tree/w1/n2/f-1-59");
            assert_eq!(std::fs::metadata(file).unwrap().len(), 4096);
        }
    }
    let cleaned = smallfile(&bench, "--operation cleanup");
    cleaned.expect_status(0);
    assert!(
        cleaned.stdout.contains("smallfile.tree"),
        "{}",
        cleaned.stdout
    );
    assert!(bench.data_files().is_empty(), "{:?}", bench.data_files());
    let again = smallfile(&bench, "");
    again.expect_status(0);
    assert!(
        again.stdout.contains("nothing to remove"),
        "{}",
        again.stdout
    );
}

#[test]
fn the_json_has_the_keys_of_the_original() {
    let bench = Bench::new();
    let result = bench.path().join("result.json");
    let line = format!(
        "{SHAPE} --operation create --output-json {}",
        result.display()
    );
    smallfile(&bench, &line).expect_status(0);
    let result: Value = serde_json::from_slice(&std::fs::read(&result).unwrap()).unwrap();
    let params = &result["params"];
    assert_eq!(params["operation"], "create");
    assert_eq!(params["files_per_thread"], 60);
    assert_eq!(params["file_size"], 4);
    assert_eq!(params["finish_all_requests"], "Y");
    assert_eq!(params["host_set"], "localhost");
    for key in [
        "version",
        "top",
        "threads",
        "file_size_distr",
        "files_per_dir",
        "share_dir",
        "hash_to_dir",
        "fsync_after_modify",
        "pause_between_files",
        "stonewall",
        "verify_read",
        "xattr_size",
        "network_sync_dir",
        "total_hosts",
        "startup_timeout",
        "host_timeout",
    ] {
        assert!(!params[key].is_null(), "{key}");
    }
    let results = &result["results"];
    assert_eq!(
        (results["files"].as_u64(), results["records"].as_u64()),
        (Some(120), Some(120))
    );
    for key in [
        "elapsed",
        "filesPerSec",
        "IOPS",
        "MiBps",
        "totalhreads",
        "totalDataGB",
        "pctFilesDone",
        "startTime",
        "status",
        "date",
    ] {
        assert!(!results[key].is_null(), "{key}");
    }
    let threads = results["thread"].as_object().unwrap();
    assert_eq!(threads.keys().collect::<Vec<_>>(), ["00", "01"]);
    let files: u64 = threads
        .values()
        .filter_map(|one| one["files"].as_u64())
        .sum();
    assert_eq!(files, 120);
    // All files over the time of the last thread.
    let rate = results["filesPerSec"].as_f64().unwrap() * results["elapsed"].as_f64().unwrap();
    assert!((rate - 120.0).abs() < 0.001, "{rate}");
    assert_eq!(result["fathom"]["operations"][0]["kind"], "create");
}

#[test]
fn response_times_are_one_file_a_thread() {
    let bench = Bench::new();
    let line = format!("{SHAPE} --operation create --response-times Y");
    smallfile(&bench, &line).expect_status(0);
    let directory = bench.data().join("network_shared");
    let mut names: Vec<String> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].starts_with("rsptimes_00_") && names[0].contains("_create_"));
    let text = std::fs::read_to_string(directory.join(&names[1])).unwrap();
    assert_eq!(text.lines().count(), 60);
    for line in text.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!((fields.len(), fields[0]), (3, "  create"), "{line}");
        assert_eq!((fields[1].len(), fields[2].len()), (10, 10), "{line}");
        assert!(fields[2].trim().parse::<f64>().unwrap() > 0.0, "{line}");
    }
}

#[test]
fn a_yaml_file_is_read_and_what_is_wrong_is_named() {
    let bench = Bench::new();
    let yaml = bench.path().join("smf.yaml");
    std::fs::write(
        &yaml,
        "operation: create\nfiles: 15\nthreads: 1\nfile-size: 1\n",
    )
    .unwrap();
    let line = format!("--yaml-input-file {}", yaml.display());
    let output = smallfile(&bench, &line);
    output.expect_status(0);
    assert_eq!(figure(&output, "total files"), 15.0);
    smallfile(&bench, "--prefix x --operation stat --files 5")
        .expect_status(0)
        .expect_in_stderr("--prefix has no effect");
    let wrong = |line: &str, told: &str| {
        smallfile(&bench, line)
            .expect_status(2)
            .expect_in_stderr(told);
    };
    wrong("--operation craete", "did you mean create?");
    wrong("--operation await-create --host-set h1,h2", "await-create");
    wrong("--yaml-input-file missing.yaml", "cannot read missing.yaml");
    let nowhere = [
        "smallfile",
        "--top",
        "/no/such/place",
        "--operation",
        "stat",
    ];
    bench
        .fathom(nowhere)
        .expect_status(2)
        .expect_in_stderr("not a directory");
    let help = bench.fathom(["smallfile", "--help"]);
    assert!(
        help.stdout.contains("--operation cleanup"),
        "{}",
        help.stdout
    );
}

#[test]
fn a_stonewall_ends_what_is_counted_and_finish_what_is_done() {
    let bench = Bench::new();
    let shape = "--threads 3 --files 200 --file-size 1";
    let output = smallfile(&bench, &format!("{shape} --operation create"));
    output.expect_status(0);
    assert!(figure(&output, "total files") <= 600.0);
    let last = bench.data().join("smallfile.tree/w2/n1/f-2-199");
    assert!(last.exists(), "all files are made whatever is counted");
    let output = smallfile(&bench, &format!("{shape} --operation stat --finish N"));
    output.expect_status(0);
    let files = figure(&output, "total files");
    assert!((200.0..=600.0).contains(&files), "{files}");
}

#[test]
fn a_tree_of_somebody_else_is_named_and_nothing_is_left_beside_it() {
    let bench = Bench::new();
    let tree = bench.data().join("smallfile.tree");
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(tree.join("precious"), "data").unwrap();
    let refused = smallfile(&bench, &format!("{SHAPE} --operation create"));
    refused.expect_status(1).expect_in_stderr("did not make it");
    assert!(!bench.data().join("smallfile.manifest").exists());
    let cleaned = smallfile(&bench, "--operation cleanup");
    cleaned
        .expect_status(1)
        .expect_in_stderr("smallfile.tree stays");
    assert!(tree.join("precious").exists());
}
