// SPDX-License-Identifier: GPL-3.0-or-later
//! Numbers as C's `printf` prints them, in the C locale.
//!
//! Each function appends to a byte buffer and allocates nothing beyond the buffer's own growth.
//! Rounding is exact and to even on ties, as in glibc. Not-a-numbers and infinities print as `nan`,
//! `-nan`, `inf` and `-inf`; the sign bit alone decides about the sign, for zeros too. A width is
//! the least number of bytes: shorter text is filled with blanks, longer text is never cut.

use std::io::Write;

/// Powers of ten of the fast path of [`fixed`]: precisions 0 to 17.
const TENS: [u64; 18] = {
    let mut table = [1; 18];
    let mut i = 1;
    while i < table.len() {
        table[i] = table[i - 1] * 10;
        i += 1;
    }
    table
};

/// Appends `value` as `%WIDTH.PRECISIONf` does; width 0 stands for none.
pub fn fixed(out: &mut Vec<u8>, value: f64, width: usize, precision: usize) {
    write_fixed(out, value, Side::Right(width), precision);
}

/// Appends `value` as `%-WIDTH.PRECISIONf` does: blanks come after the number.
pub fn fixed_left(out: &mut Vec<u8>, value: f64, width: usize, precision: usize) {
    write_fixed(out, value, Side::Left(width), precision);
}

/// Appends `value` as `%g` does: six significant digits, no trailing zeros, exponent form below
/// 0.0001 and from 1e6 on.
pub fn general(out: &mut Vec<u8>, value: f64) {
    const DIGITS: i32 = 6;
    if !value.is_finite() {
        return out.extend_from_slice(not_finite(value));
    }
    let (negative, magnitude) = split_sign(value);
    if negative {
        out.push(b'-');
    }
    // The longest text is that of 5e-324: 7 bytes of digits and 5 of exponent.
    let mut buffer = [0_u8; 24];
    let mut rest = &mut buffer[..];
    let _ = write!(rest, "{magnitude:.5e}");
    let unused = rest.len();
    let written = &buffer[..buffer.len() - unused];
    let (mantissa, exponent) = split_exponent(written);
    if (-4..DIGITS).contains(&exponent) {
        let start = out.len();
        let precision = usize::try_from(DIGITS - 1 - exponent).unwrap_or(0);
        fixed(out, magnitude, 0, precision);
        let kept = without_trailing_zeros(&out[start..]);
        out.truncate(start + kept);
    } else {
        out.extend_from_slice(&written[..without_trailing_zeros(&written[..mantissa])]);
        write_exponent(out, exponent);
    }
}

/// `value` as `%WIDTH.PRECISIONf` prints it.
pub fn fixed_text(value: f64, width: usize, precision: usize) -> String {
    let mut text = Vec::new();
    fixed(&mut text, value, width, precision);
    String::from_utf8_lossy(&text).into_owned()
}

/// Appends `value` as `%WIDTHd` does.
pub fn decimal(out: &mut Vec<u8>, value: i64, width: usize) {
    let mut digits = [0; 24];
    let text = signed_digits(&mut digits, value);
    write_text(out, text, Side::Right(width));
}

/// Appends `value` as `%-WIDTHd` does: blanks come after the number.
pub fn decimal_left(out: &mut Vec<u8>, value: i64, width: usize) {
    let mut digits = [0; 24];
    let text = signed_digits(&mut digits, value);
    write_text(out, text, Side::Left(width));
}

/// Appends `value` as `%WIDTHx` does: lower-case digits, no prefix.
pub fn hexadecimal(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut digits = [0_u8; 16];
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at -= 1;
        digits[at] = b"0123456789abcdef"[(rest & 15) as usize];
        rest >>= 4;
        if rest == 0 {
            break;
        }
    }
    write_text(out, &digits[at..], Side::Right(width));
}

/// Appends `bytes` as `%WIDTHs` does: blanks come first.
pub fn text(out: &mut Vec<u8>, bytes: &[u8], width: usize) {
    write_text(out, bytes, Side::Right(width));
}

/// Appends `bytes` as `%-WIDTHs` does: blanks come after.
pub fn text_left(out: &mut Vec<u8>, bytes: &[u8], width: usize) {
    write_text(out, bytes, Side::Left(width));
}

/// Where text stands in its field, with the field's width.
#[derive(Clone, Copy)]
enum Side {
    Left(usize),
    Right(usize),
}

fn write_text(out: &mut Vec<u8>, bytes: &[u8], side: Side) {
    match side {
        Side::Right(width) => {
            out.extend(std::iter::repeat_n(b' ', width.saturating_sub(bytes.len())));
            out.extend_from_slice(bytes);
        }
        Side::Left(width) => {
            out.extend_from_slice(bytes);
            out.extend(std::iter::repeat_n(b' ', width.saturating_sub(bytes.len())));
        }
    }
}

/// Moves the text from `start` on to the right of a field of `width` bytes.
fn justify(out: &mut Vec<u8>, start: usize, width: usize) {
    let missing = width.saturating_sub(out.len() - start);
    out.resize(out.len() + missing, b' ');
    out[start..].rotate_right(missing);
}

fn not_finite(value: f64) -> &'static [u8] {
    match (value.is_nan(), value.is_sign_negative()) {
        (true, false) => b"nan",
        (true, true) => b"-nan",
        (false, false) => b"inf",
        (false, true) => b"-inf",
    }
}

fn split_sign(value: f64) -> (bool, f64) {
    (value.is_sign_negative(), value.abs())
}

fn write_fixed(out: &mut Vec<u8>, value: f64, side: Side, precision: usize) {
    if !value.is_finite() {
        return write_text(out, not_finite(value), side);
    }
    // sign, 20 digits of integer part, point, 17 digits of fraction
    let mut buffer = [0_u8; 40];
    if let Some(at) = short_fixed(&mut buffer, value, precision) {
        return write_text(out, &buffer[at..], side);
    }
    let start = out.len();
    let (negative, magnitude) = split_sign(value);
    if negative {
        out.push(b'-');
    }
    let _ = write!(out, "{magnitude:.precision$}");
    match side {
        Side::Right(width) => justify(out, start, width),
        Side::Left(width) => {
            let end = out.len().max(start.saturating_add(width));
            out.resize(end, b' ');
        }
    }
}

/// The common case of [`fixed`] in integer arithmetic: fewer than 64 bits before the point, at most
/// 17 digits after it. Writes to the end of `buffer`; returns where the text starts.
fn short_fixed(buffer: &mut [u8; 40], value: f64, precision: usize) -> Option<usize> {
    let scale = *TENS.get(precision)?;
    let bits = value.to_bits();
    let fraction_bits = bits & ((1 << 52) - 1);
    // value = mantissa * 2^-shift
    let (mantissa, shift) = match bits >> 52 & 0x7ff {
        0 => (fraction_bits, 1074_u64),
        biased if biased <= 1075 => (fraction_bits | 1 << 52, 1075 - biased),
        biased if biased <= 1075 + 10 => ((fraction_bits | 1 << 52) << (biased - 1075), 0),
        _ => return None,
    };
    let (mut whole, part) = match shift {
        0..=63 => (mantissa >> shift, mantissa & !(u64::MAX << shift)),
        _ => (0, mantissa),
    };
    // below 2^53 * 10^17 < 2^110, so a shift of 112 or more leaves less than a half
    let scaled = u128::from(part) * u128::from(scale);
    let mut fraction = 0;
    if (1..112).contains(&shift) {
        // the quotient is at most the scale, as part < 2^shift
        fraction = u64::try_from(scaled >> shift).ok()?;
        let remainder = scaled & !(u128::MAX << shift);
        let half = 1_u128 << (shift - 1);
        let odd = if precision == 0 { whole & 1 == 1 } else { fraction & 1 == 1 };
        if remainder > half || (remainder == half && odd) {
            fraction += 1;
        }
        if fraction == scale {
            fraction = 0;
            whole += 1;
        } else if precision == 0 {
            // scale is 1: a fraction of 1 was the carry
            whole += fraction;
        }
    }
    let mut at = buffer.len();
    if precision > 0 {
        for _ in 0..precision {
            at -= 1;
            buffer[at] = digit(fraction);
            fraction /= 10;
        }
        at -= 1;
        buffer[at] = b'.';
    }
    at = write_digits(buffer, at, whole);
    if value.is_sign_negative() {
        at -= 1;
        buffer[at] = b'-';
    }
    Some(at)
}

fn digit(value: u64) -> u8 {
    b"0123456789"[(value % 10) as usize]
}

/// Writes the digits of `value` before position `at`; returns the position of the first one.
fn write_digits(buffer: &mut [u8], mut at: usize, mut value: u64) -> usize {
    loop {
        at -= 1;
        buffer[at] = digit(value);
        value /= 10;
        if value == 0 {
            return at;
        }
    }
}

fn signed_digits(buffer: &mut [u8; 24], value: i64) -> &[u8] {
    let mut at = write_digits(buffer, 24, value.unsigned_abs());
    if value < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    &buffer[at..]
}

/// Length of the part before the `e` and the exponent behind it, of Rust's `{:e}` form.
fn split_exponent(text: &[u8]) -> (usize, i32) {
    let at = text.iter().rposition(|&byte| byte == b'e').unwrap_or(text.len());
    let mut exponent = 0;
    let mut negative = false;
    for &byte in text.iter().skip(at + 1) {
        match byte {
            b'-' => negative = true,
            _ => exponent = exponent * 10 + i32::from(byte - b'0'),
        }
    }
    (at, if negative { -exponent } else { exponent })
}

fn write_exponent(out: &mut Vec<u8>, exponent: i32) {
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    let magnitude = i64::from(exponent.unsigned_abs());
    if magnitude < 10 {
        out.push(b'0');
    }
    decimal(out, magnitude, 0);
}

/// Length of `text`, a number, without the zeros at the end of its fraction and without a point
/// that nothing follows.
fn without_trailing_zeros(text: &[u8]) -> usize {
    if !text.contains(&b'.') {
        return text.len();
    }
    let kept = text.iter().rposition(|&byte| byte != b'0').map_or(0, |last| last + 1);
    if text[..kept].ends_with(b".") { kept - 1 } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `%[-][WIDTH][.PRECISION]CONVERSION` as used by the table.
    fn print(format: &str, bits: u64) -> Vec<u8> {
        let body = format.strip_prefix('%').expect("a format");
        let (left, body) = body.strip_prefix('-').map_or((false, body), |rest| (true, rest));
        let (numbers, conversion) = body.split_at(body.len() - 1);
        let (width, precision) = numbers.split_once('.').map_or((numbers, "6"), |pair| pair);
        let width = width.parse().unwrap_or(0);
        let precision = precision.parse().unwrap_or(0);
        let value = f64::from_bits(bits);
        let mut out = b"<".to_vec();
        match conversion {
            "f" if left => fixed_left(&mut out, value, width, precision),
            "f" => fixed(&mut out, value, width, precision),
            "g" => general(&mut out, value),
            "d" if left => decimal_left(&mut out, bits.cast_signed(), width),
            "d" => decimal(&mut out, bits.cast_signed(), width),
            "x" => hexadecimal(&mut out, bits, width),
            other => panic!("conversion {other}"),
        }
        out.push(b'>');
        out
    }

    #[test]
    fn prints_what_the_c_library_prints() {
        let table = include_str!("../testdata/printf.tsv");
        let mut rows = 0;
        for row in table.lines().filter(|row| !row.starts_with('#')) {
            let fields: Vec<&str> = row.split('\t').collect();
            let bits = u64::from_str_radix(fields[1], 16).expect("hexadecimal bits");
            assert_eq!(
                String::from_utf8_lossy(&print(fields[0], bits)),
                fields[2],
                "{} of {}",
                fields[0],
                fields[1]
            );
            rows += 1;
        }
        assert!(rows > 3000, "{rows} rows");
    }

    #[test]
    fn short_path_agrees_with_the_general_one() {
        let mut state = 0x2545f4914f6cdd1d_u64;
        for _ in 0..40_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // ties are frequent among multiples of small powers of two
            let value = f64::from_bits(state);
            let tie = f64::from(u32::try_from(state >> 40).expect("24 bits")) / 64.0;
            for (value, precision) in [(value, (state % 18) as usize), (tie, (state % 7) as usize)]
            {
                if value.is_finite() {
                    let mut out = Vec::new();
                    fixed(&mut out, value, 0, precision);
                    assert_eq!(String::from_utf8_lossy(&out), format!("{value:.precision$}"));
                }
            }
        }
    }

    #[test]
    fn text_fills_its_field() {
        let mut out = Vec::new();
        text(&mut out, b"abc", 5);
        text_left(&mut out, b"abc", 5);
        text(&mut out, b"abcdef", 5);
        assert_eq!(out, b"  abcabc  abcdef");
    }
}
