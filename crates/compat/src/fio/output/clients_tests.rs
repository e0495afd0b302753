//! Two hosts with two jobs each, as fio's client reports them.

use fathom_model::RunRecord;
use serde_json::Value;

use super::super::test_record::{run, trial};
use super::super::{DEFAULT_VERSION, FIO_PORT, FioHost, FioJob, FioView, json, normal, terse};

/// Jobs `a` and `b`, in groups of their own, on `h1` and on port 7117 of `h2`.
fn two_hosts() -> (RunRecord, FioView) {
    let record = run((0..4).map(|index| trial(index, false)).collect());
    let job = |trial: u32, host: &str| FioJob {
        group_id: trial % 2,
        host: Some(FioHost::of(host)),
        options: vec![("bs".to_owned(), "4k".to_owned())],
        ..FioJob::new(["a", "b"][trial as usize % 2], trial)
    };
    let view = FioView {
        version: DEFAULT_VERSION.to_owned(),
        global_options: Vec::new(),
        jobs: vec![
            job(0, "h1"),
            job(1, "h1"),
            job(2, "h2:7117"),
            job(3, "h2:7117"),
        ],
    };
    (record, view)
}

#[test]
fn a_document_has_each_job_of_each_host_and_one_sum() {
    let (record, view) = two_hosts();
    let document: Value = serde_json::from_str(&json(&record, &view, false)).unwrap();
    let stats = document["client_stats"].as_array().unwrap();
    let told = |entry: &Value| {
        format!(
            "{} {}:{}",
            entry["jobname"], entry["hostname"], entry["port"]
        )
    };
    let all: Vec<String> = stats.iter().map(told).collect();
    let wanted = [
        "\"a\" \"h1\":8765",
        "\"b\" \"h1\":8765",
        "\"a\" \"h2\":7117",
        "\"b\" \"h2\":7117",
        "\"All clients\" \"h2\":7117",
    ];
    assert_eq!(all, wanted);
    let (sum, jobs) = stats.split_last().unwrap();
    let ios = |entry: &Value| entry["read"]["total_ios"].as_u64().unwrap();
    assert_eq!(ios(sum), jobs.iter().map(ios).sum::<u64>());
    assert_eq!(sum["groupid"], 1, "that of the last job");
    for key in [
        "job options",
        "latency_depth",
        "latency_target",
        "desc",
        "eta",
    ] {
        assert!(sum[key].is_null(), "{key}");
    }
    for entry in jobs {
        assert_eq!(entry["job options"]["bs"], "4k");
        assert!(
            entry["eta"].is_null() && entry["elapsed"].is_null(),
            "{entry}"
        );
        // The group of a host, not that of all hosts.
        assert!(entry["read"]["bw_agg"].as_f64().unwrap() > 99.0, "{entry}");
    }
    let disks = document["disk_util"].as_array().unwrap();
    let hosts: Vec<&str> = disks.iter().flat_map(|d| d["hostname"].as_str()).collect();
    assert_eq!(hosts, ["h1", "h2"]);
}

#[test]
fn one_job_of_one_host_is_its_own_sum() {
    let (record, mut view) = two_hosts();
    view.jobs.truncate(2);
    assert!(
        json(&record, &view, false).contains("All clients"),
        "two jobs"
    );
    view.jobs.truncate(1);
    for text in [
        json(&record, &view, false),
        normal(&record, &view),
        terse(&record, &view, 3),
    ] {
        assert!(!text.contains("All clients"), "{text}");
    }
}

#[test]
fn the_text_has_the_hosts_one_after_the_other() {
    let (record, view) = two_hosts();
    let text = normal(&record, &view);
    let marks = [
        "<h1> a: (g=0)",
        "<h1> Starting 2 processes",
        "<h2:7117> b: (g=1)",
        "<h1> \na: (groupid=0, jobs=1)",
        "Run status group 1 (all jobs):",
        "Disk stats (read/write):",
        "<h2:7117> \na: (groupid=0, jobs=1)",
        "b: (groupid=1, jobs=1)",
        "All clients: (groupid=1, jobs=4)",
    ];
    let mut rest = &text[..];
    for mark in marks {
        let at = rest.find(mark);
        let at = at.unwrap_or_else(|| panic!("no '{mark}' in:\n{rest}"));
        rest = &rest[at + mark.len()..];
    }
    assert!(!rest.contains("latency   : target="), "{rest}");
    assert!(!rest.contains("Run status group"), "{rest}");
}

#[test]
fn terse_lines_keep_the_disks_apart() {
    let (record, view) = two_hosts();
    let begins = |version| -> Vec<String> {
        let text = terse(&record, &view, version);
        let name = if version == 2 { 1 } else { 2 };
        let begin = |line: &str| match line.strip_prefix(';') {
            Some(disk) => disk.split(';').next().unwrap().to_owned(),
            None => line.split(';').nth(name).unwrap().to_owned(),
        };
        text.lines().map(begin).collect()
    };
    assert_eq!(begins(3), ["a", "b", "sda", "a", "b", "sda", "All clients"]);
    assert_eq!(begins(2), ["a", "b", "a", "b", "All clients"]);
}

#[test]
fn hosts_are_read_with_their_ports() {
    for (text, name, port) in [
        ("h1", "h1", FIO_PORT),
        ("h1:7117", "h1", 7117),
        ("fe80::1", "fe80::1", FIO_PORT),
        ("[fe80::1]:7117", "fe80::1", 7117),
    ] {
        let host = FioHost::of(text);
        assert_eq!((host.name.as_str(), host.port), (name, port));
        assert_eq!(host.to_string(), text);
    }
}
