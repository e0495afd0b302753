//! Curves of simulated drives whose truth is known, under the virtual clock.

use serde_json::Value;

use crate::bench::Bench;

fn curve(bench: &Bench, args: &[&str]) -> Value {
    let (output, value) = bench.json(["curve"].iter().chain(args).copied());
    assert!(matches!(output.status, Some(0 | 6)), "{}", output.stderr);
    value
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The words of a text, wherever its lines were broken.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn points(run: &Value) -> &Vec<Value> {
    run["curve"]["points"].as_array().unwrap()
}

fn close(measured: f64, truth: f64, share: f64) {
    assert!(
        (measured / truth - 1.0).abs() <= share,
        "{measured} is not within {share} of {truth}"
    );
}

/// 32 servers of 100 µs: 10,000 operations per second for each in flight, up
/// to 320,000.
#[test]
fn the_knee_of_parallel_servers_is_their_number() {
    let bench = Bench::new();
    let run = curve(
        &bench,
        &[
            "depth",
            "sim:ideal?latency_us=100,parallel=32",
            "--seconds",
            "1",
        ],
    );
    let knee = &run["curve"]["knee"];
    assert_eq!(
        (&knee["depth"], &knee["above_depth"]),
        (&32.into(), &16.into())
    );
    close(number(&knee["asymptotes_cross_at"]), 32.0, 0.01);
    for point in points(&run) {
        let depth = number(&point["depth"]);
        close(
            number(&point["ops_per_second"]["value"]),
            (depth * 1e4).min(320e3),
            0.01,
        );
    }
    let (_, none) = bench.json([
        "curve",
        "depth",
        "sim:ideal?latency_us=100,parallel=64",
        "--seconds",
        "1",
        "--max-depth",
        "64",
    ]);
    assert_eq!(none["curve"]["knee"], Value::Null);
    let answer = none["curve"]["answers"][0].as_str().unwrap();
    assert!(answer.starts_with("no knee seen up to 64"), "{answer}");
}

#[test]
fn a_cap_is_the_plateau() {
    let bench = Bench::new();
    let run = curve(&bench, &["depth", "sim:cloud?iops=3000", "--seconds", "5"]);
    let plateau = number(&run["curve"]["knee"]["plateau_ops_per_second"]);
    close(plateau, 3000.0, 0.01);
}

/// M/D/1: one server of 1 ms. The mean response is S + ρS/(2(1 − ρ)), so that
/// 3 ms are reached at ρ = 0.8.
#[test]
fn one_server_answers_as_queueing_theory_says() {
    let bench = Bench::new();
    let run = curve(
        &bench,
        &[
            "load",
            "sim:ideal?latency_us=1000,parallel=1",
            "--seconds",
            "200",
            "--seed",
            "5",
            "--slo",
            "mean<3ms",
        ],
    );
    close(
        number(&run["curve"]["ceiling"]["ops_per_second"]),
        1000.0,
        0.01,
    );
    let mut compared = 0;
    for point in points(&run) {
        let Some(load) = point["offered_per_second"].as_f64() else {
            continue;
        };
        let rho = load / 1000.0;
        if rho <= 0.81 {
            let truth = 1e6 * (1.0 + rho / (2.0 * (1.0 - rho)));
            close(number(&point["latency"]["mean_ns"]["value"]), truth, 0.03);
            compared += 1;
        }
        assert_eq!(point["saturated"].as_bool(), Some(load > 1000.5), "{load}");
    }
    assert!(compared >= 8);
    let holds = &run["curve"]["holds"][0];
    close(number(&holds["held_per_second"]), 800.0, 0.03);
    assert!(number(&holds["failed_per_second"]) > number(&holds["held_per_second"]));
    assert_eq!(holds["confirmed"], true);
    assert_eq!(run["verdict"]["fitness"]["outcome"], "met");
}

/// `c` servers of 1 ms: response latency stays at the service time far below
/// saturation.
#[test]
fn several_servers_keep_latency_flat_until_they_are_busy() {
    let bench = Bench::new();
    let run = curve(
        &bench,
        &[
            "load",
            "sim:ideal?latency_us=1000,parallel=16",
            "--seconds",
            "5",
        ],
    );
    let at = |share: f64| {
        let point = points(&run).iter().find(|p| {
            let load = p["offered_per_second"].as_f64().unwrap_or(0.0);
            (load / 16_000.0 / share - 1.0).abs() < 0.02
        });
        number(&point.unwrap()["latency"]["mean_ns"]["value"])
    };
    close(at(0.3), 1e6, 0.01);
    assert!(at(0.95) > 1.1 * at(0.3));
}

#[test]
fn the_zones_of_a_hard_disk_are_named() {
    let bench = Bench::new();
    let run = curve(
        &bench,
        &[
            "position",
            "sim:hdd?outer_mibs=250,inner_mibs=120",
            "--positions",
            "9",
        ],
    );
    let zones = &run["curve"]["zones"];
    close(number(&zones["ratio"]["value"]), 250.0 / 120.0, 0.03);
    assert_eq!(points(&run).len(), 9);
    let text = bench.fathom(["runs", "show", "latest"]);
    assert!(
        unwrapped(&text.stdout).contains("outer over inner zone 2.0"),
        "{}",
        text.stdout
    );
}

#[test]
fn a_working_set_curve_finds_where_the_cache_ends() {
    let bench = Bench::new();
    let run = curve(
        &bench,
        &[
            "working-set",
            "sim:array?cache=64MiB,size=10GiB",
            "--sets",
            "8m,16m,32m,64m,512m,1g",
            "--size",
            "1g",
            "--seconds",
            "1",
        ],
    );
    let levels = run["curve"]["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 2, "{levels:?}");
    assert_eq!(levels[0]["to_bytes"], 64 << 20);
}

#[test]
fn other_sweeps_say_what_they_show() {
    let bench = Bench::new();
    let block = curve(&bench, &["block", "sim:ssd", "--seconds", "1"]);
    assert_eq!(points(&block).len(), 12);
    let flat = curve(
        &bench,
        &[
            "working-set",
            "sim:ideal",
            "--size",
            "64m",
            "--seconds",
            "1",
        ],
    );
    assert_eq!(flat["curve"]["levels"].as_array().unwrap().len(), 1);
    let mix = curve(
        &bench,
        &[
            "mix",
            "sim:ssd?units=4",
            "--slo",
            "p99<2ms",
            "--seconds",
            "1",
        ],
    );
    assert_eq!(mix["curve"]["holds"].as_array().unwrap().len(), 5);
}

#[test]
fn a_stored_curve_is_shown_again_in_every_format() {
    let bench = Bench::new();
    let text = bench.fathom([
        "curve",
        "load",
        "sim:ideal?latency_us=1000,parallel=1",
        "--slo",
        "p99<4ms",
        "--seconds",
        "10",
        "-q",
    ]);
    assert!(matches!(text.status, Some(0 | 6)), "{}", text.stderr);
    for expected in [
        "p99<4ms is met up to",
        "Poisson arrivals",
        "● p50",
        "closed loop",
    ] {
        assert!(
            unwrapped(&text.stdout).contains(expected),
            "{expected}:\n{}",
            text.stdout
        );
    }
    // Below that stands a path, as long as it is.
    let body = |text: &str| text.split("Report:").next().unwrap_or_default().to_owned();
    assert!(
        body(&text.stdout).lines().all(|l| l.chars().count() <= 80),
        "{}",
        text.stdout
    );
    let again = bench.fathom(["runs", "show"]);
    assert_eq!(body(&again.stdout), body(&text.stdout));
    let markdown = bench.fathom(["runs", "show", "--markdown"]);
    assert!(
        markdown.stdout.contains("| load/s | share |"),
        "{}",
        markdown.stdout
    );
    let html = bench.fathom(["report", "-o", "-"]);
    assert!(html.stdout.contains("Response latency by offered load"));
    assert!(html.stdout.contains("<figure class=\"sweep\">"));
}

#[test]
fn what_a_curve_sets_itself_is_refused_as_a_flag() {
    let bench = Bench::new();
    for (args, told) in [
        (vec!["depth", "sim:ssd", "--iodepth", "4"], "--iodepth"),
        (vec!["load", "sim:ssd", "--rate-iops", "4"], "--rate-iops"),
        (
            vec!["block", "sim:ssd", "--runtime", "4", "--for", "4s"],
            "no --for",
        ),
        (
            vec!["block", "sim:ssd", "--runtime", "500ms"],
            "whole seconds",
        ),
        (vec!["position", "sim:hdd", "--rw", "write"], "only reads"),
        (
            vec!["load", "sim:ssd", "--slo", "p99>2ms"],
            "better when lower",
        ),
    ] {
        let output = bench.fathom(["curve"].iter().chain(&args).copied());
        output.expect_status(2).expect_in_stderr(told);
    }
}

#[test]
fn a_workload_with_a_target_says_whether_it_is_held() {
    let bench = Bench::new();
    let io = |slo: &str| {
        let mut args = vec!["io", "sim:ideal?latency_us=100", "--rw", "randread"];
        args.extend(["--runtime", "20s", "--slo", slo]);
        bench.fathom(args)
    };
    let met = io("p99<1ms and iops>9000");
    met.expect_status(0);
    assert!(
        met.stdout.contains("Fitness:  met: p99<1ms and iops>9000"),
        "{}",
        met.stdout
    );
    let missed = io("p99<50us");
    missed.expect_status(6);
    assert!(missed.stdout.contains("not met"), "{}", missed.stdout);
}
