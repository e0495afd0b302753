//! False alarms, power and location against simulated truth.

use super::*;
use crate::log_rates::log_rates;
use crate::noise::{Noise as Source, seeded};

fn rates(
    noise: &mut Source,
    phi: f64,
    n: usize,
    cv: f64,
    level: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let series = noise.ar1(phi, n);
    let rate = |(i, v): (usize, &f64)| (level(i) * (1.0 + cv * v)).max(0.0);
    series.iter().enumerate().map(rate).collect()
}

#[test]
fn steady_series_show_a_change_in_at_most_one_of_twenty() {
    for (n, runs) in [
        (10, 300),
        (12, 300),
        (16, 300),
        (20, 150),
        (30, 150),
        (60, 150),
        (120, 80),
        (300, 30),
        (900, 8),
    ] {
        for phi in [0.0, 0.5, 0.8, 0.9] {
            for cv in [0.05, 0.2] {
                let mut noise = seeded(n as u64 + (phi * 100.0) as u64);
                let alarms = (0..runs)
                    .filter(|_| {
                        let series = rates(&mut noise, phi, n, cv, |_| 1000.0);
                        !change_points(&log_rates(&series)).is_empty()
                    })
                    .count();
                // Two deviations of the count above 5 %.
                let limit = 0.05 * runs as f64 + 2.0 * (0.05 * runs as f64).sqrt();
                assert!(
                    alarms as f64 <= limit,
                    "n {n} φ {phi} cv {cv}: {alarms} of {runs}"
                );
            }
        }
    }
}

#[test]
fn steps_are_found_where_they_are() {
    for (n, cv, ratio, phi) in [
        (60, 0.02, 0.9, 0.0),
        (30, 0.03, 0.8, 0.0),
        (60, 0.03, 0.9, 0.0),
        (60, 0.03, 0.85, 0.5),
        (60, 0.05, 0.8, 0.0),
        (120, 0.05, 0.88, 0.0),
        (120, 0.03, 0.88, 0.3),
        (300, 0.05, 0.88, 0.3),
        (600, 0.05, 0.9, 0.3),
        (60, 0.05, 0.3, 0.5),
        (12, 0.05, 0.4, 0.0),
        (17, 0.05, 0.4, 0.3),
    ] {
        let mut noise = seeded(n as u64);
        let runs = 60;
        let mut found = 0;
        for _ in 0..runs {
            let at = n * 2 / 5;
            let level = |i: usize| if i < at { 1000.0 } else { 1000.0 * ratio };
            let series = rates(&mut noise, phi, n, cv, level);
            let points = change_points(&log_rates(&series));
            found += usize::from(points.len() == 1 && points[0].abs_diff(at) <= 3.max(n / 20));
        }
        assert!(
            10 * found >= 9 * runs,
            "n {n} cv {cv} ratio {ratio} φ {phi}: {found} of {runs}"
        );
    }
}

#[test]
fn a_burst_of_seconds_is_found_in_an_hour() {
    let mut noise = seeded(5);
    let series = rates(&mut noise, 0.3, 3600, 0.03, |i| {
        if i < 8 { 2.9e9 } else { 414e6 }
    });
    assert_eq!(change_points(&log_rates(&series)), [8]);
    let day = rates(&mut noise, 0.3, 86_400, 0.03, |i| {
        if i < 40_000 { 2.9e9 } else { 414e6 }
    });
    assert_eq!(change_points(&log_rates(&day)), [40_000]);
}

#[test]
fn noiseless_and_broken_series_are_handled() {
    assert!(change_points(&[7.0; 100]).is_empty());
    assert!(change_points(&[f64::NAN; 100]).is_empty());
    assert!(change_points(&[1.0, 2.0]).is_empty());
    let step: Vec<f64> = (0..100).map(|i| if i < 30 { 1.0 } else { 0.5 }).collect();
    assert_eq!(change_points(&step), [30]);
    // A few stalls are outliers, not levels.
    let mut noise = seeded(6);
    let mut series = rates(&mut noise, 0.0, 120, 0.02, |_| 1000.0);
    for at in [10, 11, 50, 90] {
        series[at] = 20.0;
    }
    assert!(change_points(&log_rates(&series)).is_empty());
}

/// A drive that is the same every second, with a cache that ends within one: that
/// second belongs to neither level.
#[test]
fn a_cliff_without_noise_is_found_wherever_it_falls() {
    for n in [17, LEAST_SERIES, 34, 61, 120] {
        for at in LEAST_CELLS..=n - 1 - LEAST_CELLS {
            for tenths in 0..10 {
                let share = f64::from(tenths) / 10.0;
                let rate = |i: usize| match i.cmp(&at) {
                    std::cmp::Ordering::Less => 2239.0 + (i % 2) as f64,
                    std::cmp::Ordering::Equal => 2239.0 * share + 970.0 * (1.0 - share),
                    std::cmp::Ordering::Greater => 970.0,
                };
                let logs: Vec<f64> = (0..n).map(|i| rate(i).ln()).collect();
                let found = change_points(&logs);
                let near = found.len() == 1 && (at..=at + 1).contains(&found[0]);
                assert!(near, "{n} values, cliff at {at}.{tenths}: {found:?}");
            }
        }
    }
}
