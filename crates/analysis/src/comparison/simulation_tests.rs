//! Error rates of comparisons, asserted. Bounds allow three standard errors of
//! the simulation itself; seeds are fixed.

use super::*;

const MANY: u32 = 4000;

/// Three standard errors of a share near `share`.
fn slack(share: f64) -> f64 {
    3.0 * (share * (1.0 - share) / f64::from(MANY)).sqrt()
}

fn different(rates: &Rates) -> f64 {
    rates.faster + rates.slower
}

#[test]
fn equal_sides_are_called_different_in_five_percent_at_most() {
    let steady = Simulated::default();
    let slow_drift = Simulated {
        noise_percent: 1.5,
        walk_percent: 1.0,
        ..steady
    };
    let linear = Simulated {
        noise_percent: 1.0,
        drift_percent: 1.0,
        ..steady
    };
    let wild = Simulated {
        noise_percent: 1.0,
        walk_percent: 10.0,
        ..steady
    };
    let twenty = Simulated {
        pairs: 20,
        walk_percent: 1.0,
        ..steady
    };
    for what in [steady, slow_drift, linear, wild, twenty] {
        let rates = simulate(&what, MANY);
        assert!(
            different(&rates) <= 0.05 + slack(0.05),
            "{what:?}: {rates:?}"
        );
        assert!(rates.covered >= 0.95 - slack(0.95), "{what:?}: {rates:?}");
    }
}

#[test]
fn a_true_difference_of_five_percent_is_found_in_nine_of_ten() {
    for (true_percent, seed) in [(5.0, 1), (-5.0, 2)] {
        let what = Simulated {
            true_percent,
            seed,
            ..Simulated::default()
        };
        let rates = simulate(&what, 3 * MANY);
        let (right, wrong) = match true_percent > 0.0 {
            true => (rates.faster, rates.slower),
            false => (rates.slower, rates.faster),
        };
        assert!(right >= 0.90, "{what:?}: {rates:?}");
        assert!(wrong < 0.001, "{what:?}: {rates:?}");
    }
}

#[test]
fn a_difference_as_large_as_the_margin_is_called_equivalent_in_five_percent_at_most() {
    for (margin_percent, noise_percent) in [(3.0, 0.5), (3.0, 2.0), (5.0, 1.0), (10.0, 4.0)] {
        let what = Simulated {
            true_percent: margin_percent,
            margin_percent,
            noise_percent,
            ..Simulated::default()
        };
        let rates = simulate(&what, MANY);
        assert!(
            rates.equivalent <= 0.05 + slack(0.05),
            "{what:?}: {rates:?}"
        );
    }
}

#[test]
fn equal_sides_with_little_noise_are_called_equivalent() {
    let what = Simulated {
        noise_percent: 1.0,
        ..Simulated::default()
    };
    let rates = simulate(&what, MANY);
    assert!(rates.equivalent > 0.9, "{rates:?}");
}

#[test]
fn many_figures_and_rows_keep_the_error_rate() {
    for (rows, figures, common) in [(1, 6, 0.0), (1, 6, 0.9), (4, 5, 0.5)] {
        let what = Simulated {
            rows,
            figures,
            common,
            noise_percent: 3.0,
            ..Simulated::default()
        };
        let rates = simulate(&what, MANY);
        assert!(
            different(&rates) <= 0.05 + slack(0.05),
            "{what:?}: {rates:?}"
        );
        assert!(
            rates.any_figure <= 0.06 + slack(0.06),
            "{what:?}: {rates:?}"
        );
    }
}

#[test]
fn five_pairs_decide_nothing() {
    let what = Simulated {
        pairs: 5,
        true_percent: 50.0,
        ..Simulated::default()
    };
    assert_eq!(simulate(&what, 100).inconclusive, 1.0);
}
