// SPDX-License-Identifier: GPL-3.0-or-later
//! The characters of patterns and subjects: bytes in the C locale, well-formed UTF-8 sequences
//! and stray bytes in a UTF-8 locale.

use crate::locale::Locale;

/// Largest code of a character: UTF-8 as first defined has 31 bits.
pub(crate) const MAX_CODE: u32 = 0x7fff_ffff;
/// Added to a byte that is part of no well-formed sequence. Such codes lie above [`MAX_CODE`], so
/// that no character class, negated or not, holds one.
pub(crate) const STRAY: u32 = 0x8000_0000;

/// A character's code and its length in bytes.
pub(crate) type Char = (u32, usize);

/// The first character of `text`; `None` if there is none.
pub(crate) fn first(text: &[u8], locale: Locale) -> Option<Char> {
    let &lead = text.first()?;
    if lead < 0x80 || locale == Locale::C {
        return Some((u32::from(lead), 1));
    }
    Some(sequence(text).unwrap_or((STRAY | u32::from(lead), 1)))
}

/// The last character of `text`; `None` if there is none.
///
/// A well-formed sequence that ends here is one character for a reader from the left too, because
/// sequences never overlap.
pub(crate) fn last(text: &[u8], locale: Locale) -> Option<Char> {
    let &byte = text.last()?;
    if byte < 0x80 || locale == Locale::C {
        return Some((u32::from(byte), 1));
    }
    let trail = text.iter().rev().take(5).take_while(|&&byte| byte & 0xc0 == 0x80).count();
    let whole = (2..=trail + 1).filter(|&length| length <= text.len()).find_map(|length| {
        sequence(&text[text.len() - length..]).filter(|found| found.1 == length)
    });
    Some(whole.unwrap_or((STRAY | u32::from(byte), 1)))
}

/// The well-formed sequence of two to six bytes that `text` begins with. Surrogates and codes up
/// to [`MAX_CODE`] are well-formed, overlong forms are not.
fn sequence(text: &[u8]) -> Option<Char> {
    let lead = *text.first()?;
    let (length, bits, least) = match lead {
        0xc0..=0xdf => (2, 0x1f, 0x80),
        0xe0..=0xef => (3, 0x0f, 0x800),
        0xf0..=0xf7 => (4, 0x07, 0x1_0000),
        0xf8..=0xfb => (5, 0x03, 0x20_0000),
        0xfc..=0xfd => (6, 0x01, 0x400_0000),
        _ => return None,
    };
    let mut code = u32::from(lead & bits);
    for &byte in text.get(1..length)? {
        if byte & 0xc0 != 0x80 {
            return None;
        }
        code = code << 6 | u32::from(byte & 0x3f);
    }
    (code >= least).then_some((code, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_and_stray_bytes_are_told_apart() {
        for (text, code, length) in [
            (&b"a"[..], 0x61, 1),
            ("é".as_bytes(), 0xe9, 2),
            (b"\xed\xa0\x80", 0xd800, 3),
            (b"\xf4\x90\x80\x80", 0x11_0000, 4),
            (b"\xfd\xbf\xbf\xbf\xbf\xbf", MAX_CODE, 6),
            (b"\xc0\x80", STRAY | 0xc0, 1),
            (b"\xe0\x80\x80", STRAY | 0xe0, 1),
            (b"\xe2\x82", STRAY | 0xe2, 1),
            (b"\xe2\x82a", STRAY | 0xe2, 1),
            (b"\x80", STRAY | 0x80, 1),
            (b"\xff", STRAY | 0xff, 1),
        ] {
            assert_eq!(first(text, Locale::Utf8), Some((code, length)), "{text:02x?}");
            assert_eq!(first(text, Locale::C), Some((u32::from(text[0]), 1)));
        }
        assert_eq!(first(b"", Locale::Utf8), None);
    }

    #[test]
    fn reading_backwards_finds_the_same_characters() {
        let pieces: [&[u8]; 9] = [
            b"a",
            "é".as_bytes(),
            "€".as_bytes(),
            b"\xf0\x9f\x98\x80",
            b"\xfd\xbf\xbf\xbf\xbf\xbf",
            b"\x80",
            b"\xe2",
            b"\xfc",
            b"\xbf",
        ];
        let count = pieces.len();
        for pick in 0..count.pow(4) {
            let text: Vec<u8> =
                (0..4).flat_map(|place| pieces[pick / count.pow(place) % count]).copied().collect();
            let (mut forward, mut at) = (Vec::new(), 0);
            while let Some((code, length)) = first(&text[at..], Locale::Utf8) {
                forward.push((at, code));
                at += length;
            }
            let (mut backward, mut at) = (Vec::new(), text.len());
            while let Some((code, length)) = last(&text[..at], Locale::Utf8) {
                at -= length;
                backward.push((at, code));
            }
            backward.reverse();
            assert_eq!(forward, backward, "{text:02x?}");
        }
    }
}
