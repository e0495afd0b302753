//! Pairs measured in turns: their mean log ratio, what the order did, and the
//! exact test by flipping signs.
//!
//! Trials follow one another as A B, B A, A B, …. A steady drift then adds as
//! much to one order as it takes from the other and leaves the mean; the
//! trial before is as often of the one side as of the other. A drift that
//! wanders adds an independent step to each pair, which the spread of the
//! pairs contains.

use fathom_model::rng::Rng;

use super::effect::{Effect, mean_and_deviation};

/// Up to so many pairs every combination of signs is tried.
const EXACT_PAIRS: usize = 14;
/// Beyond, so many are drawn.
const DRAWS: u32 = 20_000;
/// Seed of the draws: the same record gives the same judgement.
const FLIP_SEED: u64 = 0x51_67_4E;
/// Pairs of each order from which on the order can be told from the spread.
const EACH_ORDER: usize = 3;

/// One pair: ln(B/A) and which came first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Difference {
    pub(crate) log_ratio: f64,
    pub(crate) b_first: bool,
}

/// What the order of the pairs did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Order {
    /// ln of how much more the second trial of a pair gave.
    pub(crate) later: f64,
    /// Probability of that if the order does not matter.
    pub(crate) p: f64,
}

/// The mean over the pairs and what the order did, where that can be told.
///
/// The spread is that of all pairs. Where the order matters beyond
/// `order_level`, it is that of the pairs of equal order: else a drift that
/// leaves the mean alone would hide a difference.
pub(crate) fn effect(pairs: &[Difference], order_level: f64) -> (Option<Effect>, Option<Order>) {
    let all: Vec<f64> = pairs.iter().map(|p| p.log_ratio).collect();
    let (mean, deviation) = mean_and_deviation(&all);
    let k = pairs.len();
    let plain = deviation.map(|deviation| Effect {
        mean,
        error: deviation / (k as f64).sqrt(),
        degrees: k as f64 - 1.0,
        units: k,
    });
    let Some((within, order)) = by_order(pairs) else {
        return (plain, None);
    };
    let chosen = if order.p < order_level {
        Some(within)
    } else {
        plain
    };
    (chosen, Some(order))
}

/// Each order by itself, averaged with equal weight.
fn by_order(pairs: &[Difference]) -> Option<(Effect, Order)> {
    let of = |b_first: bool| -> Vec<f64> {
        let same = pairs.iter().filter(|p| p.b_first == b_first);
        same.map(|p| p.log_ratio).collect()
    };
    let (ab, ba) = (of(false), of(true));
    if ab.len().min(ba.len()) < EACH_ORDER {
        return None;
    }
    let ((mean_ab, dev_ab), (mean_ba, dev_ba)) = (mean_and_deviation(&ab), mean_and_deviation(&ba));
    let (n, m) = (ab.len() as f64, ba.len() as f64);
    let degrees = n + m - 2.0;
    let squares = dev_ab?.powi(2) * (n - 1.0) + dev_ba?.powi(2) * (m - 1.0);
    let error = (squares / degrees * (1.0 / n + 1.0 / m)).sqrt() / 2.0;
    let later = (mean_ab - mean_ba) / 2.0;
    // Its error is the same by symmetry.
    let order = Effect {
        mean: later,
        error,
        degrees,
        units: pairs.len(),
    };
    let effect = Effect {
        mean: f64::midpoint(mean_ab, mean_ba),
        ..order
    };
    Some((
        effect,
        Order {
            later,
            p: order.p_different(),
        },
    ))
}

/// Share of all ways to flip the signs of the pairs that give a mean at least
/// as far from zero (Fisher's randomization test). `None` without pairs.
pub(crate) fn sign_flip(pairs: &[Difference]) -> Option<f64> {
    let values: Vec<f64> = pairs.iter().map(|p| p.log_ratio).collect();
    match values.len() {
        0 => None,
        k if k <= EXACT_PAIRS => Some(all_flips(&values)),
        _ => Some(drawn_flips(&values)),
    }
}

/// Every combination of signs.
fn all_flips(values: &[f64]) -> f64 {
    let least = as_far(values);
    let all = 1u32 << values.len();
    let far = (0..all).filter(|signs| flipped(values, u64::from(*signs)) >= least);
    far.count() as f64 / f64::from(all)
}

/// Combinations drawn with a fixed seed; what was seen counts as one of them.
fn drawn_flips(values: &[f64]) -> f64 {
    let least = as_far(values);
    let mut rng = Rng::new(FLIP_SEED);
    let draw = |_| {
        let halves = values.chunks(64);
        let sum: f64 = halves.map(|half| signed_sum(half, rng.next_u64())).sum();
        sum.abs() >= least
    };
    let far = (0..DRAWS).map(draw).filter(|far| *far).count();
    (far as f64 + 1.0) / (f64::from(DRAWS) + 1.0)
}

/// How far from zero the sum is; sums that differ by rounding only are equal.
fn as_far(values: &[f64]) -> f64 {
    let scale: f64 = values.iter().map(|v| v.abs()).sum();
    values.iter().sum::<f64>().abs() - scale * 1e-12
}

fn flipped(values: &[f64], signs: u64) -> f64 {
    signed_sum(values, signs).abs()
}

fn signed_sum(values: &[f64], signs: u64) -> f64 {
    let signed = values.iter().enumerate();
    signed
        .map(|(i, v)| if signs >> i & 1 == 0 { *v } else { -v })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(values: &[f64]) -> Vec<Difference> {
        let turns = values.iter().enumerate();
        turns
            .map(|(i, v)| Difference {
                log_ratio: *v,
                b_first: i % 2 == 1,
            })
            .collect()
    }

    #[test]
    fn six_pairs_of_one_sign_give_two_in_sixty_four() {
        let p = sign_flip(&pairs(&[0.1, 0.2, 0.1, 0.3, 0.2, 0.1])).unwrap();
        assert_eq!(p, 2.0 / 64.0);
        let five = sign_flip(&pairs(&[0.1, 0.2, 0.1, 0.3, 0.2])).unwrap();
        assert_eq!(five, 2.0 / 32.0);
        assert_eq!(sign_flip(&pairs(&[0.0; 6])), Some(1.0));
        assert_eq!(sign_flip(&[]), None);
    }

    #[test]
    fn drawn_signs_agree_with_all_signs() {
        let values: Vec<f64> = (0..12).map(|i| f64::from(i % 5) - 1.5).collect();
        let (drawn, exact) = (drawn_flips(&values), all_flips(&values));
        assert!((drawn - exact).abs() < 0.015, "{drawn} {exact}");
        assert_eq!(drawn_flips(&values), drawn, "a fixed seed");
        let many = sign_flip(&pairs(&[0.1; 100])).unwrap();
        assert_eq!(many, 1.0 / 20_001.0);
    }

    #[test]
    fn a_steady_drift_leaves_the_mean_and_is_named() {
        // +3 % per trial, no difference, a little noise.
        let noise = [0.001, -0.001, 0.0005, -0.0002, 0.0003, -0.0006];
        let drifting: Vec<f64> = noise
            .iter()
            .enumerate()
            .map(|(i, n)| if i % 2 == 0 { 0.03 + n } else { -0.03 + n })
            .collect();
        let (effect, order) = effect(&pairs(&drifting), 0.01);
        let (effect, order) = (effect.unwrap(), order.unwrap());
        assert!(effect.mean.abs() < 0.001, "{effect:?}");
        assert!(
            effect.error < 0.002,
            "the drift is not in the error: {effect:?}"
        );
        assert!(
            (order.later - 0.03).abs() < 0.001 && order.p < 1e-4,
            "{order:?}"
        );
    }

    #[test]
    fn a_single_pair_has_no_spread() {
        assert_eq!(effect(&pairs(&[0.1]), 0.01), (None, None));
        assert_eq!(effect(&[], 0.01), (None, None));
    }
}
