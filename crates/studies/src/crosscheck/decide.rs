//! From effects to agreement.
//!
//! That all figures agree is claimed only if each is proved to (an
//! intersection-union test: no correction). That something differs is claimed
//! for the deciding figures of all rows by Holm's procedure at 5 %, and for
//! the others apart, again at 5 %.

use fathom_analysis::pairs::{Effect, LEAST_PAIRS, Margin, holm};
use fathom_model::crosscheck::Agreement;
use fathom_rules::method::comparison::POWER;
use fathom_rules::method::crosscheck::{MOST_PAIRS, THRESHOLD as LEVEL};
use fathom_stats::student::{above, quantile};

use super::figures::Which;

/// A figure that is to be tested.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub(super) which: Which,
    pub(super) effect: Option<Effect>,
    pub(super) margin_percent: f64,
    /// Why there is no effect.
    pub(super) reason: String,
}

/// What was decided on one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Decision {
    pub(super) p_agree: Option<f64>,
    pub(super) p_differ: Option<f64>,
    pub(super) outcome: Agreement,
    pub(super) more_pairs: Option<u32>,
}

/// Decides every figure of every row.
pub(super) fn decide(rows: &[Vec<Test>]) -> Vec<Vec<Decision>> {
    let p_of = |deciding: bool| -> Vec<Option<f64>> {
        let all = rows.iter().flatten();
        let taking_part = all.map(|test| {
            let effect = test.effect.filter(|_| test.which.decides() == deciding)?;
            Some(p_beyond(&effect, test.margin_percent))
        });
        holm(&taking_part.collect::<Vec<_>>())
    };
    let adjusted = p_of(true).into_iter().zip(p_of(false));
    let mut adjusted = adjusted.map(|(first, second)| first.or(second));
    rows.iter()
        .map(|tests| {
            let tests = tests.iter();
            tests
                .map(|test| one(test, adjusted.next().flatten()))
                .collect()
        })
        .collect()
}

fn one(test: &Test, p_differ: Option<f64>) -> Decision {
    let margin = Margin::percent(test.margin_percent);
    let p_agree = test.effect.map(|effect| effect.p_equivalent(margin));
    let enough = test
        .effect
        .is_some_and(|effect| effect.units >= LEAST_PAIRS);
    let proved = |p: Option<f64>| enough && p.is_some_and(|p| p <= LEVEL);
    let outcome = if proved(p_agree) {
        Agreement::Agree
    } else if proved(p_differ) {
        Agreement::Differ
    } else {
        Agreement::Inconclusive
    };
    let more = test
        .effect
        .filter(|_| outcome == Agreement::Inconclusive)
        .and_then(|effect| more_pairs(&effect, margin));
    Decision {
        p_agree,
        p_differ,
        outcome,
        more_pairs: more.and_then(|n| u32::try_from(n).ok()),
    }
}

/// Probability of a mean this far beyond the margin if the truth is at it.
fn p_beyond(effect: &Effect, margin_percent: f64) -> f64 {
    let beyond = distance_beyond(effect, Margin::percent(margin_percent));
    match effect.error > 0.0 {
        true => above(beyond / effect.error, effect.degrees),
        false if beyond > 0.0 => 0.0,
        false => 1.0,
    }
}

/// How far the mean lies beyond the nearer margin; negative inside.
fn distance_beyond(effect: &Effect, margin: Margin) -> f64 {
    let (low, high) = margin.ends();
    (low - effect.mean).max(effect.mean - high)
}

/// Pairs in addition after which a decision would come in four of five cases,
/// if mean and spread stay; `None` when that is beyond reach.
fn more_pairs(effect: &Effect, margin: Margin) -> Option<usize> {
    let spread = effect.error * (effect.units as f64).sqrt();
    let distance = distance_beyond(effect, margin).abs();
    let decides = |units: usize| {
        let degrees = (units as f64 - 1.0).max(1.0);
        let errors = quantile(1.0 - LEVEL, degrees) + quantile(POWER, degrees);
        distance > errors * spread / (units as f64).sqrt()
    };
    let least = effect.units.max(LEAST_PAIRS - 1) + 1;
    let needed = (least..=MOST_PAIRS).find(|units| decides(*units))?;
    // Pairs come in twos, so that each order is there as often.
    let needed = needed + needed % 2;
    Some(needed - effect.units)
}
