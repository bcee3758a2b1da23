// SPDX-License-Identifier: GPL-3.0-or-later
//! MIME: content types, transfer encodings and boundaries (spec email 10).
//!
//! Nothing is nested here: the last types seen count, and the last eight boundaries are known.

use crate::filter::bytes::{
    ends_with_ci, find_ci, find_parameter, starts_with_ci, strip_prefix_ci,
};
use dbacl_words::class::is_space;

/// The type of a part, as far as its treatment differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)] // each is a row of spec email 10.1
pub(crate) enum ContentType {
    #[default]
    Unknown,
    Plain,
    Rich,
    Html,
    Xml,
    Sgml,
    Image,
    Audio,
    Video,
    Model,
    Message,
    Other,
    Octets,
    Word,
}

/// A transfer encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)] // each is the encoding of that name
pub(crate) enum Encoding {
    #[default]
    Unknown,
    /// 8 bits, or not known.
    Identity,
    Base64,
    QuotedPrintable,
    Binary,
    SevenBit,
}

/// What headers say about a body; by default they say nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Content {
    /// Its type.
    pub kind: ContentType,
    /// Its encoding.
    pub encoding: Encoding,
}

impl Content {
    /// Takes over what the header line `line` says. Only the line itself is looked at, so a type
    /// that is folded to the next line is OTHER.
    pub(crate) fn read_header(&mut self, line: &[u8]) {
        if let Some(value) = strip_prefix_ci(line, b"Content-Type:") {
            self.kind = content_type(value);
        } else if let Some(value) = strip_prefix_ci(line, b"Content-Transfer-Encoding:") {
            self.encoding = encoding(value);
        }
    }
}

/// Content types by order of precedence: what stands before the slash, what begins after it.
const TYPES: [(&[u8], &[u8], ContentType); 26] = [
    (b"text", b"html", ContentType::Html),
    (b"text", b"xhtml", ContentType::Html),
    (b"text", b"plain", ContentType::Plain),
    (b"text", b"richtext", ContentType::Rich),
    (b"text", b"enriched", ContentType::Rich),
    (b"text", b"rtf", ContentType::Plain),
    (b"text", b"xml", ContentType::Xml),
    (b"text", b"sgml", ContentType::Sgml),
    (b"text", b"", ContentType::Plain),
    (b"multipart", b"", ContentType::Plain),
    (b"message", b"rfc822", ContentType::Message),
    (b"message", b"partial", ContentType::Other),
    (b"message", b"external-body", ContentType::Message),
    (b"message", b"news", ContentType::Message),
    (b"message", b"", ContentType::Octets),
    (b"application", b"sgml", ContentType::Plain),
    (b"application", b"xml", ContentType::Plain),
    (b"application", b"rtf", ContentType::Plain),
    (b"application", b"news-transmission", ContentType::Message),
    (b"application", b"andrew-inset", ContentType::Plain),
    (b"application", b"msword", ContentType::Word),
    (b"application", b"", ContentType::Octets),
    (b"image", b"", ContentType::Image),
    (b"audio", b"", ContentType::Audio),
    (b"video", b"", ContentType::Video),
    (b"model", b"", ContentType::Model),
];

/// The type named anywhere in `text`; of several, the one that comes first in the table.
pub(super) fn content_type(text: &[u8]) -> ContentType {
    let mut best = TYPES.len();
    for slash in memchr::memchr_iter(b'/', text) {
        let (before, behind) = (&text[..slash], &text[slash + 1..]);
        let row = TYPES[..best].iter().position(|(major, minor, _)| {
            ends_with_ci(before, major) && starts_with_ci(behind, minor)
        });
        best = row.unwrap_or(best);
    }
    TYPES.get(best).map_or(ContentType::Other, |row| row.2)
}

/// The encoding named anywhere in `text`.
pub(super) fn encoding(text: &[u8]) -> Encoding {
    const ENCODINGS: [(&[u8], Encoding); 4] = [
        (b"base64", Encoding::Base64),
        (b"quoted-printable", Encoding::QuotedPrintable),
        (b"binary", Encoding::Binary),
        (b"7bit", Encoding::SevenBit),
    ];
    ENCODINGS
        .iter()
        .find(|(name, _)| find_ci(text, name).is_some())
        .map_or(Encoding::Identity, |row| row.1)
}

/// Number of boundaries that are known at a time.
const SLOTS: usize = 8;
/// Number of bytes of a boundary that count (RFC 2046 allows no more).
const LONGEST: usize = 70;

/// The last eight boundaries, whatever their nesting. None is ever removed within a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Boundaries {
    slots: [Vec<u8>; SLOTS],
    /// The slot that is overwritten next; the newest boundary is before it.
    next: usize,
}

impl Boundaries {
    /// Takes the boundary that a MIME header line sets, if it does.
    pub(crate) fn read_header(&mut self, line: &[u8]) {
        const NAME: &[u8] = b"boundary=";
        let Some(name) = find_parameter(line, NAME) else {
            return;
        };
        let value = &line[name + NAME.len()..];
        let Some(start) = value.iter().position(|&byte| !is_space(byte)) else {
            return;
        };
        let value = &value[start..];
        let (value, is_end): (&[u8], fn(u8) -> bool) = match value.strip_prefix(b"\"") {
            Some(quoted) => (quoted, |byte| byte == b'"'),
            None => (value, is_space),
        };
        let value = &value[..value.len().min(LONGEST)];
        let size = value.iter().position(|&byte| is_end(byte)).unwrap_or(value.len());
        self.slots[self.next] = value[..size].to_vec();
        self.next = (self.next + 1) % SLOTS;
    }

    /// Whether `line`, which begins with `--`, opens or closes a part.
    ///
    /// This is an approximation, kept from dbacl 1.14.1: newer slots are tried first, on a mismatch
    /// an older one is tried from the same place on, and a boundary matches the start of a line.
    /// At most 70 bytes and a few turns of the ring are looked at.
    pub(crate) fn match_line(&self, line: &[u8]) -> bool {
        let mut matched = 0;
        let mut current = (self.next + SLOTS - 1) % SLOTS;
        while let Some(&byte) = line.get(2 + matched) {
            let fits = |slot: usize| self.slots[slot].get(matched) == Some(&byte);
            if !fits(current) {
                current = (current + SLOTS - 1) % SLOTS;
                if current == self.next && !fits(current) {
                    return false;
                }
            } else if matched + 1 == self.slots[current].len() {
                return true;
            } else {
                matched += 1;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn types_are_found_anywhere_in_their_order() {
        for (line, expected) in [
            ("Content-Type: text/html; charset=x", ContentType::Html),
            ("content-type:TEXT/X-foo", ContentType::Plain),
            ("Content-Type: image/gif; name=text/html", ContentType::Html),
            ("Content-Type: multipart/mixed", ContentType::Plain),
            ("Content-Type: message/rfc822", ContentType::Message),
            ("Content-Type: message/delivery-status", ContentType::Octets),
            ("Content-Type: application/pdf", ContentType::Octets),
            ("Content-Type: application/msword", ContentType::Word),
            ("Content-Type: application/xhtml+xml", ContentType::Octets),
            ("Content-Type: text", ContentType::Other),
            ("Content-Type:", ContentType::Other),
            ("Content-Type: richtext/html", ContentType::Html),
            ("Content-Types: text/html", ContentType::Unknown),
        ] {
            let mut content = Content::default();
            content.read_header(line.as_bytes());
            assert_eq!(content.kind, expected, "{line}");
        }
    }

    #[test]
    fn encodings_are_found_anywhere() {
        for (line, expected) in [
            ("Content-Transfer-Encoding: BASE64", Encoding::Base64),
            ("content-transfer-encoding: quoted-printable (base64)", Encoding::Base64),
            ("Content-Transfer-Encoding:quoted-printable", Encoding::QuotedPrintable),
            ("Content-Transfer-Encoding: x-binary", Encoding::Binary),
            ("Content-Transfer-Encoding: 7BIT", Encoding::SevenBit),
            ("Content-Transfer-Encoding: 8bit", Encoding::Identity),
            ("Content-Encoding: base64", Encoding::Unknown),
        ] {
            let mut content = Content::default();
            content.read_header(line.as_bytes());
            assert_eq!(content.encoding, expected, "{line}");
        }
    }

    fn boundaries(headers: &[&str]) -> Boundaries {
        let mut boundaries = Boundaries::default();
        for header in headers {
            boundaries.read_header(header.as_bytes());
        }
        boundaries
    }

    #[test]
    fn boundaries_match_as_prefixes_newest_first() {
        let long = format!("boundary={}", "x".repeat(80));
        for (headers, line, expected) in [
            (&["boundary=B1"][..], "--B1\n", true),
            (&["boundary=B1"], "--B1--\n", true),
            (&["boundary=B1"], "--B12\n", true),
            (&["boundary=B1"], "--B\n", false),
            (&["boundary=B1; x"], "--B1\n", false),
            (&["boundary=\"a b\"; x"], "--a b\n", true),
            (&["BOUNDARY= \ta"], "--a", true),
            (&["boundary=\"open\n"], "--open", false),
            (&["boundary=\"open\n"], "--open\n", true),
            (&["boundary=\"\""], "--\n", false),
            (&["boundary= \n"], "-- ", false),
            (&["boundary=outer", "boundary=inner"], "--outer\n", true),
            (&["boundary=outer", "boundary=inner"], "--inner\n", true),
            // dbacl 1.14.1 goes on in an older slot without looking back.
            (&["boundary=outer", "boundary=inner"], "--iuter\n", true),
            (&[&long], &format!("--{}\n", "x".repeat(70)), true),
            (&[], "--\n", false),
        ] {
            assert_eq!(
                boundaries(headers).match_line(line.as_bytes()),
                expected,
                "{headers:?} {line}"
            );
        }
    }

    #[test]
    fn the_ninth_boundary_replaces_the_first() {
        let headers: Vec<String> = (1..=9).map(|number| format!("boundary={number}")).collect();
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let ring = boundaries(&headers);
        for (line, expected) in [("--1\n", false), ("--2\n", true), ("--9\n", true)] {
            assert_eq!(ring.match_line(line.as_bytes()), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn the_search_ends(
            headers in proptest::collection::vec("boundary=\"?[ab]{0,75}", 0..20),
            line in "--[ab]{0,80}\n",
        ) {
            let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
            boundaries(&headers).match_line(line.as_bytes());
        }
    }
}
