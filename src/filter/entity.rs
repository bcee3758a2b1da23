// SPDX-License-Identifier: GPL-3.0-or-later
//! Character entities: `&amp;`, `&#65;`, `&#x41;` (spec text 7.6).
//!
//! dbacl 1.14.1 reads names by prefix, in a fixed order, whether or not a `;` follows, and writes
//! the character over the entity's own bytes; both are kept, as they decide tokens.

use crate::filter::rewrite::Rewrite;
use crate::model::settings::Locale;
use dbacl_words::class::is_space;

/// The longest encoding of a character: UTF-8 as first defined, up to 7FFFFFFF.
const LONGEST: usize = 6;

/// Decodes the entity at the read position, a `&`, and reads on after it.
/// Returns false, with nothing read, if there is none.
pub(super) fn decode_entity(text: &mut Rewrite, locale: Locale) -> bool {
    let Some((code, length)) = parse(text.rest()) else {
        return false;
    };
    let last = text.position() + length - 1;
    let mut bytes = [0; LONGEST];
    match encode(code, locale, &mut bytes) {
        _ if code == 0xA0 => text.put(b' '),
        Some(count) if text.written() + count <= last => {
            bytes[..count].iter().for_each(|&byte| text.put(byte));
        }
        _ if code < 0xFF => text.put(code.to_le_bytes()[0]),
        _ => {}
    }
    text.skip(length);
    true
}

/// The character's code and the entity's length in bytes, if `text` begins with an entity.
fn parse(text: &[u8]) -> Option<(i32, usize)> {
    let (code, end) = match text.get(1)? {
        b'#' => match text.get(2) {
            Some(b'x' | b'X') => number(text, 3, 16),
            _ => number(text, 2, 10),
        },
        &initial => {
            let rest = &text[2..];
            let &(name, code) =
                names(initial).iter().find(|(name, _)| rest.starts_with(name.as_bytes()))?;
            (code, 2 + name.len())
        }
    };
    let code = match code {
        0..=3 => i32::from(b' '),
        0x3C => i32::from(b'('),
        0x3E => i32::from(b')'),
        _ => code,
    };
    Some((code, end + usize::from(text.get(end) == Some(&b';'))))
}

/// The number at `start` as C's `strtol` reads it, saturating at 64 bits and then cut to 32, and
/// the index after it. Without digits: 0, and nothing is consumed.
fn number(text: &[u8], start: usize, base: u8) -> (i32, usize) {
    let byte = |at: usize| text.get(at).copied().unwrap_or(0);
    let digit = |at: usize| char::from(byte(at)).to_digit(u32::from(base)).map(i64::from);
    let mut at = start;
    while is_space(byte(at)) {
        at += 1;
    }
    let is_negative = byte(at) == b'-';
    if matches!(byte(at), b'-' | b'+') {
        at += 1;
    }
    if base == 16 && byte(at) == b'0' && byte(at + 1) | 0x20 == b'x' && digit(at + 2).is_some() {
        at += 2;
    }
    let digits = at;
    let mut value = 0_i64;
    while let Some(unit) = digit(at) {
        let unit = if is_negative { -unit } else { unit };
        value = value.saturating_mul(i64::from(base)).saturating_add(unit);
        at += 1;
    }
    #[allow(clippy::cast_possible_truncation)] // as specified
    (value as i32, if at == digits { start } else { at })
}

/// Encodes `code` for `locale` into `bytes`; the number of bytes, or none if it cannot be encoded.
fn encode(code: i32, locale: Locale, bytes: &mut [u8; LONGEST]) -> Option<usize> {
    let code = u32::try_from(code).ok()?;
    let count = match (locale, code) {
        (_, 0..=0x7F) => 1,
        (Locale::C, _) | (Locale::Utf8, 0xD800..=0xDFFF) => return None,
        (Locale::Utf8, ..=0x7FF) => 2,
        (Locale::Utf8, ..=0xFFFF) => 3,
        (Locale::Utf8, ..=0x1F_FFFF) => 4,
        (Locale::Utf8, ..=0x3FF_FFFF) => 5,
        (Locale::Utf8, _) => 6,
    };
    let mut rest = code;
    for byte in bytes[1..count].iter_mut().rev() {
        *byte = 0x80 | rest.to_le_bytes()[0] & 0x3F;
        rest >>= 6;
    }
    let mark = [0, 0xC0, 0xE0, 0xF0, 0xF8, 0xFC][count - 1];
    bytes[0] = mark | rest.to_le_bytes()[0];
    Some(count)
}

/// The entities whose names begin with `initial`: the rest of the name, and the code. The first
/// that fits wins, so `notin` is never found after `not`. This is HTML 4's list with the slips of
/// dbacl 1.14.1: some names known only with a capital, some wrong codes, `acir` for `acirc`.
#[rustfmt::skip]
fn names(initial: u8) -> &'static [(&'static str, i32)] {
    match initial {
        b'a' => &[
            ("acute", 0xE1), ("cute", 0xB4), ("cir", 0xE2), ("elig", 0xE6), ("grave", 0xE0),
            ("lpha", 0x3B1), ("lefsym", 0x2135), ("mp", 0x26), ("ng", 0x2220), ("nd", 0x2227),
            ("ring", 0xE5), ("symp", 0x2248), ("tilde", 0xE3), ("uml", 0xE4),
        ],
        b'A' => &[
            ("acute", 0xC1), ("circ", 0xC2), ("Elig", 0xC6), ("grave", 0xC0), ("lpha", 0x391),
            ("ring", 0xC5), ("tilde", 0xC3), ("uml", 0xC4),
        ],
        b'b' => &[("dquo", 0x201E), ("eta", 0x3B2), ("ull", 0x2022)],
        b'B' => &[("eta", 0x392), ("rvbar", 0xA6)],
        b'c' => &[
            ("ap", 0x2229), ("cedil", 0xE7), ("ent", 0xA2), ("edil", 0xB8), ("hi", 0x3C7),
            ("irc", 0x2C6), ("lubs", 0x2663), ("opy", 0xA9), ("ong", 0x2245), ("rarr", 0x21B5),
            ("urren", 0xA4), ("up", 0x222A),
        ],
        b'C' => &[("cedil", 0xC7), ("hi", 0x3A7)],
        b'd' => &[
            ("arr", 0x2193), ("agger", 0x2020), ("Arr", 0x21D3), ("elta", 0x3B4), ("ivide", 0xF7),
            ("iams", 0x2666),
        ],
        b'D' => &[("agger", 0x2021), ("eg", 0xB0), ("elta", 0x394)],
        b'e' => &[
            ("acute", 0xE9), ("circ", 0xEA), ("grave", 0xE8), ("mpty", 0x2205), ("msp", 0x2003),
            ("nsp", 0x2002), ("psilon", 0x3B5), ("quiv", 0x2261), ("th", 0xF0), ("ta", 0x3B7),
            ("uml", 0xEB), ("uro", 0x20AC), ("xist", 0x2203),
        ],
        b'E' => &[
            ("acute", 0xC9), ("circ", 0xCA), ("grave", 0xC8), ("psilon", 0x395), ("TH", 0xD0),
            ("ta", 0x397), ("uml", 0xCB),
        ],
        b'f' => &[
            ("nof", 0x192), ("orall", 0x2200), ("rac14", 0xBC), ("rac12", 0xBD), ("rac34", 0xBE),
            ("rasl", 0x2044),
        ],
        b'g' => &[("amma", 0x3B3), ("e", 0x2265), ("t", 0x3E)],
        b'G' => &[("amma", 0x393)],
        b'h' => &[("arr", 0x2194), ("Arr", 0x21D4), ("earts", 0x2665), ("ellip", 0x2026)],
        b'i' => &[
            ("acute", 0xED), ("circ", 0xEE), ("excl", 0xA1), ("grave", 0xEC), ("mage", 0x2111),
            ("nfin", 0x221E), ("nt", 0x222B), ("ota", 0x3B9), ("quest", 0xBF), ("sin", 0x2208),
            ("uml", 0xEF),
        ],
        b'I' => &[("acute", 0xCD), ("circ", 0xCE), ("grave", 0xCC), ("ota", 0x399), ("uml", 0xCF)],
        b'k' => &[("appa", 0x3BA)],
        b'K' => &[("appa", 0x39A)],
        b'l' => &[
            ("ambda", 0x3BB), ("ang", 0x2329), ("Arr", 0x21D0), ("ceil", 0x2308), ("dquo", 0x201C),
            ("e", 0x2264), ("floor", 0x2309), ("owast", 0x2217), ("oz", 0x25CA), ("rm", 0x200E),
            ("squo", 0x2018), ("saquo", 0x2039), ("t", 0x3C),
        ],
        b'L' => &[("aquo", 0xAB), ("ambda", 0x39B), ("arr", 0x2190)],
        b'm' => &[("dash", 0x2014), ("inus", 0x2212), ("u", 0x3BC)],
        b'M' => &[("acr", 0xAF), ("icro", 0xB5), ("iddot", 0xB7), ("u", 0x39C)],
        b'n' => &[
            ("abla", 0x2207), ("bsp", 0xA0), ("dash", 0x2013), ("e", 0x2260), ("i", 0x220B),
            ("ot", 0xAC), ("otin", 0x2209), ("sub", 0x2284), ("tilde", 0xF1), ("u", 0x3BD),
        ],
        b'N' => &[("tilde", 0xD1), ("u", 0x39D)],
        b'o' => &[
            ("acute", 0xF3), ("circ", 0xF4), ("elig", 0x153), ("grave", 0xF2), ("line", 0x203E),
            ("micron", 0x3BF), ("mega", 0x3C9), ("plus", 0x2295), ("rdf", 0xAA), ("rdm", 0xBA),
            ("r", 0x2228), ("slash", 0xF8), ("tilde", 0xF5), ("times", 0x2297), ("uml", 0xF6),
        ],
        b'O' => &[
            ("acute", 0xD3), ("circ", 0xD4), ("Elig", 0x152), ("micron", 0x39F), ("mega", 0x3A9),
            ("grave", 0xD2), ("slash", 0xD8), ("tilde", 0xD5), ("uml", 0xD6),
        ],
        b'p' => &[
            ("art", 0x2202), ("erp", 0x22A5), ("ermil", 0x2030), ("hi", 0x3C6), ("i", 0x3C0),
            ("iv", 0x3D6), ("rime", 0x2032), ("rod", 0x220F), ("si", 0x3C8),
        ],
        b'P' => &[
            ("ara", 0xB6), ("hi", 0x3A6), ("i", 0x3A0), ("lusmn", 0xB1), ("ound", 0xA3),
            ("rime", 0x2033), ("rop", 0x221D), ("si", 0x3A8),
        ],
        b'q' => &[("uot", 0x22)],
        b'r' => &[
            ("arr", 0x2192), ("adic", 0x221A), ("ang", 0x232A), ("Arr", 0x21D2), ("ceil", 0x2309),
            ("dquo", 0x201D), ("eal", 0x211C), ("eg", 0xAE), ("floor", 0x230A), ("ho", 0x3C1),
            ("lm", 0x200F), ("squo", 0x2019), ("saquo", 0x203A),
        ],
        b'R' => &[("aquo", 0xBB), ("eg", 0xAE), ("ho", 0x3A1)],
        b's' => &[
            ("bquo", 0x201A), ("caron", 0x161), ("dot", 0x22C5), ("ect", 0xA7), ("hy", 0xAD),
            ("igmaf", 0x3C2), ("igma", 0x3C3), ("im", 0x223C), ("pades", 0x2660), ("up2", 0xB2),
            ("up3", 0xB3), ("up1", 0xB9), ("um", 0x2211), ("ub", 0x2282), ("up", 0x2283),
            ("ube", 0x2286), ("upe", 0x2287), ("zlig", 0xDF),
        ],
        b'S' => &[("caron", 0x160), ("igma", 0x3A3)],
        b't' => &[
            ("au", 0x3C4), ("horn", 0xFE), ("heta", 0x3B8), ("hetasym", 0x3D1), ("here4", 0x2234),
            ("hinsp", 0x2009), ("imes", 0xD7), ("ilde", 0x2DC), ("rade", 0x2122),
        ],
        b'T' => &[("au", 0x3A4), ("heta", 0x398), ("HORN", 0xDE)],
        b'u' => &[
            ("acute", 0xFA), ("arr", 0x2191), ("Arr", 0x21D1), ("circ", 0xFB), ("grave", 0xF9),
            ("ml", 0xA8), ("psilon", 0xC5), ("psih", 0x3D2), ("uml", 0xFC),
        ],
        b'U' => &[
            ("acute", 0xDA), ("circ", 0xDB), ("grave", 0xD9), ("psilon", 0xA5), ("uml", 0xDC),
        ],
        b'w' => &[("eierp", 0x2118)],
        b'x' => &[("i", 0x3BE)],
        b'X' => &[("i", 0x39E)],
        b'y' => &[("acute", 0xFD), ("en", 0xA5), ("uml", 0xFF)],
        b'Y' => &[("acute", 0xDD), ("uml", 0x178)],
        b'z' => &[("eta", 0x3B6), ("wnj", 0x200C), ("wj", 0x200D)],
        b'Z' => &[("eta", 0x396)],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str, locale: Locale) -> Option<(Vec<u8>, String)> {
        let mut line = text.as_bytes().to_vec();
        let mut rewrite = Rewrite::starting_at(&mut line, 0);
        let is_entity = decode_entity(&mut rewrite, locale);
        assert!(rewrite.written() <= rewrite.position());
        let rest = String::from_utf8(rewrite.rest().to_vec()).expect("tests are text");
        let written = rewrite.written();
        is_entity.then(|| (line[..written].to_vec(), rest))
    }

    #[test]
    fn names_match_by_prefix_in_order() {
        for (text, expected, rest) in [
            ("&ltx", "(", "x"),
            ("&gt;", ")", ""),
            ("&amp;lt;", "&", "lt;"),
            ("&notin;", "\u{AC}", "in;"),
            ("&sube;", "\u{2282}", "e;"),
            ("&acirc;", "\u{E2}", "c;"),
            ("&general", "", "neral"),
            ("&quot;;", "\"", ";"),
            ("&nbsp;x", " ", "x"),
            ("&AElig;", "\u{C6}", ""),
            ("&mu", "\u{3BC}", ""),
        ] {
            let found = decoded(text, Locale::Utf8).expect(text);
            assert_eq!(found, (expected.as_bytes().to_vec(), rest.to_owned()), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_entity_is_left_alone() {
        for text in ["&", "& ", "&xyz;", "&;", "&AMP;", "&a", "&1;"] {
            assert_eq!(decoded(text, Locale::C), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_as_c_does() {
        for (text, expected, rest) in [
            ("&#65;b", &b"A"[..], "b"),
            ("&#65b", b"A", "b"),
            ("&#x41g", b"A", "g"),
            ("&#X0x41;", b"A", ""),
            ("&#x0xg", b" ", "xg"),
            ("&# +65;", b"A", ""),
            ("&#;", b" ", ""),
            ("&#  z", b" ", "  z"),
            ("&#xz", b" ", "z"),
            ("&#60;", b"(", ""),
            ("&#233;", b"\xE9", ""),
            ("&#255;", b"", ""),
            ("&#8364;", b"", ""),
            ("&#-1;", b"\xFF", ""),
            ("&#-256;", b"\0", ""),
            ("&#99999999999999999999;", b"\xFF", ""),
            ("&#-99999999999999999999;", b" ", ""),
        ] {
            let found = decoded(text, Locale::C).expect(text);
            assert_eq!(found, (expected.to_vec(), rest.to_owned()), "{text}");
        }
    }

    #[test]
    fn an_encoding_that_does_not_fit_falls_back_to_a_byte_or_nothing() {
        let rows: [(&str, &[u8]); 6] = [
            ("&#233", "\u{E9}".as_bytes()),
            ("&le", b""),
            ("&le;", "\u{2264}".as_bytes()),
            ("&#x7fffffff;", b"\xFD\xBF\xBF\xBF\xBF\xBF"),
            ("&#xd800;", b""),
            ("&#x10ffff;", "\u{10FFFF}".as_bytes()),
        ];
        for (text, expected) in rows {
            assert_eq!(decoded(text, Locale::Utf8).expect(text).0, expected, "{text}");
        }
    }

    #[test]
    fn every_listed_name_is_reached_but_those_behind_a_prefix() {
        let mut hidden = Vec::new();
        for initial in b'A'..=b'z' {
            for &(name, code) in names(initial) {
                let text = [&[b'&', initial], name.as_bytes()].concat();
                if parse(&text).expect("listed").1 != text.len() {
                    hidden.push((char::from(initial), name, code));
                }
            }
        }
        let hidden: Vec<String> = hidden.iter().map(|(a, b, _)| format!("{a}{b}")).collect();
        assert_eq!(hidden, ["notin", "piv", "sube", "supe", "thetasym"]);
    }
}
