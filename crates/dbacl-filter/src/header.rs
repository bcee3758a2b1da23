// SPDX-License-Identifier: GPL-3.0-or-later
//! Header lines of mail: which header, what kind, and how it is cut short (spec email 8).

use crate::bytes::{find_parameter, starts_with_ci};
use dbacl_words::class::is_space;

/// The identity of a header, as far as the medium or the choice of headers needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // each is the header of that name
pub enum HeaderId {
    Unknown,
    Bcc,
    Category,
    Cc,
    Comments,
    Content,
    From,
    Importance,
    InReplyTo,
    Keywords,
    List,
    MessageId,
    MimeVersion,
    Notes,
    Original,
    Priority,
    Received,
    References,
    ReplyTo,
    Resent,
    ReturnPath,
    ReturnReceiptTo,
    Sender,
    Sent,
    Subject,
    Thread,
    To,
    UserAgent,
    X,
    XMs,
}

/// What a header line is, which decides whether it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderKind {
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
pub enum Cut {
    /// Nothing.
    Nothing,
    /// From the first `;` on.
    FromSemicolon,
    /// All but the first byte: the `;` was on a line before.
    Everything,
}

/// The identity of the header that `line` begins. Prefixes are compared without regard to case,
/// and what follows them is ignored.
pub fn identify(line: &[u8]) -> HeaderId {
    let Some(first) = line.first() else {
        return HeaderId::Unknown;
    };
    let candidates: &[(&[u8], HeaderId)] = match first.to_ascii_lowercase() {
        b'b' => &[(b"bcc:", HeaderId::Bcc)],
        b'c' => &[
            (b"content-", HeaderId::Content),
            (b"cc:", HeaderId::Cc),
            (b"categor", HeaderId::Category),
            (b"comments:", HeaderId::Comments),
        ],
        b'f' => &[(b"from:", HeaderId::From)],
        b'i' => &[(b"in-reply-to:", HeaderId::InReplyTo), (b"importance:", HeaderId::Importance)],
        b'k' => &[(b"keywords:", HeaderId::Keywords)],
        b'l' => &[(b"list-", HeaderId::List)],
        b'm' => &[(b"message-id:", HeaderId::MessageId), (b"mime-version:", HeaderId::MimeVersion)],
        b'n' => &[(b"notes:", HeaderId::Notes)],
        b'o' => &[(b"original-", HeaderId::Original)],
        b'p' => &[(b"priority:", HeaderId::Priority)],
        b'r' => &[
            (b"received:", HeaderId::Received),
            (b"return-path:", HeaderId::ReturnPath),
            (b"references:", HeaderId::References),
            (b"return-receipt-to:", HeaderId::ReturnReceiptTo),
            (b"reply-to:", HeaderId::ReplyTo),
            (b"resent-", HeaderId::Resent),
        ],
        b's' => &[
            (b"subject:", HeaderId::Subject),
            (b"sent:", HeaderId::Sent),
            (b"sender:", HeaderId::Sender),
        ],
        b't' => &[(b"to:", HeaderId::To), (b"thread-", HeaderId::Thread)],
        b'x' => &[(b"x-ms", HeaderId::XMs), (b"x-", HeaderId::X)],
        b'u' => &[(b"user-agent:", HeaderId::UserAgent)],
        _ => &[],
    };
    candidates
        .iter()
        .find(|(prefix, _)| starts_with_ci(line, prefix))
        .map_or(HeaderId::Unknown, |&(_, id)| id)
}

/// The header that lines are taken to belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderScan {
    /// Identity of the last header line.
    pub id: HeaderId,
    /// How its lines are cut. It outlives a message.
    pub cut: Cut,
}

impl HeaderScan {
    /// At the start of a file.
    pub const START: Self = Self { id: HeaderId::Unknown, cut: Cut::Nothing };

    /// Reads `line` as a header line: takes its identity, cuts it, and returns its kind.
    ///
    /// A line without a colon behind its first word is a continuation, but its identity counts.
    pub fn scan(&mut self, line: &mut Vec<u8>) -> HeaderKind {
        if line.first().is_some_and(|&first| is_space(first)) {
            self.strip(line);
            return HeaderKind::Continuation;
        }
        self.id = identify(line);
        match self.id {
            HeaderId::From
            | HeaderId::To
            | HeaderId::MessageId
            | HeaderId::InReplyTo
            | HeaderId::Subject => {
                self.cut = Cut::Nothing;
                HeaderKind::Standard
            }
            HeaderId::ReturnPath | HeaderId::Received => {
                self.cut = Cut::FromSemicolon;
                self.strip(line);
                HeaderKind::Trace
            }
            HeaderId::Content if memchr::memchr(b':', &line[b"content-".len()..]).is_some() => {
                self.cut = Cut::Nothing;
                HeaderKind::Mime
            }
            HeaderId::Sender
            | HeaderId::ReplyTo
            | HeaderId::Bcc
            | HeaderId::Cc
            | HeaderId::References => {
                self.cut = Cut::Nothing;
                HeaderKind::Extended
            }
            _ if line.iter().find(|&&byte| byte == b':' || is_space(byte)) == Some(&b':') => {
                self.cut = Cut::Nothing;
                HeaderKind::Other
            }
            _ => HeaderKind::Continuation,
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

/// Replaces the first `;` behind index `from` by a newline and ends the line there; returns
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
pub fn is_excluded(line: &[u8]) -> bool {
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
pub fn keep_label(line: &mut Vec<u8>) -> bool {
    const CONTENT: &[u8] = b"Content-";
    if !starts_with_ci(line, CONTENT) {
        let is_folded = line.first().is_some_and(|&first| is_space(first));
        let Some(name) = find_parameter(line, b"name=").filter(|_| is_folded) else {
            return false;
        };
        cut_at_semicolon(line, name);
        return true;
    }
    let rest = &line[CONTENT.len()..];
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
            ("From: a", HeaderId::From),
            ("From a", HeaderId::Unknown),
            ("FROM:", HeaderId::From),
            ("Categories: x", HeaderId::Category),
            ("content-x", HeaderId::Content),
            ("Comment: x", HeaderId::Unknown),
            ("Return-Receipt-To: x", HeaderId::ReturnReceiptTo),
            ("X-MSMail-Priority: x", HeaderId::XMs),
            ("X-Mailer: x", HeaderId::X),
            ("X", HeaderId::Unknown),
            ("Sender: x", HeaderId::Sender),
            ("Sent: x", HeaderId::Sent),
            ("", HeaderId::Unknown),
        ] {
            assert_eq!(identify(line.as_bytes()), expected, "{line}");
        }
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
