//! Configurations of GOSBench, run against the store in memory.

use std::process::{Command, Stdio};

use fathom_s3::{Script, StoreServer};

use crate::bench::Bench;

fn memory(script: &str) -> StoreServer {
    let any = ([127, 0, 0, 1], 0).into();
    StoreServer::start(any, 1 << 30, Script::parse(script).unwrap()).expect("a store in memory")
}

fn gosbench(bench: &Bench, words: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .arg("gosbench")
        .args(words)
        .env("FATHOM_STORE", bench.store())
        .current_dir(bench.path())
        .stdin(Stdio::null())
        .output()
        .expect("fathom runs");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

const OBJECTS: &str = "{size_min: 2, size_max: 2, size_distribution: constant, unit: KB, \
    number_min: 20, number_max: 20, number_distribution: constant}";
const BUCKETS: &str = "{number_min: 2, number_max: 2, number_distribution: constant}";

fn config(bench: &Bench, endpoint: &str) -> String {
    let text = format!(
        "s3_config:\n  - {{access_key: AKEXAMPLE, secret_key: topsecret, region: r, endpoint: \
         '{endpoint}', timeout: 5s, usePathStyle: true}}\ntests:\n\
         - {{name: first write, write_weight: 1, stop_with_ops: 70, objects: {OBJECTS}, buckets: \
         {BUCKETS}, bucket_prefix: b, object_prefix: o, workers: 2, parallel_clients: 3, \
         workers_share_buckets: true}}\n\
         - {{name: reread, existing_read_weight: 1, stop_with_ops: 100, objects: {OBJECTS}, \
         buckets: {BUCKETS}, bucket_prefix: b, workers: 1, parallel_clients: 2, \
         workers_share_buckets: true}}\n\
         - {{name: mixed, read_weight: 2, list_weight: 1, delete_weight: 1, stop_with_ops: 30, \
         objects: {OBJECTS}, buckets: {BUCKETS}, bucket_prefix: b, workers: 2, parallel_clients: 2, \
         clean_after: true}}\n"
    );
    let path = bench.path().join("perf.yaml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn tests_run_and_print_what_gosbench_prints() {
    let bench = Bench::new();
    let server = memory("");
    let config = config(&bench, &server.endpoint());
    let (status, out, err) = gosbench(&bench, &[&config]);
    assert_eq!(status, Some(0), "{out}{err}");
    let results: Vec<&str> = out.lines().filter(|l| l.contains("PERF RESULTS")).collect();
    assert_eq!(results.len(), 3, "{out}");
    assert!(
        results[0].contains("Total Operations=140 test=\"first write\""),
        "{out}"
    );
    assert!(
        results[0].contains(&format!("Total Bytes={} ", 140 * 2048)),
        "{out}"
    );
    assert!(
        results[1].contains("Total Operations=100 test=reread"),
        "{out}"
    );
    assert!(
        results[2].contains("Total Operations=60 test=mixed"),
        "{out}"
    );
    assert!(err.contains("`timeout` has no effect"), "{err}");
    assert!(
        err.contains("differs from GOSBench: latency is the mean"),
        "{err}"
    );
    assert!(!out.contains("topsecret") && !err.contains("topsecret"));
    let store = std::fs::read(bench.store()).unwrap();
    assert!(!store.windows(9).any(|bytes| bytes == b"topsecret"));
    let csv = std::fs::read_to_string(bench.path().join("gosbench_results.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 4, "{csv}");
    assert!(
        lines[0].starts_with("testName,Total Operations,Total Bytes,"),
        "{csv}"
    );
    assert!(lines[2].starts_with("reread,100,204800,"), "{csv}");
    // What the first test made stays, as it said; the others leave nothing.
    let keys = server.keys();
    assert!(!keys.is_empty());
    assert!(
        keys.iter().all(|key| key.starts_with("b0/o/fathom-")),
        "{keys:?}"
    );
}

#[test]
fn what_a_configuration_becomes_is_shown_and_nothing_is_done() {
    let bench = Bench::new();
    let server = memory("");
    let config = config(&bench, &server.endpoint());
    let (status, out, err) = gosbench(&bench, &[&config, "--show"]);
    assert_eq!(status, Some(0), "{err}");
    assert_eq!(server.requests(), 0);
    assert_eq!(out.matches("plan: 1").count(), 3, "{out}");
    assert!(
        out.contains("# differs from GOSBench: requests are drawn"),
        "{out}"
    );
    assert!(!out.contains("topsecret"), "{out}");
    let first = out
        .split("---\n")
        .nth(1)
        .unwrap()
        .split("# test")
        .next()
        .unwrap();
    let plan = bench.path().join("plan.yaml");
    std::fs::write(&plan, first).unwrap();
    let checked = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["plan", "check", plan.to_str().unwrap()])
        .env("FATHOM_STORE", bench.store())
        .output()
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn failures_are_no_work_and_change_the_status() {
    let bench = Bench::new();
    let server = memory("PUT:503@10");
    let config = config(&bench, &server.endpoint());
    let text = std::fs::read_to_string(&config).unwrap();
    let first: Vec<&str> = text.lines().take(4).collect();
    std::fs::write(&config, first.join("\n")).unwrap();
    let (status, out, err) = gosbench(&bench, &[&config, "--csv", "-"]);
    assert_eq!(status, Some(1), "{out}{err}");
    assert!(err.contains("put failed as slow_down: "), "{err}");
    assert!(
        err.contains("requests that failed are not counted"),
        "{err}"
    );
    assert!(!bench.path().join("gosbench_results.csv").exists());
    let bad = bench.path().join("bad.yaml");
    std::fs::write(&bad, text.replace("workers: 1,", "workers: 0,")).unwrap();
    let (status, _, err) = gosbench(&bench, &[bad.to_str().unwrap()]);
    assert_eq!(status, Some(2), "{err}");
    assert!(
        err.contains("bad.yaml:5:") && !err.contains("topsecret"),
        "{err}"
    );
}

#[test]
fn stores_of_different_owners_are_asked_with_their_own_keys() {
    let bench = Bench::new();
    let (one, two) = (memory(""), memory(""));
    let store = |key: &str, server: &StoreServer| {
        format!(
            "  - {{access_key: {key}, secret_key: topsecret, endpoint: '{}', usePathStyle: true}}\n",
            server.endpoint()
        )
    };
    let text = format!(
        "s3_config:\n{}{}tests:\n- {{name: write, write_weight: 1, stop_with_ops: 60, objects: \
         {OBJECTS}, buckets: {BUCKETS}, bucket_prefix: b, object_prefix: o, workers: 1, \
         parallel_clients: 2, workers_share_buckets: true}}\n",
        store("FIRST", &one),
        store("SECOND", &two)
    );
    let path = bench.path().join("owners.yaml");
    std::fs::write(&path, text).unwrap();
    let config = path.display().to_string();
    let (status, out, err) = gosbench(&bench, &[&config]);
    assert_eq!(status, Some(0), "{out}{err}");
    assert_eq!(one.signers().keys().collect::<Vec<_>>(), ["FIRST"]);
    assert_eq!(two.signers().keys().collect::<Vec<_>>(), ["SECOND"]);
    // Another endpoint is nobody's in particular, unless it says whose keys sign.
    let (status, _, err) = gosbench(&bench, &[&config, "--endpoint", &one.endpoint()]);
    assert_eq!(status, Some(2), "{err}");
    assert!(
        err.contains("profile:one") && !err.contains("topsecret"),
        "{err}"
    );
    let named = format!("{}=anonymous", one.endpoint());
    let (status, _, err) = gosbench(&bench, &[&config, "--endpoint", &named]);
    assert_eq!(status, Some(0), "{err}");
}

#[test]
fn a_test_that_fails_prints_its_failure_and_no_zeros() {
    let bench = Bench::new();
    for (script, told) in [
        ("LIST:bad-bucket,HEAD:bad-bucket", "--target"),
        (
            "LIST:wrong-region,HEAD:wrong-region",
            "--s3-region eu-central-1",
        ),
    ] {
        let server = memory(script);
        let config = config(&bench, &server.endpoint());
        let text = std::fs::read_to_string(&config).unwrap();
        let first: Vec<&str> = text.lines().take(4).collect();
        std::fs::write(&config, first.join("\n")).unwrap();
        let (status, out, err) = gosbench(&bench, &[&config, "--csv", "failed.csv"]);
        assert_eq!(status, Some(1), "{out}{err}");
        assert!(!out.contains("PERF RESULTS"), "{out}");
        assert!(
            out.contains("msg=\"TEST FAILED\"") && out.contains(told),
            "{out}"
        );
        assert!(err.contains(told), "{err}");
        let csv = std::fs::read_to_string(bench.path().join("failed.csv")).unwrap();
        let row = csv.lines().last().unwrap();
        assert!(row.starts_with("\"first write (failed: "), "{csv}");
        assert!(row.ends_with("\",,,,,"), "{csv}");
    }
}

#[test]
fn a_store_that_says_nothing_is_named_before_its_bucket_is_made() {
    let bench = Bench::new();
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = mute.local_addr().unwrap();
    let config = config(&bench, &format!("http://{address}"));
    let (status, _, err) = gosbench(&bench, &[&config]);
    assert_eq!(status, Some(1), "{err}");
    let named = format!("{address} is not responding (waited 4 s)");
    assert!(err.contains(&named), "{err}");
}
