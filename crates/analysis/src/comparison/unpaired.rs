//! Sides that were not measured in turns.

use fathom_rules::method::comparison::DEGREES_OF_ONE_TRIAL;
use fathom_stats::moments::{Moments, mean};

use super::effect::Effect;

/// One run of a side: logs of its trials' figures, and of a single trial the
/// relative error that its own seconds show.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RunFigures {
    pub(crate) logs: Vec<f64>,
    pub(crate) single_error: Option<f64>,
}

/// Mean of a side with the error of that mean and its degrees of freedom.
struct SideMean {
    mean: f64,
    error: f64,
    degrees: f64,
    units: usize,
}

/// ln(B/A) by Welch's method (1947). The spread is that between the runs of a
/// side where it has several, else between its trials, else within its single
/// trial; the larger one where two are known, because few runs can agree by
/// chance. `None` where a side has no spread at all.
pub(crate) fn effect(a: &[RunFigures], b: &[RunFigures]) -> Option<Effect> {
    let (a, b) = (side(a)?, side(b)?);
    let (va, vb) = (a.error.powi(2), b.error.powi(2));
    let split = va.powi(2) / a.degrees + vb.powi(2) / b.degrees;
    let degrees = match split > 0.0 {
        true => (va + vb).powi(2) / split,
        false => a.degrees + b.degrees,
    };
    Some(Effect {
        mean: b.mean - a.mean,
        error: (va + vb).sqrt(),
        degrees,
        units: a.units.min(b.units),
    })
}

fn side(runs: &[RunFigures]) -> Option<SideMean> {
    let runs: Vec<&RunFigures> = runs.iter().filter(|r| !r.logs.is_empty()).collect();
    let means: Vec<f64> = runs.iter().filter_map(|r| mean(&r.logs)).collect();
    let moments = Moments::of(&means)?;
    let (mean, between) = (moments.mean, moments.deviation());
    let trials: Vec<f64> = runs.iter().flat_map(|r| r.logs.iter().copied()).collect();
    let inside = within(&runs, trials.len());
    let n = means.len() as f64;
    let between = between.map(|deviation| SideMean {
        mean,
        error: deviation / n.sqrt(),
        degrees: n - 1.0,
        units: means.len(),
    });
    let inside = inside.map(|(error, degrees)| SideMean {
        mean,
        error,
        degrees,
        units: trials.len(),
    });
    match (between, inside) {
        (Some(between), Some(inside)) if inside.error > between.error => Some(SideMean {
            degrees: between.degrees,
            ..inside
        }),
        (Some(between), _) => Some(between),
        (None, inside) => inside,
    }
}

/// Error of the mean that the trials within the runs show.
fn within(runs: &[&RunFigures], trials: usize) -> Option<(f64, f64)> {
    if let [run] = runs
        && let [_] = run.logs[..]
    {
        // One trial: its seconds are all there is.
        return run.single_error.map(|error| (error, DEGREES_OF_ONE_TRIAL));
    }
    let degrees = trials.checked_sub(runs.len()).filter(|d| *d > 0)? as f64;
    let squares = |run: &&RunFigures| Moments::of(&run.logs).map_or(0.0, |moments| moments.squares);
    let variance = runs.iter().map(squares).sum::<f64>() / degrees;
    Some(((variance / trials as f64).sqrt(), degrees))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(logs: &[f64]) -> RunFigures {
        RunFigures {
            logs: logs.to_vec(),
            single_error: None,
        }
    }

    #[test]
    fn trials_of_one_run_a_side_give_welch() {
        let effect = effect(&[run(&[1.0, 1.1, 0.9])], &[run(&[1.2, 1.3, 1.1])]).unwrap();
        assert!((effect.mean - 0.2).abs() < 1e-12);
        assert!((effect.error - (2.0 * 0.01f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((effect.degrees - 4.0).abs() < 1e-9, "{effect:?}");
    }

    #[test]
    fn runs_that_differ_among_themselves_widen_it() {
        let near = effect(&[run(&[1.0, 1.001])], &[run(&[1.0, 1.001])]).unwrap();
        let far = effect(
            &[run(&[1.0, 1.001]), run(&[1.2, 1.201])],
            &[run(&[1.0, 1.001])],
        )
        .unwrap();
        assert!(far.error > 50.0 * near.error, "{near:?} {far:?}");
    }

    #[test]
    fn single_trials_need_an_error_of_their_own() {
        assert_eq!(effect(&[run(&[1.0])], &[run(&[1.0])]), None);
        let known = |error| RunFigures {
            logs: vec![1.0],
            single_error: Some(error),
        };
        let effect = effect(&[known(0.03)], &[known(0.04)]).unwrap();
        assert!((effect.error - 0.05).abs() < 1e-12);
        assert_eq!(super::effect(&[], &[known(0.1)]), None);
    }
}
