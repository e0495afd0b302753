use super::super::test_record::{STARTED_NS, run, trial};
use super::*;

fn view(change: impl Fn(&mut FioLogs)) -> FioView {
    let mut job = FioJob::new("j", 0);
    job.logs.bandwidth = Some("d/o".to_owned());
    job.logs.iops = Some("d/o".to_owned());
    job.logs.latency = Some("d/o".to_owned());
    job.logs.histogram = Some("d/o".to_owned());
    change(&mut job.logs);
    FioView {
        version: "fio-3.36".to_owned(),
        global_options: Vec::new(),
        jobs: vec![job],
    }
}

fn text(record: &RunRecord, view: &FioView, name: &str) -> String {
    let logs = logs(record, view);
    let log = logs.iter().find(|log| log.name() == name);
    let mut out = Vec::new();
    log.unwrap_or_else(|| panic!("no {name}"))
        .write(&mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn names_are_those_of_fio() {
    let record = run(vec![trial(0, false)]);
    let names = |view: &FioView| -> Vec<String> {
        let logs = logs(&record, view);
        logs.iter().map(|log| log.name().to_owned()).collect()
    };
    assert_eq!(
        names(&view(|_| ())),
        [
            "d/o_bw.1.log",
            "d/o_iops.1.log",
            "d/o_slat.1.log",
            "d/o_clat.1.log",
            "d/o_lat.1.log",
            "d/o_clat_hist.1.log"
        ]
    );
    let mut hosted = view(|logs| {
        logs.per_job = false;
        (logs.iops, logs.latency, logs.histogram) = (None, None, None);
    });
    hosted.jobs[0].host = Some(super::super::FioHost::of("node1"));
    assert_eq!(names(&hosted), ["d/o_bw.log.node1"]);
}

#[test]
fn a_log_of_what_was_not_recorded_is_known_to_be_empty() {
    let mut record = run(vec![trial(0, false)]);
    let view = view(|_| ());
    let empty = |record: &RunRecord| -> Vec<bool> {
        let logs = logs(record, &view);
        logs.iter().map(FioLog::is_empty).collect()
    };
    assert_eq!(empty(&record), [false; 6]);
    let samples = record.trials[0].samples.iter_mut();
    for op in samples.flat_map(|sample| &mut sample.ops) {
        op.halves = None;
    }
    assert_eq!(empty(&record), [false, false, true, false, false, false]);
}

#[test]
fn windows_hold_means_maxima_or_both() {
    let record = run(vec![trial(0, false)]);
    let iops = |window_ms, value| {
        let view = view(|logs| {
            logs.window_ms = window_ms;
            logs.window_value = value;
        });
        text(&record, &view, "d/o_iops.1.log")
    };
    assert_eq!(
        iops(1000, WindowValue::Average),
        "1000, 201, 0, 0, 0\n1000, 100, 1, 0, 0\n2000, 205, 0, 0, 0\n2000, 100, 1, 0, 0\n"
    );
    assert!(iops(1000, WindowValue::Maximum).starts_with("1000, 202, 0, 0, 0\n"));
    assert!(iops(1000, WindowValue::Both).starts_with("1000, 201, 202, 0, 0, 0\n"));
    assert_eq!(iops(500, WindowValue::Average).lines().count(), 8);
    let rounded = iops(700, WindowValue::Average);
    let ends: Vec<&str> = rounded
        .lines()
        .filter_map(|line| line.split(',').next())
        .collect();
    assert_eq!(ends, ["1000", "1000", "1500", "1500", "2000", "2000"]);
}

#[test]
fn latencies_are_nanoseconds_and_their_halves_add_up() {
    let record = run(vec![trial(0, false)]);
    let view = view(|logs| logs.window_ms = 2000);
    let mean = |name: &str| {
        let text = text(&record, &view, name);
        let second = text.split(", ").nth(1).unwrap();
        second.parse::<u64>().unwrap()
    };
    let (slat, clat) = (mean("d/o_slat.1.log"), mean("d/o_clat.1.log"));
    assert_eq!((slat, slat + clat), (1000, mean("d/o_lat.1.log")));
    assert_eq!(mean("d/o_bw.1.log"), 406 * 4 / 2);
}

#[test]
fn single_operations_have_offset_block_and_time_of_issue() {
    let record = run(vec![trial(0, true)]);
    let plain = text(&record, &view(|_| ()), "d/o_lat.1.log");
    assert!(
        plain.starts_with("250, 200000, 1, 4096, 0\n750, "),
        "{plain}"
    );
    let full = view(|logs| {
        logs.offset = true;
        logs.priority = true;
        logs.issue_time = true;
    });
    let clat = text(&record, &full, "d/o_clat.1.log");
    let first = clat.lines().next().unwrap();
    assert_eq!(first, "250, 199000, 1, 4096, 8192, 0x0000, 249801000");
    // kB/s of one operation.
    let bandwidth = text(&record, &full, "d/o_bw.1.log");
    assert!(
        bandwidth.starts_with("250, 20480, 1, 4096, 8192"),
        "{bandwidth}"
    );
    assert_eq!(log_notes(&record, &full), [] as [&str; 0]);
}

#[test]
fn times_can_count_from_1970() {
    let mut record = run(vec![trial(0, false)]);
    let load_ns = STARTED_NS + 7_000_000;
    if let Some(end) = &mut record.trials[0].end {
        end.load_started_unix_ns = Some(load_ns);
    }
    let view = view(|logs| {
        logs.window_ms = 1000;
        logs.unix_epoch = true;
    });
    let text = text(&record, &view, "d/o_bw.1.log");
    let expected = load_ns / 1_000_000 + 1000;
    assert!(text.starts_with(&format!("{expected}, ")), "{text}");
}

#[test]
fn histograms_have_a_column_for_each_bucket() {
    let record = run(vec![trial(0, false)]);
    for (coarseness, columns) in [(0, 1859), (3, 235), (6, 32)] {
        let view = view(|logs| {
            logs.histogram_window_ms = 1000;
            logs.histogram_coarseness = coarseness;
        });
        let text = text(&record, &view, "d/o_clat_hist.1.log");
        let lines: Vec<Vec<u64>> = text
            .lines()
            .map(|line| line.split(", ").map(|n| n.parse().unwrap()).collect())
            .collect();
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.len() == columns));
        assert_eq!(lines[0][..3], [1000, 0, 4096]);
        assert_eq!(lines[0][3..].iter().sum::<u64>(), 201);
    }
}

#[test]
fn what_a_log_cannot_hold_is_said() {
    let mut record = run(vec![trial(0, true)]);
    if let Some(end) = &mut record.trials[0].end {
        end.engine.unlogged_ops = 9;
    }
    let notes = log_notes(&record, &view(|_| ()));
    assert_eq!(
        notes,
        ["job j: its logs hold the first 4 operations; there was no room for 9 more"]
    );
    let record = run(vec![trial(0, false)]);
    let notes = log_notes(
        &record,
        &view(|logs| {
            logs.window_ms = 0;
            logs.histogram_window_ms = 700;
        }),
    );
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("each interval of 500 ms"));
    assert!(notes[1].contains("windows of 700 ms are rounded"));
}
