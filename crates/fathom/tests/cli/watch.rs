//! `fathom watch` without a terminal: JSON lines, their end, and the filter.

use serde_json::Value;

use crate::bench::{Bench, Output};

fn objects(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("an object a line"))
        .collect()
}

#[test]
fn json_is_one_object_for_each_reading() {
    let bench = Bench::new();
    let output = bench.fathom(["watch", "--json", "--count", "2", "--every", "200ms"]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    assert!(output.stderr.is_empty(), "{}", output.stderr);
    let objects = objects(&output);
    assert_eq!(objects.len(), 2, "{}", output.stdout);
    for object in &objects {
        assert_eq!(object["schema"], "fathom.watch/1");
        assert!(
            object["at_utc"]
                .as_str()
                .is_some_and(|at| at.ends_with('Z'))
        );
        assert!(object["interval_s"].as_f64().is_some_and(|s| s > 0.0));
        let answer = object["verdict"]["answer"].as_str().unwrap();
        assert!(["yes", "no", "not_proven"].contains(&answer));
        assert!(object["cpu"]["user_share"].is_number());
        assert!(object["devices"].is_array() && object["processes"].is_array());
    }
    assert_eq!(objects[1]["verdict"]["intervals"], 2);
}

#[test]
fn watching_ends_after_its_time() {
    let bench = Bench::new();
    let args = ["watch", "--json", "--for", "500ms", "--every", "100ms"];
    let output = bench.fathom(args);
    output.expect_status(0);
    let plain = bench.fathom(["watch", "--plain", "--for", "300ms", "--every", "100ms"]);
    assert!(plain.stdout.starts_with("== "), "{}", plain.stdout);
    plain.expect_status(0);
    let wrong = bench.fathom(["watch", "--json", "--plain"]);
    assert_eq!(wrong.status, Some(2), "{}", wrong.stderr);
}

#[test]
fn a_filter_and_a_time_hold_for_recordings_too() {
    let bench = Bench::new();
    let args = [
        "record", "--for", "1s", "--every", "100ms", "--output", "h.frec",
    ];
    bench.fathom(args).expect_status(0);
    let all = objects(&bench.fathom(["watch", "h.frec", "--json", "--every", "100ms"]));
    assert!(all.len() > 3, "{}", all.len());
    let args = [
        "watch",
        "h.frec",
        "--json",
        "--every",
        "100ms",
        "--for",
        "500ms",
        "--filter",
        "nobody-has-this",
    ];
    let output = bench.fathom(args);
    let some = objects(&output);
    assert!((1..all.len()).contains(&some.len()), "{}", some.len());
    for object in some {
        assert_eq!(object["devices"], Value::Array(vec![]));
        assert_eq!(object["processes"], Value::Array(vec![]));
    }
}
