//! Known laws found again, and how often the intervals hold them.

use fathom_model::rng::splitmix64;
use proptest::prelude::*;

use super::*;

const NUMBERS: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];

fn law(n: f64, sigma: f64, kappa: f64) -> f64 {
    1000.0 * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

/// Even numbers between 0 and 1, from a seed.
struct Even(u64);

impl Even {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(1);
        (splitmix64(self.0) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Normally distributed (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.next()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.next()).cos()
    }
}

fn simulated(seed: u64, blocks: usize, noise: f64, (sigma, kappa): (f64, f64)) -> Vec<Vec<f64>> {
    let mut even = Even(seed << 20);
    (0..blocks)
        .map(|_| {
            // The whole system is faster or slower in each block.
            let level = (0.1 * even.normal()).exp();
            let rate = |n: &f64| law(*n, sigma, kappa) * level * (noise * even.normal()).exp();
            NUMBERS.iter().map(rate).collect()
        })
        .collect()
}

#[test]
fn a_law_without_noise_is_found_exactly() {
    for (sigma, kappa) in [
        (0.0, 0.0),
        (0.05, 0.002),
        (1.0, 0.0),
        (0.3, 0.05),
        (-0.02, 0.003),
    ] {
        let rates: Vec<f64> = NUMBERS.iter().map(|n| law(*n, sigma, kappa)).collect();
        let fit = fit(&NUMBERS, &[rates]).unwrap();
        assert!((fit.sigma.value - sigma).abs() < 1e-6, "{fit:?}");
        assert!((fit.kappa.value - kappa).abs() < 1e-6, "{fit:?}");
        assert!((fit.lambda - 1000.0).abs() < 1e-3, "{fit:?}");
    }
}

/// The promise of a 95 % interval, kept over laws, blocks and noise.
#[test]
fn intervals_hold_the_truth_as_often_as_they_promise() {
    let laws = [(0.0, 0.0), (0.05, 0.002), (0.3, 0.0), (0.02, 0.01)];
    for (place, truth) in laws.into_iter().enumerate() {
        for (blocks, noise) in [(2, 0.03), (3, 0.1), (5, 0.02)] {
            let runs = 600;
            let (mut sigma, mut kappa) = (0, 0);
            for run in 0..runs {
                let seed = (place * 10_000 + blocks * 1_000) as u64 * 1_000 + run;
                let found = fit(&NUMBERS, &simulated(seed, blocks, noise, truth)).unwrap();
                let holds = |range: Range, truth: f64| {
                    let (low, high) = range.interval.unwrap();
                    low <= truth && truth <= high
                };
                sigma += u64::from(holds(found.sigma, truth.0));
                kappa += u64::from(holds(found.kappa, truth.1));
            }
            for (name, held) in [("sigma", sigma), ("kappa", kappa)] {
                let share = held as f64 / runs as f64;
                assert!(
                    (0.92..=0.98).contains(&share),
                    "{name} of {truth:?} with {blocks} blocks and {noise}: {share}"
                );
            }
        }
    }
}

#[test]
fn too_little_gives_no_law_or_no_interval() {
    assert_eq!(fit(&[1.0, 2.0], &[vec![1.0, 2.0]]), None);
    assert_eq!(fit(&[1.0, 2.0, 4.0], &[]), None);
    assert_eq!(fit(&[1.0, 2.0, 4.0], &[vec![1.0, 0.0, 2.0]]), None);
    let one = fit(&[1.0, 2.0, 4.0], &[vec![1.0, 1.9, 3.5]]).unwrap();
    assert_eq!((one.sigma.interval, one.scatter), (None, None));
    let whole = vec![1.0, 1.9, 3.5];
    let two = fit(&[1.0, 2.0, 4.0], &[whole, vec![1.1, 2.0]]).unwrap();
    assert_eq!(two.sigma.spare, 0, "a block with a gap does not count");
}

proptest! {
    #[test]
    fn any_rates_give_a_law_or_none(
        rates in prop::collection::vec(prop::collection::vec(1e-3f64..1e9, 4), 1..4),
    ) {
        if let Some(fit) = fit(&[1.0, 2.0, 3.0, 5.0], &rates) {
            prop_assert!(fit.lambda.is_finite());
            for range in [fit.sigma, fit.kappa] {
                if let Some((low, high)) = range.interval {
                    prop_assert!(low <= range.value && range.value <= high, "{range:?}");
                }
            }
        }
    }
}
