//! Objects and small files on several hosts: agents as processes, one store or
//! one directory for all of them.

use fathom_s3::{Script, StoreServer};
use serde_json::Value;

use crate::bench::{Bench, Output, finish};
use crate::fleet::{Agent, agents, fleet};
use crate::fleet_modes;

pub(crate) fn memory(script: &str) -> StoreServer {
    let any = ([127, 0, 0, 1], 0).into();
    StoreServer::start(any, 1 << 30, Script::parse(script).unwrap()).expect("a store in memory")
}

/// Agents that may use the bucket `bench` of a store.
pub(crate) fn agents_of_bucket(bench: &Bench, count: usize, server: &StoreServer) -> Vec<Agent> {
    fleet(bench, &["init"]).expect_status(0);
    (0..count)
        .map(|number| Agent::start_on(bench, number, "s3://bench", &server.endpoint()))
        .collect()
}

/// `fathom` on these agents, to its end.
pub(crate) fn on(bench: &Bench, agents: &[Agent], words: &[&str]) -> Output {
    finish(fleet_modes::on(bench, agents, words).spawn().unwrap())
}

/// Operations of a kind of all hosts together.
pub(crate) fn sum<'r>(result: &'r Value, kind: &str) -> &'r Value {
    let ops = result["sets"][0]["sum"]["ops"].as_array().unwrap();
    let of_kind = ops.iter().find(|op| op["kind"] == kind);
    of_kind.unwrap_or_else(|| panic!("no {kind} in {ops:?}"))
}

pub(crate) fn percentile_ns(op: &Value, percent: f64) -> f64 {
    let all = op["service"]["percentiles"].as_array().unwrap();
    let found = all
        .iter()
        .find(|one| one["percent"].as_f64() == Some(percent));
    let found = found.unwrap_or_else(|| panic!("no p{percent} in {all:?}"));
    let value = found["latency_ns"]["value"].as_f64();
    value.unwrap_or_else(|| panic!("p{percent} is not there: {found}"))
}

#[test]
fn a_configuration_of_gosbench_runs_on_two_hosts() {
    let bench = Bench::new();
    let server = memory("");
    let agents = agents_of_bucket(&bench, 2, &server);
    let objects = "{size_min: 2, size_max: 2, size_distribution: constant, unit: KB, number_min: \
        20, number_max: 20, number_distribution: constant}";
    let buckets = "{number_min: 1, number_max: 1, number_distribution: constant}";
    let test = |name: &str, weights: &str, ops: u32| {
        format!(
            "- {{name: {name}, {weights}, stop_with_ops: {ops}, objects: {objects}, buckets: \
             {buckets}, bucket_prefix: b, workers: 2, parallel_clients: 3, clean_after: true}}\n"
        )
    };
    let text = format!(
        "s3_config:\n  - {{access_key: AKEXAMPLE, secret_key: topsecret, region: r, endpoint: \
         '{}'}}\ntests:\n{}{}",
        server.endpoint(),
        test("puts", "write_weight: 1", 70),
        test(
            "mixed",
            "read_weight: 2, write_weight: 1, list_weight: 1",
            40
        ),
    );
    let config = bench.path().join("perf.yaml");
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let target = ["--target", "s3://bench/try", "--anonymous"];
    let output = on(
        &bench,
        &agents,
        &[&["gosbench", config][..], &target].concat(),
    );
    output.expect_status(0);
    let results: Vec<&str> = output
        .stdout
        .lines()
        .filter(|line| line.contains("PERF RESULTS"))
        .collect();
    assert_eq!(results.len(), 2, "{}", output.stdout);
    assert!(
        results[0].contains("Total Operations=140 test=puts"),
        "{}",
        output.stdout
    );
    assert!(
        results[0].contains(&format!("Total Bytes={} ", 140 * 2048)),
        "{}",
        output.stdout
    );
    assert!(
        results[1].contains("Total Operations=80 test=mixed"),
        "{}",
        output.stdout
    );
    let csv = std::fs::read_to_string(bench.path().join("gosbench_results.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3, "{csv}");
    assert!(lines[1].starts_with("puts,140,286720,"), "{csv}");
    let keys = server.keys();
    assert!(keys.is_empty(), "{keys:?}");
    // What was not taken along is no secret that could be found anywhere.
    let store = std::fs::read(bench.store()).unwrap();
    assert!(!store.windows(9).any(|bytes| bytes == b"topsecret"));
}

#[test]
fn hosts_wait_for_the_files_that_one_of_them_creates() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let data = bench.data();
    let data = data.to_str().unwrap();
    let waits = ["meta", data, "--phases", "await-create", "--files", "40"];
    let more = [
        "--threads",
        "2",
        "--files-per-dir",
        "10",
        "--rate-iops",
        "200",
    ];
    let words = [&waits[..], &more, &["--json"]].concat();
    let output = on(&bench, &agents, &words);
    output.expect_measured();
    let result = output.json();
    let ops_of = |trial: usize| {
        let op = &result["trials"][trial]["summary"]["ops"][0];
        (op["kind"].as_str().unwrap(), op["ops"].as_u64().unwrap())
    };
    assert_eq!(ops_of(0), ("create", 80));
    assert_eq!(ops_of(1), ("await_create", 80));
    let lag = &result["trials"][1]["summary"]["ops"][0]["service"];
    assert_eq!(lag["count"], 80);
    let median = percentile_ns(&result["trials"][1]["summary"]["ops"][0], 50.0);
    assert!(
        median > 0.0 && lag["max_ns"].as_u64() < Some(60_000_000_000),
        "{lag}"
    );
    assert_eq!(bench.data_files(), [] as [std::path::PathBuf; 0]);
    let shown = bench.fathom(["runs", "show"]);
    shown.expect_status(0);
    assert!(shown.stdout.contains("await_create"), "{}", shown.stdout);
    // Nobody would be left to wait, or to create.
    on(&bench, &agents[..1], &waits)
        .expect_status(1)
        .expect_in_stderr("await_create needs two hosts at least");
    bench
        .fathom(waits)
        .expect_status(2)
        .expect_in_stderr("await_create needs two hosts at least (--hosts)");
}
