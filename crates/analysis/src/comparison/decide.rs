//! From effects to outcomes, with the error rate of a whole table in hand.
//!
//! Each row has one figure that decides. The deciding figures of all rows are
//! tested by Holm's procedure (1979) at 5 %, so that of equal sides at most 5 %
//! are called different, however many rows there are. The other figures of a
//! row follow it: at 5 % (Holm over them) once the deciding figure differs,
//! else at 1 %, so that a tail that moves alone is still seen. Together the
//! table is wrong in at most 6 %.
//!
//! A difference that is proved to lie within the margin counts as none, even
//! where it is proved not to be zero.

use fathom_rules::method::comparison::{CLOSED_LEVEL, MOST_UNITS, THRESHOLD as LEVEL};

use super::effect::{Effect, Margin};

/// Where B lies, whatever is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Higher,
    Lower,
    Equivalent,
    Open,
}

/// The decision on one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decision {
    pub(crate) p: f64,
    pub(crate) p_adjusted: f64,
    pub(crate) p_equivalence: f64,
    pub(crate) direction: Direction,
    /// Error rate at which a difference would be seen.
    level: f64,
}

impl Decision {
    /// Further units for a decision in four of five cases, if mean and spread
    /// stay; `None` when decided or beyond reach.
    pub(crate) fn more(&self, effect: &Effect, margin: Margin, least: usize) -> Option<usize> {
        let open = self.direction == Direction::Open;
        let needed = effect.units_needed(margin, self.level, MOST_UNITS);
        let more = needed?.max(least).saturating_sub(effect.units).max(1);
        open.then_some(more)
    }
}

/// Decides every figure of every row; the first of a row decides it. Effects
/// of fewer than `least` units stay open.
pub(crate) fn decide(
    rows: &[Vec<Option<Effect>>],
    margin: Margin,
    least: usize,
) -> Vec<Vec<Option<Decision>>> {
    let firsts: Vec<Option<Effect>> = rows.iter().map(|r| r.first().copied().flatten()).collect();
    let first_p = holm(&firsts, Effect::p_different);
    let first_equal = holm(&firsts, |e| e.p_equivalent(margin));
    let tables = rows.len().max(1) as f64;
    let each = rows.iter().enumerate().map(|(row, figures)| {
        let others = figures.get(1..).unwrap_or_default();
        let shared = |p: Option<f64>| p.map(|p| (p * tables).min(1.0));
        let other_p = holm(others, Effect::p_different).into_iter().map(shared);
        let other_equal = holm(others, |e| e.p_equivalent(margin));
        let adjusted = std::iter::once(first_p[row]).chain(other_p);
        let equal = std::iter::once(first_equal[row]).chain(other_equal.into_iter().map(shared));
        let open = first_p[row].is_some_and(|p| p <= LEVEL);
        let levels = figures
            .iter()
            .enumerate()
            .map(|(i, _)| match i == 0 || open {
                true => LEVEL,
                false => CLOSED_LEVEL,
            });
        let zipped = figures.iter().zip(adjusted).zip(equal).zip(levels);
        zipped
            .map(|(((effect, p), equal), level)| Some(one((*effect)?, p?, equal?, level, least)))
            .collect()
    });
    each.collect()
}

fn one(effect: Effect, p_adjusted: f64, p_equivalence: f64, level: f64, least: usize) -> Decision {
    let direction = if effect.units < least {
        Direction::Open
    } else if p_equivalence <= LEVEL {
        Direction::Equivalent
    } else if p_adjusted > level {
        Direction::Open
    } else if effect.mean > 0.0 {
        Direction::Higher
    } else {
        Direction::Lower
    };
    Decision {
        p: effect.p_different(),
        p_adjusted,
        p_equivalence,
        direction,
        level,
    }
}

/// Holm's adjusted p values; missing effects take no part.
fn holm(effects: &[Option<Effect>], p: impl Fn(&Effect) -> f64) -> Vec<Option<f64>> {
    let raw: Vec<Option<f64>> = effects.iter().map(|e| e.as_ref().map(&p)).collect();
    adjusted(&raw)
}

/// Holm's adjustment of p values; missing ones take no part.
pub fn adjusted(raw: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = raw
        .iter()
        .enumerate()
        .filter_map(|(i, p)| Some((i, (*p)?)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![None; raw.len()];
    let mut largest = 0.0f64;
    let count = order.len();
    for (rank, (index, p)) in order.into_iter().enumerate() {
        largest = largest.max(p * (count - rank) as f64).min(1.0);
        adjusted[index] = Some(largest);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(mean: f64, error: f64) -> Option<Effect> {
        Some(Effect {
            mean,
            error,
            degrees: 5.0,
            units: 6,
        })
    }

    fn directions(rows: &[Vec<Option<Effect>>], least: usize) -> Vec<Vec<Option<Direction>>> {
        let decided = decide(rows, Margin::percent(3.0), least);
        let direction = |d: Option<Decision>| d.map(|d| d.direction);
        decided
            .into_iter()
            .map(|row| row.into_iter().map(direction).collect())
            .collect()
    }

    #[test]
    fn holm_is_that_of_the_book() {
        // p 0.01, 0.04, 0.03 become 0.03, 0.06, 0.06 (Holm 1979).
        let given = [0.01, 0.04, 0.03];
        let effects: Vec<Option<Effect>> = given.iter().map(|p| effect(*p, 1.0)).collect();
        let adjusted = holm(&effects, |e| e.mean);
        let adjusted: Vec<f64> = adjusted.into_iter().flatten().collect();
        for (got, expected) in adjusted.iter().zip([0.03, 0.06, 0.06]) {
            assert!((got - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[None], |e| e.mean), [None]);
    }

    #[test]
    fn a_small_proved_difference_counts_as_none() {
        let rows = [vec![effect(0.01, 0.001), effect(-0.2, 0.001), None]];
        let expected = [vec![
            Some(Direction::Equivalent),
            Some(Direction::Lower),
            None,
        ]];
        assert_eq!(directions(&rows, 6), expected);
    }

    #[test]
    fn other_figures_follow_the_one_that_decides() {
        // p = 0.030 in both: enough only behind a deciding figure that differs.
        let open = [vec![effect(0.06, 0.01), effect(0.06, 0.02)]];
        let closed = [vec![effect(0.02, 0.02), effect(0.06, 0.02)]];
        assert_eq!(directions(&open, 6)[0][1], Some(Direction::Higher));
        assert_eq!(directions(&closed, 6)[0][1], Some(Direction::Open));
    }

    #[test]
    fn few_pairs_decide_nothing() {
        assert_eq!(
            directions(&[vec![effect(0.5, 0.001)]], 7)[0][0],
            Some(Direction::Open)
        );
    }
}
