// SPDX-License-Identifier: GPL-3.0-or-later
//! Numbers as C's `printf` prints them, in the C locale.
//!
//! Each function but [`fixed_text`] appends to a byte buffer. Rounding is exact and to even on
//! ties, as in glibc and in the standard library. Not-a-numbers and infinities print as `nan`,
//! `-nan`, `inf` and `-inf`; the sign bit alone decides about the sign, for zeros too. A width is
//! the least number of bytes: shorter text is filled with blanks, longer text is never cut.

use std::io::Write;

// Writing to a vector cannot fail, so results of `write!` are dropped.

/// Appends `value` as `%WIDTH.PRECISIONf` does; width 0 stands for none.
pub fn fixed(out: &mut Vec<u8>, value: f64, width: usize, precision: usize) {
    let _ = match not_a_number(value) {
        Some(nan) => write!(out, "{nan:>width$}"),
        None => write!(out, "{value:>width$.precision$}"),
    };
}

/// Appends `value` as `%-WIDTH.PRECISIONf` does: blanks come after the number.
pub fn fixed_left(out: &mut Vec<u8>, value: f64, width: usize, precision: usize) {
    let _ = match not_a_number(value) {
        Some(nan) => write!(out, "{nan:<width$}"),
        None => write!(out, "{value:<width$.precision$}"),
    };
}

/// Appends `value` as `%g` does: six significant digits, no trailing zeros, exponent form below
/// 0.0001 and from 1e6 on.
pub fn general(out: &mut Vec<u8>, value: f64) {
    let scientific = format!("{value:.5e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return fixed(out, value, 0, 0);
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let _ = match usize::try_from(5 - exponent) {
        Ok(precision @ 0..=9) => {
            write!(out, "{}", without_trailing_zeros(&format!("{value:.precision$}")))
        }
        _ => write!(out, "{}e{exponent:+03}", without_trailing_zeros(mantissa)),
    };
}

/// `value` as `%WIDTH.PRECISIONf` prints it.
pub fn fixed_text(value: f64, width: usize, precision: usize) -> String {
    let mut text = Vec::new();
    fixed(&mut text, value, width, precision);
    String::from_utf8_lossy(&text).into_owned()
}

/// Appends `value` as `%WIDTHd` does.
pub fn decimal(out: &mut Vec<u8>, value: i64, width: usize) {
    let _ = write!(out, "{value:>width$}");
}

/// Appends `value` as `%-WIDTHd` does: blanks come after the number.
pub fn decimal_left(out: &mut Vec<u8>, value: i64, width: usize) {
    let _ = write!(out, "{value:<width$}");
}

/// Appends `value` as `%WIDTHx` does: lower-case digits, no prefix.
pub fn hexadecimal(out: &mut Vec<u8>, value: u64, width: usize) {
    let _ = write!(out, "{value:>width$x}");
}

/// Appends `bytes` as `%WIDTHs` does: blanks come first.
pub fn text(out: &mut Vec<u8>, bytes: &[u8], width: usize) {
    out.extend(std::iter::repeat_n(b' ', width.saturating_sub(bytes.len())));
    out.extend_from_slice(bytes);
}

/// Appends `bytes` as `%-WIDTHs` does: blanks come after.
pub fn text_left(out: &mut Vec<u8>, bytes: &[u8], width: usize) {
    out.extend_from_slice(bytes);
    out.extend(std::iter::repeat_n(b' ', width.saturating_sub(bytes.len())));
}

/// The text of a NaN with its sign. All other numbers the standard library prints as C does.
fn not_a_number(value: f64) -> Option<&'static str> {
    value.is_nan().then_some(if value.is_sign_negative() { "-nan" } else { "nan" })
}

/// A number without the zeros at the end of its fraction and without a point that nothing follows.
fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
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
    fn text_fills_its_field() {
        let mut out = Vec::new();
        text(&mut out, b"abc", 5);
        text_left(&mut out, b"abc", 5);
        text(&mut out, b"abcdef", 5);
        assert_eq!(out, b"  abcabc  abcdef");
    }
}
