// SPDX-License-Identifier: GPL-3.0-or-later
//! What the header of a message or part says about its content, also if it says so twice, in
//! pieces, or misspelt.
//!
//! A type that cannot be read is `text/plain` (RFC 2045, 5.2), and never takes the place of one
//! that can be read. All boundaries that are named wait for their lines: the first that occurs in
//! the body is the one.

use crate::filter::bytes::{find_ci, starts_with_ci};
use crate::filter::mime::{self, ContentType};
use dbacl_words::charset::{Charset, fields, parameters};

/// Bytes of a boundary that count; RFC 2046 allows 70.
const LONGEST_BOUNDARY: usize = 200;
/// Boundaries of one header that are waited for.
const MOST_BOUNDARIES: usize = 8;

/// The encodings that fields name, in the order in which they are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Encodings {
    /// Base64 is named.
    pub base64: bool,
    /// Quoted-printable is named.
    pub quoted_printable: bool,
    /// Uuencode is named.
    pub uuencode: bool,
    /// Another encoding, or none, is named.
    pub other: bool,
}

impl Encodings {
    /// Takes the value of a field: names are also those that programs misspell.
    pub(super) fn read(&mut self, value: &[u8]) {
        let letters = value.iter().filter(|byte| byte.is_ascii_alphanumeric());
        let letters: Vec<u8> = letters.map(u8::to_ascii_lowercase).take(200).collect();
        let names = |words: &[&[u8]]| words.iter().any(|word| find_ci(&letters, word).is_some());
        if names(&[b"base64", b"b64"]) {
            self.base64 = true;
        } else if names(&[b"quotedprint", b"quopri"]) {
            self.quoted_printable = true;
        } else if names(&[b"uuencode", b"xuue"]) {
            self.uuencode = true;
        } else {
            self.other = true;
        }
    }

    /// Whether the bytes are not the text.
    pub(super) const fn encode(self) -> bool {
        self.base64 || self.quoted_printable || self.uuencode
    }
}

/// The description of the content in the header of a message or part.
#[derive(Debug, Clone, Default)]
pub(super) struct Headers {
    /// The type of content that has no parts; text where there are parts.
    pub kind: ContentType,
    /// A field names a type, and one that is not of parts can be read.
    has_type: bool,
    has_readable_type: bool,
    /// Fields name no type that can be read, or several: the text itself says whether it is a page.
    pub is_doubtful: bool,
    pub is_multipart: bool,
    /// Only one of the parts is shown.
    pub is_alternative: bool,
    /// The parts are messages unless their headers name another type.
    pub is_digest: bool,
    /// What may stand between the parts.
    pub boundaries: Vec<Vec<u8>>,
    /// The same from other fields than Content-Type.
    strange_boundaries: Vec<Vec<u8>>,
    pub charset: Option<Charset>,
    pub encodings: Encodings,
    pub is_attached: bool,
    /// A line that ends in a blank goes on with the next, and the blank is not part of the text
    /// (RFC 3676, 4.1).
    pub deletes_blanks: bool,
}

impl Headers {
    /// The kind of content in a word.
    pub(super) fn code(&self) -> &'static [u8] {
        match self.kind {
            _ if self.is_alternative => b"ma",
            _ if self.is_digest => b"md",
            _ if self.is_multipart => b"m",
            ContentType::Unknown => b"n",
            ContentType::Plain => b"p",
            ContentType::Html | ContentType::Xml | ContentType::Sgml => b"h",
            ContentType::Rich => b"r",
            ContentType::Image => b"i",
            ContentType::Message => b"e",
            ContentType::Audio | ContentType::Video | ContentType::Model => b"v",
            ContentType::Other => b"o",
            ContentType::Octets => b"b",
            ContentType::Word => b"w",
        }
    }

    /// Whether there may be parts.
    pub(super) fn has_parts(&self) -> bool {
        let is_unreadable = self.has_type && !self.has_readable_type;
        is_unreadable || !self.boundaries.is_empty()
    }

    /// Whether text before the parts may be shown: not all fields say that there are parts.
    pub(super) fn shows_preamble(&self) -> bool {
        !self.is_multipart || self.has_readable_type
    }

    /// Ends the header.
    pub(super) fn settle(&mut self) {
        let strange = std::mem::take(&mut self.strange_boundaries);
        let is_readable = self.has_readable_type && !self.is_multipart;
        if is_readable {
            self.boundaries.clear();
        }
        if self.is_multipart {
            self.boundaries.extend(strange);
        }
    }

    /// Takes the value of a field Content-Type.
    pub(super) fn content_type(&mut self, value: &[u8]) {
        let value = &without_comments(value)[..];
        let is_first = !std::mem::replace(&mut self.has_type, true);
        match type_of(value) {
            Some(name) if starts_with_ci(&name, b"multipart/") => {
                let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
                self.is_multipart = true;
                self.is_alternative = is(b"multipart/alternative");
                self.is_digest = is(b"multipart/digest");
                if !self.has_readable_type {
                    (self.kind, self.is_doubtful) = (ContentType::Plain, false);
                }
            }
            Some(name) => {
                let kind = kind_of(&name, value);
                // A word is less than a type.
                let is_word = name.ends_with(b"/") || !value.contains(&b'/');
                self.is_doubtful = is_word || self.has_readable_type && self.kind != kind;
                self.has_readable_type = true;
                self.kind = kind;
                self.deletes_blanks = says_yes(value, b"delsp");
            }
            None if is_first && self.kind == ContentType::Unknown => {
                (self.kind, self.is_doubtful) = (ContentType::Plain, true);
            }
            None => {}
        }
        add_boundaries(&mut self.boundaries, value);
        let charset = named(value, b"charset")
            .filter(|label| !fields::is_plain_ascii(label))
            .find_map(|label| Charset::by_label(&label));
        self.charset = charset.or(self.charset);
    }

    /// Takes the boundaries that another field names.
    pub(super) fn strange_boundaries_in(&mut self, field: &[u8]) {
        if find_ci(field, b"boundary").is_some() {
            add_boundaries(&mut self.strange_boundaries, field);
        }
    }
}

fn add_boundaries(boundaries: &mut Vec<Vec<u8>>, value: &[u8]) {
    for mut boundary in named(value, b"boundary") {
        boundary.truncate(LONGEST_BOUNDARY);
        let boundary = boundary.trim_ascii_end().to_vec();
        let is_new = !boundary.is_empty() && !boundaries.contains(&boundary);
        if is_new && boundaries.len() < MOST_BOUNDARIES {
            boundaries.push(boundary);
        }
    }
}

/// The values that a field has for a parameter: as the standards have it, and then as it stands
/// after each `name=`, where `;` is missing.
fn named(value: &[u8], name: &'static [u8]) -> impl Iterator<Item = Vec<u8>> {
    parameters::value(value, name).into_iter().chain(parameters::occurrences(value, name))
}

fn says_yes(value: &[u8], name: &'static [u8]) -> bool {
    named(value, name).any(|said| said.trim_ascii().eq_ignore_ascii_case(b"yes"))
}

/// A field's value without comments (RFC 5322, 3.2.2).
fn without_comments(value: &[u8]) -> Vec<u8> {
    let mut found = Vec::with_capacity(value.len());
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for &byte in value {
        let is_plain = !is_escaped;
        is_escaped = byte == b'\\' && is_plain && (is_quoted || depth > 0);
        match byte {
            b'"' if is_plain && depth == 0 => is_quoted = !is_quoted,
            b'(' if is_plain && !is_quoted => depth += 1,
            b')' if is_plain && depth > 0 => {
                depth -= 1;
                // What a comment separates is not one word.
                found.push(b' ');
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            found.push(byte);
        }
    }
    // A parenthesis that is never closed begins no comment.
    if depth > 0 { value.to_vec() } else { found }
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_' | b'!' | b'#' | b'$')
}

/// The type that a field names: the first `type/subtype` outside the values of parameters, or else
/// the first word that certainly means a type. `None` if no type is named.
fn type_of(value: &[u8]) -> Option<Vec<u8>> {
    let mut words = Words { rest: value, is_value: false };
    let mut first = None;
    let mut before: Option<&[u8]> = None;
    while let Some((word, is_value)) = words.next() {
        match (before, word) {
            (Some(major), b"/") => {
                let minor = match words.next() {
                    Some((minor, false)) if minor.iter().all(|&byte| is_token(byte)) => minor,
                    _ => b"",
                };
                return Some([major, b"/", minor].concat());
            }
            _ if is_value || word.len() == 1 && !is_token(word[0]) => before = None,
            _ => {
                before = Some(word);
                first = first.or_else(|| sure_type(word));
            }
        }
    }
    first.map(<[u8]>::to_vec)
}

/// The words of a field: tokens, and other characters one by one; with each whether it is the value
/// of a parameter.
struct Words<'a> {
    rest: &'a [u8],
    is_value: bool,
}

impl<'a> Iterator for Words<'a> {
    type Item = (&'a [u8], bool);

    fn next(&mut self) -> Option<Self::Item> {
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'"';
        let is_quoted = self.is_value && self.rest.trim_ascii_start().starts_with(b"\"");
        if is_quoted {
            let quoted = &self.rest.trim_ascii_start()[1..];
            let end = memchr::memchr(b'"', quoted).unwrap_or(quoted.len());
            self.rest = quoted.get(end + 1..).unwrap_or_default();
            self.is_value = false;
            return Some((&quoted[..end], true));
        }
        let start = self.rest.iter().position(|byte| !is_between(byte))?;
        let rest = &self.rest[start..];
        let end = rest.iter().position(|&byte| !is_token(byte)).unwrap_or(rest.len()).max(1);
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        let is_value = std::mem::replace(&mut self.is_value, word == b"=");
        Some((word, is_value))
    }
}

/// The type that a single word certainly means.
fn sure_type(word: &[u8]) -> Option<&'static [u8]> {
    const SURE: [(&[u8], &[u8]); 17] = [
        (b"text", b"text/plain"),
        (b"plain", b"text/plain"),
        (b"html", b"text/html"),
        (b"xhtml", b"text/html"),
        (b"multipart", b"multipart/mixed"),
        (b"mixed", b"multipart/mixed"),
        (b"related", b"multipart/related"),
        (b"alternative", b"multipart/alternative"),
        (b"digest", b"multipart/digest"),
        (b"rfc822", b"message/rfc822"),
        (b"octet-stream", b"application/octet-stream"),
        (b"pdf", b"application/pdf"),
        (b"application", b"application/"),
        (b"image", b"image/"),
        (b"audio", b"audio/"),
        (b"video", b"video/"),
        (b"font", b"font/"),
    ];
    SURE.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, means)| *means)
}

/// The kind of content of a type.
fn kind_of(name: &[u8], value: &[u8]) -> ContentType {
    let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
    // Headers in UTF-8 (RFC 6532).
    let is_message = is(b"message/global");
    // Of a message in pieces the first one has the header (RFC 2046, 5.2.2).
    let is_piece = is(b"message/partial");
    match mime::content_type(name) {
        _ if is_message => ContentType::Message,
        _ if is_piece => {
            let number = named(value, b"number").next();
            let is_first = number.is_none_or(|number| number.trim_ascii() == b"1");
            if is_first { ContentType::Message } else { ContentType::Plain }
        }
        kind => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(fields: &[&str]) -> Headers {
        let mut headers = Headers::default();
        for field in fields {
            headers.content_type(field.as_bytes());
        }
        headers
    }

    #[test]
    fn types_are_read_in_all_their_ways() {
        for (value, code) in [
            ("text/html; charset=utf-8", "h"),
            ("TEXT / HTML", "h"),
            ("(c (d) \\) e) text/html", "h"),
            ("\"text/html\"", "h"),
            ("text/html,charset=x", "h"),
            ("charset=utf-8; text/html", "h"),
            ("charset=\"a/b\" text/html", "h"),
            ("html", "h"),
            ("text", "p"),
            ("text/", "p"),
            ("plain; charset=utf-8", "p"),
            ("", "p"),
            ("???", "p"),
            ("charset=utf-8", "p"),
            ("no type at all", "p"),
            ("(open", "p"),
            ("multipart; boundary=bb", "m"),
            ("multipart/alternative boundary=\"bb\"", "ma"),
            ("mixed; boundary=bb", "m"),
            ("multipart/digest", "md"),
            ("message/global", "e"),
            ("message/rfc822", "e"),
            ("message/partial; number=1; total=2", "e"),
            ("message/partial; number=2; total=2", "p"),
            ("image; name=x.gif", "i"),
            ("application", "b"),
            ("foo/bar; x=text/plain", "o"),
        ] {
            let found = described(&[value]);
            assert_eq!(found.code(), code.as_bytes(), "{value}");
        }
    }

    #[test]
    fn all_boundaries_that_are_named_wait() {
        for (fields, expected) in [
            (&["multipart/mixed; boundary=\"b b\""][..], &["b b"][..]),
            (&["multipart/mixed; boundary=bb"], &["bb"]),
            (&["multipart/mixed boundary=\"bb\""], &["bb"]),
            (&["multipart/mixed; boundary=bb (x)"], &["bb"]),
            (&["multipart/mixed; boundary = bb x"], &["bb x", "bb"]),
            (&["multipart/mixed; X boundary=bb"], &["bb"]),
            (&["multipart/mixed; boundary*0=a; boundary*1=b"], &["ab"]),
            (&["multipart/mixed; boundary=a", "text/plain; boundary=b"], &["a", "b"]),
            (&["text/plain"], &[]),
            (&["multipart/mixed; boundary=\"\""], &[]),
        ] {
            let found = described(fields).boundaries;
            let found: Vec<_> = found.iter().map(|it| String::from_utf8_lossy(it)).collect();
            assert_eq!(found, expected, "{fields:?}");
        }
    }

    #[test]
    fn what_can_be_read_stays_beside_what_cannot() {
        for fields in [["text/html", "???"], ["???", "text/html"]] {
            assert_eq!(described(&fields).code(), b"h", "{fields:?}");
        }
        assert!(described(&["text/html", "text/plain"]).is_doubtful);
        assert!(!described(&["text/html", "text/html"]).is_doubtful);
        assert_eq!(described(&["text/html", "multipart/mixed; boundary=b"]).code(), b"m");
        let charset = |fields: &[&str]| described(fields).charset.map_or("", Charset::name);
        assert_eq!(charset(&["text/plain charset=koi8-r"]), "KOI8-R");
        assert_eq!(charset(&["text/plain; charset=koi8-r X"]), "KOI8-R");
        assert_eq!(charset(&["text/plain; charset=koi8-r", "text/plain; charset=none"]), "KOI8-R");
    }

    #[test]
    fn misspelt_encodings_are_known() {
        for (value, expected) in [
            ("base64", "b"),
            ("BASE-64", "b"),
            ("base 64 X", "b"),
            ("quoted_printable", "q"),
            ("quopri", "q"),
            ("x-uuencode", "u"),
            ("x-uue", "u"),
            ("8bit", "o"),
            ("", "o"),
        ] {
            let mut found = Encodings::default();
            found.read(value.as_bytes());
            let Encodings { base64, quoted_printable, uuencode, other } = found;
            let said = [(base64, "b"), (quoted_printable, "q"), (uuencode, "u"), (other, "o")];
            let said: String = said.iter().filter(|row| row.0).map(|row| row.1).collect();
            assert_eq!(said, expected, "{value}");
        }
    }
}
