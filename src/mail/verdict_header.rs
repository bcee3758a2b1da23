// SPDX-License-Identifier: GPL-3.0-or-later
//! The header line `X-DBACL` that the mail filter adds: a message that brings one is not believed.

use crate::mail::from_line::FROM;
use crate::mail::scanner::ends_in_cr;
use std::io;

/// The name of the header with the reasons, which stands after the other if it was asked for.
pub(crate) const REASONS: &str = "X-DBACL-Reasons";

/// The names of headers that no mail brings along.
const NAMES: [&[u8]; 2] = [b"x-dbacl", b"x-dbacl-reasons"];

/// Of a line that begins as a verdict, so much is looked at until the colon.
const LOOK: usize = 64;

/// Bytes whose line ends are changed at a time.
const ROOM: usize = 4096;

/// Whether a line begins such a header: blanks may stand before the colon.
fn begins(line: &[u8]) -> bool {
    NAMES.iter().any(|name| {
        line.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name))
            && line[name.len()..].trim_ascii_start().first() == Some(&b':')
    })
}

/// Looks at the lines of one message, one after the other, and finds those that a filter has
/// written.
///
/// The filter writes into the header of the mail itself, and only there. The body is the sender's
/// own text and counts, whatever its lines begin with. An attached message may have a verdict in
/// its header, which a filter wrote before the message was forwarded: readings of mail leave out
/// all headers whose names begin with `X-DBACL` there, when they learn and when they classify.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VerdictHeaders {
    is_inside: bool,
    is_body: bool,
}

impl VerdictHeaders {
    /// Whether this line belongs to such a header: begins one, or goes on with it.
    pub(crate) fn contain(&mut self, line: &[u8]) -> bool {
        self.is_body |= matches!(line, b"\n" | b"\r\n");
        if self.is_body {
            return false;
        }
        let goes_on = self.is_inside && matches!(line.first(), Some(b' ' | b'\t'));
        self.is_inside = begins(line) || goes_on;
        // What follows this line is the sender's own first line.
        self.is_inside || line.trim_ascii_end().eq_ignore_ascii_case(FOLDED)
    }
}

/// A header without a value. It is written after our header if the message's first line begins with
/// a blank, because such a line would otherwise continue our header.
const FOLDED: &[u8] = b"X-DBACL-Folded:";

/// Gives a message a verdict of its own in place of those that it brings, in pieces of any size.
/// Takes no memory. A message whose lines end in CR alone gets LF: the program that reads the
/// verdict would see one line.
pub(crate) struct Marker<'a> {
    verdict: &'a [u8],
    line_end: &'static [u8],
    /// Lines end in CR alone.
    ends_in_cr: bool,
    /// The piece before ended in CR.
    is_after_cr: bool,
    /// Whether something of the mail was passed on.
    is_begun: bool,
    is_said: bool,
    remover: Remover,
}

impl<'a> Marker<'a> {
    /// A marker of a message that begins so.
    pub(crate) fn new(verdict: &'a [u8], beginning: &[u8]) -> Self {
        let ends_in_cr = ends_in_cr(beginning);
        let line_end: &[u8] = match memchr::memchr(b'\n', beginning) {
            Some(at) if at > 0 && beginning[at - 1] == b'\r' && !ends_in_cr => b"\r\n",
            _ => b"\n",
        };
        Self {
            verdict,
            line_end,
            ends_in_cr,
            is_after_cr: false,
            is_begun: false,
            is_said: false,
            remover: Remover::default(),
        }
    }

    /// Takes the next piece of the mail; `keep` gets what is passed on.
    ///
    /// # Errors
    /// Those of `keep`.
    pub(crate) fn feed(&mut self, bytes: &[u8], keep: Keep<'_>) -> io::Result<()> {
        if !self.ends_in_cr {
            return self.feed_lines(bytes, keep);
        }
        let mut room = [0; ROOM];
        for piece in bytes.chunks(ROOM) {
            let mut length = 0;
            for &byte in piece {
                let is_end_of_pair = byte == b'\n' && self.is_after_cr;
                self.is_after_cr = byte == b'\r';
                if !is_end_of_pair {
                    room[length] = if byte == b'\r' { b'\n' } else { byte };
                    length += 1;
                }
            }
            self.feed_lines(&room[..length], keep)?;
        }
        Ok(())
    }

    fn feed_lines(&mut self, bytes: &[u8], keep: Keep<'_>) -> io::Result<()> {
        let Self { verdict, line_end, is_begun, is_said, remover, .. } = self;
        remover.feed(bytes, &mut |piece| {
            let is_first = !std::mem::replace(is_begun, true);
            let is_envelope = is_first && piece.starts_with(FROM) && piece.ends_with(b"\n");
            if !*is_said && !is_envelope {
                *is_said = true;
                say(verdict, line_end, keep)?;
                if matches!(piece.first(), Some(b' ' | b'\t')) {
                    keep(FOLDED)?;
                    keep(line_end)?;
                }
            }
            keep(piece)
        })
    }

    /// Ends the mail.
    ///
    /// # Errors
    /// Those of `keep`.
    pub(crate) fn finish(self, keep: Keep<'_>) -> io::Result<()> {
        if !self.is_said {
            say(self.verdict, self.line_end, keep)?;
        }
        self.remover.finish(keep)
    }
}

/// Lines of `verdict` after the first one are further header lines, or folded ones.
fn say(verdict: &[u8], line_end: &[u8], keep: Keep<'_>) -> io::Result<()> {
    keep(b"X-DBACL: ")?;
    for line in verdict.split(|&byte| byte == b'\n') {
        keep(line)?;
        keep(line_end)?;
    }
    Ok(())
}

/// Takes the verdicts that a message brings out of its header, in pieces of any size. Takes no
/// memory.
struct Remover {
    place: Place,
    /// The beginning of a line that does not tell yet what it is.
    held: [u8; LOOK],
    length: usize,
    /// Whether the header line before was taken out; lines that go on with it are, too.
    drops: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Kept,
    Dropped,
    Body,
}

/// Takes what stays of a message.
pub(crate) type Keep<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

impl Default for Remover {
    fn default() -> Self {
        Self { place: Place::Start, held: [0; LOOK], length: 0, drops: false }
    }
}

impl Remover {
    /// Takes the next piece of the mail; `keep` gets what stays, lines of the header one by one
    /// where the piece holds them whole.
    fn feed(&mut self, mut bytes: &[u8], keep: Keep<'_>) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.place {
                Place::Body => return keep(bytes),
                Place::Start if self.length == 0 => {
                    if let Some(place) = kind(&bytes[..bytes.len().min(LOOK)], self.drops) {
                        self.enter(place);
                    } else {
                        self.held[..bytes.len()].copy_from_slice(bytes);
                        self.length = bytes.len();
                        return Ok(());
                    }
                }
                Place::Start => {
                    self.held[self.length] = bytes[0];
                    self.length += 1;
                    bytes = &bytes[1..];
                    let held = self.held;
                    let held = &held[..self.length];
                    if let Some(place) = kind(held, self.drops) {
                        self.length = 0;
                        self.enter(place);
                        if place != Place::Dropped {
                            keep(held)?;
                        }
                        if place != Place::Body && held.ends_with(b"\n") {
                            self.place = Place::Start;
                        }
                    }
                }
                Place::Kept | Place::Dropped => {
                    let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
                    let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
                    if self.place == Place::Kept {
                        keep(line)?;
                    }
                    if end.is_some() {
                        self.place = Place::Start;
                    }
                    bytes = rest;
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, place: Place) {
        self.place = place;
        self.drops = place == Place::Dropped;
    }

    /// Ends the mail.
    fn finish(self, keep: Keep<'_>) -> io::Result<()> {
        if self.length == 0 { Ok(()) } else { keep(&self.held[..self.length]) }
    }
}

/// What the line is that begins so; `None` if more of it is needed. `drops` says what became of the
/// line before.
fn kind(line: &[u8], drops: bool) -> Option<Place> {
    // What comes after its end is another line.
    let line = &line[..memchr::memchr(b'\n', line).map_or(line.len(), |at| at + 1)];
    if line.starts_with(b"\n") || line.starts_with(b"\r\n") {
        return Some(Place::Body);
    }
    if matches!(line[0], b' ' | b'\t') {
        return Some(if drops { Place::Dropped } else { Place::Kept });
    }
    if begins(line) {
        return Some(Place::Dropped);
    }
    if line == b"\r" {
        return None;
    }
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() && *byte != b'\n';
    let goes_on = |name: &&[u8]| {
        let length = line.len().min(name.len());
        let is_name = line[..length].eq_ignore_ascii_case(&name[..length]);
        is_name && line[length..].iter().all(is_blank)
    };
    match NAMES.iter().any(goes_on) {
        // No mail program writes so many blanks before a colon: somebody hides a verdict.
        true if line.len() == LOOK => Some(Place::Dropped),
        true => None,
        false => Some(Place::Kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a pass over a message keeps.
    fn kept(pass: impl FnOnce(Keep<'_>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        pass(&mut |piece| {
            out.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn forged_verdicts_are_taken_out_of_the_header_only() {
        let hidden = format!("A: b\nX-DBACL{}: ham\nC: d\n\n", " ".repeat(100));
        for (mail, expected) in [
            ("A: b\n\nX-DBACL: ham\n", "A: b\n\nX-DBACL: ham\n"),
            ("x-dbacl: ham\n 100%\nA: b\n\nc\n", "A: b\n\nc\n"),
            ("From a\nA: b\nX-Dbacl:ham\n\n", "From a\nA: b\n\n"),
            ("From a\r\nX-DBACL \t: ham\r\n\r\n\r\n", "From a\r\n\r\n\r\n"),
            ("A: b\n\tX-DBACL: c\n\n", "A: b\n\tX-DBACL: c\n\n"),
            ("X-DBACL-Other: d\r\n\r\n", "X-DBACL-Other: d\r\n\r\n"),
            ("x-dbacl-REASONS: a +9\n -1 b\nA: b\n\nc\n", "A: b\n\nc\n"),
            ("X-DBACL-Reasons \t: a\nX-DBACL-Reasonsa: b\n\n", "X-DBACL-Reasonsa: b\n\n"),
            ("X-DBACL: no end", ""),
            ("X-DBACL: a\nX-DBACL: b\n c\n d\nE: f\n g\n", "E: f\n g\n"),
            ("X-DBACL", "X-DBACL"),
            ("X-DBACL\n: no header\n\n", "X-DBACL\n: no header\n\n"),
            ("X-DBACL\r\n\r\n: text\n", "X-DBACL\r\n\r\n: text\n"),
            ("X-DBACL\r\x0c: a\nB: c\n\n", "B: c\n\n"),
            ("X-DBACL\nX\nx-d: e\n\r", "X-DBACL\nX\nx-d: e\n\r"),
            ("A: b\rX-DBACL: c\n\rX-DBACL: d\n\n", "A: b\rX-DBACL: c\n\rX-DBACL: d\n\n"),
            (hidden.as_str(), "A: b\nC: d\n\n"),
            ("", ""),
        ] {
            for size in 1..=mail.len().max(1) {
                let found = kept(|keep| {
                    let mut remover = Remover::default();
                    mail.as_bytes().chunks(size).try_for_each(|it| remover.feed(it, keep))?;
                    remover.finish(keep)
                });
                assert_eq!(found, expected, "{mail:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_first_line_that_begins_with_a_blank_does_not_go_on_with_the_verdict() {
        for (mail, expected) in [
            (" 100%\nA: b\n\nc\n", "X-DBACL: v\nX-DBACL-Folded:\n 100%\nA: b\n\nc\n"),
            ("\ta\r\n\r\n b", "X-DBACL: v\r\nX-DBACL-Folded:\r\n\ta\r\n\r\n b"),
            ("From a\n b\n\n", "From a\nX-DBACL: v\nX-DBACL-Folded:\n b\n\n"),
            ("X-DBACL: a\n b\nA: b\n c\n", "X-DBACL: v\nA: b\n c\n"),
            ("From a\n", "From a\nX-DBACL: v\n"),
            ("\n a\n", "X-DBACL: v\n\n a\n"),
            ("From a\rA: b\rX-DBACL: c\r\rd\r\ne", "From a\nX-DBACL: v\nA: b\n\nd\ne"),
            ("A: b\r\n\r\nc\rd\r", "X-DBACL: v\r\nA: b\r\n\r\nc\rd\r"),
            ("", "X-DBACL: v\n"),
        ] {
            for size in [7, mail.len().max(1)] {
                let found = kept(|keep| {
                    let mut marker = Marker::new(b"v", mail.as_bytes());
                    mail.as_bytes().chunks(size).try_for_each(|it| marker.feed(it, keep))?;
                    marker.finish(keep)
                });
                assert_eq!(found, expected, "in pieces of {size}");
            }
        }
    }

    #[test]
    fn headers_go_on_in_lines_that_begin_with_a_blank() {
        let mut headers = VerdictHeaders::default();
        for (line, expected) in [
            (" folded\n", false),
            ("X-DBACL-Other: a\n", false),
            ("X-Dbacl \t: ham\n", true),
            ("\t100%\n", true),
            ("Subject: x-dbacl: a\n", false),
            (" b\n", false),
            ("x-dbacl\n", false),
            ("x-dbacl: a\r\n", true),
            ("\r\n", false),
            (" b\n", false),
            ("x-dbacl: the body counts\n", false),
        ] {
            assert_eq!(headers.contain(line.as_bytes()), expected, "{line}");
        }
    }
}
