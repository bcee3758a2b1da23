// SPDX-License-Identifier: GPL-3.0-or-later
//! Numbers as the C library reads them, in the C locale: leading blanks are skipped, reading stops
//! at the first byte that cannot belong to the number, and text without a number is 0.

use super::elementary::{narrow, nearest_wide};
use std::ops::Neg;
use std::str::FromStr;

/// Reads a number as `strtod` does: decimal, `0x` hexadecimal with binary exponent, `inf`,
/// `infinity`, `nan`, `nan(...)`, whatever their case, with an optional sign. Returns the value,
/// rounded to nearest, and the number of bytes used; 0 bytes when there is no number. The payload
/// of a not-a-number is dropped, its sign kept.
pub fn strtod(text: &[u8]) -> (f64, usize) {
    read(text, |mantissa, exponent| nearest_wide(false, mantissa, exponent))
}

/// Reads a number as `strtof` does: like [`strtod`], rounded once, to f32.
pub fn strtof(text: &[u8]) -> (f32, usize) {
    /// Bits of a mantissa that an f64 does not hold.
    const REST: u128 = (1 << 75) - 1;
    read(text, |mantissa, exponent| {
        // Rounding to odd: the lowest of the 53 bits kept is set if any bit cut off was. So the f64
        // is exact, and only the rounding to f32 counts.
        let kept = mantissa & !REST | u128::from(mantissa & REST != 0) << 75;
        narrow(nearest_wide(false, kept, exponent))
    })
}

/// Reads an integer as `strtol` does with 64 bits, in base 10 or, with an optional `0x`, 16.
/// Values beyond the range become its nearest end. Returns the value and the number of bytes used;
/// 0 bytes when there is no number.
pub fn strtol(text: &[u8], base: u32) -> (i64, usize) {
    let (negative, mut at) = blanks_and_sign(text);
    if base == 16
        && starts_with(&text[at..], b"0x")
        && text.get(at + 2).is_some_and(u8::is_ascii_hexdigit)
    {
        at += 2;
    }
    let digits = text[at..].iter().map_while(|&byte| char::from(byte).to_digit(base));
    let mut value = 0_i64;
    let mut used = 0;
    for digit in digits {
        let digit = i64::from(if negative { -digit.cast_signed() } else { digit.cast_signed() });
        value = value.saturating_mul(i64::from(base)).saturating_add(digit);
        used += 1;
    }
    if used == 0 { (0, 0) } else { (value, at + used) }
}

/// Reads an integer as `atoi` of glibc does: the low 32 bits of [`strtol`] in base 10.
pub fn atoi(text: &[u8]) -> i32 {
    let (value, _) = strtol(text, 10);
    #[allow(clippy::cast_possible_truncation)] // the cut is what atoi does
    let low = value as i32;
    low
}

/// Whether C's `isspace` holds in the C locale.
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// A number without its sign, and how many bytes it has.
type Magnitude<'a> = (Written<'a>, usize);

enum Written<'a> {
    /// Text that the standard library parses to the same number: decimal digits, `inf`, `nan`.
    Decimal(&'a str),
    /// `mantissa * 2^(exponent - 127)`: the mantissa, whose highest bit is set, and the exponent.
    Binary(u128, i32),
}

/// The number at the front of `text`, and the number of bytes used.
fn read<F: FromStr + Default + Neg<Output = F>>(
    text: &[u8],
    binary: impl Fn(u128, i32) -> F,
) -> (F, usize) {
    let (negative, start) = blanks_and_sign(text);
    let rest = &text[start..];
    let found = named(rest).or_else(|| hexadecimal(rest)).or_else(|| decimal(rest));
    let Some((written, used)) = found else { return (F::default(), 0) };
    let value = match written {
        Written::Decimal(number) => number.parse().unwrap_or_default(),
        Written::Binary(mantissa, exponent) => binary(mantissa, exponent),
    };
    (if negative { -value } else { value }, start + used)
}

/// Whether the sign after leading blanks is a minus, and where the rest begins.
fn blanks_and_sign(text: &[u8]) -> (bool, usize) {
    let at = text.iter().take_while(|&&byte| is_space(byte)).count();
    match text.get(at) {
        Some(b'-') => (true, at + 1),
        Some(b'+') => (false, at + 1),
        _ => (false, at),
    }
}

fn starts_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word))
}

/// `inf`, `infinity`, and `nan` with what may follow it in parentheses.
fn named(text: &[u8]) -> Option<Magnitude<'_>> {
    if starts_with(text, b"nan") {
        let inner = text[3..].strip_prefix(b"(").unwrap_or_default();
        let is_inner = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let length = inner.iter().take_while(is_inner).count();
        let more = if inner.get(length) == Some(&b')') { length + 2 } else { 0 };
        return Some((Written::Decimal("nan"), 3 + more));
    }
    let length = if starts_with(text, b"infinity") { 8 } else { 3 };
    starts_with(text, b"inf").then_some((Written::Decimal("inf"), length))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn decimal(text: &[u8]) -> Option<Magnitude<'_>> {
    let mut used = digits(text);
    let mut any = used > 0;
    if text.get(used) == Some(&b'.') {
        let part = digits(&text[used + 1..]);
        any |= part > 0;
        used += 1 + part;
    }
    if !any {
        return None;
    }
    used += exponent(&text[used..], b'e').1;
    Some((Written::Decimal(std::str::from_utf8(&text[..used]).ok()?), used))
}

/// The exponent introduced by `letter`, of either case, and its length; 0 and 0 when there is none.
fn exponent(text: &[u8], letter: u8) -> (i64, usize) {
    if !text.first().is_some_and(|byte| byte.eq_ignore_ascii_case(&letter)) {
        return (0, 0);
    }
    let signed = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    let length = digits(&text[1 + signed..]);
    if length == 0 {
        return (0, 0);
    }
    let (value, _) = strtol(&text[1..], 10);
    (value, 1 + signed + length)
}

/// `0x` and at least one hexadecimal digit, before or after the point.
fn hexadecimal(text: &[u8]) -> Option<Magnitude<'_>> {
    if !starts_with(text, b"0x") {
        return None;
    }
    // Digits beyond 128 bits only say whether the number is more than these.
    let (mut mantissa, mut is_more, mut scale) = (0u128, false, 0i64);
    let (mut after_point, mut any) = (false, false);
    let mut at = 2;
    while let Some(&byte) = text.get(at) {
        if byte == b'.' && !after_point {
            after_point = true;
        } else if let Some(digit) = char::from(byte).to_digit(16) {
            any = true;
            if mantissa >> 124 == 0 {
                mantissa = mantissa << 4 | u128::from(digit);
                scale -= if after_point { 4 } else { 0 };
            } else {
                is_more |= digit != 0;
                scale += if after_point { 0 } else { 4 };
            }
        } else {
            break;
        }
        at += 1;
    }
    if !any {
        return None;
    }
    let (power, length) = exponent(&text[at..], b'p');
    let used = at + length;
    if mantissa == 0 {
        return Some((Written::Decimal("0"), used));
    }
    let shift = mantissa.leading_zeros();
    let exponent = scale.saturating_add(power).saturating_add(127 - i64::from(shift));
    // Exponents beyond those of a number stay beyond them.
    let exponent = i32::try_from(exponent.clamp(-9999, 9999)).unwrap_or(0);
    Some((Written::Binary(mantissa << shift | u128::from(is_more), exponent), used))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a field: `\xNN` stands for one byte.
    fn unescape(field: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut parts = field.split("\\x");
        bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
            bytes.extend_from_slice(&part.as_bytes()[2..]);
        }
        bytes
    }

    #[test]
    fn reads_what_the_c_library_reads() {
        let table = include_str!("../testdata/strto.tsv");
        let mut rows = 0;
        for row in table.lines().filter(|row| !row.starts_with('#')) {
            let fields: Vec<&str> = row.split('\t').collect();
            let text = unescape(fields[1]);
            let (found, used) = match fields[0] {
                "strtod" => {
                    let (value, used) = strtod(&text);
                    (format!("{:016x}", value.to_bits()), used)
                }
                "strtof" => {
                    let (value, used) = strtof(&text);
                    (format!("{:08x}", value.to_bits()), used)
                }
                "strtol10" => {
                    let (value, used) = strtol(&text, 10);
                    (value.to_string(), used)
                }
                "strtol16" => {
                    let (value, used) = strtol(&text, 16);
                    (value.to_string(), used)
                }
                "atoi" => (atoi(&text).to_string(), 0),
                other => panic!("function {other}"),
            };
            assert_eq!(
                (found.as_str(), used.to_string().as_str()),
                (fields[2], fields[3]),
                "{row}"
            );
            rows += 1;
        }
        assert!(rows > 1000, "{rows} rows");
    }
}
