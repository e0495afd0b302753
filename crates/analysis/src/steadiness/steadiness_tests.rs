//! Trials with known truth through the whole judgement.

use fathom_model::judged::JudgedTrial;
use fathom_model::run::TrialRecord;
use fathom_model::steadiness::{RungStatus, SteadinessClass};

use crate::statistics::noise::{Noise, seeded};
use crate::test_records::{RecordBuilder, run_of};

/// A write trial whose seconds have these rates in operations of 4 KiB.
fn judged(rates: &[f64]) -> JudgedTrial {
    let builder = RecordBuilder::writes().with(|b| {
        b.seconds = rates.len() as u32;
        b.ops_per_second = 20;
        b.observed = false;
    });
    let mut trial: TrialRecord = builder.trial();
    for (sample, rate) in trial.samples.iter_mut().zip(rates) {
        sample.ops[0].ops = *rate as u64;
        sample.ops[0].bytes = sample.ops[0].ops * 4096;
    }
    let mut judged = crate::judge(&run_of(vec![trial], builder.host));
    judged.trials.remove(0)
}

fn noisy(noise: &mut Noise, phi: f64, cv: f64, level: impl Fn(usize) -> f64, n: usize) -> Vec<f64> {
    let series = noise.ar1(phi, n);
    let rate = |(i, v): (usize, &f64)| level(i) * (1.0 + cv * v);
    series.iter().enumerate().map(rate).collect()
}

#[test]
fn every_class_is_recognized() {
    let mut noise = seeded(31);
    let mut class = |level: &dyn Fn(usize) -> f64, n| {
        judged(&noisy(&mut noise, 0.2, 0.02, level, n))
            .steadiness
            .map(|s| s.class)
    };
    assert_eq!(class(&|_| 1e5, 120), Some(SteadinessClass::Flat));
    assert_eq!(class(&|_| 1e5, 12), Some(SteadinessClass::TooShort));
    let cliff = |i| if i < 40 { 1e5 } else { 2e4 };
    assert_eq!(class(&cliff, 120), Some(SteadinessClass::Slowdown));
    // A cache that ends shows in less than it takes to say that nothing ended.
    let early = |i| if i < 5 { 6e4 } else { 1.4e4 };
    assert_eq!(class(&early, 17), Some(SteadinessClass::Slowdown));
    let warmup = |i| if i < 15 { 4e4 } else { 1e5 };
    assert_eq!(class(&warmup, 120), Some(SteadinessClass::WarmupThenFlat));
    let drift = |i| 1e5 * (1.0 - i as f64 / 400.0);
    assert_eq!(class(&drift, 200), Some(SteadinessClass::Drifting));
    let modes = |i| if i % 9 < 3 { 3e4 } else { 1e5 };
    assert_eq!(class(&modes, 120), Some(SteadinessClass::TwoModes));
    let stairs = |i| 1e5 * 0.6f64.powi((i / 15) as i32);
    assert_eq!(class(&stairs, 120), Some(SteadinessClass::NeverSteady));
    assert_eq!(judged(&[0.0; 60]).steadiness, None);
}

#[test]
fn no_mean_over_levels_has_an_interval() {
    let mut noise = seeded(32);
    for period in [200, 10] {
        let level = |i: usize| {
            if i % period < period * 2 / 5 {
                1e5
            } else {
                3e4
            }
        };
        let trial = judged(&noisy(&mut noise, 0.2, 0.02, level, 200));
        let rate = &trial.summary.ops[0].ops_per_second;
        assert_eq!((rate.low, rate.high), (None, None));
        let reason = rate.reason.as_deref().unwrap_or_default();
        assert!(reason.starts_with("no one rate describes it: "), "{reason}");
        let steadiness = trial.steadiness.unwrap();
        assert!(steadiness.has_no_single_rate());
        assert_eq!(steadiness.regimes.is_empty(), steadiness.modes.is_some());
    }
}

#[test]
fn the_intervals_of_levels_hold_the_truth() {
    let (before, after) = (1e5, 3e4);
    for phi in [0.0, 0.5, 0.8] {
        let mut noise = seeded(33 + (phi * 10.0) as u64);
        let (mut printed, mut missed) = (0, 0);
        for _ in 0..40 {
            let level = |i| if i < 100 { before } else { after };
            let trial = judged(&noisy(&mut noise, phi, 0.04, level, 250));
            let steadiness = trial.steadiness.unwrap();
            if steadiness.regimes.len() != 2 {
                continue;
            }
            for (regime, truth) in steadiness.regimes.iter().zip([before, after]) {
                let rate = &regime.ops[0].ops_per_second;
                // Left out for its width, an interval claims nothing wrong.
                let reason = rate.reason.as_deref().unwrap_or_default();
                printed += u32::from(reason.contains("the interval would be ±"));
                if let (Some(low), Some(high)) = (rate.low, rate.high) {
                    printed += 1;
                    missed += u32::from(!(low <= truth && truth <= high));
                }
            }
        }
        assert!(printed >= 30, "φ {phi}: {printed} printed");
        assert!(
            f64::from(missed) <= 0.08 * f64::from(printed) + 1.0,
            "φ {phi}: {missed} of {printed}"
        );
    }
}

#[test]
fn the_ladder_says_what_is_missing() {
    let mut noise = seeded(34);
    let trial = judged(&noisy(&mut noise, 0.2, 0.02, |_| 1e5, 320));
    let steadiness = trial.steadiness.unwrap();
    let names: Vec<&str> = steadiness.ladder.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["bytes", "segment", "snia", "drift", "precision"]);
    let status = |name: &str| steadiness.rung(name).unwrap().status;
    for name in ["segment", "snia", "drift", "precision"] {
        assert_eq!(status(name), RungStatus::Held, "{name}");
    }
    let evidence = &steadiness.rung("snia").unwrap().evidence;
    assert!(evidence.contains("best linear fit y = "), "{evidence}");
    let short = judged(&noisy(&mut noise, 0.2, 0.02, |_| 1e5, 10))
        .steadiness
        .unwrap();
    let unmet: Vec<_> = short
        .ladder
        .iter()
        .filter(|r| r.status == RungStatus::NotHeld)
        .collect();
    assert!(unmet.iter().all(|r| r.name == "bytes"), "{unmet:?}");
}
