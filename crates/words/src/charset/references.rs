// SPDX-License-Identifier: GPL-3.0-or-later
//! Character references of HTML, all of them, as browsers read them.

use html_escape::NAMED_ENTITIES;

/// The most bytes of a reference; the longest is `&CounterClockwiseContourIntegral;`, or a number
/// with leading zeros.
pub const LONGEST: usize = 40;

/// Names that browsers also accept without a `;`.
const WITHOUT_SEMICOLON: &str = "AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH \
    Eacute Ecirc Egrave Euml GT Iacute Icirc Igrave Iuml LT Ntilde Oacute Ocirc Ograve Oslash \
    Otilde Ouml QUOT REG THORN Uacute Ucirc Ugrave Uuml Yacute aacute acirc acute aelig agrave amp \
    aring atilde auml brvbar ccedil cedil cent copy curren deg divide eacute ecirc egrave eth euml \
    frac12 frac14 frac34 gt iacute icirc iexcl igrave iquest iuml laquo lt macr micro middot nbsp \
    not ntilde oacute ocirc ograve ordf ordm oslash otilde ouml para plusmn pound quot raquo reg \
    sect shy sup1 sup2 sup3 szlig thorn times uacute ucirc ugrave uml uuml yacute yen yuml";

/// Number of names.
const NAMES: usize = NAMED_ENTITIES.len();

/// Bytes of all names and of what they stand for.
const BYTES: usize = {
    let (mut at, mut bytes) = (0, 0);
    while at < NAMES {
        bytes += NAMED_ENTITIES[at].0.len() + NAMED_ENTITIES[at].1.len();
        at += 1;
    }
    bytes
};

/// The names in their order, each followed by the characters that it stands for, and where each
/// name begins, where its characters begin, and where these end.
///
/// This copy of the crate's table is made at compile time. The crate's table has two addresses for
/// each entry, and the system's loader would adjust these 4,250 addresses at every start of a
/// program.
struct Table {
    bytes: [u8; BYTES],
    places: [[u16; 3]; NAMES],
}

static TABLE: Table = {
    let mut table = Table { bytes: [0; BYTES], places: [[0; 3]; NAMES] };
    let (mut at, mut end) = (0, 0);
    while at < NAMES {
        let (name, characters) = NAMED_ENTITIES[at];
        let start = end;
        let middle = append(&mut table.bytes, start, name);
        end = append(&mut table.bytes, middle, characters.as_bytes());
        table.places[at] = [narrow(start), narrow(middle), narrow(end)];
        at += 1;
    }
    table
};

/// Copies `text` to `bytes` from `end` on, and returns the new end.
const fn append(bytes: &mut [u8; BYTES], end: usize, text: &[u8]) -> usize {
    let mut at = 0;
    while at < text.len() {
        bytes[end + at] = text[at];
        at += 1;
    }
    end + text.len()
}

/// `end` in 16 bits.
const fn narrow(end: usize) -> u16 {
    assert!(end <= u16::MAX as usize, "the names of characters fit into 64 KiB");
    let [low, high, ..] = end.to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// The characters that `name` stands for, as UTF-8.
fn named(name: &[u8]) -> Option<&'static [u8]> {
    let part = |from: u16, to: u16| &TABLE.bytes[usize::from(from)..usize::from(to)];
    let order = |&[start, middle, _]: &[u16; 3]| part(start, middle).cmp(name);
    let [_, middle, end] = TABLE.places[TABLE.places.binary_search_by(order).ok()?];
    Some(part(middle, end))
}

fn numbered(digits: &[u8], base: u32) -> char {
    let mut value: u32 = 0;
    for &byte in digits {
        let digit = char::from(byte).to_digit(base).unwrap_or(0);
        value = value.saturating_mul(base).saturating_add(digit);
    }
    match value {
        0 => None,
        // These numbers stand for bytes of windows-1252.
        0x80..=0x9F => {
            let byte = [value.to_le_bytes()[0]];
            let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte);
            text.chars().next()
        }
        _ => char::from_u32(value),
    }
    .unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Decodes the reference that `text` begins with; its first byte is `&`. Appends the character and
/// returns the length of the reference in bytes, or 0 if there is no reference.
pub fn decode(text: &[u8], output: &mut Vec<u8>) -> usize {
    let mut put = |found: char| {
        output.extend_from_slice(found.encode_utf8(&mut [0; 4]).as_bytes());
    };
    let rest = &text[1..];
    if let Some(number) = rest.strip_prefix(b"#") {
        let (digits, base, head) = match number {
            [b'x' | b'X', digits @ ..] => (digits, 16, 3),
            digits => (digits, 10, 2),
        };
        let is_digit = |byte: &u8| char::from(*byte).is_digit(base);
        let length = digits.iter().position(|byte| !is_digit(byte)).unwrap_or(digits.len());
        if length == 0 {
            return 0;
        }
        put(numbered(&digits[..length], base));
        return head + length + usize::from(digits.get(length) == Some(&b';'));
    }
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric();
    let length = rest.iter().position(|byte| !is_inside(byte)).unwrap_or(rest.len());
    if rest.get(length) == Some(&b';')
        && let Some(value) = named(&rest[..length])
    {
        output.extend_from_slice(value);
        return length + 2;
    }
    // The longest name that needs no semicolon has six letters.
    for length in (2..=length.min(6)).rev() {
        let name = &rest[..length];
        if WITHOUT_SEMICOLON.split_ascii_whitespace().any(|known| known.as_bytes() == name)
            && let Some(value) = named(name)
        {
            output.extend_from_slice(value);
            return 1 + length;
        }
    }
    0
}

/// Appends `text` with the references in it decoded.
pub fn decode_all(mut text: &[u8], output: &mut Vec<u8>) {
    while let Some(at) = memchr::memchr(b'&', text) {
        output.extend_from_slice(&text[..at]);
        text = &text[at..];
        let end = text.len().min(LONGEST);
        let length = decode(&text[..end], output);
        if length == 0 {
            output.push(b'&');
        }
        text = &text[length.max(1)..];
    }
    output.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_browsers_read_them() {
        for (text, expected) in [
            ("caf&eacute; &amp; th&eacute", "caf\u{e9} & th\u{e9}"),
            ("&#1087;&#x440;&#X438;", "\u{43f}\u{440}\u{438}"),
            ("&#1087&#1088 x", "\u{43f}\u{440} x"),
            ("&euro;&#128;&zwnj;&shy;&Sopf;", "\u{20ac}\u{20ac}\u{200c}\u{ad}\u{1d54a}"),
            ("&lt;b&gt; &notit; &unknown; &; & &", "<b> \u{ac}it; &unknown; &; & &"),
            ("&#0;&#xD800;&#x110000;&#99999999999;", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
            ("&NotEqualTilde;&#;&#x;", "\u{2242}\u{338}&#;&#x;"),
        ] {
            let mut output = Vec::new();
            decode_all(text.as_bytes(), &mut output);
            assert_eq!(String::from_utf8_lossy(&output), expected, "{text}");
        }
    }

    #[test]
    fn every_name_of_the_crate_is_found() {
        for &(name, characters) in &NAMED_ENTITIES {
            assert_eq!(named(name), Some(characters.as_bytes()));
        }
        for unknown in [&b""[..], b"A", b"AEli", b"AEligs", b"zzzz"] {
            assert_eq!(named(unknown), None);
        }
    }

    #[test]
    fn names_without_semicolons_are_in_the_table() {
        assert_eq!(WITHOUT_SEMICOLON.split_ascii_whitespace().count(), 106);
        for name in WITHOUT_SEMICOLON.split_ascii_whitespace() {
            assert!(named(name.as_bytes()).is_some(), "{name}");
            assert!((2..=6).contains(&name.len()), "{name}");
        }
    }
}
