// SPDX-License-Identifier: GPL-3.0-or-later
//! Header lines of mail: which header, what kind, and how it is cut short (spec email 8).

use crate::filter::bytes::{find_parameter, starts_with_ci, strip_prefix_ci};
use crate::model::settings::{ModelOption, ModelOptions};
use dbacl_words::class::is_space;

/// What a header line is, which decides whether it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderKind {
    /// Kept by default.
    Standard,
    /// Kept with `email:headers`.
    Extended,
    /// Kept with `email:theaders`.
    Trace,
    /// Describes the content.
    Mime,
    /// Kept with `email:xheaders`.
    Other,
    /// Goes on with the header before it.
    Continuation,
}

/// How much of the current header's lines is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// Nothing.
    Nothing,
    /// From the first `;` on.
    FromSemicolon,
    /// All but the first byte: the `;` was on a line before.
    Everything,
}

/// The start of a header's name, the medium of its tokens (spec email 13), and its kind.
type Header = (&'static [u8], u8, HeaderKind);

/// The medium of a subject.
const SUBJECT: u8 = 10;
/// The medium of a header that has no row among [`HEADERS`].
const OTHER: u8 = 4;
/// Any header that has no row among [`HEADERS`].
const UNKNOWN: Header = (b"", OTHER, HeaderKind::Other);

/// The headers that are known, by the first letter. Of two that fit, the first one counts.
const HEADERS: [Header; 29] = [
    (b"bcc:", 12, HeaderKind::Extended),
    (b"content-", 9, HeaderKind::Mime),
    (b"cc:", 12, HeaderKind::Extended),
    (b"categor", 6, HeaderKind::Other),
    (b"comments:", 5, HeaderKind::Other),
    (b"from:", 12, HeaderKind::Standard),
    (b"in-reply-to:", 14, HeaderKind::Standard),
    (b"importance:", 6, HeaderKind::Other),
    (b"keywords:", 5, HeaderKind::Other),
    (b"list-", 8, HeaderKind::Other),
    (b"message-id:", 14, HeaderKind::Standard),
    (b"mime-version:", 9, HeaderKind::Other),
    (b"notes:", 5, HeaderKind::Other),
    (b"original-", 13, HeaderKind::Other),
    (b"priority:", 6, HeaderKind::Other),
    (b"received:", 15, HeaderKind::Trace),
    (b"return-path:", 15, HeaderKind::Trace),
    (b"references:", 14, HeaderKind::Extended),
    (b"return-receipt-to:", 15, HeaderKind::Other),
    (b"reply-to:", 15, HeaderKind::Extended),
    (b"resent-", 13, HeaderKind::Other),
    (b"subject:", SUBJECT, HeaderKind::Standard),
    (b"sent:", 12, HeaderKind::Other),
    (b"sender:", 12, HeaderKind::Extended),
    (b"to:", 11, HeaderKind::Standard),
    (b"thread-", 6, HeaderKind::Other),
    (b"user-agent:", 5, HeaderKind::Other),
    (b"x-ms", 6, HeaderKind::Other),
    (b"x-", 7, HeaderKind::Other),
];

/// The header that `line` begins. Prefixes are compared without regard to case, and what follows
/// them is ignored.
fn identify(line: &[u8]) -> Header {
    let initial = line.first().map_or(0, u8::to_ascii_lowercase);
    let start = HEADERS.partition_point(|(name, ..)| name[0] < initial);
    let same = HEADERS[start..].iter().take_while(|(name, ..)| name[0] == initial);
    same.copied().find(|(name, ..)| starts_with_ci(line, name)).unwrap_or(UNKNOWN)
}

/// The header that lines are taken to belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeaderScan {
    /// The medium of the last header line's tokens.
    pub medium: u8,
    /// How its lines are cut. It outlives a message.
    cut: Cut,
}

impl HeaderScan {
    /// At the start of a file.
    pub(super) const START: Self = Self { medium: OTHER, cut: Cut::Nothing };

    /// Forgets which header the last line was of, but not how lines are cut.
    pub(super) fn forget(&mut self) {
        self.medium = OTHER;
    }

    /// Reads `line` as a header line: takes its medium, cuts it, and returns its kind.
    ///
    /// A line without a colon after its first word is a continuation, but its medium counts.
    pub(super) fn scan(&mut self, line: &mut Vec<u8>) -> HeaderKind {
        if line.first().is_some_and(|&first| is_space(first)) {
            self.strip(line);
            return HeaderKind::Continuation;
        }
        let (name, medium, kind) = identify(line);
        self.medium = medium;
        let has_colon = match kind {
            HeaderKind::Mime => memchr::memchr(b':', &line[name.len()..]).is_some(),
            HeaderKind::Other => {
                line.iter().find(|&&byte| byte == b':' || is_space(byte)) == Some(&b':')
            }
            _ => true,
        };
        if !has_colon {
            return HeaderKind::Continuation;
        }
        self.cut = Cut::Nothing;
        if kind == HeaderKind::Trace {
            self.cut = Cut::FromSemicolon;
            self.strip(line);
        }
        kind
    }

    /// Whether the last header line, which has the kind `kind`, is shown under `options`. Callers
    /// add what `email:xheaders` keeps.
    pub(super) fn shows(self, kind: HeaderKind, options: ModelOptions) -> bool {
        match kind {
            HeaderKind::Standard => {
                !options.has(ModelOption::MailNoHeaders) || self.medium == SUBJECT
            }
            HeaderKind::Extended => options.has(ModelOption::MailHeaders),
            HeaderKind::Trace => options.has(ModelOption::MailTHeaders),
            HeaderKind::Mime | HeaderKind::Other | HeaderKind::Continuation => false,
        }
    }

    /// Cuts a line of the current header.
    fn strip(&mut self, line: &mut Vec<u8>) {
        match self.cut {
            Cut::Nothing => {}
            Cut::FromSemicolon => {
                if cut_at_semicolon(line, 0) {
                    self.cut = Cut::Everything;
                }
            }
            Cut::Everything => line.truncate(1),
        }
    }
}

/// Replaces the first `;` after index `from` by a newline and ends the line there; returns
/// whether there was one.
fn cut_at_semicolon(line: &mut Vec<u8>, from: usize) -> bool {
    let Some(rest) = line.get(from + 1..) else {
        return false;
    };
    let Some(offset) = memchr::memchr(b';', rest) else {
        return false;
    };
    let at = from + 1 + offset;
    line[at] = b'\n';
    line.truncate(at + 1);
    true
}

/// Whether `line`, a header that no other rule keeps, is left out even with `email:xheaders`, by
/// the start of its name (spec email 8.3).
pub(super) fn is_excluded(line: &[u8]) -> bool {
    const EXCLUDED: [&[u8]; 8] = [
        b"X-DBACL",
        b"Date",
        b"Path",
        b"Posted",
        b"Expires",
        b"Received",
        b"Resent-Date",
        b"Delivery-Date",
    ];
    EXCLUDED.iter().any(|prefix| starts_with_ci(line, prefix))
}

/// Cuts a MIME header line down to its label with `email:headers`; returns whether it has one to
/// be kept (spec email 8.4).
pub(super) fn keep_label(line: &mut Vec<u8>) -> bool {
    const CONTENT: &[u8] = b"Content-";
    let Some(rest) = strip_prefix_ci(line, CONTENT) else {
        let is_folded = line.first().is_some_and(|&first| is_space(first));
        let Some(name) = find_parameter(line, b"name=").filter(|_| is_folded) else {
            return false;
        };
        cut_at_semicolon(line, name);
        return true;
    };
    if starts_with_ci(rest, b"Type:") {
        let from = CONTENT.len() + find_parameter(rest, b"name=").unwrap_or(0);
        cut_at_semicolon(line, from);
        true
    } else if starts_with_ci(rest, b"Disposition:") {
        cut_at_semicolon(line, CONTENT.len());
        true
    } else {
        starts_with_ci(rest, b"ID:") || starts_with_ci(rest, b"Description:")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_prefixes_in_any_case() {
        for (line, expected) in [
            ("From: a", "from:"),
            ("From a", ""),
            ("FROM:", "from:"),
            ("Categories: x", "categor"),
            ("content-x", "content-"),
            ("Comment: x", ""),
            ("Return-Receipt-To: x", "return-receipt-to:"),
            ("X-MSMail-Priority: x", "x-ms"),
            ("X-Mailer: x", "x-"),
            ("X", ""),
            ("Sender: x", "sender:"),
            ("Sent: x", "sent:"),
            ("", ""),
        ] {
            assert_eq!(identify(line.as_bytes()).0, expected.as_bytes(), "{line}");
        }
        assert!(HEADERS.is_sorted_by_key(|(name, ..)| name[0]));
    }

    #[test]
    fn a_scan_cuts_lines_and_remembers_how() {
        let mut scan = HeaderScan::START;
        for (line, kind, expected) in [
            ("Subject: a;b\n", HeaderKind::Standard, "Subject: a;b\n"),
            (" c;d\n", HeaderKind::Continuation, " c;d\n"),
            ("Received: from a\n", HeaderKind::Trace, "Received: from a\n"),
            ("\tby b; date\n", HeaderKind::Continuation, "\tby b\n"),
            (" (more)\n", HeaderKind::Continuation, " "),
            ("no colon; here: x\n", HeaderKind::Continuation, "no colon; here: x\n"),
            (" still cut\n", HeaderKind::Continuation, " "),
            ("Content-Type\n", HeaderKind::Continuation, "Content-Type\n"),
            (" still cut\n", HeaderKind::Continuation, " "),
            ("Content-Type a: b\n", HeaderKind::Mime, "Content-Type a: b\n"),
            (" not cut\n", HeaderKind::Continuation, " not cut\n"),
            ("Received: a;b;c\n", HeaderKind::Trace, "Received: a\n"),
            ("CC: a;b\n", HeaderKind::Extended, "CC: a;b\n"),
            ("Return-Path: <a>\n", HeaderKind::Trace, "Return-Path: <a>\n"),
            (";first byte\n", HeaderKind::Continuation, ";first byte\n"),
            ("MIME-Version: 1.0\n", HeaderKind::Other, "MIME-Version: 1.0\n"),
            (":\n", HeaderKind::Other, ":\n"),
            ("x", HeaderKind::Continuation, "x"),
        ] {
            let mut cut = line.as_bytes().to_vec();
            assert_eq!(scan.scan(&mut cut), kind, "{line}");
            assert_eq!(String::from_utf8_lossy(&cut), expected, "{line}");
        }
    }

    #[test]
    fn labels_lose_their_parameters() {
        for (line, expected) in [
            ("Content-Type: text/plain; charset=x\n", Some("Content-Type: text/plain\n")),
            (
                "Content-Type: a/b; name=\"x.doc\"; y=z\n",
                Some("Content-Type: a/b; name=\"x.doc\"\n"),
            ),
            ("Content-Type: a/b\n", Some("Content-Type: a/b\n")),
            ("content-disposition: a; filename=b\n", Some("content-disposition: a\n")),
            ("Content-ID: <a;b>\n", Some("Content-ID: <a;b>\n")),
            ("Content-Description: a;b\n", Some("Content-Description: a;b\n")),
            ("Content-Length: 5\n", None),
            ("\tfilename=x; y\n", Some("\tfilename=x\n")),
            ("\tcharset=x\n", None),
            ("name=x", None),
        ] {
            let mut cut = line.as_bytes().to_vec();
            let is_kept = keep_label(&mut cut);
            assert_eq!(is_kept, expected.is_some(), "{line}");
            assert_eq!(String::from_utf8_lossy(&cut), expected.unwrap_or(line), "{line}");
        }
    }

    #[test]
    fn exclusion_is_by_the_start_of_the_name() {
        for (line, expected) in [
            ("Date: x", true),
            ("Dateline: x", true),
            ("x-dbacl-says: x", true),
            ("Resent-Date: x", true),
            ("Resent-From: x", false),
            ("X-Date: x", false),
        ] {
            assert_eq!(is_excluded(line.as_bytes()), expected, "{line}");
        }
    }
}
