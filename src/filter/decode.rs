// SPDX-License-Identifier: GPL-3.0-or-later
//! Transfer decoders: base64, quoted-printable, encoded words, percent signs (spec email 9).
//!
//! All work in place and never write past what they have read. They follow dbacl 1.14.1 rather
//! than the RFCs: lines are decoded one by one, junk is tolerated, and a decoded NUL never appears.

use std::ops::Range;

use dbacl_words::charset::transfer::{BASE64, NO_BASE64, PADDING};
use dbacl_words::class::is_space;

/// Whether base64 text may hold `byte`, the padding `=` included.
pub(crate) fn is_base64(byte: u8) -> bool {
    BASE64[usize::from(byte)] != NO_BASE64
}

/// Decodes the base64 text `payload` of `buffer` to `written`, which is not after the payload's
/// start; returns the end of the output.
///
/// Bytes outside the alphabet are ignored, an unfinished group is dropped, padding ends the text,
/// and a zero becomes a tab (spec email 9.2).
pub(crate) fn base64(buffer: &mut [u8], payload: Range<usize>, mut written: usize) -> usize {
    debug_assert!(written <= payload.start);
    let mut group = [0; 4];
    let mut held = 0;
    for at in payload {
        let value = BASE64[usize::from(buffer[at])];
        if value == NO_BASE64 {
            continue;
        }
        group[held] = value;
        held += 1;
        if held < 4 {
            continue;
        }
        held = 0;
        let [a, b, c, d] = group.map(u32::from);
        let padding = u32::from(PADDING);
        let values = [(a << 2) + (b >> 4), (b << 4) + (c >> 2), (c << 6) + d];
        let count = if c == padding { 1 } else { 2 + usize::from(d != padding) };
        for value in &values[..count] {
            let byte = value.to_le_bytes()[0];
            buffer[written] = if byte == 0 { b'\t' } else { byte };
            written += 1;
        }
        if count < 3 {
            break;
        }
    }
    written
}

/// Value of a hexadecimal digit of quoted-printable text: no small letters, `G` is 16, and bytes
/// from 156 up are 0.
fn quoted_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'G' => Some(byte - b'A' + 10),
        156.. => Some(0),
        _ => None,
    }
}

/// Decodes the quoted-printable text `payload` of `buffer` to `written`, which is not after the
/// payload's start; returns the end of the output (spec email 9.3).
pub(crate) fn quoted_printable(
    buffer: &mut [u8],
    payload: Range<usize>,
    mut written: usize,
) -> usize {
    debug_assert!(written <= payload.start);
    let Range { start: mut at, end } = payload;
    while at < end {
        let stop = memchr::memchr(b'=', &buffer[at..end]).map_or(end, |run| at + run);
        buffer.copy_within(at..stop, written);
        written += stop - at;
        at = stop;
        if at == end {
            break;
        }
        // At a soft line break the rest of the line is lost.
        let Some(&first) = buffer[at + 1..end].first().filter(|&&byte| !is_space(byte)) else {
            break;
        };
        let low = buffer[at + 1..end].get(1).and_then(|&byte| quoted_digit(byte));
        let (byte, length) = match (quoted_digit(first), low) {
            (Some(high), Some(low)) => (high.wrapping_shl(4).wrapping_add(low), 3),
            _ => (b'=', 1),
        };
        if byte != 0 {
            buffer[written] = byte;
            written += 1;
        }
        at += length;
    }
    written
}

/// An encoded word in a line.
struct EncodedWord {
    is_base64: bool,
    payload: Range<usize>,
    /// The index after the closing `?=`, or the line's end if the word is not closed.
    end: usize,
}

/// The encoded word that begins at `at`, where the line has `=?`.
fn encoded_word(line: &[u8], at: usize) -> Option<EncodedWord> {
    let kind = at + 2 + memchr::memchr(b'?', &line[at + 2..])? + 1;
    let is_base64 = match line.get(kind..kind + 2)? {
        b"B?" | b"b?" => true,
        b"Q?" | b"q?" => false,
        _ => return None,
    };
    let start = kind + 2;
    let close = memchr::memchr_iter(b'?', &line[start..])
        .map(|offset| start + offset)
        .find(|&mark| line.get(mark + 1) == Some(&b'='));
    let payload = start..close.unwrap_or(line.len());
    let end = close.map_or(line.len(), |close| close + 2);
    Some(EncodedWord { is_base64, payload, end })
}

/// Where `=?` occurs first in `line` from `from` on.
fn find_opening(line: &[u8], from: usize) -> Option<usize> {
    memchr::memchr_iter(b'=', &line[from..])
        .map(|offset| from + offset)
        .find(|&at| line.get(at + 1) == Some(&b'?'))
}

/// Decodes the encoded words (RFC 2047) of `line` to raw bytes, whatever their character set
/// (spec email 9.1). A word that is not closed runs to the end of the line.
///
/// Linear: the search for a mark stops at the next `?`, which begins the next search.
pub(crate) fn encoded_words(line: &mut Vec<u8>) {
    let Some(mut at) = find_opening(line, 0) else {
        return;
    };
    let mut written = at;
    loop {
        let copy_from = if let Some(word) = encoded_word(line, at) {
            if word.is_base64 {
                written = base64(line, word.payload, written);
            } else {
                for byte in &mut line[word.payload.clone()] {
                    if *byte == b'_' {
                        *byte = b' ';
                    }
                }
                written = quoted_printable(line, word.payload, written);
            }
            at = word.end;
            at
        } else {
            at += 1;
            at - 1
        };
        let next = find_opening(line, at);
        let stop = next.unwrap_or(line.len());
        line.copy_within(copy_from..stop, written);
        written += stop - copy_from;
        match next {
            Some(opening) => at = opening,
            None => break,
        }
    }
    line.truncate(written);
}

/// The byte for which the percent sign at the beginning of `text` stands, and the length of sign
/// and digits; spaces may precede each digit. `None` if a digit is missing or the byte is zero
/// (spec text 7.5, email 11.1).
pub(crate) fn percent(text: &[u8]) -> Option<(u8, usize)> {
    let digit = |from: usize| {
        let offset = text.get(from..)?.iter().position(|&byte| !is_space(byte))?;
        Some((char::from(text[from + offset]).to_digit(16)?, from + offset + 1))
    };
    let (high, end) = digit(1)?;
    let (low, end) = digit(end)?;
    let byte = (high << 4 | low).to_le_bytes()[0];
    (byte != 0).then_some((byte, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(decoder: fn(&mut [u8], Range<usize>, usize) -> usize, text: &[u8]) -> Vec<u8> {
        let mut buffer = text.to_vec();
        let written = decoder(&mut buffer, 0..text.len(), 0);
        assert!(written <= text.len());
        buffer.truncate(written);
        buffer
    }

    #[test]
    fn base64_decodes_full_groups_line_by_line() {
        let rows: [(&str, &[u8]); 13] = [
            ("", b""),
            ("aGVsbG8gd29ybGQ=", b"hello world"),
            ("aGVsbG8gd29ybA==\r\n", b"hello worl"),
            ("aGVsbG8gd29ybA==aGVs", b"hello worl"),
            ("aGVs bG8g\td2-9y", b"hello wor"),
            ("aGVsb", b"hel"),
            ("aGVsbG8", b"hel"),
            ("AAAA", b"\t\t\t"),
            ("=AAA", b"\t\t\t"),
            ("A=AA", b"\x04\t\t"),
            ("AA=A", b"\t"),
            ("////", b"\xFF\xFF\xFF"),
            ("\u{e9}", b""),
        ];
        for (text, expected) in rows {
            assert_eq!(run(base64, text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn quoted_printable_follows_the_references_digits() {
        // The row of `=FG`: 15 * 16 + 16 is 256, cut to zero, which is not written.
        let rows: [(&[u8], &[u8]); 14] = [
            (b"plain \t\r\n", b"plain \t\r\n"),
            (b"a=3Db=20c", b"a=b c"),
            (b"caf=E9\n", b"caf\xE9\n"),
            (b"caf=e9", b"caf=e9"),
            (b"soft=\nlost", b"soft"),
            (b"soft= lost", b"soft"),
            (b"end=", b"end"),
            (b"end=4", b"end=4"),
            (b"=00x", b"x"),
            (b"=G0x", b"x"),
            (b"=FGx", b"x"),
            (b"=\xFF\xFFx", b"x"),
            (b"==41", b"=A"),
            (b"=4=41", b"=4A"),
        ];
        for (text, expected) in rows {
            assert_eq!(run(quoted_printable, text), expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn encoded_words_become_raw_bytes() {
        let rows: [(&[u8], &[u8]); 17] = [
            (b"no words = here ?", b"no words = here ?"),
            (b"a =?iso-8859-1?Q?caf=E9_au?= b\n", b"a caf\xE9 au b\n"),
            (b"=?utf-8?b?aGVsbG8=?=!", b"hello!"),
            (b"=?x?q?a?= =?y?Q?b?=", b"a b"),
            (b"=??Q?a?=", b"a"),
            (b"=?x?Z?a?=", b"=?x?Z?a?="),
            (b"=?x?Qa?=", b"=?x?Qa?="),
            (b"=?unclosed charset\n", b"=?unclosed charset\n"),
            (b"=?x?Q?unclosed_word\n", b"unclosed word\n"),
            (b"=?x?B?aGVs", b"hel"),
            (b"=?x?Q?soft=_lost?= on", b"soft on"),
            (b"=?x?Q?end=?= on", b"end on"),
            (b"=?x?Q??= empty", b" empty"),
            (b"=?x?Q", b"=?x?Q"),
            (b"=?=?x?Q?a?=", b"=?a"),
            (b"==?x?Q?a?=", b"=a"),
            (b"=?x?Q?a?b?=c", b"a?bc"),
        ];
        for (text, expected) in rows {
            let mut line = text.to_vec();
            encoded_words(&mut line);
            assert_eq!(
                line.escape_ascii().to_string(),
                expected.escape_ascii().to_string(),
                "{}",
                text.escape_ascii()
            );
        }
    }

    #[test]
    fn percent_signs_need_two_digits_and_a_value() {
        for (text, expected) in [
            ("%41", Some((b'A', 3))),
            ("% 4 1x", Some((b'A', 5))),
            ("% face", Some((0xFA, 4))),
            ("% free", None),
            ("%00", None),
            ("%4", None),
            ("%", None),
            ("%  ", None),
        ] {
            assert_eq!(percent(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn decoders_never_write_past_what_they_read(
            text in proptest::collection::vec(
                prop_oneof![any::<u8>(), prop::sample::select(b"=?QqBb_AG0 \n".to_vec())], 0..200)
        ) {
            prop_assert!(run(base64, &text).len() <= text.len() / 4 * 3);
            prop_assert!(run(quoted_printable, &text).len() <= text.len());
            let mut line = text.clone();
            encoded_words(&mut line);
            prop_assert!(line.len() <= text.len());
            if let Some((_, length)) = percent(&text) {
                prop_assert!((3..=text.len()).contains(&length));
            }
        }
    }
}
