// SPDX-License-Identifier: GPL-3.0-or-later
//! Logarithms to the bases e and 2, and of 1 + x.
//!
//! With `x = 2^whole * (1 + r) / c`, where `c` comes from a table and `|r| < 1/128`, the logarithm
//! is the sum of `whole * ln 2`, `-log c` and `r * (1 - r/2 + r^2/3 - ...)`. Near 1 only the last
//! of the three is left, so that nothing cancels. 64 bits of the series are enough to know which
//! f64 is nearest to the sum, but for one argument in a hundred: that is worked out again with 128
//! bits.

use super::fixed::{
    LN_2, LOG2_E, high_signed, high_wide, high_wide_signed, nearest, nearest_wide, parts,
    power_of_two,
};
use crate::invalid::NEGATIVE_NAN;

/// How many intervals of the mantissa are tabulated.
const ENTRIES: usize = 128;

/// The first interval whose numbers are taken as half a mantissa and one more power of 2.
const HALVED: usize = 53;

/// An interval of mantissas.
#[derive(Clone, Copy)]
struct Interval {
    /// `c`, Q10: about the reciprocal.
    reciprocal: u64,
    /// `-log c` below [`HALVED`], `-log 2c` from there on, Q127.
    log: i128,
}

/// Interval `at` begins at `1 + at/128`. In the first `c` is 1, in the last 1/2.
static INTERVALS: [Interval; ENTRIES] = {
    let mut intervals = [Interval { reciprocal: 1 << 10, log: 0 }; ENTRIES];
    let mut at = 1;
    while at < ENTRIES {
        let double_middle = 257 + 2 * at as u64;
        let mut reciprocal = ((1 << 19) / double_middle).div_ceil(2);
        if at == ENTRIES - 1 {
            reciprocal = 1 << 9;
        }
        let log = if at < HALVED {
            log_of_ratio(1 << 10, reciprocal)
        } else {
            -log_of_ratio(reciprocal, 1 << 9)
        };
        intervals[at] = Interval { reciprocal, log };
        at += 1;
    }
    intervals
};

/// `log(a/b)`, Q127, where `b <= a < 2b`: `2 (w + w^3/3 + w^5/5 + ...)`, where `w = (a-b)/(a+b)`.
const fn log_of_ratio(a: u64, b: u64) -> i128 {
    let (difference, sum) = ((a - b) as u128, (a + b) as u128);
    let first = (difference << 112) / sum;
    let rest = (difference << 112) % sum;
    // Q128. Half of the logarithm, Q128, is the logarithm, Q127.
    let w = (first << 16) + (rest << 16) / sum;
    let square = high_wide(w, w);
    let (mut power, mut number, mut half) = (w, 1, 0);
    while power > 0 {
        half += power / number;
        power = high_wide(power, square);
        number += 2;
    }
    half.cast_signed()
}

/// Terms that 128 bits hold.
const TERMS: usize = 18;

/// 1, -1/2, 1/3, -1/4, ...: Q126.
static SERIES: [i128; TERMS] = {
    let mut series = [1 << 126; TERMS];
    let mut at = 1;
    while at < TERMS {
        series[at] = (1 << 126) / (at as i128 + 1);
        if at % 2 == 1 {
            series[at] = -series[at];
        }
        at += 1;
    }
    series
};

/// The same coefficients, as many as 64 bits hold, Q62.
static SHORT_SERIES: [i64; 9] = {
    let mut short = [0; 9];
    let mut at = 0;
    while at < short.len() {
        short[at] = upper_half(SERIES[at]);
        at += 1;
    }
    short
};

/// How far the 64 upper bits of a short result are from the true value at most, in the last of
/// them. The series is wrong by 1.1 units of Q62. By itself it is the result, times an exact
/// number; else it is multiplied by at most 1/200, and the result is at least 1/256.
const ERROR: u64 = 8;

#[allow(clippy::cast_possible_truncation)] // nothing else remains
const fn upper_half(wide: i128) -> i64 {
    (wide >> 64) as i64
}

/// `log x`, the nearest f64.
#[inline]
pub fn log(x: f64) -> f64 {
    if !is_usual(x) {
        return unusual(x);
    }
    let (mantissa, exponent) = parts(x);
    let found = match Short::of(mantissa, exponent) {
        Short::Series(r) => short_near_one(r.unsigned_abs(), 0, r),
        Short::Sum(sum) => short_sum(sum),
    };
    found.unwrap_or_else(|| precise(u128::from(mantissa) << 75, exponent + 52).natural())
}

/// `log(x) / log(2)`, the nearest f64.
pub fn log2(x: f64) -> f64 {
    if !is_usual(x) {
        return unusual(x);
    }
    let (mantissa, exponent) = parts(x);
    precise(u128::from(mantissa) << 75, exponent + 52).binary()
}

/// `log(1 + x)`, the nearest f64; from `2^67` on, `log x`.
pub fn log_1p(x: f64) -> f64 {
    const LARGE: f64 = power_of_two(67);
    let size = x.abs();
    match () {
        // x - x^2/2 is nearest to x.
        () if size < f64::EPSILON / 4.0 => x,
        () if size < 1.0 / 128.0 => log_1p_of_little(x),
        () if x < LARGE && x > -1.0 => log_1p_of_more(x),
        () if x >= LARGE => log(x),
        () if x == -1.0 => f64::NEG_INFINITY,
        () => unusual(x),
    }
}

fn log_1p_of_little(x: f64) -> f64 {
    let (mantissa, exponent) = parts(x);
    let wide = (u128::from(mantissa) << (exponent + 128)).cast_signed();
    let wide = if x < 0.0 { -wide } else { wide };
    short_near_one(mantissa, exponent + 64, upper_half(wide))
        .unwrap_or_else(|| Precise { whole: 0, log: 0, r: wide }.natural())
}

fn log_1p_of_more(x: f64) -> f64 {
    let sum = 1.0 + x;
    // What the sum was rounded by, which is exact.
    let rest = if x < 1.0 { x - (sum - 1.0) } else { 1.0 - (sum - x) };
    let (mantissa, exponent) = parts(sum);
    if let Short::Sum(log) = Short::of(mantissa, exponent) {
        // log(sum + rest) = log(sum) + rest/sum, but for its square, which is below 2^-106.
        #[allow(clippy::cast_possible_truncation)] // at most 2^62
        let more = (rest / sum * power_of_two(115)) as i64; // Q115
        if let Some(found) = short_sum(log + (i128::from(more) << 1)) {
            return found;
        }
    }
    // 1 + x, Q59, which is exact.
    let (mantissa, exponent) = parts(x);
    let size = u128::from(mantissa) << (exponent + 59);
    let sum = if x < 0.0 { (1 << 59) - size } else { (1 << 59) + size };
    let shift = sum.leading_zeros();
    precise(sum << shift, 68 - shift.cast_signed()).natural()
}

/// Whether a number is above 0 and finite.
fn is_usual(x: f64) -> bool {
    x > 0.0 && x < f64::INFINITY
}

/// Logarithms of numbers that are not above 0, infinite, or none.
fn unusual(x: f64) -> f64 {
    match () {
        () if x == 0.0 => f64::NEG_INFINITY,
        () if x < 0.0 => NEGATIVE_NAN,
        () => x,
    }
}

/// What is known of a logarithm with 64 bits of the series.
enum Short {
    /// The argument is so near to 1 that the logarithm is the series of `r`, Q64.
    Series(i64),
    /// The logarithm, Q116.
    Sum(i128),
}

impl Short {
    /// Of `mantissa * 2^exponent`, where the mantissa has 53 bits.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // seven bits
    fn of(mantissa: u64, exponent: i32) -> Self {
        let at = (mantissa >> 45) as usize % ENTRIES;
        let Interval { reciprocal, log } = INTERVALS[at];
        let r = (mantissa * reciprocal).wrapping_sub(1 << 62).cast_signed() << 2;
        let whole = exponent + 52 + i32::from(at >= HALVED);
        if whole == 0 && log == 0 {
            return Self::Series(r);
        }
        let product = i128::from(r) * i128::from(short_series(r));
        Self::Sum(i128::from(whole) * (LN_2 >> 12).cast_signed() + (log >> 11) + (product >> 10))
    }
}

/// `log(1 + r) / r`, Q62, of a Q64 number.
#[inline]
fn short_series(r: i64) -> i64 {
    let [first, others @ ..] = &SHORT_SERIES;
    first + others.iter().rev().fold(0, |sum, coefficient| high_signed(r, coefficient + sum))
}

/// `log(1 + r)`, where `|r| = mantissa * 2^(exponent - 64)`; `r`, Q64, need not have all its bits.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the upper half is what remains
fn short_near_one(mantissa: u64, exponent: i32, r: i64) -> Option<f64> {
    if mantissa == 0 {
        return Some(0.0);
    }
    let (shift, series) = (mantissa.leading_zeros(), short_series(r).cast_unsigned());
    let product = u128::from(mantissa << shift) * u128::from(series);
    let more = product.leading_zeros();
    let upper = ((product << more) >> 64) as u64;
    nearest(r < 0, upper, exponent + 1 - (shift + more).cast_signed(), ERROR)
}

/// A Q116 number.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the upper half is what remains
fn short_sum(sum: i128) -> Option<f64> {
    let size = sum.unsigned_abs();
    let shift = size.leading_zeros();
    nearest(sum < 0, ((size << shift) >> 64) as u64, 11 - shift.cast_signed(), ERROR)
}

/// The parts of a logarithm, in full width.
struct Precise {
    whole: i32,
    /// Of the interval's reciprocal, Q127.
    log: i128,
    /// Q128.
    r: i128,
}

/// Takes `mantissa * 2^(exponent - 127)` apart, where the mantissa has its highest bit set.
#[cold]
#[allow(clippy::cast_possible_truncation)] // seven bits
fn precise(mantissa: u128, exponent: i32) -> Precise {
    let at = (mantissa >> 120) as usize % ENTRIES;
    let Interval { reciprocal, log } = INTERVALS[at];
    let r = ((mantissa >> 10) * u128::from(reciprocal)).wrapping_sub(1 << 127).cast_signed() << 1;
    Precise { whole: exponent + i32::from(at >= HALVED), log, r }
}

impl Precise {
    /// `log(1 + r) / r`, Q126.
    fn series(&self) -> i128 {
        let [first, others @ ..] = &SERIES;
        let r = self.r;
        first
            + others.iter().rev().fold(0, |sum, coefficient| high_wide_signed(r, coefficient + sum))
    }

    /// Where the logarithm is that of `1 + r`: it, as `wide * 2^(exponent - 127)`.
    fn near_one(&self) -> (u128, i32) {
        let size = self.r.unsigned_abs();
        let shift = size.leading_zeros();
        let product = high_wide(size << shift, self.series().cast_unsigned());
        let more = product.leading_zeros();
        (product << more, 1 - (shift + more).cast_signed())
    }

    fn is_near_one(&self) -> bool {
        self.whole == 0 && self.log == 0
    }

    /// The natural logarithm.
    fn natural(&self) -> f64 {
        if self.is_near_one() {
            if self.r == 0 {
                return 0.0;
            }
            let (wide, exponent) = self.near_one();
            return nearest_wide(self.r < 0, wide, exponent);
        }
        // Numbers are Q(126 - bits), so that the sum fits.
        let powers = u128::from(self.whole.unsigned_abs());
        let bits = 128 - powers.leading_zeros();
        let (upper, lower) = (powers * (LN_2 >> 64), powers * (LN_2 & u128::from(u64::MAX)));
        let size = ((upper << (62 - bits)) + (lower >> (2 + bits))).cast_signed();
        let powers = if self.whole < 0 { -size } else { size };
        let sum =
            powers + (self.log >> (1 + bits)) + (high_wide_signed(self.r, self.series()) >> bits);
        rounded(sum, 126 - bits)
    }

    /// The logarithm to base 2.
    fn binary(&self) -> f64 {
        if self.is_near_one() {
            if self.r == 0 {
                return 0.0;
            }
            let (wide, exponent) = self.near_one();
            let product = high_wide(wide, LOG2_E);
            let more = product.leading_zeros();
            return nearest_wide(self.r < 0, product << more, exponent + 1 - more.cast_signed());
        }
        let bits = 32 - self.whole.unsigned_abs().leading_zeros();
        let natural = (self.log >> 1) + high_wide_signed(self.r, self.series());
        let fraction = high_wide(natural.unsigned_abs(), LOG2_E).cast_signed();
        let fraction = if natural < 0 { -fraction } else { fraction };
        rounded((i128::from(self.whole) << (125 - bits)) + (fraction >> bits), 125 - bits)
    }
}

/// The f64 nearest to `sum / 2^point`, where the sum is not 0.
fn rounded(sum: i128, point: u32) -> f64 {
    let size = sum.unsigned_abs();
    let shift = size.leading_zeros();
    nearest_wide(sum < 0, size << shift, 127 - (shift + point).cast_signed())
}
