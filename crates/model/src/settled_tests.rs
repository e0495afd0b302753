use super::*;
use crate::op::OpKind;
use crate::sample::OpSample;

fn seconds(values: &[u64]) -> Vec<Sample> {
    let sample = |(n, ops): (u32, u64)| {
        let mut sample = Sample::new(Phase::Measure, n, u64::from(n) * 1_000_000_000);
        sample.duration_ns = 1_000_000_000;
        let mut op = OpSample::new(OpKind::Read, false);
        (op.ops, op.bytes) = (ops, ops * 4096);
        op.service.record(1_000 + ops);
        sample.ops.push(op);
        sample
    };
    (0..).zip(values.iter().copied()).map(sample).collect()
}

fn rule(slope: bool, limit: f64) -> Settled {
    Settled {
        figure: Figure::Iops,
        slope,
        limit,
        percent: true,
        window_ns: 4_000_000_000,
        ramp_ns: 1_000_000_000,
        interval_ns: 1_000_000_000,
    }
}

#[test]
fn a_window_settles_once_it_is_full_and_within_the_limit() {
    let values = [9_999, 100, 104, 96, 100];
    let samples = seconds(&values);
    let early = rule(false, 5.0).window(samples[..4].iter());
    assert_eq!((early.iops.len(), early.attained), (3, false));
    let full = rule(false, 5.0).window(samples.iter());
    assert_eq!(full.iops, [100, 104, 96, 100], "the ramp is left aside");
    assert_eq!(full.bytes_per_second[1], 104 * 4096);
    assert_eq!(full.latency_ns[0], 1_100);
    assert_eq!((full.deviation, full.criterion), (4.0, 4.0));
    assert!(full.attained && !rule(false, 4.0).window(samples.iter()).attained);
}

#[test]
fn a_slope_is_that_of_the_least_squares_line() {
    let samples = seconds(&[0, 100, 110, 120, 130]);
    let window = rule(true, 5.0).window(samples.iter());
    assert!((window.slope - 10.0).abs() < 1e-9, "{window:?}");
    assert!((window.criterion - 1000.0 / 115.0).abs() < 1e-9 && !window.attained);
    let falling = seconds(&[0, 130, 120, 110, 100]);
    let window = rule(true, 9.0).window(falling.iter());
    assert!(window.criterion < 0.0 && window.attained);
}

#[test]
fn intervals_of_several_seconds_are_joined() {
    let two = Settled {
        interval_ns: 2_000_000_000,
        ramp_ns: 0,
        ..rule(false, 50.0)
    };
    let window = two.window(seconds(&[100, 200, 300, 100, 7]).iter());
    assert_eq!(window.iops, [150, 200]);
    assert_eq!(two.intervals(), 2);
}
