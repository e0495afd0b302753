//! A bucket as the target of everything that measures: against the store in
//! memory, and against a real gateway where there is one.

use std::process::Command;

use fathom_s3::{Script, StoreServer};

use crate::bench::{Bench, Output, finish};
use crate::fleet::{Agent, fleet};
use crate::gateway::{SIGN, gateway};

/// A store in memory.
fn memory(script: &str) -> StoreServer {
    let any = ([127, 0, 0, 1], 0).into();
    StoreServer::start(any, 1 << 30, Script::parse(script).unwrap()).expect("a store in memory")
}

fn fathom(bench: &Bench, endpoint: &str, words: &[&str]) -> Output {
    let mut command: Command = bench.command(words);
    command.args(["--endpoint", endpoint]).envs(SIGN);
    finish(command.spawn().expect("fathom starts"))
}

#[track_caller]
fn measured(output: &Output) {
    let text = format!("{}{}", output.stdout, output.stderr);
    assert!(
        matches!(output.status, Some(0 | 4)),
        "{:?} {text}",
        output.status
    );
}

/// Each command with a short load, against one store.
fn everything(bench: &Bench, endpoint: &str) {
    let ping = ["ping", "s3://bucket/ping", "-c", "6", "-i", "0"];
    let output = fathom(bench, endpoint, &ping);
    output.expect_status(0);
    assert!(
        output.stdout.contains("ping statistics"),
        "{}",
        output.stdout
    );
    let put = [
        "ping",
        "s3://bucket/ping",
        "--write",
        "-c",
        "3",
        "-i",
        "0",
        "-s",
        "1k",
    ];
    let output = fathom(bench, endpoint, &put);
    output.expect_status(0);
    assert!(output.stdout.contains(">>>"), "{}", output.stdout);

    grids(bench, endpoint);
    comparisons(bench, endpoint);
}

fn grids(bench: &Bench, endpoint: &str) {
    let quick = ["quick", "s3://bucket/quick", "--seconds", "1", "--quiet"];
    let output = fathom(bench, endpoint, &quick);
    measured(&output);
    for row in ["PUT 1M Q8", "GET 4K Q32", "HEAD 4K Q32", "LIST 4K Q1"] {
        assert!(output.stdout.contains(row), "{row}: {}", output.stdout);
    }

    let sizes = [
        "enumerate",
        "s3://bucket/list",
        "--sizes",
        "20,1000,1500",
        "--json",
    ];
    let output = fathom(bench, endpoint, &sizes);
    measured(&output);
    let points = &output.json()["enumeration"]["points"];
    let entries: Vec<u64> = points
        .as_array()
        .expect("points")
        .iter()
        .map(|point| point["entries"].as_u64().unwrap())
        .collect();
    assert_eq!(entries, [20, 1000, 1500]);
    assert!(points[2]["listing_ns"]["value"].as_f64() > points[0]["listing_ns"]["value"].as_f64());
}

fn comparisons(bench: &Bench, endpoint: &str) {
    let reads = ["--rw", "randread", "--bs", "4k", "--size", "400k"];
    let depth = [
        "curve",
        "depth",
        "s3://bucket/curve",
        "--seconds",
        "1",
        "--max-depth",
        "2",
    ];
    let output = fathom(
        bench,
        endpoint,
        &[&depth[..], &reads, &["--quiet"]].concat(),
    );
    measured(&output);
    assert!(
        output.stdout.contains("s3://bucket/curve"),
        "{}",
        output.stdout
    );

    let sides = [
        "ab",
        "s3://bucket/a",
        "s3://bucket/b",
        "--pairs",
        "2",
        "--runtime",
        "1s",
    ];
    let output = fathom(
        bench,
        endpoint,
        &[&sides[..], &reads, &["--quiet"]].concat(),
    );
    let text = format!("{}{}", output.stdout, output.stderr);
    assert!(
        matches!(output.status, Some(0 | 4 | 7)),
        "{:?} {text}",
        output.status
    );
    assert!(output.stdout.contains("s3://bucket/b"), "{text}");
}

#[test]
fn everything_that_measures_takes_a_bucket() {
    let bench = Bench::new();
    let server = memory("");
    everything(&bench, &server.endpoint());
    assert!(server.keys().is_empty(), "{:?}", server.keys());
    let found = server.delivered("GET").len();
    assert!(found > 1000, "{found} GETs");
}

#[test]
fn a_real_gateway_can_be_the_target_of_everything() {
    let bench = Bench::new();
    let Some(gateway) = gateway(&bench) else {
        return;
    };
    everything(&bench, &gateway.endpoint);
    let output = fathom(&bench, &gateway.endpoint, &["clean", "s3://bucket"]);
    assert!(
        output.stdout.contains("nothing to clean"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_request_that_fails_is_told_and_is_no_latency() {
    let bench = Bench::new();
    let server = memory("GET:503@4");
    let ping = ["ping", "s3://bucket/p", "-c", "12", "-i", "0", "-W", "0"];
    let output = fathom(&bench, &server.endpoint(), &ping);
    output.expect_status(1);
    assert!(output.stdout.contains("failed after"), "{}", output.stdout);
    assert!(output.stderr.contains("503"), "{}", output.stderr);
    assert!(server.keys().is_empty());
}

#[test]
fn what_makes_no_sense_on_a_bucket_is_refused_with_a_remedy() {
    let bench = Bench::new();
    for (words, told) in [
        (
            &["ping", "s3://b/p", "--cached"][..],
            "--cached has no meaning on a bucket",
        ),
        (&["quick", "s3://b/p", "--sustained"], "fathom s3 put"),
        (
            &["enumerate", "s3://b/p", "--drop-cache"],
            "a bucket is listed elsewhere",
        ),
    ] {
        let output = fathom(&bench, "http://127.0.0.1:9", words);
        output.expect_status(2);
        assert!(output.stderr.contains(told), "{}", output.stderr);
    }
}

#[test]
fn a_put_with_a_runtime_does_not_fill_a_store() {
    let bench = Bench::new();
    let server = memory("");
    let put = [
        "s3",
        "put",
        "s3://bucket/p",
        "--objects",
        "20",
        "--object-size",
        "1k",
    ];
    let more = [
        "--runtime",
        "1s",
        "--iodepth",
        "4",
        "--keep-files",
        "--quiet",
    ];
    measured(&fathom(
        &bench,
        &server.endpoint(),
        &[&put[..], &more].concat(),
    ));
    assert!(server.delivered("PUT").len() > 40, "more than two rounds");
    let objects = server.keys();
    let objects = objects.iter().filter(|key| !key.ends_with("/kept"));
    assert_eq!(objects.count(), 20, "the ring was put again and again");
}

#[test]
fn hosts_of_a_fleet_share_a_bucket_and_each_removes_its_own() {
    let bench = Bench::new();
    let server = memory("");
    fleet(&bench, &["init"]).expect_status(0);
    let start = |number| Agent::start_on(&bench, number, "s3://bucket", &server.endpoint());
    let agents: Vec<Agent> = (0..2).map(start).collect();
    let hosts = format!("{},{}", agents[0].host, agents[1].host);
    let words = [
        "s3",
        "get",
        "s3://bucket/p",
        "--objects",
        "40",
        "--object-size",
        "2k",
        "--quiet",
    ];
    let mut command = bench.command(words);
    command
        .args([
            "--anonymous",
            "--endpoint",
            &server.endpoint(),
            "--number-ios",
            "200",
        ])
        .args(["--launcher", "static", "--hosts", &hosts])
        .env("FATHOM_FLEET", bench.path().join("fleet"));
    let output = finish(command.spawn().unwrap());
    measured(&output);
    assert!(output.stdout.contains("on 2 hosts"), "{}", output.stdout);
    assert_eq!(
        server.delivered("PUT").len(),
        80,
        "each made its own objects"
    );
    assert!(server.keys().is_empty(), "{:?}", server.keys());

    // What the owner of a host does not allow is refused there.
    let mut foreign = bench.command(["s3", "put", "s3://other/p", "--objects", "3", "--quiet"]);
    foreign
        .args(["--anonymous", "--endpoint", &server.endpoint()])
        .args(["--launcher", "static", "--hosts", &hosts])
        .env("FATHOM_FLEET", bench.path().join("fleet"));
    let output = finish(foreign.spawn().unwrap());
    let text = format!("{}{}", output.stdout, output.stderr);
    assert!(text.contains("is not on the list"), "{text}");
    assert!(server.keys().is_empty());
}
