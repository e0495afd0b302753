//! Tests of the cost estimate.

use super::*;
use crate::{ScheduleContext, parse};

fn estimate(text: &str) -> Cost {
    let text = format!("plan: 1\ntarget: /mnt/a\n{text}");
    let plan = parse("cost.yaml", &text).unwrap_or_else(|e| panic!("{e}"));
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    cost(&schedule, &CostAssumptions::default())
}

#[test]
fn reads_cost_their_layout_once() {
    let cost = estimate(
        "iterations: 2\npause: {floor: 1s}\nworkloads: [{rw: randread, size: 5g, runtime: 10s}]",
    );
    assert_eq!(cost.bytes_written_min, 5 << 30);
    assert_eq!(cost.bytes_written_max, 5 << 30);
    assert_eq!(cost.bytes_on_target, 5 << 30);
    assert_eq!(cost.trials, 2);
    // 5 GiB at 500 MB/s, twice 10 s, one pause of 1 s.
    let expected = 5.0 * 1073741824.0 / 500e6 + 21.0;
    assert!(
        (cost.time_ns as f64 / 1e9 - expected).abs() < 0.01,
        "{}",
        cost.text
    );
    assert!(cost.text.contains("2 trials"), "{}", cost.text);
}

#[test]
fn writes_for_a_time_are_a_range_and_writes_of_bytes_are_not() {
    let time = estimate("iterations: 1\nworkloads: [{rw: write, bs: 1m, runtime: 10s}]");
    assert_eq!(
        time.bytes_written_min,
        (1 << 30) + (10.0 * 100.0 * 1048576.0f64).min(1e9) as u64
    );
    assert_eq!(time.bytes_written_max, (1 << 30) + 140_000_000_000);
    let bytes = estimate("iterations: 1\nworkloads: [{rw: write, bs: 1m, io_size: 3g}]");
    assert_eq!(bytes.bytes_written_min, 4 << 30);
    assert_eq!(bytes.bytes_written_max, 4 << 30);
}

#[test]
fn a_rate_bounds_what_is_written() {
    let cost =
        estimate("iterations: 1\nworkloads: [{rw: randwrite, bs: 4k, rate: 50/s, runtime: 100s}]");
    assert_eq!(cost.bytes_written_max - (1 << 30), 50 * 100 * 4096);
}

#[test]
fn layouts_that_change_are_counted_anew_at_most() {
    let cost = estimate(
        "iterations: 2\nmatrix: {numjobs: [1, 4]}\n\
         workloads: [{rw: randread, size: 4g, runtime: 1s}]",
    );
    assert_eq!(cost.bytes_written_min, 8 << 30);
    assert_eq!(cost.bytes_written_max, 16 << 30);
    assert_eq!(cost.bytes_on_target, 8 << 30);
}

#[test]
fn nothing_is_written_to_null_and_simulated_targets() {
    let plan = parse(
        "x",
        "plan: 1\ntargets: ['null:', 'sim:ssd']\nworkloads: [{rw: write, runtime: 5s}]",
    );
    let schedule = plan.unwrap().schedule(&ScheduleContext::default()).unwrap();
    let cost = cost(&schedule, &CostAssumptions::default());
    assert_eq!(cost.bytes_written_max, 0);
    assert!(cost.text.contains("Nothing is written"), "{}", cost.text);
}

#[test]
fn trials_that_run_at_the_same_time_take_as_long_as_the_longest() {
    let text = "
plan: 1
targets: /data
iterations: 1
pause: {floor: 0, until_quiet: false}
workloads:
  - {name: short, together: mixed, rw: randread, runtime: 10s, size: 1g}
  - {name: long, together: mixed, rw: randread, runtime: 30s, size: 1g, start_delay: 5s}
";
    let plan = parse("p.yaml", text).expect("a right plan");
    let schedule = plan
        .schedule(&ScheduleContext::default())
        .expect("a schedule");
    let of_both = cost(&schedule, &CostAssumptions::default());
    // Laying out the files comes on top; each has its own.
    let layout_s = 2.0 * 1_073_741_824.0 / 500e6;
    let seconds = of_both.time_ns as f64 / 1e9;
    assert!((seconds - 35.0 - layout_s).abs() < 0.1, "{seconds}");
    assert_eq!(of_both.bytes_on_target, 2 << 30);
}
