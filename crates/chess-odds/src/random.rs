// SPDX-License-Identifier: GPL-3.0-or-later
//! A small seeded generator, so that play and selections can be repeated anywhere.

/// `SplitMix64` (Steele, Lea and Flood 2014): 64 bits of state, every seed is good.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that repeats itself for the same seed.
    pub const fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// A seed from the clock.
    pub fn clock_seed() -> u64 {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |d| u64::from(d.subsec_nanos()) ^ (d.as_secs() << 20))
    }

    /// The next 64 random bits.
    pub const fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..bound`; `bound` must be positive.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the high half of the product is below the bound"
    )]
    pub const fn below(&mut self, bound: usize) -> usize {
        ((self.next_bits() as u128 * bound as u128) >> 64) as usize
    }

    /// Uniform in `[0, 1)`.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub const fn unit(&mut self) -> f64 {
        (self.next_bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An index drawn with probability proportional to its weight; `None` if no weight is positive.
    pub fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().filter(|w| w.is_finite() && **w > 0.0).sum();
        if total <= 0.0 {
            return None;
        }
        let mut left = self.unit() * total;
        let mut last = None;
        for (i, &w) in weights.iter().enumerate() {
            if w.is_finite() && w > 0.0 {
                last = Some(i);
                if left < w {
                    return last;
                }
                left -= w;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_weights() {
        let mut random = Random::from_seed(1);
        let mut counts = [0u32; 3];
        for _ in 0..30_000 {
            counts[random.weighted(&[1.0, 0.0, 2.0]).expect("weights are positive")] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((f64::from(counts[2]) / 30_000.0 - 2.0 / 3.0).abs() < 0.02);
        assert_eq!(random.weighted(&[0.0, f64::NAN]), None);
        assert!((0..1000).all(|_| random.below(7) < 7));
    }
}
