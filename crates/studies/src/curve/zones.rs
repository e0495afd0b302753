//! Outer against inner end of a target, from a position curve.

use fathom_model::curve::Zones;
use fathom_model::estimate::{Estimate, Unit};
use fathom_stats::student::student_975;

use super::series::{Rates, noise_of_passes};

/// Rates at both ends and their ratio; nothing for fewer than two points.
///
/// The interval of the ratio is that of a difference of two means of
/// logarithms, with the noise that the passes show.
pub(super) fn find(series: &[Rates]) -> Option<Zones> {
    let (outer, inner) = match series {
        [outer, .., inner] => (outer.mean(), inner.mean()),
        _ => return None,
    };
    let ratio = (outer - inner).exp();
    let repeated = series.iter().any(|point| point.logs.len() > 1);
    let estimate = if repeated {
        let noise = noise_of_passes(series);
        let half = student_975(noise.degrees) * noise.deviation * std::f64::consts::SQRT_2;
        Estimate::known(
            Unit::Ratio,
            ratio,
            ratio * (-half).exp(),
            ratio * half.exp(),
            noise.degrees + 1.0,
        )
    } else {
        let reason = "a single pass does not show how much the rate varies";
        Estimate::point(Unit::Ratio, ratio, reason)
    };
    Some(Zones {
        outer_bytes_per_second: outer.exp(),
        inner_bytes_per_second: inner.exp(),
        ratio: estimate,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_has_the_noise_of_the_passes() {
        let point = |at: u64, rate: f64, spread: f64| Rates {
            at,
            logs: vec![(rate * (1.0 + spread)).ln(), (rate * (1.0 - spread)).ln()],
        };
        let series: Vec<Rates> = (0..20)
            .map(|i| point(i, 250e6 - 7e6 * i as f64, 0.005))
            .collect();
        let zones = find(&series).unwrap();
        let (low, high) = (zones.ratio.low.unwrap(), zones.ratio.high.unwrap());
        assert!((zones.ratio.value.unwrap() - 250.0 / 117.0).abs() < 0.01);
        assert!(low < 250.0 / 117.0 && 250.0 / 117.0 < high && high - low < 0.2);
        assert_eq!(find(&series[..1]), None);
    }
}
