//! Logarithm and exponential from additions and multiplications only.
//!
//! The C libraries disagree in the last bit, and a skewed offset that depends
//! on the library would break the promise that one seed gives the same offsets
//! on every host. IEEE 754 fixes the result of each basic operation, so these
//! are the same everywhere. Relative error below 1e-12, far under what 2^53
//! random bits resolve on any drive. They stand beside [`crate::rng`], which makes
//! the bits that they shape: access patterns and simulated drives draw from both.

use crate::rng::Rng;

const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Natural logarithm of a positive, finite, normal number.
#[inline]
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & 0x000F_FFFF_FFFF_FFFF) | 0x3FF0_0000_0000_0000);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh s, |s| <= 0.1716; even and odd terms are summed apart,
    // which lets the CPU work on both at once.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let q = s * s;
    let r = q * q;
    let even = 1.0 + r * (1.0 / 5.0 + r * (1.0 / 9.0 + r * (1.0 / 13.0 + r * (1.0 / 17.0))));
    let odd = 1.0 / 3.0 + r * (1.0 / 7.0 + r * (1.0 / 11.0 + r * (1.0 / 15.0)));
    let sum = even + q * odd;
    let e = exponent as f64;
    e * LN_2_HIGH + (2.0 * s * sum + e * LN_2_LOW)
}

/// Exponential; 0 below -700 and a very large number above 700.
#[inline]
pub fn exp(x: f64) -> f64 {
    if x < -700.0 {
        return 0.0;
    }
    let x = x.min(700.0);
    let k = (x * std::f64::consts::LOG2_E + 0.5).floor();
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    // Taylor, |r| <= 0.3466.
    let q = r * r;
    let even = 1.0
        + q * (1.0 / 2.0
            + q * (1.0 / 24.0
                + q * (1.0 / 720.0
                    + q * (1.0 / 40_320.0 + q * (1.0 / 3_628_800.0 + q * (1.0 / 479_001_600.0))))));
    let odd = 1.0
        + q * (1.0 / 6.0
            + q * (1.0 / 120.0
                + q * (1.0 / 5040.0 + q * (1.0 / 362_880.0 + q * (1.0 / 39_916_800.0)))));
    let sum = even + r * odd;
    sum * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

/// `ln(1 + t) / t`, also for small `t`.
#[inline]
pub fn ln_1p_over(t: f64) -> f64 {
    if t.abs() < 1e-4 {
        1.0 - t * (0.5 - t * (1.0 / 3.0 - t * 0.25))
    } else {
        ln(1.0 + t) / t
    }
}

/// `(exp(t) - 1) / t`, also for small `t`.
#[inline]
pub fn exp_m1_over(t: f64) -> f64 {
    if t.abs() < 1e-4 {
        1.0 + t * (0.5 + t * (1.0 / 6.0 + t * (1.0 / 24.0)))
    } else {
        (exp(t) - 1.0) / t
    }
}

/// A standard normal draw by the polar method (Marsaglia 1964).
#[inline]
pub fn standard_normal(rng: &mut Rng) -> f64 {
    loop {
        let (a, b) = (2.0 * rng.unit() - 1.0, 2.0 * rng.unit() - 1.0);
        let s = a * a + b * b;
        if s > 0.0 && s < 1.0 {
            return a * (-2.0 * ln(s) / s).sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: f64, theirs: f64) -> bool {
        (ours - theirs).abs() <= 1e-12 * theirs.abs().max(1e-3)
    }

    #[test]
    fn agree_with_the_c_library() {
        for n in 1..20_000 {
            let x = f64::from(n) * 0.037 + 1e-9;
            assert!(close(ln(x), x.ln()), "ln {x}");
            let y = (f64::from(n) - 10_000.0) * 0.0069;
            assert!(close(exp(y) / y.exp(), 1.0), "exp {y}");
        }
        for t in [-0.5, -1e-3, -9e-5, -1e-9, 1e-9, 9e-5, 1e-3, 0.5, 3.0f64] {
            assert!((ln_1p_over(t) - t.ln_1p() / t).abs() < 1e-11, "{t}");
            assert!((exp_m1_over(t) - t.exp_m1() / t).abs() < 1e-11, "{t}");
        }
    }

    #[test]
    fn extremes_are_finite() {
        assert_eq!(exp(-1e9), 0.0);
        assert!(exp(1e9).is_finite());
        assert!(close(ln(f64::MIN_POSITIVE), f64::MIN_POSITIVE.ln()));
        assert_eq!(ln(1.0), 0.0);
    }

    // The format: these bits may never change.
    #[test]
    fn bits_are_fixed() {
        assert_eq!(ln(3.7).to_bits(), 4_608_571_026_371_700_048);
        assert_eq!(exp(1.25).to_bits(), 4_615_041_972_421_327_600);
    }
}
