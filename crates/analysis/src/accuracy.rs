//! How often the statements about steadiness are right, by simulation: the
//! numbers behind `docs/evidence/accuracy.md`, made anew by whoever calls
//! [`steadiness_accuracy`].
//!
//! Truth is an AR(1) series around known levels, from fixed seeds.

use fathom_model::OpKind;
use fathom_model::sample::{OpSample, Phase, Sample};
use fathom_model::stop::{Decision, StopRule};
use fathom_model::workload::{OpMix, Until, Workload};
use fathom_stats::effective_size::MIN_EFFECTIVE;

use crate::statistics::noise::{Noise, seeded};
use crate::statistics::ratio::{Part, Ratio};
use crate::steadiness::simulated;

const LEVEL: f64 = 1e6;
const BLOCK_BYTES: f64 = 4096.0;

/// One simulated promise.
#[derive(Debug, Clone, PartialEq)]
pub struct AccuracyRow {
    /// What is claimed.
    pub claim: &'static str,
    /// Under which circumstances.
    pub setting: String,
    /// Simulated series that count.
    pub runs: u32,
    /// What came out, 0 to 1.
    pub share: f64,
    /// What is promised, in words.
    pub promise: &'static str,
    /// Whether the promise is kept.
    pub kept: bool,
}

/// Simulates every promise, each setting with so many series. 200 take some
/// seconds in an optimized build.
pub fn steadiness_accuracy(runs: u32) -> Vec<AccuracyRow> {
    let mut rows = Vec::new();
    for seconds in [60, 120, 300, 600] {
        for phi in [0.0, 0.5, 0.8, 0.9] {
            rows.extend(coverage(seconds, phi, runs));
            rows.push(false_alarms(seconds, phi, runs));
        }
    }
    for (step, variation) in [(0.1, 0.02), (0.1, 0.05), (0.2, 0.05), (0.5, 0.05)] {
        rows.push(steps_found(step, variation, runs));
    }
    rows.push(cliffs_placed(runs));
    for phi in [0.0, 0.5, 0.8] {
        rows.extend(after_stopping(phi, runs));
    }
    rows
}

fn row(
    claim: &'static str,
    setting: String,
    (hits, runs): (u32, u32),
    (promise, least, most): (&'static str, f64, f64),
) -> AccuracyRow {
    let share = f64::from(hits) / f64::from(runs.max(1));
    AccuracyRow {
        claim,
        setting,
        runs,
        share,
        promise,
        kept: (least..=most).contains(&share),
    }
}

fn seed(seconds: usize, phi: f64) -> u64 {
    seconds as u64 * 100 + (phi * 10.0) as u64
}

fn rates(noise: &mut Noise, phi: f64, seconds: usize, variation: f64) -> Vec<f64> {
    let series = noise.ar1(phi, seconds);
    let rate = |v: &f64| (LEVEL * (1.0 + variation * v)).max(0.0);
    series.iter().map(rate).collect()
}

/// Whether the printed interval holds the truth; `None` when none is printed.
fn holds(rates: &[f64]) -> Option<bool> {
    let part = |rate: &f64| Part {
        numerator: *rate,
        denominator: 1.0,
    };
    let ratio = Ratio::of(&rates.iter().map(part).collect::<Vec<_>>())?;
    ratio.error.filter(|e| e.n_effective >= MIN_EFFECTIVE)?;
    Some((ratio.value - LEVEL).abs() <= ratio.half_width()?)
}

fn coverage(seconds: usize, phi: f64, runs: u32) -> Option<AccuracyRow> {
    let mut noise = seeded(seed(seconds, phi));
    let outcomes = (0..runs).filter_map(|_| holds(&rates(&mut noise, phi, seconds, 0.05)));
    let (hits, printed) = outcomes.fold((0, 0), |(hits, n), held| (hits + u32::from(held), n + 1));
    (printed > 0).then(|| {
        row(
            "95 % interval of the rate holds the truth",
            format!("{seconds} s, φ {phi}, where printed"),
            (hits, printed),
            ("at least 92 %", 0.92, 1.0),
        )
    })
}

fn sample(index: usize, rate: f64) -> Sample {
    let mut sample = Sample::new(Phase::Measure, index as u32, index as u64 * 1_000_000_000);
    sample.duration_ns = 1_000_000_000;
    let mut op = OpSample::new(OpKind::Write, false);
    op.ops = rate as u64;
    op.bytes = (rate * BLOCK_BYTES) as u64;
    sample.ops.push(op);
    sample
}

fn false_alarms(seconds: usize, phi: f64, runs: u32) -> AccuracyRow {
    let mut noise = seeded(seed(seconds, phi) + 1);
    let alarms = (0..runs)
        .filter(|_| {
            let series = rates(&mut noise, phi, seconds, 0.05);
            let samples = series.iter().enumerate().map(|(i, rate)| sample(i, *rate));
            simulated(OpMix::WRITE, samples).is_some_and(|found| found.objects())
        })
        .count();
    row(
        "a steady trial is said to change, drift or have two modes",
        format!("{seconds} s, φ {phi}, variation 5 %"),
        (alarms as u32, runs),
        ("at most 5 %", 0.0, 0.05),
    )
}

fn steps_found(step: f64, variation: f64, runs: u32) -> AccuracyRow {
    let mut noise = seeded((step * 100.0) as u64 * 100 + (variation * 100.0) as u64);
    let found = (0..runs)
        .filter(|_| {
            let series = rates(&mut noise, 0.3, 120, variation);
            let level = |i: usize| if i < 50 { 1.0 } else { 1.0 - step };
            let samples = series
                .iter()
                .enumerate()
                .map(|(i, r)| sample(i, r * level(i)));
            simulated(OpMix::WRITE, samples).is_some_and(|found| found.level_ends_bytes.len() == 2)
        })
        .count();
    row(
        "a change of level is found",
        format!(
            "{:.0} % after 50 of 120 s, variation {:.0} %, φ 0.3",
            100.0 * step,
            100.0 * variation
        ),
        (found as u32, runs),
        ("at least 90 %", 0.9, 1.0),
    )
}

/// The end of a cache that takes some seconds to fill, anywhere in a second.
fn cliffs_placed(runs: u32) -> AccuracyRow {
    let mut noise = seeded(77);
    let (fast, slow) = (7e5, 1e5);
    let placed = (0..runs)
        .filter(|_| {
            let size = fast * 8.0 * (1.0 + 0.3 * noise.normal().clamp(-2.0, 2.0));
            let mut written = 0.0;
            let samples: Vec<Sample> = (0..120)
                .map(|i| {
                    let factor = 1.0 + 0.03 * noise.normal();
                    let quick = ((size - written) / (fast * factor)).clamp(0.0, 1.0);
                    let ops = factor * (fast * quick + slow * (1.0 - quick));
                    written += ops;
                    sample(i, ops)
                })
                .collect();
            let found = simulated(OpMix::WRITE, samples.into_iter());
            let ends = found.map(|f| f.level_ends_bytes).unwrap_or_default();
            let off = ends
                .first()
                .map(|end| (end / (size * BLOCK_BYTES) - 1.0).abs());
            ends.len() == 2 && off.is_some_and(|off| off <= 0.03)
        })
        .count();
    row(
        "a cliff is placed within 3 % of the bytes",
        "cache of 3 to 13 s, then a seventh of the rate, variation 3 %".to_owned(),
        (placed as u32, runs),
        ("at least 95 %", 0.95, 1.0),
    )
}

fn after_stopping(phi: f64, runs: u32) -> Option<AccuracyRow> {
    let mut noise = seeded(seed(900, phi) + 3);
    let (mut hits, mut printed) = (0, 0);
    for _ in 0..runs {
        let series = rates(&mut noise, phi, 600, 0.05);
        let mut rule = precision_rule()?;
        let end = series
            .iter()
            .enumerate()
            .position(|(i, rate)| rule.observe(&sample(i, *rate)) != Decision::Continue);
        let Some(end) = end else { continue };
        if let Some(held) = holds(&series[..=end]) {
            printed += 1;
            hits += u32::from(held);
        }
    }
    (printed > 0).then(|| {
        row(
            "the interval holds the truth after `until: precision 2%` stopped early",
            format!("φ {phi}, variation 5 %"),
            (hits, printed),
            ("at least 92 %", 0.92, 1.0),
        )
    })
}

fn precision_rule() -> Option<Box<dyn StopRule>> {
    let mut workload = Workload::example("simulated");
    workload.bounds.time_ns = None;
    workload.until = Some(Until::Precision { percent: 2.0 });
    crate::steadiness::rule_of(&workload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole_and_sound() {
        let rows = steadiness_accuracy(4);
        assert!(rows.len() > 35, "{}", rows.len());
        for row in &rows {
            assert!((0.0..=1.0).contains(&row.share) && row.runs > 0, "{row:?}");
        }
        let claims: std::collections::BTreeSet<_> = rows.iter().map(|r| r.claim).collect();
        assert_eq!(claims.len(), 5);
    }
}
