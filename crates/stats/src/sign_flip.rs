//! Fisher's randomization test: is a mean far from zero, whatever the distribution
//! of the values?

/// Up to so many values every combination of signs is tried.
const EXACT_VALUES: usize = 14;
/// Beyond, so many are drawn.
const DRAWS: u32 = 20_000;

/// Share of all ways to flip the signs of the values that give a mean at least as
/// far from zero; from 0 to 1, `None` without values. Up to 14 values every way is
/// tried, beyond 20,000 are drawn from `bits`, a source of 64 random bits.
pub fn sign_flip(values: &[f64], bits: impl FnMut() -> u64) -> Option<f64> {
    match values.len() {
        0 => None,
        k if k <= EXACT_VALUES => Some(all_flips(values)),
        _ => Some(drawn_flips(values, bits)),
    }
}

/// Every combination of signs.
fn all_flips(values: &[f64]) -> f64 {
    // A shift by 32 would wrap to one combination, and its share would be 1.
    assert!(values.len() <= EXACT_VALUES, "{} values", values.len());
    let least = as_far(values);
    let all = 1u32 << values.len();
    let far = (0..all).filter(|signs| signed_sum(values, u64::from(*signs)).abs() >= least);
    far.count() as f64 / f64::from(all)
}

/// Combinations that are drawn; what was seen counts as one of them.
fn drawn_flips(values: &[f64], mut bits: impl FnMut() -> u64) -> f64 {
    let least = as_far(values);
    let draw = |_| {
        let parts = values.chunks(64);
        let sum: f64 = parts.map(|part| signed_sum(part, bits())).sum();
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

fn signed_sum(values: &[f64], signs: u64) -> f64 {
    debug_assert!(
        values.len() <= 64,
        "a bit for each of {} values",
        values.len()
    );
    let signed = values.iter().enumerate();
    signed
        .map(|(i, v)| if signs >> i & 1 == 0 { *v } else { -v })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::rng::Rng;

    fn seeded() -> impl FnMut() -> u64 {
        let mut rng = Rng::new(0x51_67_4E);
        move || rng.next_u64()
    }

    #[test]
    fn six_values_of_one_sign_give_two_in_sixty_four() {
        let p = sign_flip(&[0.1, 0.2, 0.1, 0.3, 0.2, 0.1], seeded()).unwrap();
        assert_eq!(p, 2.0 / 64.0);
        let five = sign_flip(&[0.1, 0.2, 0.1, 0.3, 0.2], seeded()).unwrap();
        assert_eq!(five, 2.0 / 32.0);
        assert_eq!(sign_flip(&[0.0; 6], seeded()), Some(1.0));
        assert_eq!(sign_flip(&[], seeded()), None);
    }

    #[test]
    fn drawn_signs_agree_with_all_signs() {
        let values: Vec<f64> = (0..12).map(|i| f64::from(i % 5) - 1.5).collect();
        let (drawn, exact) = (drawn_flips(&values, seeded()), all_flips(&values));
        assert!((drawn - exact).abs() < 0.015, "{drawn} {exact}");
        let again = drawn_flips(&values, seeded());
        assert_eq!(again, drawn, "a fixed seed");
        let many = sign_flip(&[0.1; 100], seeded()).unwrap();
        assert_eq!(many, 1.0 / 20_001.0);
    }
}
