//! The drawn distributions against theory, with fixed seeds.

use std::path::PathBuf;

use fathom_model::workload::{Distribution, Pattern};

use super::permutation::Permutation;
use super::*;

const CELLS: u64 = 1000;

fn histogram(distribution: Distribution, draws: u32, seed: u64) -> Vec<u64> {
    let workload = Workload {
        pattern: Pattern::Random(distribution),
        ..Workload::example("test")
    };
    let path = |_| PathBuf::new();
    let layout = Layout::new(TargetKind::Device, &workload, CELLS * 4096, path).unwrap();
    let mut stream = AccessStream::new(&workload, &layout, 0, seed).unwrap();
    let mut counts = vec![0; CELLS as usize];
    for _ in 0..draws {
        counts[(stream.next().offset / 4096) as usize] += 1;
    }
    counts
}

/// Chi-square statistic as a standard normal value (Wilson, Hilferty 1931).
fn chi_square_z(counts: &[u64], probabilities: &[f64]) -> f64 {
    let total: u64 = counts.iter().sum();
    let mut statistic = 0.0;
    let mut classes = 0.0;
    let (mut observed, mut expected) = (0.0, 0.0);
    for (count, probability) in counts.iter().zip(probabilities) {
        observed += *count as f64;
        expected += probability * total as f64;
        // Classes with few expected draws are put together.
        if expected >= 10.0 {
            statistic += (observed - expected).powi(2) / expected;
            classes += 1.0;
            (observed, expected) = (0.0, 0.0);
        }
    }
    let freedom: f64 = classes - 1.0;
    let spread = 2.0 / (9.0 * freedom);
    ((statistic / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
}

fn normalised(weights: impl Iterator<Item = f64>) -> Vec<f64> {
    let weights: Vec<f64> = weights.collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / sum).collect()
}

fn assert_follows(counts: &[u64], probabilities: &[f64], what: &str) {
    let z = chi_square_z(counts, probabilities);
    assert!(z.abs() < 3.5, "{what}: z = {z}");
}

#[test]
fn uniform_is_uniform() {
    let flat = vec![1.0 / CELLS as f64; CELLS as usize];
    for seed in 0..5 {
        let counts = histogram(Distribution::Uniform, 200_000, seed);
        assert_follows(&counts, &flat, "uniform");
    }
}

// The ranks are scattered: theory is compared with the sorted weights by
// undoing the shuffle with the same key.
fn unscattered(counts: &[u64], seed: u64) -> Vec<u64> {
    let shared = derive_seed(seed, label::SHARED);
    let places = Permutation::new(CELLS, derive_seed(shared, 1));
    (0..CELLS)
        .map(|rank| counts[places.at(rank) as usize])
        .collect()
}

#[test]
fn zipf_follows_its_power_law() {
    for theta in [0.2, 0.8, 0.99, 1.0, 1.000_001, 1.2, 2.0, 5.0] {
        for seed in 0..2 {
            let counts = histogram(Distribution::Zipf { theta }, 100_000, seed);
            let theory = normalised((1..=CELLS).map(|r| (r as f64).powf(-theta)));
            assert_follows(
                &unscattered(&counts, seed),
                &theory,
                &format!("zipf {theta}"),
            );
        }
    }
}

#[test]
fn zipf_works_at_the_ends_of_its_range() {
    let mut rng = fathom_model::rng::Rng::new(1);
    for n in [1, 2, 3, 1 << 50] {
        for theta in [1e-6, 1.0, 30.0, 100.0] {
            let zipf = Zipf::new(n, theta);
            assert!((0..2000).all(|_| zipf.next(&mut rng) < n), "{n} {theta}");
        }
    }
}

#[test]
fn pareto_is_self_similar() {
    for h in [0.1, 0.2, 0.4, 0.5] {
        let counts = unscattered(&histogram(Distribution::Pareto { h }, 200_000, 7), 7);
        let power = (1.0f64 - h).ln() / h.ln();
        let reach = |rank: u64| (rank as f64 / CELLS as f64).powf(power);
        let theory = normalised((0..CELLS).map(|r| reach(r + 1) - reach(r)));
        assert_follows(&counts, &theory, &format!("pareto {h}"));
        let hot: u64 = counts[..(h * CELLS as f64) as usize].iter().sum();
        assert!(
            (hot as f64 / 200_000.0 - (1.0 - h)).abs() < 0.005,
            "{h}: {hot}"
        );
    }
}

#[test]
fn normal_is_a_bell_around_the_middle() {
    for deviation_percent in [2.0, 15.0, 39.0, 41.0, 200.0] {
        let counts = histogram(
            Distribution::Normal {
                deviation_percent,
                center_percent: 50.0,
            },
            200_000,
            11,
        );
        let density = |cell: u64| {
            // Simpson's rule over the cell.
            let at = |x: f64| {
                let z = (x / CELLS as f64 - 0.5) / (deviation_percent / 100.0);
                (-0.5 * z * z).exp()
            };
            let left = cell as f64;
            at(left) + 4.0 * at(left + 0.5) + at(left + 1.0)
        };
        let theory = normalised((0..CELLS).map(density));
        assert_follows(&counts, &theory, &format!("normal {deviation_percent}"));
    }
}

#[test]
fn hot_spot_keeps_its_shares() {
    let distribution = Distribution::HotSpot {
        access_percent: 90.0,
        size_percent: 10.0,
    };
    let counts = histogram(distribution, 200_000, 3);
    let theory = normalised((0..CELLS).map(|c| if c < 100 { 9.0 } else { 1.0 / 9.0 }));
    assert_follows(&counts, &theory, "hot spot");
}

#[test]
fn values_outside_their_range_are_errors() {
    let layout =
        |w: &Workload| Layout::new(TargetKind::Device, w, 1 << 20, |_| PathBuf::new()).unwrap();
    for distribution in [
        Distribution::Zipf { theta: 0.0 },
        Distribution::Zipf { theta: f64::NAN },
        Distribution::Pareto { h: 1.0 },
        Distribution::Normal {
            deviation_percent: 0.0,
            center_percent: 50.0,
        },
        Distribution::HotSpot {
            access_percent: 101.0,
            size_percent: 10.0,
        },
    ] {
        let workload = Workload {
            pattern: Pattern::Random(distribution.clone()),
            ..Workload::example("test")
        };
        let result = AccessStream::new(&workload, &layout(&workload), 0, 1);
        assert!(result.is_err(), "{distribution:?}");
    }
}
