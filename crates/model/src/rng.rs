//! The named random generators of fathom.
//!
//! One seed in the run record must regenerate every offset and byte on every
//! host, forever, so these algorithms are part of the format and never change:
//! splitmix64 (Steele, Lea, Flood 2014) to spread seeds and to hash counters,
//! xoshiro256++ (Blackman, Vigna 2019) for streams.

/// One step of splitmix64: a good 64-bit mix of any counter.
#[inline]
pub fn splitmix64(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Derives an independent seed from a parent seed and a label.
#[inline]
pub fn derive_seed(seed: u64, label: u64) -> u64 {
    splitmix64(splitmix64(seed) ^ label.wrapping_mul(0xD6E8_FEB8_6659_FD93))
}

/// xoshiro256++: 256 bits of state, period 2^256 - 1.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A generator whose state is filled from `seed` by splitmix64.
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        let state = std::array::from_fn(|_| {
            let word = splitmix64(counter);
            counter = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
            word
        });
        Rng { state }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number in `0..bound` by multiply-shift. `bound` 0 gives 0. The bias
    /// is below `bound / 2^64`, far under anything a storage test could see.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // From the reference implementations of splitmix64 and xoshiro256++.
    #[test]
    fn streams_are_those_of_the_published_algorithms() {
        assert_eq!(splitmix64(1_234_567), 6_457_827_717_110_365_317);
        let mut rng = Rng {
            state: [1, 2, 3, 4],
        };
        let stream: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(
            stream,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386
            ]
        );
    }

    #[test]
    fn below_stays_below_and_reaches_every_value() {
        let mut rng = Rng::new(7);
        let mut seen = [false; 10];
        for _ in 0..1000 {
            seen[rng.below(10) as usize] = true;
        }
        assert!(seen.iter().all(|s| *s));
    }
}
