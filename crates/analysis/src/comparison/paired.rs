//! Pairs measured in turns: their mean log ratio, what the order did, and the
//! exact test by flipping signs.
//!
//! Trials follow one another as A B, B A, A B, …. A steady drift then adds as
//! much to one order as it takes from the other and leaves the mean; the
//! trial before is as often of the one side as of the other. A drift that
//! wanders adds an independent step to each pair, which the spread of the
//! pairs contains.

use fathom_model::rng::Rng;
use fathom_rules::method::comparison::EACH_ORDER;
use fathom_stats::moments::Moments;
use fathom_stats::sign_flip;

use super::effect::Effect;

/// Seed of the draws: the same record gives the same judgement.
const FLIP_SEED: u64 = 0x51_67_4E;

/// One pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// ln(B/A).
    pub log_ratio: f64,
    /// B was measured before A.
    pub b_first: bool,
}

/// What the order of the pairs did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Order {
    /// ln of how much more the second trial of a pair gave.
    pub later: f64,
    /// Probability of that if the order does not matter.
    pub p: f64,
}

/// The mean over the pairs and what the order did, where that can be told.
///
/// The spread is that of all pairs. Where the order matters beyond
/// `order_level`, it is that of the pairs of equal order: else a drift that
/// leaves the mean alone would hide a difference.
pub fn effect(pairs: &[Difference], order_level: f64) -> (Option<Effect>, Option<Order>) {
    let all: Vec<f64> = pairs.iter().map(|p| p.log_ratio).collect();
    let k = pairs.len();
    let plain = Moments::of(&all).and_then(|all| {
        Some(Effect {
            mean: all.mean,
            error: all.deviation()? / (k as f64).sqrt(),
            degrees: k as f64 - 1.0,
            units: k,
        })
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
    let (ab, ba) = (Moments::of(&ab)?, Moments::of(&ba)?);
    let (n, m) = (ab.count, ba.count);
    let degrees = n + m - 2.0;
    let squares = ab.squares + ba.squares;
    let error = (squares / degrees * (1.0 / n + 1.0 / m)).sqrt() / 2.0;
    let later = (ab.mean - ba.mean) / 2.0;
    // Its error is the same by symmetry.
    let order = Effect {
        mean: later,
        error,
        degrees,
        units: pairs.len(),
    };
    let effect = Effect {
        mean: f64::midpoint(ab.mean, ba.mean),
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

/// Probability of a mean at least as far from zero if the sign of each pair were
/// chance. `None` without pairs.
pub(crate) fn sign_flip(pairs: &[Difference]) -> Option<f64> {
    let values: Vec<f64> = pairs.iter().map(|p| p.log_ratio).collect();
    let mut rng = Rng::new(FLIP_SEED);
    sign_flip::sign_flip(&values, || rng.next_u64())
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
    fn the_same_pairs_give_the_same_probability() {
        assert_eq!(sign_flip(&pairs(&[0.1; 6])), Some(2.0 / 64.0));
        let many: Vec<f64> = (0..40).map(|i| f64::from(i % 5) - 1.5).collect();
        let p = sign_flip(&pairs(&many));
        assert!(p.is_some_and(|p| p < 0.05), "{p:?}");
        assert_eq!(sign_flip(&pairs(&many)), p);
        assert_eq!(sign_flip(&[]), None);
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
