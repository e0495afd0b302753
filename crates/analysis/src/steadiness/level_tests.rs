//! Edges against truth.

use fathom_model::op::OpKind;
use fathom_model::sample::{OpSample, Phase, Sample};
use fathom_model::workload::OpMix;

use super::*;
use crate::statistics::noise::seeded;

/// Writes at rates that follow the bytes written: `levels` are (bytes, rate).
pub(crate) fn track_of(levels: &[(f64, f64)], seconds: usize, cv: f64, seed: u64) -> Track {
    let mut noise = seeded(seed);
    let mut track = Track::new(OpMix::WRITE);
    let mut written = 0.0;
    for index in 0..seconds {
        let (mut left, mut bytes) = (1.0, 0.0);
        let factor = 1.0 + cv * noise.normal();
        while left > 1e-9 {
            let (end, rate) = *levels
                .iter()
                .find(|(end, _)| *end > written + 1.0)
                .unwrap_or(&levels[levels.len() - 1]);
            let room = ((end - written) / (rate * factor)).clamp(1e-9, left);
            written += room * rate * factor;
            bytes += room * rate * factor;
            left -= room;
        }
        let mut sample = Sample::new(Phase::Measure, index as u32, index as u64 * 1_000_000_000);
        sample.duration_ns = 1_000_000_000;
        let mut op = OpSample::new(OpKind::Write, false);
        op.bytes = bytes as u64;
        op.ops = op.bytes / 131_072;
        sample.ops.push(op);
        track.observe(&sample);
    }
    track
}

#[test]
fn a_cliff_is_placed_within_three_percent_of_the_bytes() {
    let (mut worst, mut wrong) = (0.0f64, 0);
    let mut noise = seeded(11);
    for seed in 0..60 {
        let size = 23e9 * (1.0 + 0.3 * noise.normal().clamp(-2.0, 2.0));
        let found = levels(&track_of(&[(size, 2.9e9), (1e18, 414e6)], 120, 0.03, seed));
        if found.len() != 2 {
            wrong += 1;
            continue;
        }
        worst = worst.max((found[0].end_bytes / size - 1.0).abs());
        assert!((found[0].rate / 2.9e9 - 1.0).abs() < 0.05, "{found:?}");
        assert!((found[1].rate / 414e6 - 1.0).abs() < 0.02, "{found:?}");
    }
    assert!(worst < 0.03 && wrong == 0, "off by {worst}, {wrong} wrong");
}

/// A simulated drive does the same in every second, and its rates have no noise.
#[test]
fn a_cliff_of_a_drive_without_noise_is_placed_as_well() {
    for tenths_gb in (80..700).step_by(7) {
        let size = f64::from(tenths_gb) * 1e8;
        let found = levels(&track_of(&[(size, 2.348e9), (1e18, 1.017e9)], 36, 0.0, 0));
        assert_eq!(found.len(), 2, "{size}: {found:?}");
        let error = found[0].end_bytes / size - 1.0;
        assert!(error.abs() < 0.005, "{size}: {found:?}");
    }
}

#[test]
fn small_steps_and_three_levels_are_placed_too() {
    let two = levels(&track_of(&[(50e9, 1e9), (1e18, 0.85e9)], 120, 0.03, 3));
    assert_eq!(two.len(), 2);
    assert!((two[0].end_bytes / 50e9 - 1.0).abs() < 0.05, "{two:?}");
    let three = levels(&track_of(
        &[(20e9, 2e9), (40e9, 1e9), (1e18, 0.3e9)],
        120,
        0.03,
        4,
    ));
    let ends: Vec<f64> = three.iter().map(|l| l.end_bytes).collect();
    assert_eq!(three.len(), 3, "{three:?}");
    assert!((ends[0] / 20e9 - 1.0).abs() < 0.03, "{ends:?}");
    assert!((ends[1] / 40e9 - 1.0).abs() < 0.03, "{ends:?}");
}

#[test]
fn a_slope_has_no_levels() {
    for (seed, fall) in [(1, 0.3), (2, 0.6), (3, 0.15)] {
        let mut noise = seeded(seed);
        let mut track = track_of(&[(1e18, 1e9)], 300, 0.0, 1);
        for (i, cell) in track.cells.iter_mut().enumerate() {
            cell.bytes *= (1.0 - fall * i as f64 / 300.0) * (1.0 + 0.02 * noise.normal());
        }
        let found = levels(&track);
        assert_eq!(found.len(), 1, "fall {fall}: {found:?}");
    }
}

#[test]
fn nothing_has_no_level() {
    assert!(levels(&Track::new(OpMix::READ)).is_empty());
    assert_eq!(levels(&track_of(&[(1e18, 1e9)], 1, 0.0, 1)).len(), 1);
}
