// SPDX-License-Identifier: GPL-3.0-or-later
//! Numbers as the C library reads them, in the C locale: leading blanks are skipped, reading stops
//! at the first byte that cannot belong to the number, and text without a number is 0.

/// Reads a number as `strtod` does: decimal, `0x` hexadecimal with binary exponent, `inf`,
/// `infinity`, `nan`, `nan(...)`, whatever their case, with an optional sign. Returns the value,
/// rounded to nearest, and the number of bytes used; 0 bytes when there is no number. The payload
/// of a not-a-number is dropped, its sign kept.
pub fn strtod(text: &[u8]) -> (f64, usize) {
    let (negative, magnitude, used) = scan(text);
    let value = match magnitude {
        Magnitude::None => return (0.0, 0),
        Magnitude::Nan => f64::NAN.copysign(1.0),
        Magnitude::Infinity => f64::INFINITY,
        Magnitude::Decimal(digits) => digits.parse().unwrap_or(0.0),
        Magnitude::Binary(number) => f64::from_bits(number.round(52, 0x7ff)),
    };
    (if negative { -value } else { value }, used)
}

/// Reads a number as `strtof` does: like [`strtod`], rounded once, to f32.
pub fn strtof(text: &[u8]) -> (f32, usize) {
    let (negative, magnitude, used) = scan(text);
    let value = match magnitude {
        Magnitude::None => return (0.0, 0),
        Magnitude::Nan => f32::NAN.copysign(1.0),
        Magnitude::Infinity => f32::INFINITY,
        Magnitude::Decimal(digits) => digits.parse().unwrap_or(0.0),
        Magnitude::Binary(number) => {
            f32::from_bits(u32::try_from(number.round(23, 0xff)).unwrap_or(u32::MAX))
        }
    };
    (if negative { -value } else { value }, used)
}

/// Reads an integer as `strtol` does with 64 bits, in base 10 or, with an optional `0x`, 16.
/// Values beyond the range become its nearest end. Returns the value and the number of bytes used;
/// 0 bytes when there is no number.
pub fn strtol(text: &[u8], base: Base) -> (i64, usize) {
    let (negative, mut at) = blanks_and_sign(text);
    if base == Base::Sixteen
        && text.get(at) == Some(&b'0')
        && text.get(at + 1).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'x'))
        && text.get(at + 2).is_some_and(u8::is_ascii_hexdigit)
    {
        at += 2;
    }
    let radix = if base == Base::Ten { 10 } else { 16 };
    let digits = text[at..].iter().map_while(|&byte| char::from(byte).to_digit(radix));
    let mut value = 0_i64;
    let mut used = 0;
    for digit in digits {
        let digit = i64::from(if negative { -digit.cast_signed() } else { digit.cast_signed() });
        value = value.saturating_mul(i64::from(radix)).saturating_add(digit);
        used += 1;
    }
    if used == 0 { (0, 0) } else { (value, at + used) }
}

/// Number base of [`strtol`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Decimal digits.
    Ten,
    /// Hexadecimal digits of either case.
    Sixteen,
}

/// Reads an integer as `atoi` of glibc does: the low 32 bits of [`strtol`] in base 10.
pub fn atoi(text: &[u8]) -> i32 {
    let (value, _) = strtol(text, Base::Ten);
    #[allow(clippy::cast_possible_truncation)] // the cut is what atoi does
    let low = value as i32;
    low
}

/// Whether C's `isspace` holds in the C locale.
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

enum Magnitude<'a> {
    None,
    Nan,
    Infinity,
    /// Digits with an optional point and exponent.
    Decimal(&'a str),
    Binary(Binary),
}

/// `mantissa * 2^exponent`, plus something less than one unit of the mantissa if `more`.
struct Binary {
    mantissa: u64,
    more: bool,
    exponent: i64,
}

impl Binary {
    /// The bits of the nearest floating-point number with `width` stored bits of fraction and
    /// `top`, the biased exponent of infinity; ties to even.
    fn round(&self, width: u32, top: u64) -> u64 {
        let infinity = top << width;
        if self.mantissa == 0 {
            return 0;
        }
        let zeros = self.mantissa.leading_zeros();
        let mantissa = self.mantissa << zeros;
        // value = mantissa * 2^(exponent - zeros), with the top bit of mantissa set
        let bias = i64::try_from(top >> 1).unwrap_or(i64::MAX);
        let biased = self.exponent.saturating_sub(i64::from(zeros)).saturating_add(63 + bias);
        if biased >= i64::try_from(top).unwrap_or(i64::MAX) {
            return infinity;
        }
        // bits to cut: all beyond width + 1, and one more per step below the smallest exponent
        let below = u32::try_from((1 - biased).clamp(0, 64)).unwrap_or(64);
        let cut = 63 - width + below;
        let (kept, rest, half) = match cut {
            0..=63 => (mantissa >> cut, mantissa & !(u64::MAX << cut), 1 << (cut - 1)),
            64 => (0, mantissa, 1 << 63),
            _ => return 0,
        };
        let up = match rest.cmp(&half) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => self.more || kept & 1 == 1,
            std::cmp::Ordering::Less => false,
        };
        // A kept implicit bit adds one to the exponent field, and so does a carry.
        let field = u64::try_from(biased.max(1) - 1).unwrap_or(0);
        (field << width) + kept + u64::from(up)
    }
}

/// Skips blanks and one sign; returns whether the sign is a minus, and where the rest starts.
fn blanks_and_sign(text: &[u8]) -> (bool, usize) {
    let at = text.iter().take_while(|&&byte| is_space(byte)).count();
    match text.get(at) {
        Some(b'-') => (true, at + 1),
        Some(b'+') => (false, at + 1),
        _ => (false, at),
    }
}

/// Sign, magnitude and length of the number at the front of `text`.
fn scan(text: &[u8]) -> (bool, Magnitude<'_>, usize) {
    let (negative, start) = blanks_and_sign(text);
    let rest = &text[start..];
    let (magnitude, used) = match rest.first() {
        Some(b'i' | b'I') => infinity(rest),
        Some(b'n' | b'N') => not_a_number(rest),
        Some(b'0') => hexadecimal(rest).unwrap_or_else(|| decimal(rest)),
        _ => decimal(rest),
    };
    (negative, magnitude, start + used)
}

fn starts_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word))
}

fn infinity(text: &[u8]) -> (Magnitude<'_>, usize) {
    if starts_with(text, b"infinity") {
        (Magnitude::Infinity, 8)
    } else if starts_with(text, b"inf") {
        (Magnitude::Infinity, 3)
    } else {
        (Magnitude::None, 0)
    }
}

fn not_a_number(text: &[u8]) -> (Magnitude<'_>, usize) {
    if !starts_with(text, b"nan") {
        return (Magnitude::None, 0);
    }
    let mut used = 3;
    if text.get(3) == Some(&b'(') {
        let inner = &text[4..];
        let length =
            inner.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        if inner.get(length) == Some(&b')') {
            used = 4 + length + 1;
        }
    }
    (Magnitude::Nan, used)
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn decimal(text: &[u8]) -> (Magnitude<'_>, usize) {
    let whole = digits(text);
    let mut used = whole;
    if text.get(used) == Some(&b'.') {
        let part = digits(&text[used + 1..]);
        if whole + part == 0 {
            return (Magnitude::None, 0);
        }
        used += 1 + part;
    } else if whole == 0 {
        return (Magnitude::None, 0);
    }
    used += exponent(&text[used..], b'e').1;
    match std::str::from_utf8(&text[..used]) {
        Ok(number) => (Magnitude::Decimal(number), used),
        Err(_) => (Magnitude::None, 0),
    }
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
    let (value, _) = strtol(&text[1..], Base::Ten);
    (value, 1 + signed + length)
}

/// `0x` and at least one hexadecimal digit, before or after the point.
fn hexadecimal(text: &[u8]) -> Option<(Magnitude<'_>, usize)> {
    if !starts_with(text, b"0x") {
        return None;
    }
    let mut number = Binary { mantissa: 0, more: false, exponent: 0 };
    let mut at = 2;
    let mut after_point = false;
    let mut any = false;
    while let Some(&byte) = text.get(at) {
        if byte == b'.' && !after_point {
            after_point = true;
        } else if let Some(digit) = char::from(byte).to_digit(16) {
            any = true;
            if number.mantissa >> 60 == 0 {
                number.mantissa = number.mantissa << 4 | u64::from(digit);
                number.exponent -= if after_point { 4 } else { 0 };
            } else {
                number.more |= digit != 0;
                number.exponent += if after_point { 0 } else { 4 };
            }
        } else {
            break;
        }
        at += 1;
    }
    if !any {
        return None;
    }
    let (power, used) = exponent(&text[at..], b'p');
    number.exponent = number.exponent.saturating_add(power);
    Some((Magnitude::Binary(number), at + used))
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
                    let (value, used) = strtol(&text, Base::Ten);
                    (value.to_string(), used)
                }
                "strtol16" => {
                    let (value, used) = strtol(&text, Base::Sixteen);
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
