//! `--metrics` and `--metrics-push`: what a run has measured, while it goes on.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, finish};

const PATIENCE: Duration = Duration::from_secs(60);

fn get(address: &str, path: &str) -> Option<String> {
    let mut connection = TcpStream::connect(address).ok()?;
    connection.set_read_timeout(Some(PATIENCE)).ok()?;
    write!(connection, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").ok()?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// Series of a scrape, by their whole name.
fn series(answer: &str) -> BTreeMap<String, f64> {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    let length = head.split("Content-Length: ").nth(1).unwrap();
    let length: usize = length.lines().next().unwrap().parse().unwrap();
    assert_eq!(body.len(), length);
    let lines = body.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        })
        .collect()
}

#[test]
fn a_run_is_scraped_while_it_goes_on() {
    let bench = Bench::new();
    let args = [
        "io",
        "null:",
        "--rw",
        "randread",
        "--iodepth",
        "4",
        "--runtime",
        "50s",
        "--metrics",
        "0",
    ];
    let mut child = bench.command(args).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("metrics: ") {
        line.clear();
        assert_ne!(told.read_line(&mut line).unwrap(), 0, "it says where");
    }
    let address = line.trim().strip_prefix("metrics: http://").unwrap();
    let address = address.strip_suffix("/metrics").unwrap().to_owned();
    let begun = Instant::now();
    let scraped = loop {
        let answer = get(&address, "/metrics").expect("the endpoint answers during the run");
        let scraped = series(&answer);
        let operations = scraped
            .keys()
            .any(|name| name.starts_with("fathom_operations_total"));
        if operations || begun.elapsed() > PATIENCE {
            break scraped;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    let of = |begins: &str| {
        let mut found = scraped.iter().filter(|(name, _)| name.starts_with(begins));
        let (name, value) = found
            .next()
            .unwrap_or_else(|| panic!("{begins}: {scraped:?}"));
        (name.clone(), *value)
    };
    let (name, operations) = of("fathom_operations_total{");
    assert!(operations > 0.0);
    for label in [
        "operation=\"read\"",
        "target=\"null:\"",
        "phase=\"measure\"",
        "host=\"",
    ] {
        assert!(name.contains(label), "{name}");
    }
    let counted = of("fathom_service_latency_seconds_count{").1;
    let rest = of("fathom_service_latency_seconds_bucket{").0;
    assert_eq!(counted, operations);
    assert!(rest.contains("le=\""));
    assert_eq!(of("fathom_trial_active{").1, 1.0);
    assert_eq!(of("fathom_run_info{").1, 1.0);
    assert!(get(&address, "/").unwrap().starts_with("HTTP/1.1 404 "));
    // Whoever sends nothing keeps nobody else out for long.
    let silent = TcpStream::connect(&address).unwrap();
    assert!(get(&address, "/metrics").is_some());
    drop(silent);
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
    drop(told);
    finish(child);
    assert!(
        TcpStream::connect(&address).is_err(),
        "it ends with the run"
    );
}

#[test]
fn a_collector_gets_the_whole_run() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let collector = std::thread::spawn(move || {
        let mut last = String::new();
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            connection.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            let (mut head, mut line) = (String::new(), String::new());
            while line != "\r\n" {
                line.clear();
                reader.read_line(&mut line).unwrap();
                head += &line;
            }
            if head.starts_with("GET /end") {
                return last;
            }
            assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
            let length = head.split("Content-Length: ").nth(1).unwrap();
            let length: usize = length.lines().next().unwrap().parse().unwrap();
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            last = String::from_utf8(body).unwrap();
            connection
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                .unwrap();
        }
        last
    });
    let mut command = bench.command(["meta", "data", "--files", "70", "--phases", "create,stat"]);
    command.env("FATHOM_METRICS_PUSH", &url);
    finish(command.spawn().unwrap()).expect_measured();
    let address = url.strip_prefix("http://").unwrap();
    let mut end = TcpStream::connect(address).unwrap();
    write!(end, "GET /end HTTP/1.1\r\n\r\n").unwrap();
    let last: Value = serde_json::from_str(&collector.join().unwrap()).unwrap();
    let metrics = last["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
        .as_array()
        .unwrap();
    let operations = metrics
        .iter()
        .find(|one| one["name"] == "fathom_operations_total")
        .unwrap();
    let points = operations["sum"]["dataPoints"].as_array().unwrap();
    let of = |kind: &str| -> f64 {
        let own = points.iter().filter(|point| {
            let attributes = point["attributes"].as_array().unwrap();
            attributes.iter().any(|a| a["value"]["stringValue"] == kind)
        });
        own.map(|point| point["asDouble"].as_f64().unwrap()).sum()
    };
    assert_eq!((of("create"), of("stat")), (70.0, 70.0));
}

#[test]
fn what_cannot_be_served_or_pushed_is_told_before_the_load() {
    let bench = Bench::new();
    let told = |flags: [&str; 2]| {
        let args = ["io", "null:", "--runtime", "1s"].into_iter().chain(flags);
        let output = bench.fathom(args);
        output.expect_status(1);
        output.stderr.clone()
    };
    assert!(told(["--metrics", "here"]).contains("cannot serve metrics at here"));
    assert!(told(["--metrics-push", "https://c"]).contains("plain http"));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    assert!(told(["--metrics", &port]).contains("cannot serve metrics"));
}
