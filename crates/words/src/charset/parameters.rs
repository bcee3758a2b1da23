// SPDX-License-Identifier: GPL-3.0-or-later
//! Parameters of MIME header fields: `; name=value`, and those that RFC 2231 cuts into pieces or
//! encodes with percent signs.

use crate::charset::Charset;
use crate::charset::transfer::hex_pair;

/// Pieces that a value may be cut into.
const MOST_PIECES: usize = 32;

/// A parameter as it stands in a field: name and value, the value's quotes removed.
struct Parameter<'a> {
    name: &'a [u8],
    value: &'a [u8],
    is_quoted: bool,
}

/// The parameters after the first `;` of a field, in their order.
fn parameters(field: &[u8]) -> impl Iterator<Item = Parameter<'_>> {
    let start = memchr::memchr(b';', field).unwrap_or(field.len());
    let mut rest = &field[start..];
    std::iter::from_fn(move || {
        loop {
            let start = rest.iter().position(|byte| !b"; \t\r\n".contains(byte))?;
            rest = &rest[start..];
            let end = rest.iter().position(|&byte| matches!(byte, b'=' | b';'));
            let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
            let name = name.trim_ascii();
            let Some(value) = behind.strip_prefix(b"=") else {
                rest = behind;
                continue;
            };
            let value = value.trim_ascii_start();
            if let Some(quoted) = value.strip_prefix(b"\"") {
                let mut is_escaped = false;
                let close = quoted.iter().position(|&byte| {
                    let ends = byte == b'"' && !is_escaped;
                    is_escaped = byte == b'\\' && !is_escaped;
                    ends
                });
                let close = close.unwrap_or(quoted.len());
                rest = &quoted[(close + 1).min(quoted.len())..];
                return Some(Parameter { name, value: &quoted[..close], is_quoted: true });
            }
            let end = value.iter().position(|&byte| byte == b';').unwrap_or(value.len());
            rest = &value[end..];
            // A token ends at a blank, but programs write file names with blanks and without
            // quotes.
            return Some(Parameter { name, value: value[..end].trim_ascii(), is_quoted: false });
        }
    })
}

fn unquote(parameter: &Parameter<'_>, output: &mut Vec<u8>) {
    if !parameter.is_quoted {
        return output.extend_from_slice(parameter.value);
    }
    let mut is_escaped = false;
    for &byte in parameter.value {
        is_escaped = byte == b'\\' && !is_escaped;
        if !is_escaped {
            output.push(byte);
        }
    }
}

fn percent(text: &[u8], output: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        let escaped = if byte == b'%' { hex_pair(behind) } else { None };
        let (byte, behind) = escaped.unwrap_or((byte, behind));
        output.push(byte);
        rest = behind;
    }
}

/// The value of the parameter `wanted`: bytes in which encoded words may stand, or UTF-8 where it
/// is written in the form of RFC 2231, which counts if the parameter is given twice. `field` is the
/// text of a header field after the field's name.
pub fn value(field: &[u8], wanted: &[u8]) -> Option<Vec<u8>> {
    // One pass finds both forms, and pieces by their number.
    let mut pieces: [Option<Parameter<'_>>; MOST_PIECES] = [const { None }; MOST_PIECES];
    let mut is_encoded = [false; MOST_PIECES];
    let mut plain = None;
    for parameter in parameters(field) {
        let Some((name, rest)) = parameter.name.split_at_checked(wanted.len()) else { continue };
        if !name.eq_ignore_ascii_case(wanted) {
            continue;
        }
        let (number, encoded) = match rest {
            b"" => {
                plain = plain.or(Some(parameter));
                continue;
            }
            b"*" => (0, true),
            [b'*', digits @ .., b'*'] => match number(digits) {
                Some(number) => (number, true),
                None => continue,
            },
            [b'*', digits @ ..] => match number(digits) {
                Some(number) => (number, false),
                None => continue,
            },
            _ => continue,
        };
        if pieces[number].is_none() {
            pieces[number] = Some(parameter);
            is_encoded[number] = encoded;
        }
    }
    let mut bytes = Vec::new();
    if pieces[0].is_none() {
        unquote(&plain?, &mut bytes);
        return Some(bytes);
    }
    let mut charset = None;
    for (number, piece) in pieces.iter().enumerate() {
        let Some(piece) = piece else { break };
        if !is_encoded[number] {
            unquote(piece, &mut bytes);
            continue;
        }
        let mut text = piece.value;
        if number == 0 {
            // charset'language'text
            let mut parts = text.splitn(3, |&byte| byte == b'\'');
            if let (Some(label), Some(_), Some(rest)) = (parts.next(), parts.next(), parts.next()) {
                charset = Charset::by_label(label);
                text = rest;
            }
        }
        percent(text, &mut bytes);
    }
    let charset = charset.unwrap_or_else(|| Charset::detect(&bytes));
    let mut text = Vec::new();
    crate::charset::decode(charset, &bytes, &mut text);
    Some(text)
}

/// The values that stand after `wanted=` anywhere in a field, also where the `;` before it is
/// missing: in quotes, or up to what ends a word.
pub fn occurrences<'a>(field: &'a [u8], wanted: &'a [u8]) -> impl Iterator<Item = Vec<u8>> + 'a {
    memchr::memchr_iter(b'=', field).filter_map(move |equals| {
        let before = field[..equals].trim_ascii_end();
        let name = &before[before.len().checked_sub(wanted.len())?..];
        let value = field[equals + 1..].trim_ascii_start();
        if !name.eq_ignore_ascii_case(wanted) {
            return None;
        }
        let (value, ends): (&[u8], fn(u8) -> bool) = match value.strip_prefix(b"\"") {
            Some(quoted) => (quoted, |byte| byte == b'"'),
            None => (value, |byte| byte.is_ascii_whitespace() || b";,\"(".contains(&byte)),
        };
        let end = value.iter().position(|&byte| ends(byte)).unwrap_or(value.len());
        Some(value[..end].to_vec())
    })
}

fn number(digits: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.len() <= 2)?;
    text.parse().ok().filter(|&number| number < MOST_PIECES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_all_their_ways() {
        for (field, wanted, expected) in [
            (" text/plain; charset=utf-8", "charset", Some("utf-8")),
            (" text/plain;charset = \"utf-8\" ; x=y", "charset", Some("utf-8")),
            (" text/plain; xcharset=a; Charset=B", "charset", Some("B")),
            (" a/b; name=\"x; boundary=no\"; boundary=yes", "boundary", Some("yes")),
            (" a/b; boundary=\"a\\\"b\"", "boundary", Some("a\"b")),
            (" a/b; boundary=\"open", "boundary", Some("open")),
            (" a/b; boundary", "boundary", None),
            (" a/b; boundary=", "boundary", Some("")),
            (" a/b; boundary*0=ab; boundary*1=\"cd\"", "boundary", Some("abcd")),
            (" a/b; name*=koi8-r''%F0%D2; name=x", "name", Some("\u{41f}\u{440}")),
            (
                " a/b; name*1*=%A9; name*0*=utf-8'en'caf%C3; name*2=\"%41\"",
                "name",
                Some("caf\u{e9}%41"),
            ),
            (" a/b; name*=%C3%A9", "name", Some("\u{e9}")),
            (" a/b; name*99=x; name*x=y", "name", None),
            (" charset=utf-8", "charset", None),
        ] {
            let found = value(field.as_bytes(), wanted.as_bytes());
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{field}");
        }
    }

    #[test]
    fn values_are_found_without_the_semicolon() {
        for (field, expected) in [
            ("a/b boundary=x y", &["x"][..]),
            ("a/b; boundary = \"x y\"; Boundary=z(c)", &["x y", "z"]),
            ("boundary=\"open", &["open"]),
            ("a/b; x=y; bound=z; boundary", &[]),
            ("oundary=x", &[]),
        ] {
            let found: Vec<_> = occurrences(field.as_bytes(), b"boundary")
                .map(|value| String::from_utf8(value).expect("as it came"))
                .collect();
            assert_eq!(found, expected, "{field}");
        }
    }
}
