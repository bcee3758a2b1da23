// SPDX-License-Identifier: GPL-3.0-or-later
//! Powers of e and of 2.
//!
//! With `t = whole + at/128 + z/128`, where `0 <= z < 1`, `2^t` is `2^whole` times an entry of a
//! table times the sum of a short series. 64 bits are enough to know which f64 is nearest to it,
//! but for one argument in sixty: that is worked out again with 128 bits.

use super::fixed::{LN_2, LOG2_E, high, high_wide, nearest, nearest_wide, parts};

/// How many powers are tabulated.
const ENTRIES: usize = 128;

/// `2^(at/128)`, Q127.
static POWERS: [u128; ENTRIES] = {
    let mut powers = [1 << 127; ENTRIES];
    let mut at = 1;
    while at < ENTRIES {
        // The series of e^y: each term, Q127, is the one before times y, over its number.
        let y = (LN_2 >> 7) * at as u128;
        let (mut term, mut number) = (powers[at], 1);
        while term > 0 {
            term = high_wide(term, y) / number;
            powers[at] += term;
            number += 1;
        }
        at += 1;
    }
    powers
};

/// `e^(-1/32)`, Q128.
const E_TO_A_STEP: u128 = {
    // 1 - y + y^2/2 - ..., where y = 1/32. The 1 is 2^128, which wraps to 0.
    let (mut term, mut number, mut sum) = (1u128 << 123, 1, 0u128);
    while term > 0 {
        sum = if number % 2 == 1 { sum.wrapping_sub(term) } else { sum + term };
        number += 1;
        term = (term >> 5) / number;
    }
    sum
};

/// Terms that 128 bits hold.
const TERMS: usize = 13;

/// Coefficients of `2^(z/128) - 1 = SERIES[0] z + SERIES[1] z^2 + ...`, Q128.
static SERIES: [u128; TERMS] = {
    let mut series = [LN_2 >> 7; TERMS];
    let mut at = 1;
    while at < TERMS {
        series[at] = high_wide(series[at - 1], LN_2 >> 7) / (at as u128 + 1);
        at += 1;
    }
    series
};

/// The same coefficients in 64 bits (Q64), as many as are not 0 then.
static SHORT_SERIES: [u64; 6] = {
    let mut short = [0; 6];
    let mut at = 0;
    while at < short.len() {
        short[at] = upper_half(SERIES[at]);
        at += 1;
    }
    short
};

/// How far below the true value the 64-bit result is at most, Q63: 13 units through coefficients,
/// products and terms left out, 2 through the argument, 1 through the table.
const ERROR: u64 = 16;

#[allow(clippy::cast_possible_truncation)] // nothing else remains
const fn upper_half(wide: u128) -> u64 {
    (wide >> 64) as u64
}

/// `e^x`, the nearest f64.
#[inline]
pub fn exp(x: f64) -> f64 {
    let (mantissa, exponent) = parts(x);
    if !is_usual(exponent, 10) {
        return unusual(x);
    }
    let (upper, _) = by_log2_e(mantissa);
    // Q64; at most 2 units too small.
    let size = (upper >> -(exponent + 1)).cast_signed();
    let t = if x < 0.0 { -size - 2 } else { size };
    short_power(t).unwrap_or_else(|| precise_exp(x))
}

/// `2^x`, the nearest f64.
pub fn exp2(x: f64) -> f64 {
    let (mantissa, exponent) = parts(x);
    if !is_usual(exponent, 11) {
        return unusual(x);
    }
    let size = (u128::from(mantissa) << (exponent + 116)).cast_signed();
    let (wide, exponent) = wide_power(if x < 0.0 { -size } else { size });
    nearest_wide(false, wide, exponent)
}

/// `e^start`, `e^(start - 1/32)`, `e^(start - 2/32)`, ...: each as [`exp`] gives it, but sooner, as
/// long as the argument can be worked out without rounding. The start must lie between -1000 and
/// 700.
pub(crate) fn descending_exps(start: f64) -> impl Iterator<Item = f64> {
    let (mut wide, mut exponent) = wide_exp(start);
    (0..).map(move |steps| {
        let found = if exponent < -1022 {
            nearest_wide(false, wide, exponent)
        } else {
            // Each product is less than 4 units of its 128 bits too small.
            let found = nearest(false, upper_half(wide), exponent, 2);
            found.unwrap_or_else(|| exp(start - f64::from(steps) / 32.0))
        };
        wide = high_wide(wide, E_TO_A_STEP);
        let shift = wide.leading_zeros();
        wide <<= shift;
        exponent -= shift.cast_signed();
        found
    })
}

/// Whether `2^-54 <= |x| < 2^limit`, from the exponent of its mantissa.
fn is_usual(exponent: i32, limit: i32) -> bool {
    (-54 - 52..limit - 52).contains(&exponent)
}

/// Powers of numbers that are very small, very large, or none.
fn unusual(x: f64) -> f64 {
    match () {
        () if x.is_nan() => x,
        () if x.abs() < 1.0 => 1.0,
        () if x > 0.0 => f64::INFINITY,
        () => 0.0,
    }
}

/// `mantissa / ln 2`: the upper bits, Q63, and 64 more.
#[allow(clippy::cast_possible_truncation)] // halves of LOG2_E and of a product
fn by_log2_e(mantissa: u64) -> (u128, u64) {
    let lower = u128::from(mantissa) * u128::from(LOG2_E as u64);
    let upper = u128::from(mantissa) * u128::from(upper_half(LOG2_E));
    (upper + (lower >> 64), lower as u64)
}

/// `2^t` of a Q64 number, if that is precise enough to know the nearest f64.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the parts before and behind the point
fn short_power(t: i128) -> Option<f64> {
    let (whole, fraction) = ((t >> 64) as i32, t.cast_unsigned() as u64);
    let table = upper_half(POWERS[(fraction >> 57) as usize]);
    let z = fraction << 7;
    let sum = SHORT_SERIES.iter().rev().fold(0, |sum, coefficient| high(z, coefficient + sum));
    nearest(false, table + high(table, sum), whole, ERROR)
}

#[cold]
fn precise_exp(x: f64) -> f64 {
    let (wide, exponent) = wide_exp(x);
    nearest_wide(false, wide, exponent)
}

/// `e^x` as `wide * 2^(exponent - 127)`, where `|x|` is 0 or from `2^-54` to `2^10`.
fn wide_exp(x: f64) -> (u128, i32) {
    let (mantissa, exponent) = parts(x);
    let (upper, lower) = by_log2_e(mantissa);
    // The shift turns Q127 into Q116 and multiplies by 2^exponent. The result is at most 2 units
    // too small.
    let shift = 11 - exponent;
    let size = if shift < 64 {
        upper << (64 - shift) | u128::from(lower >> shift)
    } else {
        upper.checked_shr((shift - 64).unsigned_abs()).unwrap_or(0)
    };
    let size = size.cast_signed();
    wide_power(if x < 0.0 { -size - 2 } else { size })
}

/// `2^t` of a Q116 number, as `wide * 2^(exponent - 127)`.
#[allow(clippy::cast_possible_truncation)] // the parts before and behind the point
fn wide_power(t: i128) -> (u128, i32) {
    let (whole, fraction) = ((t >> 116) as i32, t.cast_unsigned() << 12);
    let table = POWERS[(fraction >> 121) as usize];
    let z = fraction << 7;
    let sum = SERIES.iter().rev().fold(0, |sum, coefficient| high_wide(z, coefficient + sum));
    (table + high_wide(table, sum), whole)
}
