//! What order statistics say of a quantile, whatever the distribution.

/// 97.5 % quantile of the standard normal distribution.
pub const NORMAL_975: f64 = 1.959_963_984_540_054;

/// Effective samples from which a two-sided 95 % upper bound of the quantile
/// `p` exists: ln(0.025)/ln(p); 368 for p99, 3,688 for p99.9.
pub fn least_samples(p: f64) -> f64 {
    0.025f64.ln() / p.ln()
}

/// The quantile levels between which the quantile `p` of a population lies
/// with 95 % confidence, from order statistics of `n` values (Conover,
/// *Practical Nonparametric Statistics*, 3.2): (lower, upper). `None` when the
/// upper bound does not exist.
pub fn order_levels(n: f64, p: f64) -> Option<(f64, f64)> {
    // Below the median the exact sum would begin at (1 − q)ⁿ, which is 0 for a few
    // hundred values: every level would pass for possible.
    debug_assert!((0.5..1.0).contains(&p), "a quantile at {p}");
    let q = 1.0 - p;
    if !(n.is_finite() && n >= least_samples(p)) {
        return None;
    }
    // The number of values above the true quantile is binomial(n, q). `few` is
    // the largest count that is too small in 2.5 % of cases, `many` the
    // smallest that is too large.
    let (few, many) = if n * q * p > 100.0 {
        let half = NORMAL_975 * (n * q * p).sqrt();
        (
            (n * q - half - 0.5).floor(),
            (n * q + half + 0.5).ceil() + 1.0,
        )
    } else {
        exact_tails(n, q)
    };
    let lower = ((n - many + 1.0) / n).clamp(0.0, 1.0);
    let upper = ((n - few) / n).clamp(0.0, 1.0);
    debug_assert!(
        lower < p && p <= upper,
        "{p} of {n} values lies between {lower} and {upper}"
    );
    Some((lower, upper))
}

/// By summing the probability mass from 0 up; n·q is at most 200 here.
fn exact_tails(n: f64, q: f64) -> (f64, f64) {
    let odds = q / (1.0 - q);
    let mut mass = (n * (1.0 - q).ln()).exp();
    debug_assert!(
        mass > 0.0,
        "the mass of {n} values at {q} is too small for a sum"
    );
    let mut cumulative = mass;
    let mut few = 0.0;
    let mut k = 0.0;
    while cumulative < 0.975 && k < n {
        if cumulative <= 0.025 {
            few = k;
        }
        mass *= (n - k) / (k + 1.0) * odds;
        k += 1.0;
        cumulative += mass;
    }
    (few, k + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn support_follows_the_published_minimum() {
        for (p, least) in [
            (0.9, 36.0),
            (0.99, 368.0),
            (0.999, 3688.0),
            (0.9999, 36_888.0),
        ] {
            assert!((least_samples(p) - least).abs() < 1.5, "{p}");
            assert!(order_levels(least_samples(p) - 1.0, p).is_none());
            assert!(order_levels(least_samples(p) + 1.0, p).is_some());
        }
    }

    #[test]
    fn order_levels_match_known_ranks() {
        // n = 100, median: ranks 40 and 61 (Conover, table A3).
        let (lower, upper) = order_levels(100.0, 0.5).unwrap();
        assert!((lower - 0.40).abs() < 0.011, "{lower}");
        assert!((upper - 0.61).abs() < 0.011, "{upper}");
        // The exact sum and the normal approximation meet.
        let exact = exact_tails(40_050.0, 0.0025);
        let half = NORMAL_975 * (40_050.0 * 0.0025 * 0.9975f64).sqrt();
        assert!((exact.0 - (100.1 - half)).abs() < 2.0);
        assert!((exact.1 - (100.1 + half)).abs() < 2.0);
    }
}
