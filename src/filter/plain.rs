// SPDX-License-Identifier: GPL-3.0-or-later
//! Filters for the plain text of mail: URLs, uuencoded and armoured data, strings in binary data
//! (spec email 11).

use crate::filter::bytes::starts_with_ci;
use crate::filter::decode::{is_base64, percent};
use crate::filter::entity::decode_entity;
use crate::filter::rewrite::Rewrite;
use crate::model::settings::Locale;
use dbacl_words::class::{is_print, is_space};

/// Filters a line of plain text in place; returns whether it is kept.
///
/// Uuencoded lines are dropped (`in_uuencode` says whether they are expected), percent signs and
/// entities decoded, and URLs cut at their query or fragment.
pub(super) fn plain_text(line: &mut Vec<u8>, in_uuencode: &mut bool, locale: Locale) -> bool {
    if *in_uuencode {
        // A line whose first byte is not a valid length is kept, and more data may follow.
        if uuencode_length(line).is_none() {
            return true;
        }
        if uuencode_count(line).is_some() {
            return false;
        }
        // The line holds bytes that data cannot hold: the data have ended.
        *in_uuencode = false;
    } else if begins_uuencode(line) {
        *in_uuencode = true;
        return true;
    }
    // Most lines hold nothing to change.
    if let Some(first) = memchr::memchr3(b'%', b'&', b':', line) {
        let start = if line[first] == b':' { first.saturating_sub(b"http".len()) } else { first };
        clean(Rewrite::starting_at(line, start), locale);
    }
    true
}

/// The number of bytes that a uuencoded line states, 0..=63.
fn uuencode_length(line: &[u8]) -> Option<usize> {
    line.first()?.checked_sub(b' ').filter(|&length| length <= 63).map(usize::from)
}

/// The number of bytes before the line's end, if all are bytes of uuencoded data.
fn uuencode_count(line: &[u8]) -> Option<usize> {
    let end = line.iter().position(|&byte| !(32..=96).contains(&byte)).unwrap_or(line.len());
    line.get(end).is_none_or(|&byte| matches!(byte, b'\r' | b'\n')).then_some(end)
}

/// Whether `line` is the head of uuencoded data: `begin`, a file mode, a name.
fn begins_uuencode(line: &[u8]) -> bool {
    line.strip_prefix(b"begin ")
        .and_then(|mode| mode.get(..3))
        .is_some_and(|mode| mode.iter().all(|digit| (b'0'..=b'6').contains(digit)))
}

/// The cleaner's place with respect to URLs.
enum Place {
    Text,
    /// In a URL, or after one that was not cut.
    Url,
    /// Behind the cut of a URL: nothing is shown until a delimiter.
    Muted,
}

/// Decodes percent signs and entities, and cuts URLs.
fn clean(mut text: Rewrite, locale: Locale) {
    let mut place = Place::Text;
    while !text.is_at_end() {
        place = match place {
            Place::Text => clean_text(&mut text, locale),
            Place::Url => clean_url(&mut text),
            Place::Muted => skip_muted(&mut text),
        };
    }
    text.finish();
}

/// Copies text up to a URL's `//`, or up to something else that must be cleaned. Each colon is
/// examined once, so that time is linear.
fn clean_text(text: &mut Rewrite, locale: Locale) -> Place {
    let rest = text.rest();
    let Some(stop) = memchr::memchr3(b'%', b'&', b':', rest) else {
        text.copy(rest.len());
        return Place::Text;
    };
    let is_url = starts_with_ci(&rest[stop.saturating_sub(4)..], b"http://");
    text.copy(stop);
    match text.byte() {
        b'%' => clean_percent(text),
        b'&' if !decode_entity(text, locale) => text.skip(1),
        b':' => text.keep(),
        _ => {}
    }
    if is_url { Place::Url } else { Place::Text }
}

/// Copies a URL up to its query or fragment.
fn clean_url(text: &mut Rewrite) -> Place {
    let stop = text.rest().iter().position(|byte| b"%&?;#".contains(byte));
    text.copy(stop.unwrap_or(text.rest().len()));
    if text.byte() == b'%' {
        clean_percent(text);
        return Place::Url;
    }
    text.skip(1);
    Place::Muted
}

/// Drops what follows a URL's cut, up to a delimiter, which is kept, or another URL.
fn skip_muted(text: &mut Rewrite) -> Place {
    let rest = text.rest();
    let stop = rest.iter().position(|byte| b" \t>'\"hH".contains(byte));
    text.skip(stop.unwrap_or(rest.len()));
    match text.byte() {
        b'h' | b'H' if starts_with_ci(text.rest(), b"http://") => Place::Url,
        b'h' | b'H' => {
            text.skip(1);
            Place::Muted
        }
        _ => {
            text.copy(1);
            Place::Text
        }
    }
}

/// A percent sign: decodes it, or keeps it alone.
fn clean_percent(text: &mut Rewrite) {
    match percent(text.rest()) {
        Some((byte, length)) => {
            text.put(byte);
            text.skip(length);
        }
        None => text.keep(),
    }
}

/// Whether `line` is a mark of armoured data that begins with `prefix`.
pub(super) fn is_armour(line: &[u8], prefix: &[u8]) -> bool {
    const KINDS: [&[u8]; 4] = [b"MESSAGE", b"PUBLIC KEY BLOCK", b"PRIVATE KEY BLOCK", b"SIGNATURE"];
    line.strip_prefix(prefix).is_some_and(|kind| KINDS.iter().any(|&name| kind.starts_with(name)))
}

/// Whether a line of an armoured block is kept: it does not look like data (spec email 11.2).
pub(super) fn armour_keeps(line: &[u8]) -> bool {
    let is_base64_text = line.iter().all(|&byte| is_base64(byte) || is_space(byte));
    let is_uuencoded = || {
        uuencode_length(line)
            .zip(uuencode_count(line))
            .is_some_and(|(length, count)| count.abs_diff(4 * (length / 3)) <= 3)
    };
    let is_binary = || line.iter().filter(|&&byte| !is_print(byte)).nth(5).is_some();
    !(is_base64_text || is_uuencoded() || is_binary())
}

/// Reduces a line to its runs of four or more printable bytes, and a last shorter one, with spaces
/// between them (spec email 11.4).
pub(super) fn strings(line: &mut Vec<u8>) {
    let mut written = 0;
    let mut run = 0;
    for at in 0..line.len() {
        let byte = line[at];
        if is_print(byte) {
            line[written] = byte;
            written += 1;
            run += 1;
        } else {
            if run >= 4 {
                line[written] = b' ';
                written += 1;
            } else {
                written -= run;
            }
            run = 0;
        }
    }
    line.truncate(written);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cleaned(text: &str) -> String {
        let mut line = text.as_bytes().to_vec();
        assert!(plain_text(&mut line, &mut false, Locale::C), "{text}");
        line.iter().map(|&byte| char::from(byte)).collect()
    }

    #[test]
    fn urls_are_cut_at_query_or_fragment() {
        for (text, expected) in [
            ("plain text; with # marks? yes", "plain text; with # marks? yes"),
            ("http://a.b/c?d=e f", "http://a.b/c f"),
            ("see (HTTP://a.b/c#d>e;f", "see (HTTP://a.b/c>e;f"),
            ("https://a.b/c?d", "https://a.b/c?d"),
            ("http:/a?b", "http:/a?b"),
            ("http://a b?c d", "http://a b d"),
            ("http://a?b http://c?d e", "http://a http://c e"),
            ("http://a?bhttp://c?d e", "http://ahttp://c e"),
            ("http://a?bhhttp://c", "http://ahttp://c"),
            ("http://a&amp;b c", "http://a c"),
            ("http://a%20b%3fc?d", "http://a b?c"),
            ("ht%74p://a?b", "http://a?b"),
            ("&ethttp://a?b", "\u{f0}ttp://a?b"),
            ("ahttp://b;c\"d;e", "ahttp://b\"d;e"),
            ("http://a?b", "http://a"),
            ("a: b: http://c?", "a: b: http://c"),
            (":http://?x", ":http://"),
        ] {
            assert_eq!(cleaned(text), expected, "{text}");
        }
    }

    #[test]
    fn percents_and_entities_are_decoded() {
        for (text, expected) in [
            ("100% free", "100% free"),
            ("100% face", "100\u{fa}ce"),
            ("AT&T &amp; &lt;", "ATT & ("),
            ("%41%4", "A%4"),
            ("&", ""),
            ("a&#-256;b", "a"),
        ] {
            assert_eq!(cleaned(text), expected, "{text}");
        }
    }

    #[test]
    fn uuencoded_data_are_dropped_until_a_line_of_text() {
        let mut in_uuencode = false;
        for (text, is_kept, stays) in [
            ("begin me up\n", true, false),
            ("begin 644 x.zip\n", true, true),
            ("M1234 &%41\n", false, true),
            ("`\n", true, true),
            ("end\n", true, true),
            ("x&%41", true, true),
            ("1\r\n", false, true),
            ("This is text &amp; more\n", true, false),
            ("M1234\n", true, false),
        ] {
            let mut line = text.as_bytes().to_vec();
            assert_eq!(plain_text(&mut line, &mut in_uuencode, Locale::C), is_kept, "{text}");
            assert_eq!(in_uuencode, stays, "{text}");
        }
    }

    #[test]
    fn lines_of_an_armour_that_are_no_data_are_kept() {
        for (text, expected) in [
            ("-----BEGIN PGP MESSAGE-----\n", true),
            ("Version: PGP 2.6\n", true),
            ("iQCVAwUBMXVeZ/EtzVMcPqWxAQG5=\n", false),
            ("=aBcD\n", false),
            ("oneword\n", false),
            ("#86)C\n", false),
            ("TEXT: IN CAPITALS\n", true),
            ("\u{e9}\u{e9}\u{e9}", false),
            ("\u{e9}\u{e9}.", true),
            ("", false),
        ] {
            assert_eq!(armour_keeps(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn strings_of_four_or_more_are_kept() {
        for (text, expected) in [
            ("abc\u{1}defg\u{1}\u{1}h\n", "defg "),
            ("abcd\n", "abcd "),
            ("a b\u{1}c", "c"),
            ("abcd\u{1}ef\u{1}gh", "abcd gh"),
            ("\n", ""),
        ] {
            let mut line = text.as_bytes().to_vec();
            strings(&mut line);
            assert_eq!(String::from_utf8_lossy(&line), expected, "{text:?}");
        }
    }

    /// The rules of spec email 11.1 byte by byte, to compare with.
    fn clean_slowly(line: &[u8]) -> Vec<u8> {
        let (mut output, mut url, mut mute, mut at) = (Vec::new(), false, false, 0);
        while at < line.len() {
            let byte = line[at];
            let mut next = at + 1;
            match byte {
                b'%' if !mute => match percent(&line[at..]) {
                    Some((value, length)) => {
                        output.push(value);
                        next = at + length;
                    }
                    None => output.push(byte),
                },
                b'&' if !mute => {
                    if url {
                        mute = true;
                    } else {
                        let mut copy = line.to_vec();
                        copy.splice(
                            ..at,
                            output.iter().copied().chain(vec![b'x'; at - output.len()]),
                        );
                        let start = output.len();
                        let mut rewrite = Rewrite::starting_at(&mut copy, start);
                        rewrite.jump(at);
                        if decode_entity(&mut rewrite, Locale::Utf8) {
                            next = rewrite.position();
                        }
                        let written = rewrite.written();
                        output.extend(&copy[start..written]);
                    }
                }
                b'%' | b'&' => {}
                b'h' | b'H' => {
                    if starts_with_ci(&line[at..], b"http://") {
                        (url, mute) = (true, false);
                    }
                    if !mute {
                        output.push(byte);
                    }
                }
                b'?' | b';' | b'#' if url => mute = true,
                b'?' | b';' | b'#' => output.push(byte),
                b' ' | b'\t' | b'>' | b'\'' | b'"' => {
                    if mute && url {
                        (url, mute) = (false, false);
                    }
                    output.push(byte);
                }
                _ if mute => {}
                _ => output.push(byte),
            }
            at = next;
        }
        let end = output.iter().position(|&byte| byte == 0).unwrap_or(output.len());
        output.truncate(end);
        output
    }

    proptest! {
        #[test]
        fn cleaning_by_runs_equals_cleaning_by_bytes(
            pieces in proptest::collection::vec(prop::sample::select(vec![
                "http://", "HTTP:", "h", "ttp://", "%", "41", "%20", "&", "amp;", "&eth", "&le;",
                "#233;", "&#-256;", "?", ";", "#", " ", "\t", ">", "'", "\"", "x", "\n", ":",
            ]), 0..30)
        ) {
            let text = pieces.concat();
            let mut line = text.as_bytes().to_vec();
            plain_text(&mut line, &mut false, Locale::Utf8);
            prop_assert_eq!(line, clean_slowly(text.as_bytes()), "{}", text);
        }
    }
}
