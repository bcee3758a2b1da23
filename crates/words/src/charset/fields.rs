// SPDX-License-Identifier: GPL-3.0-or-later
//! Header fields as text: encoded words (RFC 2047), UTF-8 (RFC 6532), and 8-bit bytes as they come.

use crate::charset::Charset;
use crate::charset::transfer::{self, Base64};

/// An encoded word.
struct Word<'a> {
    label: &'a [u8],
    is_base64: bool,
    text: &'a [u8],
    length: usize,
}

/// The word that `field` begins with.
fn word(field: &[u8]) -> Option<Word<'_>> {
    let rest = field.strip_prefix(b"=?")?;
    let label_end = rest.iter().position(|&byte| byte == b'?' || byte.is_ascii_whitespace())?;
    let (label, rest) = rest.split_at(label_end);
    let (is_base64, text) = match rest {
        [b'?', b'B' | b'b', b'?', text @ ..] => (true, text),
        [b'?', b'Q' | b'q', b'?', text @ ..] => (false, text),
        _ => return None,
    };
    let end = memchr::memchr_iter(b'?', text).find(|&at| text.get(at + 1) == Some(&b'='))?;
    // A language may follow (RFC 2231, 5).
    let label = label.split(|&byte| byte == b'*').next().unwrap_or(label);
    Some(Word { label, is_base64, text: &text[..end], length: field.len() - text.len() + end + 2 })
}

/// Appends the text of a field to `output`: words decoded, those that follow each other joined.
/// Text that is neither ASCII nor UTF-8 is decoded from `charset`, or without it from the set
/// that is detected.
pub fn decode(field: &[u8], charset: Option<Charset>, output: &mut Vec<u8>) {
    let mut rest = field;
    // The label of adjacent words in one character set, and their bytes.
    let mut open: Option<&[u8]> = None;
    let mut bytes = Vec::new();
    let mut base64 = Base64::default();
    // No encoded word ends after the last `?=`, so nothing after it is searched: time stays
    // linear.
    let mut words_end = memchr::memmem::rfind(rest, b"?=").map_or(0, |at| at + 2);
    loop {
        let found = memchr::memmem::find(&rest[..words_end.min(rest.len())], b"=?");
        let Some(at) = found else { break };
        let Some(word) = word(&rest[at..]) else {
            flush(&mut open, &mut bytes, output);
            plain(&rest[..=at], charset, output);
            rest = &rest[at + 1..];
            words_end = words_end.saturating_sub(at + 1);
            continue;
        };
        let between = &rest[..at];
        let is_adjacent = open.is_some() && between.iter().all(u8::is_ascii_whitespace);
        if !is_adjacent {
            flush(&mut open, &mut bytes, output);
            plain(between, charset, output);
        }
        if !open.is_some_and(|label| label.eq_ignore_ascii_case(word.label)) {
            flush(&mut open, &mut bytes, output);
            base64 = Base64::default();
        }
        open = Some(word.label);
        if word.is_base64 {
            base64.decode(word.text, &mut bytes);
        } else {
            base64 = Base64::default();
            transfer::word(word.text, &mut bytes);
        }
        rest = &rest[at + word.length..];
        words_end = words_end.saturating_sub(at + word.length);
    }
    flush(&mut open, &mut bytes, output);
    plain(rest, charset, output);
}

/// Ends a run of words, whose character set has the label `open`.
fn flush(open: &mut Option<&[u8]>, bytes: &mut Vec<u8>, output: &mut Vec<u8>) {
    let Some(label) = open.take() else { return };
    let charset = match Charset::by_label(label) {
        Some(charset) if !is_plain_ascii(label) => charset.or_detect(bytes),
        _ => Charset::detect(bytes),
    };
    crate::charset::decode(charset, bytes, output);
    bytes.clear();
}

/// Appends text outside words.
fn plain(text: &[u8], charset: Option<Charset>, output: &mut Vec<u8>) {
    if std::str::from_utf8(text).is_ok() && !text.contains(&0x1B) {
        output.extend_from_slice(text);
    } else {
        let charset = charset.unwrap_or_else(|| Charset::detect(text));
        crate::charset::decode(charset, text, output);
    }
}

/// Whether a label means ASCII or an unknown set. Bytes beyond ASCII were then written by a program
/// that did not know their character set.
pub fn is_plain_ascii(label: &[u8]) -> bool {
    let label = label.trim_ascii();
    [&b"us-ascii"[..], b"ascii", b"ansi_x3.4-1968", b"unknown-8bit", b"x-unknown"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_decoded_and_joined() {
        for (field, expected) in [
            ("Subject: plain = text ?", "Subject: plain = text ?"),
            ("a =?iso-8859-1?Q?caf=E9_au?= b", "a caf\u{e9} au b"),
            ("=?utf-8?q?a?= =?UTF-8?q?b?=", "ab"),
            ("=?utf-8?q?a?=  =?koi8-r?q?=D0?=", "a\u{43f}"),
            ("=?utf-8?q?a?= b =?utf-8?q?c?=", "a b c"),
            // Characters cut in two between words.
            ("=?utf-8?q?caf=C3?= =?utf-8?q?=A9?=", "caf\u{e9}"),
            ("=?utf-8?B?4pg=?= =?utf-8?B?ug==?=", "\u{263a}"),
            ("=?utf-8?B?4pi?= =?utf-8?B?6?=", "\u{263a}"),
            ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "\u{65e5}\u{672c}"),
            ("=?iso-8859-1*en?Q?=E9?=", "\u{e9}"),
            ("=?utf-16?B?//5BBA==?=", "\u{441}"),
            ("=?utf-7?Q?+ZeVnLA-?=", "\u{65e5}\u{672c}"),
            // Unknown labels: the character set is detected.
            ("=?x-no?Q?=C3=A9?=", "\u{e9}"),
            ("=??Q?=C3=A9?=", "\u{e9}"),
            ("=?us-ascii?Q?=C3=A9?=", "\u{e9}"),
            // No words.
            ("=?utf-8?Z?a?=", "=?utf-8?Z?a?="),
            ("=?utf-8?Q?open", "=?utf-8?Q?open"),
            ("=?utf 8?Q?a?=", "=?utf 8?Q?a?="),
            ("=?=?utf-8?Q?a?=", "=?a"),
            ("=?utf-8?Q??= x", " x"),
            ("r\u{e9}sum\u{e9}", "r\u{e9}sum\u{e9}"),
        ] {
            let mut output = Vec::new();
            decode(field.as_bytes(), None, &mut output);
            assert_eq!(String::from_utf8_lossy(&output), expected, "{field}");
        }
    }

    #[test]
    fn raw_bytes_are_in_the_charset_of_the_mail() {
        let mut output = Vec::new();
        let koi8 = Charset::by_label(b"koi8-r");
        decode(b"\xd0\xd2\xc9 =?utf-8?q?=C3=A9?=", koi8, &mut output);
        assert_eq!(String::from_utf8_lossy(&output), "\u{43f}\u{440}\u{438} \u{e9}");
    }

    #[test]
    fn hostile_fields_take_linear_time() {
        for unit in ["=?", "=?x?Q?", "=?x?B?a", "?=", "=?x?Q?a?=", "=?x?Q?a?= ", "=?x?Q?a?= =?"] {
            let mut output = Vec::new();
            let field = unit.repeat(300_000 / unit.len());
            decode(field.as_bytes(), None, &mut output);
            assert!(output.len() <= field.len() + 2, "{unit}");
        }
    }
}
