//! Real files of fio 3.33, one of the shape of 2.16, and what can happen to
//! them on their way.

use crate::results::{ResultDocument, SeriesKind};
use fathom_model::op::OpKind;
use proptest::prelude::*;

use super::*;

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fio/");
    std::fs::read_to_string(format!("{folder}{name}")).unwrap()
}

fn results(name: &str) -> Vec<ResultDocument> {
    results_of(&fixture(name))
}

fn results_of(text: &str) -> Vec<ResultDocument> {
    match read_results("file.json", text).unwrap() {
        ResultFile::Results(results) => results,
        other => panic!("no results: {other:?}"),
    }
}

fn log(name: &str) -> SeriesLog {
    match read_results(name, &fixture(name)).unwrap() {
        ResultFile::Log(log) => log,
        other => panic!("no log: {other:?}"),
    }
}

#[test]
fn json_plus_is_read_in_base_units() {
    let results = results("buffered_aio.json");
    let job = &results[0].jobs[0];
    assert_eq!(results[0].tool.as_deref(), Some("fio-3.33"));
    assert_eq!(job.options["iodepth"], "32");
    assert_eq!(job.directions.len(), 1, "idle directions are left out");
    let read = &job.directions[0];
    assert_eq!(read.kind, Some(OpKind::Read));
    assert_eq!(read.bytes, Some(290_447_360.0));
    assert_eq!(read.ops, Some(70_910.0));
    assert_eq!(read.duration_ns, Some(2_001e6));
    assert_eq!(read.total.as_ref().unwrap().mean_ns, Some(898_284.896_291));
    let completion = read.completion.as_ref().unwrap();
    assert_eq!(completion.percentiles.len(), 17);
    assert_eq!(completion.bin_count, Some(70_910.0));
    let device = &results[0].devices.as_ref().unwrap()[0];
    assert_eq!((device.reads, device.queue_ns), (67_995.0, Some(1_349e6)));
    assert_eq!(device.read_bytes, None, "3.33 states no sectors");
    assert!(results[0].damage.is_empty() && results[0].remarks.is_empty());
}

#[test]
fn what_was_not_recorded_is_absent_and_not_zero() {
    let read = results("gtod_shm.json").remove(0).jobs.remove(0);
    let write = &read.directions[0];
    assert!(write.completion.is_none() && write.total.is_none());
    assert!(write.rate_spread.is_none());
    let fsync = results("fsync.json").remove(0).jobs.remove(0);
    assert_eq!(fsync.flushes.unwrap().count, Some(940.0));
}

#[test]
fn version_2_has_microseconds_and_kib() {
    let results = results("fio2.json");
    let read = &results[0].jobs[0].directions[0];
    assert_eq!(read.bytes, Some(1_200_000.0 * 1024.0));
    assert_eq!(read.bytes_per_second, Some(40_000.0 * 1024.0));
    let completion = read.completion.as_ref().unwrap();
    assert_eq!(completion.mean_ns, Some(1_594_000.0));
    let p99 = completion.percentiles.iter().find(|(p, _)| *p == 99.0);
    assert_eq!(p99.unwrap().1, 2_900_000.0);
    assert_eq!(completion.percentiles.len(), 3, "p0 is padding");
}

#[test]
fn a_client_s_sum_is_known_as_one_and_global_options_count() {
    let results = results("client.json");
    let jobs = &results[0].jobs;
    let sums: Vec<bool> = jobs.iter().map(|j| j.sum_of_others).collect();
    assert_eq!(sums, [false, false, true]);
    assert_eq!(jobs[0].host.as_deref(), Some("127.0.0.1"));
    assert_eq!(jobs[1].options["ioengine"], "null");
    assert!(jobs[2].options.is_empty());
}

#[test]
fn text_around_the_document_is_kept_as_messages() {
    let results = results("error_text_before.json");
    assert!(results[0].messages[0].contains("No space left on device"));
    assert_eq!(results[0].jobs[0].error, Some(28));
    let noisy = format!(
        "nbd: connected\nfio: this platform {{odd}}\n{}\nbye",
        fixture("rate.json")
    );
    let results = results_of(&noisy);
    assert_eq!(results[0].messages.len(), 3);
    assert_eq!(results[0].jobs.len(), 1);
    let inside = fixture("rate.json").replacen("\"jobs\"", "\nfio: pid=1, err=5\n\"jobs\"", 1);
    let results = results_of(&inside);
    assert_eq!(results[0].messages, ["fio: pid=1, err=5"]);
}

#[test]
fn snapshots_of_one_run_are_one_result_and_other_documents_are_not() {
    let snapshots = results("status_interval.json");
    assert_eq!(snapshots.len(), 1);
    assert!(snapshots[0].remarks[0].contains("4 cumulative snapshots"));
    assert!(snapshots[0].jobs[0].directions[0].duration_ns > Some(2.9e9));
    let two = fixture("rate.json") + &fixture("fsync.json");
    let two = results_of(&two);
    assert_eq!(two.len(), 2);
    assert_eq!(two[1].source, "file.json (document 2 of 2)");
    let same = fixture("rate.json") + &fixture("rate.json");
    assert_eq!(results_of(&same).len(), 2, "no progress: not a snapshot");
}

#[test]
fn a_file_that_breaks_off_gives_its_complete_jobs() {
    let whole = fixture("two_jobs.json");
    let cut = &whole[..whole.len() * 3 / 4];
    let results = results_of(cut);
    assert_eq!(results[0].jobs.len(), 2);
    assert!(results[0].damage[0].contains("breaks off"));
    let early = read_results("file.json", &whole[..3000]);
    assert_eq!(early, Err(ResultError::Truncated(3000)));
}

#[test]
fn terse_output_is_read() {
    let results = results("terse.txt");
    let job = &results[0].jobs[0];
    assert_eq!((job.name.as_str(), job.error), ("t", Some(0)));
    let read = &job.directions[0];
    assert_eq!(read.bytes, Some(16_039_304.0 * 1024.0));
    assert_eq!(read.ops_per_second, Some(4_005_820.0));
    assert_eq!(read.duration_ns, Some(1_001e6));
    assert!((job.cpu_user.unwrap() - 0.974).abs() < 1e-9);
    assert!((read.total.as_ref().unwrap().mean_ns.unwrap() - 61.122).abs() < 1e-9);
}

#[test]
fn logs_of_means_become_seconds() {
    let log = log("two_iops.1.log");
    assert_eq!((log.prefix.as_str(), log.job), ("two", Some(1)));
    assert_eq!(log.kind, LogKind::Series(SeriesKind::Operations));
    assert!(!log.per_operation);
    assert_eq!(log.series.len(), 2, "reads and writes");
    assert_eq!(log.series[0].interval_ns, 1_000_000_000);
    assert!((2..=3).contains(&log.series[0].values.len()));
    for value in &log.series[0].values {
        assert!((7_000.0..12_000.0).contains(value), "{value}");
    }
}

#[test]
fn logs_of_operations_are_counted() {
    let text =
        "1, 900, 0, 4096, 0\n400, 800, 0, 4096, 0\n1500, 700, 0, 8192, 0\n2100, 1, 0, 4096, 0\n";
    let ResultFile::Log(found) = read_results("a/raw_bw.3.log", text).unwrap() else {
        panic!("no log")
    };
    assert!(found.per_operation);
    assert_eq!(found.series[0].values, [8192.0, 8192.0]);
    let ResultFile::Log(found) = read_results("raw_iops.3.log", text).unwrap() else {
        panic!("no log")
    };
    assert_eq!(found.series[0].values, [2.0, 1.0]);
    let raw = log("raw_iops.1.log");
    assert!(raw.per_operation);
}

#[test]
fn uneven_and_missing_lines_do_not_bend_the_series() {
    // A steady 1,000 IOPS, written at uneven times and once twice.
    let times = [
        480, 1010, 1490, 2003, 2003, 2600, 3040, 3500, 4001, 4499, 5002,
    ];
    let text: String = times
        .iter()
        .map(|t| format!("{t}, 1000, 1, 0, 0\n"))
        .collect();
    let ResultFile::Log(log) = read_results("x_iops.1.log.host7", &text).unwrap() else {
        panic!("no log")
    };
    assert_eq!(log.host.as_deref(), Some("host7"));
    assert_eq!(log.series[0].values, [1000.0; 5]);
}

#[test]
fn logs_are_matched_by_name_and_number() {
    let mut found = results("two_jobs.json");
    let logs = (1..=3).map(|n| log(&format!("two_iops.{n}.log"))).collect();
    assert_eq!(gather(&mut found, logs), Vec::<String>::new());
    let series: Vec<usize> = found[0].jobs.iter().map(|j| j.series.len()).collect();
    assert_eq!(series, [2, 2, 1]);
    let mut stranger = log("two_iops.1.log");
    stranger.prefix = "other".to_owned();
    let remarks = gather(&mut found, vec![stranger]);
    assert!(remarks[0].contains("belongs to none"), "{remarks:?}");
}

#[test]
fn logs_alone_make_a_result() {
    let mut found = Vec::new();
    let logs = vec![log("randread_iops.1.log"), log("randread_bw.1.log")];
    assert!(gather(&mut found, logs).is_empty());
    assert_eq!(found[0].jobs.len(), 1);
    assert_eq!(found[0].jobs[0].series.len(), 2);
    assert!(found[0].jobs[0].series[0].values.len() > 35);
}

#[test]
fn clones_in_one_entry_are_added_up() {
    let text = fixture("null_group.json").replace("write_hist_log", "write_iops_log");
    let mut found = results_of(&text);
    let make = |n: u64| {
        let lines = "1000, 10, 0, 0, 0\n2000, 20, 0, 0, 0\n3000, 30, 0, 0, 0\n";
        match read_results(&format!("nh_iops.{n}.log"), lines).unwrap() {
            ResultFile::Log(log) => log,
            other => panic!("{other:?}"),
        }
    };
    assert!(gather(&mut found, vec![make(1), make(2)]).is_empty());
    let series = &found[0].jobs[0].series[0];
    assert_eq!(
        (series.values.as_slice(), series.logs),
        ([20.0, 40.0, 60.0].as_slice(), 2)
    );
}

#[test]
fn what_is_not_understood_is_named() {
    let error = |text: &str| read_results("x", text).unwrap_err().to_string();
    assert!(error("").contains("empty"));
    assert!(error("hello there\n").contains("begins with 'hello there'"));
    assert!(error("{\"a\": 1}").contains("keys [a] but no jobs"));
    assert!(error("{\"a\": }").contains("cannot be read"));
    assert!(error("1, 2, 0, 0\n").contains("name does not say"));
    let own = read_results("x", "{\"schema\": \"fathom.series/1\"}").unwrap();
    assert_eq!(own, ResultFile::Own("fathom.series/1".to_owned()));
}

#[test]
fn odd_values_are_missing_facts() {
    let text = r#"{"fio version": 3, "jobs": [7, null, {"jobname": "x", "error": "no", "read":
        {"io_bytes": "4096", "io_kbytes": null, "total_ios": -1, "iops": "1.5", "runtime": [],
         "clat_ns": {"mean": "x", "N": 1, "percentile": {"a": 1, "99": "nan", "50": "7"}},
         "lat_ns": 5}, "write": []}], "disk_util": [{"name": 1}, 5]}"#;
    let results = results_of(text);
    let job = &results[0].jobs[0];
    let read = &job.directions[0];
    assert_eq!((read.bytes, read.kib, read.ops), (Some(4096.0), None, None));
    assert_eq!((read.ops_per_second, read.duration_ns), (Some(1.5), None));
    let completion = read.completion.as_ref().unwrap();
    assert_eq!(completion.percentiles, [(50.0, 7.0)]);
    assert_eq!((job.error, results[0].damage.len()), (None, 2));
}

fn bytes_of(seed: &str, edits: &[(usize, u8)], keep: usize) -> String {
    let mut bytes = seed.as_bytes().to_vec();
    for (at, byte) in edits {
        let length = bytes.len();
        bytes[at % length] = *byte;
    }
    bytes.truncate(keep % (seed.len() + 1));
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn damaged_files_never_panic(
        which in 0usize..6,
        edits in prop::collection::vec((any::<usize>(), any::<u8>()), 0..12),
        keep in any::<usize>(),
    ) {
        let names = ["two_jobs.json", "client.json", "terse.txt", "two_iops.1.log", "fio2.json",
            "status_interval.json"];
        let text = bytes_of(&fixture(names[which]), &edits, keep);
        for name in [names[which], "x_bw.1.log", "y_lat.log"] {
            match read_results(name, &text) {
                Ok(ResultFile::Results(mut results)) => {
                    let logs = vec![log("two_iops.2.log")];
                    gather(&mut results, logs);
                }
                Ok(ResultFile::Log(log)) => {
                    for series in &log.series {
                        prop_assert!(series.values.len() <= 2_000_000);
                        prop_assert!(series.values.iter().all(|v| v.is_finite()));
                    }
                    gather(&mut Vec::new(), vec![log]);
                }
                Ok(ResultFile::Own(_)) | Err(_) => {}
            }
        }
    }

    #[test]
    fn hostile_logs_stay_within_bounds(lines in prop::collection::vec(
        (any::<f64>(), any::<f64>(), 0u8..4, any::<u32>()), 0..40)) {
        let text: String = lines
            .iter()
            .map(|(t, v, d, b)| format!("{t}, {v}, {d}, {}, 0\n", b % 3))
            .collect();
        if let Ok(ResultFile::Log(log)) = read_results("z_bw.1.log", &text) {
            for series in &log.series {
                prop_assert!(series.values.len() <= 2_000_000);
            }
        }
    }
}

fn histogram_line(ms: u32, columns: usize, filled: &[(usize, u64)]) -> String {
    let mut counts = vec![0; columns];
    for (column, count) in filled {
        counts[*column] += count;
    }
    let counts: Vec<String> = counts.iter().map(|c| format!(", {c}")).collect();
    format!("{ms}, 1, 4096{}\n", counts.concat())
}

fn histogram_log(name: &str, text: &str) -> SeriesLog {
    match read_results(name, text).unwrap() {
        ResultFile::Log(log) => log,
        other => panic!("{other:?}"),
    }
}

#[test]
fn histogram_logs_give_what_the_document_lacks() {
    // 990 operations of 100 ns and 10 of one bucket from 256 ns on, each second.
    let fine = |ms| histogram_line(ms, 1856, &[(100, 990), (192, 10)]);
    let text: String = (1..=5).map(|s| fine(1000 * s)).collect();
    let mut found = Vec::new();
    let logs = vec![histogram_log("w_clat_hist.1.log", &text)];
    assert_eq!(gather(&mut found, logs), Vec::<String>::new());
    let job = &found[0].jobs[0];
    let direction = &job.directions[0];
    assert_eq!(direction.name(), "write");
    assert_eq!(direction.ops, Some(5000.0));
    let completion = direction.completion.as_ref().unwrap();
    let of = |percent: f64| completion.percentiles.iter().find(|p| p.0 == percent);
    assert_eq!(of(99.0), Some(&(99.0, 100.0)));
    assert_eq!(of(99.9), Some(&(99.9, 257.5)));
    assert_eq!(job.series[0].values, [1000.0; 4]);
    // 64 neighbours in one column: known only to the power of two.
    let coarse = histogram_log("w_clat_hist.1.log", &histogram_line(9, 29, &[(2, 4)]));
    let latency = coarse.histograms[0].1.latency().unwrap();
    assert_eq!((latency.min_ns, latency.max_ns), (Some(128.0), Some(255.0)));
    let odd = histogram_log("w_clat_hist.1.log", &histogram_line(9, 30, &[(2, 4)]));
    assert_eq!((odd.broken_lines, odd.histograms.len()), (1, 0));
}

#[test]
fn a_histogram_log_of_other_operations_is_told() {
    let text = fixture("randread.json");
    let mut found = results_of(&text);
    let name = found[0].jobs[0].name.clone();
    let completion = found[0].jobs[0].directions[0].completion.clone();
    let ops = found[0].jobs[0].directions[0].ops.unwrap() as u64;
    let mut remarks_of = |ops: u64| {
        let line = histogram_line(1000, 1856, &[(10, ops)]).replacen(", 1,", ", 0,", 1);
        let logs = vec![histogram_log(&format!("{name}_clat_hist.1.log"), &line)];
        gather(&mut found, logs)
    };
    let other = remarks_of(ops);
    assert!(other[0].contains("not of the same operations"), "{other:?}");
    let more = remarks_of(2 * ops);
    assert!(more[0].contains("not of the same run"), "{more:?}");
    // A log that lacks its end contradicts nothing.
    assert_eq!(remarks_of(ops / 2), Vec::<String>::new());
    assert_eq!(found[0].jobs[0].directions[0].completion, completion);
}
