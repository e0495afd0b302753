//! `fathom fio --client=HOST`: fio's jobs on many hosts.

use serde_json::Value;

use crate::bench::{Bench, Output, finish};
use crate::fleet::{Agent, agents};

fn fio(bench: &Bench, agents: &[Agent], words: &[&str]) -> Output {
    // A file with one host to a line, as fio takes it.
    let list: Vec<&str> = agents.iter().map(|agent| agent.host.as_str()).collect();
    let file = bench.path().join("hosts.list");
    std::fs::write(&file, list.join("\n")).unwrap();
    let mut command = bench.command(["fio", "--launcher=static"]);
    command
        .arg(format!("--client={}", file.display()))
        .args(words)
        .env("FATHOM_FLEET", bench.path().join("fleet"));
    finish(command.spawn().unwrap())
}

#[test]
fn clients_share_nothing_but_the_clock_and_their_sum_is_there() {
    let bench = Bench::new();
    let agents = agents(&bench, 2);
    let directory = format!("--directory={}", bench.data().display());
    let output = fio(
        &bench,
        &agents,
        &[
            "--output-format=json",
            "--name=a",
            &directory,
            "--rw=randread",
            "--bs=4k",
            "--size=1m",
            "--ioengine=psync",
            "--rate_iops=500",
            "--runtime=2",
            "--time_based",
            "--group_reporting",
        ],
    );
    output.expect_status(0);
    let result = output.json();
    let stats = result["client_stats"].as_array().unwrap();
    let names: Vec<&str> = stats
        .iter()
        .map(|s| s["jobname"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "a", "All clients"]);
    for (entry, agent) in stats.iter().zip(&agents) {
        assert_eq!(entry["hostname"], agent.host.as_str(), "{entry}");
    }
    let ios = |entry: &Value| entry["read"]["total_ios"].as_u64().unwrap();
    assert!(ios(&stats[0]) > 0 && ios(&stats[1]) > 0);
    assert_eq!(ios(&stats[2]), ios(&stats[0]) + ios(&stats[1]));
    assert!(stats[2]["read"]["clat_ns"]["percentile"]["99.000000"].is_u64());
    assert!(result["jobs"].is_null(), "a client's document has no jobs");
}

#[test]
fn what_is_there_on_a_client_is_not_overwritten_without_leave() {
    let bench = Bench::new();
    let agents = agents(&bench, 1);
    let file = bench.data().join("precious");
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    let job = format!("--filename={}", file.display());
    let words = [
        "--name=a",
        &job,
        "--rw=write",
        "--bs=64k",
        "--size=1m",
        "--ioengine=psync",
    ];
    let output = fio(&bench, &agents, &words);
    assert_ne!(output.status, Some(0), "{}", output.stdout);
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn a_server_is_refused_with_what_to_do_instead() {
    let bench = Bench::new();
    bench
        .fathom(["fio", "--server"])
        .expect_status(1)
        .expect_in_stderr("no server is needed")
        .expect_in_stderr("--client=HOST");
    bench
        .fathom([
            "fio",
            "--client=sock:/tmp/x",
            "--name=a",
            "--rw=read",
            "--size=1m",
        ])
        .expect_status(1)
        .expect_in_stderr("socket");
}
