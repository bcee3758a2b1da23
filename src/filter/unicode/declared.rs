// SPDX-License-Identifier: GPL-3.0-or-later
//! The character set that an HTML page names.

use crate::filter::unicode::attributes::attribute;
use dbacl_words::charset::Charset;

/// The character set that a page names at its beginning, if it names one.
pub(super) fn declared_charset(sample: &[u8]) -> Option<Charset> {
    let mut rest = sample;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix(b"!--") {
            rest = &comment[memchr::memmem::find(comment, b"-->")?..];
            continue;
        }
        let is_meta = rest.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
            && rest.get(4).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/');
        if !is_meta {
            continue;
        }
        let end = memchr::memchr(b'>', rest)?;
        let mut attributes = &rest[4..end];
        while let Some((key, value, behind)) = attribute(attributes) {
            attributes = behind;
            let label = if key.eq_ignore_ascii_case(b"charset") {
                Some(value)
            } else if key.eq_ignore_ascii_case(b"content") {
                charset_in(value)
            } else {
                None
            };
            // A page whose tags could be read so far is not in UTF-16.
            if let Some(charset) = label.and_then(Charset::by_label) {
                let is_wide = charset.name().starts_with("UTF-16");
                return Some(if is_wide { Charset::UTF_8 } else { charset });
            }
        }
    }
    None
}

/// The label after `charset=` in the value of `content`.
fn charset_in(value: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"charset";
    let at = value.windows(NAME.len()).position(|window| window.eq_ignore_ascii_case(NAME))?;
    let rest = value[at + NAME.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(*byte, b';' | b'"' | b'\'');
    Some(&rest[..rest.iter().position(ends).unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_say_their_character_set() {
        for (page, expected) in [
            ("<html><head><meta charset=koi8-r>", "KOI8-R"),
            (
                "<META http-equiv=\"Content-Type\" content=\"text/html; charset=windows-1251\">",
                "windows-1251",
            ),
            ("<meta name=x content=y><meta content='text/html;charset=\"utf-8\"'/>", "UTF-8"),
            ("<!-- <meta charset=koi8-r> --><meta charset=big5>", "Big5"),
            ("<meta charset=utf-16>", "UTF-8"),
            ("<metal charset=koi8-r>", ""),
            ("<meta charset=nonsense>", ""),
            ("<meta charset=koi8-r", ""),
        ] {
            let found = declared_charset(page.as_bytes()).map_or("", Charset::name);
            assert_eq!(found, expected, "{page}");
        }
    }
}
