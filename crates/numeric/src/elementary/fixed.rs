// SPDX-License-Identifier: GPL-3.0-or-later
//! Whole numbers as fractions: products of 128 bits, and rounding to the nearest f64.
//!
//! "Q63" and its like say how many bits stand after the point: a Q63 number `n` means `n/2^63`.
//! Such numbers have the same bits on every processor and with every C library.

/// `ln 2`, Q128, rounded down.
pub(super) const LN_2: u128 = 0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af;

/// `1 / ln 2`, Q127, rounded down.
pub(super) const LOG2_E: u128 = 0xb8aa_3b29_5c17_f0bb_be87_fed0_691d_3e88;

/// The upper half of a product.
#[allow(clippy::cast_possible_truncation)] // the upper half is what remains
pub(super) const fn high(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// The upper half of a product, rounded down.
#[allow(clippy::cast_possible_truncation)] // the upper half is what remains
pub(super) const fn high_signed(a: i64, b: i64) -> i64 {
    ((a as i128 * b as i128) >> 64) as i64
}

/// The upper half of a product of 256 bits.
pub(super) const fn high_wide(a: u128, b: u128) -> u128 {
    const LOWER: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOWER, b >> 64, b & LOWER);
    let middle = a1 * b0 + ((a0 * b0) >> 64);
    let lower = a0 * b1 + (middle & LOWER);
    a1 * b1 + (middle >> 64) + (lower >> 64)
}

/// The upper half of a product of 256 bits, rounded towards 0.
pub(super) const fn high_wide_signed(a: i128, b: i128) -> i128 {
    let size = high_wide(a.unsigned_abs(), b.unsigned_abs()).cast_signed();
    if a.is_negative() == b.is_negative() { size } else { -size }
}

/// Bits of a 64-bit number that a normal f64 does not hold.
const REST: u32 = 64 - 53;

/// The normal f64 nearest to `±upper * 2^(exponent - 63)`, where `upper` has its highest bit set.
/// `None` where another number may be nearest to the true value, which lies within `error` of
/// `upper`, and for results that are not normal.
#[inline]
pub(super) fn nearest(negative: bool, upper: u64, exponent: i32, error: u64) -> Option<f64> {
    const HALF: u64 = 1 << (REST - 1);
    let rest = upper & ((1 << REST) - 1);
    if rest.abs_diff(HALF) <= error || !(-1022..=1023).contains(&exponent) {
        return None;
    }
    // The highest bit counts as 1 in the exponent; so does a carry out of the rounding.
    let biased = u64::try_from(exponent + 1022).expect("not below 0");
    let bits = (biased << 52) + (upper >> REST) + (rest >> (REST - 1));
    Some(f64::from_bits(bits | u64::from(negative) << 63))
}

/// The f64 nearest to `±wide * 2^(exponent - 127)`, where `wide` has its highest bit set. Of two
/// that are equally near it is the even one.
pub(crate) fn nearest_wide(negative: bool, wide: u128, exponent: i32) -> f64 {
    let sign = u64::from(negative) << 63;
    if exponent > 1023 {
        return f64::from_bits(sign | f64::INFINITY.to_bits());
    }
    // A result below the normal numbers has fewer bits, down to none.
    let lacking = (-1022 - exponent).max(0).unsigned_abs();
    let rest_bits = 128 - 53 + lacking;
    if rest_bits > 128 {
        return f64::from_bits(sign);
    }
    let kept = wide.checked_shr(rest_bits).unwrap_or(0);
    let half = 1 << (rest_bits - 1);
    let rest = wide & (half | (half - 1));
    let up = rest > half || (rest == half && kept & 1 == 1);
    let biased = u64::try_from(exponent.max(-1023) + 1022).unwrap_or(0);
    let kept = u64::try_from(kept).expect("at most 53 bits remain");
    f64::from_bits(sign | ((biased << 52) + kept + u64::from(up)))
}

/// `2^exponent`.
pub(super) const fn power_of_two(exponent: u64) -> f64 {
    f64::from_bits((1023 + exponent) << 52)
}

/// A positive f64 as `mantissa * 2^exponent`, where the mantissa has 53 bits.
#[inline]
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // 11 bits
pub(super) fn parts(x: f64) -> (u64, i32) {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    if exponent > 0 {
        return (bits & FRACTION | (1 << 52), exponent - 1075);
    }
    let lacking = (bits & FRACTION).leading_zeros() - 11;
    ((bits & FRACTION) << lacking, -1074 - lacking as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_have_all_their_upper_bits() {
        assert_eq!(high_wide(u128::MAX, u128::MAX), u128::MAX - 1);
        assert_eq!(high_wide(1 << 127, 6), 3);
        assert_eq!(high_wide((1 << 64) | 5, (1 << 64) | 7), 1);
        assert_eq!(high_wide(u128::MAX, 1 << 64), u128::from(u64::MAX));
        assert_eq!(high_wide_signed(-(1 << 126), 1 << 126), -(1 << 124));
        assert_eq!(high_signed(-1, 1), -1);
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_and_to_even() {
        let wide = |upper: u64, lower: u64| u128::from(upper) << 64 | u128::from(lower);
        let one = 1 << 63;
        assert_eq!(nearest_wide(false, wide(one, 0), 0), 1.0);
        assert_eq!(nearest_wide(true, wide(one | 0x400, 0), 0), -1.0); // a tie, to even
        assert_eq!(nearest_wide(false, wide(one | 0x400, 1), 0), 1.0 + f64::EPSILON);
        assert_eq!(nearest_wide(false, wide(one | 0xc00, 0), 0), 1.0 + 2.0 * f64::EPSILON);
        assert_eq!(nearest_wide(false, u128::MAX, 0), 2.0);
        assert_eq!(nearest_wide(false, u128::MAX, 1023), f64::INFINITY);
        assert_eq!(nearest_wide(false, wide(one, 0), -1074).to_bits(), 1);
        assert_eq!(nearest_wide(false, wide(one, 0), -1075).to_bits(), 0); // a tie, to even
        assert_eq!(nearest_wide(false, wide(one, 1), -1075).to_bits(), 1);
        assert_eq!(nearest_wide(true, u128::MAX, -1076).to_bits(), 1 << 63);
        assert_eq!(nearest_wide(false, u128::MAX, -1023), f64::MIN_POSITIVE);
        assert_eq!(nearest(false, one | 0x401, 0, 1), None);
        assert_eq!(nearest(false, one | 0x402, 0, 1), Some(1.0 + f64::EPSILON));
        assert_eq!(nearest(true, one | 0x3fe, 3, 1), Some(-8.0));
        assert_eq!(nearest(false, u64::MAX, 5, 1), Some(64.0));
        assert_eq!(nearest(false, one, -1023, 1), None);
    }

    #[test]
    fn numbers_are_taken_apart() {
        for x in [1.0, 0.1, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), f64::from_bits(77)] {
            let (mantissa, exponent) = parts(x);
            assert_eq!(mantissa.leading_zeros(), 11);
            assert_eq!(nearest_wide(false, u128::from(mantissa) << 75, exponent + 52), x);
        }
    }
}
