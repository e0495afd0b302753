use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::results::{ResultFile, read_results};

/// 3,000 GETs of one client in two stretches, as warp writes them.
fn document() -> Value {
    let stretch = |start: &str, requests: u32, avg: f64, p99: f64| {
        json!({
            "start_time": start, "end_time": start,
            "single_sized_requests": {
                "first_byte": {"average_millis": 1, "p50": 1},
                "dur_median_millis": avg, "fastest_millis": 0.5, "slowest_millis": 2.0 * p99,
                "std_dev_millis": 0.1, "dur_99_millis": p99, "dur_90_millis": 2.0 * avg,
                "dur_avg_millis": avg, "requests": requests, "obj_size": 4096, "merged_entries": 1
            }
        })
    };
    let second = |n: u32, rate: f64| {
        let start = format!("2026-05-01T14:00:{n:02}+02:00");
        json!({"start": start, "bytes_per_sec": 4096.0 * rate, "obj_per_sec": rate})
    };
    let get = json!({
        "Title": "GET (Final)", "total_requests": 3000, "total_objects": 3000, "total_errors": 0,
        "total_bytes": 3000 * 4096, "concurrency": 8,
        "start_time": "2026-05-01T14:00:00.5+02:00", "end_time": "2026-05-01T14:00:12.5+02:00",
        "first_errors": null, "hosts": ["h:1"], "clients": ["c"],
        "throughput": {
            "start_time": "2026-05-01T14:00:02+02:00", "end_time": "2026-05-01T14:00:14+02:00",
            "errors": 0, "measure_duration_millis": 8000, "bytes": 8_192_000.0, "objects": 2000.0,
            "ops": 2000,
            "segmented": {
                "segment_duration_millis": 1000, "sorted_by": "bps",
                "segments": [second(3, 240.0), second(2, 250.0), second(4, 260.0)]
            }
        },
        "requests_by_client": {
            "c": [
                stretch("2026-05-01T14:00:00+02:00", 2000, 2.0, 8.0),
                stretch("2026-05-01T14:00:10+02:00", 1000, 5.0, 12.0)
            ]
        }
    });
    json!({
        "v": 2, "commandline": "warp get --host h:1 --access-key=*REDACTED*", "final": true,
        "warp_version": "1.3.1", "total": get, "by_op_type": {"GET": get}
    })
}

fn result(document: &Value) -> ResultDocument {
    let ResultFile::Results(mut results) = read_results("x", &document.to_string()).unwrap() else {
        panic!("no results")
    };
    assert_eq!(results.len(), 1);
    results.remove(0)
}

#[test]
fn sums_means_and_extremes_are_taken_and_percentiles_are_not() {
    let result = result(&document());
    assert_eq!(result.tool.as_deref(), Some("warp 1.3.1"));
    let [job] = result.jobs.as_slice() else {
        panic!("{:?}", result.jobs)
    };
    assert_eq!((job.name.as_str(), job.failures_ignored), ("GET", Some(0)));
    let one = &job.directions[0];
    assert_eq!((one.ops, one.bytes), (Some(3000.0), Some(3000.0 * 4096.0)));
    assert_eq!(
        (one.duration_ns, one.ops_per_second),
        (Some(12e9), Some(250.0))
    );
    let total = one.total.as_ref().unwrap();
    assert_eq!((total.mean_ns, total.count), (Some(3e6), Some(3000.0)));
    assert_eq!((total.min_ns, total.max_ns), (Some(0.5e6), Some(24e6)));
    assert_eq!(total.percentiles, []);
    assert_eq!(
        job.series[0].values,
        [250.0, 240.0, 260.0],
        "in order of time"
    );
    let said = result.remarks.join("\n");
    for words in [
        "--full",
        "p99 lies between 8.00 and 12.00 ms",
        "250 objects/s leave out",
        "8 requests in flight",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn one_stretch_holds_percentiles_of_all() {
    let mut document = document();
    let get = &mut document["by_op_type"]["GET"];
    get["requests_by_client"]["c"]
        .as_array_mut()
        .unwrap()
        .truncate(1);
    get["total_requests"] = json!(2000);
    get["total_objects"] = json!(2000);
    let result = result(&document);
    let total = result.jobs[0].directions[0].total.clone().unwrap();
    assert_eq!(total.percentiles, [(50.0, 2e6), (90.0, 4e6), (99.0, 8e6)]);
}

#[test]
fn what_failures_spoil_is_left_out() {
    let mut document = document();
    let get = &mut document["by_op_type"]["GET"];
    get["total_errors"] = json!(300);
    get["first_errors"] = json!(["503 Slow Down"]);
    let result = result(&document);
    let job = &result.jobs[0];
    let one = &job.directions[0];
    assert_eq!(
        (one.ops, one.bytes, &one.total),
        (Some(2700.0), None, &None)
    );
    assert_eq!((job.failures_ignored, job.series.len()), (Some(300), 0));
    let said = result.remarks.join("\n");
    assert!(
        said.contains("300 of 3,000 requests failed (the first: 503"),
        "{said}"
    );
}

#[test]
fn requests_that_are_in_no_part_are_missed() {
    let mut document = document();
    document["by_op_type"]["GET"]["total_requests"] = json!(3100);
    let result = result(&document);
    assert_eq!(result.jobs[0].directions[0].total, None);
    assert!(
        result
            .remarks
            .iter()
            .any(|r| r.contains("latencies of 100 of 3,100"))
    );
}

proptest! {
    #[test]
    fn any_document_is_read(at in 0_usize..2000, byte in 0_u8..128) {
        let mut text = document().to_string().into_bytes();
        let at = at % text.len();
        text[at] = byte;
        let _ = read_results("x", &String::from_utf8_lossy(&text));
    }
}
