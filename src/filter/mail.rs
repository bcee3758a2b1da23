// SPDX-License-Identifier: GPL-3.0-or-later
//! The mail filter: finds messages, headers and parts, and decodes what is text (spec email 3-7).
//!
//! It is a state machine over lines, and no MIME parser: it never recurses, and it recognises parts
//! of broken mail by the look of lines. Its oddities are those of dbacl 1.14.1; they decide the
//! tokens, and so does the way in which lines are rewritten that are dropped. Section numbers refer
//! to spec email.

use crate::filter::bytes::starts_with_ci;
use crate::filter::decode::{base64, encoded_words, quoted_printable};
use crate::filter::header::{HeaderKind, HeaderScan, is_excluded, keep_label};
use crate::filter::markup::MarkupChoice;
use crate::filter::mime::{Boundaries, Content, ContentType, Encoding};
use crate::filter::pending::Pending;
use crate::filter::plain::{armour_keeps, is_armour, plain_text, strings};
use crate::model::medium::Medium;
use crate::model::settings::{Locale, ModelOption, ModelOptions};
use dbacl_words::class::is_space;

/// Where in a message the last line was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first message.
    Start,
    /// In a message's header block.
    Header,
    /// In the content of a message or part.
    Body,
    /// In a part's header block.
    Part,
}

/// What is done with lines in the present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// This line is the first in its state.
    Fresh,
    Keep,
    Mime,
    Armour,
    Skip,
}

/// Lines at a body's start in which MIME headers are looked for.
const WATCHED: u32 = 5;

/// What is done with a line of a body (6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyAction {
    Drop,
    Keep,
    Plain,
    Base64,
    QuotedPrintable,
    /// Drop, but for the strings in it.
    StringsOnly,
}

/// The mail filter.
#[derive(Debug)]
pub(super) struct Mail {
    options: ModelOptions,
    locale: Locale,
    state: State,
    mode: Mode,
    scan: HeaderScan,
    /// What the message's header says; parts start with it.
    head: Content,
    part: Content,
    is_after_empty: bool,
    /// Lines left in which MIME headers are looked for.
    watch: u32,
    /// Whether the last header that only `email:xheaders` could keep was excluded.
    skips_other: bool,
    in_uuencode: bool,
    boundaries: Boundaries,
    base64: Pending,
    quoted_printable: Pending,
}

impl Mail {
    /// The filter for the kinds in `options`.
    pub(super) fn new(options: ModelOptions, locale: Locale) -> Self {
        Self {
            options,
            locale,
            state: State::Start,
            mode: Mode::Fresh,
            scan: HeaderScan::START,
            head: Content::default(),
            part: Content::default(),
            is_after_empty: true,
            watch: 0,
            skips_other: false,
            in_uuencode: false,
            boundaries: Boundaries::default(),
            base64: Pending::default(),
            quoted_printable: Pending::default(),
        }
    }

    /// Resets everything except the decoded text that waits (3).
    pub(super) fn start_file(&mut self) {
        *self = Self {
            base64: std::mem::take(&mut self.base64),
            quoted_printable: std::mem::take(&mut self.quoted_printable),
            ..Self::new(self.options, self.locale)
        };
    }

    /// Whether nothing waits in the decoders.
    pub(super) fn is_at_rest(&self) -> bool {
        self.base64.is_empty() && self.quoted_printable.is_empty()
    }

    /// Whether the last line belongs to a header block of a message.
    pub(super) fn in_header(&self) -> bool {
        self.state == State::Header
    }

    /// The medium of the last line's tokens (13).
    pub(super) fn medium(&self) -> Medium {
        Medium::new(if self.state == State::Header {
            self.scan.medium
        } else {
            part_medium(self.part.kind)
        })
    }

    /// Filters one line in place. Returns whether it is tokenised, and how the markup filter is to
    /// be set for it and for those after it.
    pub(super) fn line(&mut self, line: &mut Vec<u8>) -> (bool, MarkupChoice) {
        let is_empty = is_empty(line);
        self.advance(line, is_empty);
        self.is_after_empty = is_empty;
        self.rewrite(line, is_empty)
    }

    /// Changes the state before a line is dealt with (5). The first row that applies counts.
    fn advance(&mut self, line: &mut Vec<u8>, is_empty: bool) {
        match self.state {
            State::Start if !is_empty => self.enter(State::Header),
            State::Header if is_empty => {
                self.enter(State::Body);
                self.watch = WATCHED;
            }
            State::Part if is_empty => self.end_part_header(),
            State::Body => self.advance_body(line),
            State::Start | State::Header | State::Part => {}
        }
    }

    /// A fresh start in `state`.
    fn enter(&mut self, state: State) {
        self.state = state;
        self.mode = Mode::Fresh;
        self.scan.forget();
    }

    /// The empty line after a part's header.
    fn end_part_header(&mut self) {
        match self.part.kind {
            ContentType::Message => self.enter(State::Header),
            kind => {
                if kind == ContentType::Word && self.part.encoding == Encoding::Unknown {
                    self.part.encoding = Encoding::Base64;
                }
                self.enter(State::Body);
            }
        }
        self.watch = 0;
    }

    fn advance_body(&mut self, line: &mut Vec<u8>) {
        if line.first() == Some(&b'-') && self.advance_at_dashes(line) {
            return;
        }
        if self.is_after_empty {
            if starts_with_ci(line, b"Content-") {
                self.look_for_stray_header(line);
            } else if line.starts_with(b"From ") {
                self.enter(State::Header);
                self.watch = 0;
            }
        } else if self.watch > 0 {
            self.watch -= 1;
            self.look_for_stray_header(line);
        }
    }

    /// The rows for lines that begin with dashes; returns whether one applied.
    fn advance_at_dashes(&mut self, line: &[u8]) -> bool {
        let is_dashed = line.starts_with(b"--") && !line.get(2).is_some_and(|&byte| is_space(byte));
        if !is_dashed {
            return false;
        }
        if self.boundaries.match_line(line) {
            self.enter(State::Part);
            self.watch = 0;
        } else if separates_digest(line) {
            self.state = State::Part;
            self.mode = Mode::Keep;
            self.scan.forget();
            self.watch = 0;
            self.part.kind = ContentType::Message;
        } else if self.mode == Mode::Armour && is_armour(line, b"-----END PGP ") {
            self.mode = Mode::Keep;
            self.scan.forget();
            self.watch = 0;
        } else if self.mode != Mode::Armour && is_armour(line, b"-----BEGIN PGP ") {
            self.mode = Mode::Armour;
        } else if self.is_after_empty && !self.options.has(ModelOption::MailPlain) {
            self.watch = WATCHED;
        } else {
            return false;
        }
        true
    }

    /// Treats a body line as a part's header if it is a MIME header. Even if it is none, it is
    /// decoded and cut as header lines are.
    fn look_for_stray_header(&mut self, line: &mut Vec<u8>) {
        encoded_words(line);
        if self.scan.scan(line) == HeaderKind::Mime {
            self.state = State::Part;
            self.mode = Mode::Mime;
            self.watch = 0;
        }
    }

    /// Deals with a line in its state (6), and finishes it (7).
    fn rewrite(&mut self, line: &mut Vec<u8>, is_empty: bool) -> (bool, MarkupChoice) {
        let mut is_kept = false;
        let mut has_strings = false;
        let mut flushed_markup = None;
        if self.mode == Mode::Fresh && self.state != State::Start && self.flush(line) {
            is_kept = true;
            has_strings = matches!(self.part.kind, ContentType::Octets | ContentType::Word);
            flushed_markup = Some(default_markup(self.part.kind, self.options));
        }
        match self.state {
            State::Start => {}
            State::Header => {
                if self.mode == Mode::Fresh {
                    self.head = Content::default();
                    self.part = Content::default();
                    self.mode = Mode::Skip;
                    self.watch = 0;
                    self.skips_other = false;
                    self.in_uuencode = false;
                }
                is_kept = self.header_line(line);
            }
            State::Body if self.mode == Mode::Fresh => {
                if self.part.kind == ContentType::Unknown {
                    self.part.kind = self.head.kind;
                }
                if self.part.encoding == Encoding::Unknown {
                    self.part.encoding = self.head.encoding;
                }
                self.mode = Mode::Keep;
                self.in_uuencode = false;
            }
            State::Body if self.mode == Mode::Armour => is_kept = armour_keeps(line),
            State::Body => (is_kept, has_strings) = self.body_line(line),
            State::Part if self.mode == Mode::Fresh => {
                self.part = self.head;
                self.mode = Mode::Keep;
                self.in_uuencode = false;
            }
            State::Part => is_kept = self.part_header_line(line),
        }
        if has_strings {
            strings(line);
            is_kept = true;
        }
        if !is_kept && is_empty {
            is_kept = self.flush(line);
        }
        let markup = flushed_markup.unwrap_or_else(|| match self.state {
            State::Body => default_markup(self.part.kind, self.options),
            State::Start | State::Header | State::Part => MarkupChoice::Disabled,
        });
        (is_kept || is_empty, markup)
    }

    /// Replaces the line by what waits in the first decoder that is not empty.
    fn flush(&mut self, line: &mut Vec<u8>) -> bool {
        self.base64.deliver_all(line) || self.quoted_printable.deliver_all(line)
    }

    /// A line of a message's header; returns whether it is kept.
    fn header_line(&mut self, line: &mut Vec<u8>) -> bool {
        let kind = self.scan.scan(line);
        self.set_mode(kind);
        match self.mode {
            Mode::Keep => {
                encoded_words(line);
                true
            }
            Mode::Mime => mime_line(line, &mut self.head, &mut self.boundaries, self.options),
            Mode::Skip | Mode::Armour | Mode::Fresh => self.other_header_line(line),
        }
    }

    /// A line of a part's header; returns whether it is kept.
    fn part_header_line(&mut self, line: &mut Vec<u8>) -> bool {
        match self.scan.scan(line) {
            HeaderKind::Standard => self.mode = Mode::Keep,
            kind => self.set_mode(kind),
        }
        match self.mode {
            Mode::Keep => true,
            Mode::Mime => mime_line(line, &mut self.part, &mut self.boundaries, self.options),
            Mode::Skip | Mode::Armour | Mode::Fresh => false,
        }
    }

    /// What is done with a header of this kind, and with its continuation lines.
    fn set_mode(&mut self, kind: HeaderKind) {
        self.mode = match kind {
            HeaderKind::Continuation => return,
            HeaderKind::Mime => Mode::Mime,
            _ if self.scan.shows(kind, self.options) => Mode::Keep,
            _ => Mode::Skip,
        };
    }

    /// A header that only `email:xheaders` can keep (8.3).
    fn other_header_line(&mut self, line: &mut Vec<u8>) -> bool {
        if !self.options.has(ModelOption::MailXHeaders) {
            return false;
        }
        let is_folded = line.first().is_some_and(|&first| is_space(first));
        self.skips_other = is_excluded(line) || is_folded && self.skips_other;
        if self.skips_other {
            return false;
        }
        encoded_words(line);
        true
    }

    /// A line of a body; returns whether it is kept, and whether only for the strings in it.
    fn body_line(&mut self, line: &mut Vec<u8>) -> (bool, bool) {
        let is_kept = match body_action(self.part, self.options) {
            BodyAction::Drop | BodyAction::StringsOnly => false,
            BodyAction::Keep => true,
            BodyAction::Plain => plain_text(line, &mut self.in_uuencode, self.locale),
            BodyAction::Base64 => self.base64.line(line, base64),
            BodyAction::QuotedPrintable => self.quoted_printable.line(line, quoted_printable),
        };
        let is_binary = matches!(self.part.kind, ContentType::Octets | ContentType::Word);
        (is_kept, is_binary && self.options.has(ModelOption::MailAttachments))
    }
}

/// A MIME header line: stores its type and encoding; returns whether its label is kept.
fn mime_line(
    line: &mut Vec<u8>,
    content: &mut Content,
    boundaries: &mut Boundaries,
    options: ModelOptions,
) -> bool {
    encoded_words(line);
    content.read_header(line);
    boundaries.read_header(line);
    options.has(ModelOption::MailHeaders) && keep_label(line)
}

/// What is done with the lines of a body, by the table of spec email 6.
fn body_action(part: Content, options: ModelOptions) -> BodyAction {
    use ContentType::{Audio, Html, Image, Model, Octets, Other, Rich, Sgml, Video, Word, Xml};
    match (part.kind, part.encoding) {
        (Octets | Word, _) if !options.has(ModelOption::MailAttachments) => BodyAction::Drop,
        (Octets | Word, Encoding::Binary) => BodyAction::StringsOnly,
        (Image | Audio | Video | Model | Other, _) => BodyAction::Drop,
        (_, Encoding::QuotedPrintable) => BodyAction::QuotedPrintable,
        (_, Encoding::Base64) => BodyAction::Base64,
        (_, Encoding::Binary) | (Rich | Html | Xml | Sgml, _) => BodyAction::Keep,
        _ if options.has(ModelOption::MailPlain) => BodyAction::Keep,
        _ => BodyAction::Plain,
    }
}

/// How the markup filter is set for parts of a type (12).
fn default_markup(kind: ContentType, options: ModelOptions) -> MarkupChoice {
    let is_plain = options.has(ModelOption::MailPlain);
    match kind {
        ContentType::Html | ContentType::Rich if is_plain => MarkupChoice::Disabled,
        ContentType::Html => MarkupChoice::Smart,
        ContentType::Rich => MarkupChoice::Dumb,
        _ if options.has(ModelOption::MailNoPlain) => MarkupChoice::Dumb,
        _ => MarkupChoice::Disabled,
    }
}

/// The medium of the tokens of a part, its header included.
const fn part_medium(kind: ContentType) -> u8 {
    match kind {
        ContentType::Plain | ContentType::Unknown => 3,
        ContentType::Rich | ContentType::Html | ContentType::Xml | ContentType::Sgml => 2,
        _ => 1,
    }
}

/// Whether a line has nothing before its end.
fn is_empty(line: &[u8]) -> bool {
    line.starts_with(b"\n") || line.starts_with(b"\r\n")
}

/// Whether a line separates the messages of a digest: 30 or 70 dashes.
fn separates_digest(line: &[u8]) -> bool {
    let dashes = line.iter().take(71).take_while(|&&byte| byte == b'-').count();
    matches!(dashes, 30 | 70) && matches!(line.get(dashes), Some(b'\r' | b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use BodyAction::{Base64, Drop, Keep, Plain, QuotedPrintable, StringsOnly};
    use ContentType::{
        Audio, Html, Image, Message, Model, Octets, Other, Rich, Sgml, Unknown, Video, Word, Xml,
    };

    const TEXTS: [ContentType; 3] = [Unknown, ContentType::Plain, Message];
    const MARKUPS: [ContentType; 4] = [Rich, Html, Xml, Sgml];
    const BINARIES: [ContentType; 2] = [Octets, Word];
    const OTHERS: [ContentType; 5] = [Image, Audio, Video, Model, Other];

    #[test]
    fn bodies_are_treated_by_type_and_encoding() {
        let none = ModelOptions::default();
        let plain = none.with(ModelOption::MailPlain);
        let attachments = none.with(ModelOption::MailAttachments);
        let rows: [(&[ContentType], ModelOptions, [BodyAction; 4]); 7] = [
            (&TEXTS, none, [QuotedPrintable, Base64, Keep, Plain]),
            (&TEXTS, plain, [QuotedPrintable, Base64, Keep, Keep]),
            (&MARKUPS, none, [QuotedPrintable, Base64, Keep, Keep]),
            (&BINARIES, none, [Drop; 4]),
            (&BINARIES, attachments, [QuotedPrintable, Base64, StringsOnly, Plain]),
            (&OTHERS, attachments, [Drop; 4]),
            (&OTHERS, plain, [Drop; 4]),
        ];
        for (kinds, options, [quoted_printable, base64, binary, identity]) in rows {
            for &kind in kinds {
                for (encoding, expected) in [
                    (Encoding::QuotedPrintable, quoted_printable),
                    (Encoding::Base64, base64),
                    (Encoding::Binary, binary),
                    (Encoding::Unknown, identity),
                    (Encoding::Identity, identity),
                    (Encoding::SevenBit, identity),
                ] {
                    let part = Content { kind, encoding };
                    assert_eq!(body_action(part, options), expected, "{part:?} {options:?}");
                }
            }
        }
    }

    #[test]
    fn markup_is_chosen_by_type() {
        let neither = ModelOptions::default();
        let plain = neither.with(ModelOption::MailPlain);
        let no_plain = neither.with(ModelOption::MailNoPlain);
        let both = plain.with(ModelOption::MailNoPlain);
        let (off, smart, dumb) = (MarkupChoice::Disabled, MarkupChoice::Smart, MarkupChoice::Dumb);
        for (kinds, expected) in [
            (&TEXTS[..], [off, off, dumb, dumb]),
            (&[Rich], [dumb, off, dumb, off]),
            (&[Html], [smart, off, smart, off]),
            (&[Xml, Sgml], [off, off, dumb, dumb]),
            (&BINARIES, [off, off, dumb, dumb]),
            (&OTHERS, [off, off, dumb, dumb]),
        ] {
            for &kind in kinds {
                let found =
                    [neither, plain, no_plain, both].map(|options| default_markup(kind, options));
                assert_eq!(found, expected, "{kind:?}");
            }
        }
    }

    #[test]
    fn marks_are_told_by_their_exact_bytes() {
        let dashes = |count: usize, end: &str| format!("{}{end}", "-".repeat(count));
        for (line, expected) in [
            (dashes(30, "\n"), true),
            (dashes(70, "\r\n"), true),
            (dashes(29, "\n"), false),
            (dashes(71, "\n"), false),
            (dashes(30, ""), false),
            (dashes(30, " \n"), false),
        ] {
            assert_eq!(separates_digest(line.as_bytes()), expected, "{line}");
        }
        for (line, expected) in [
            ("-----BEGIN PGP MESSAGE-----\n", true),
            ("-----BEGIN PGP SIGNATURE-----\n", true),
            ("-----BEGIN PGP PUBLIC KEY BLOCK-----\n", true),
            ("-----BEGIN PGP SIGNED MESSAGE-----\n", false),
            ("-----begin pgp message-----\n", false),
        ] {
            assert_eq!(is_armour(line.as_bytes(), b"-----BEGIN PGP "), expected, "{line}");
        }
        for (line, expected) in
            [("\n", true), ("\r\n", true), ("\r", false), (" \n", false), ("\ra", false)]
        {
            assert_eq!(is_empty(line.as_bytes()), expected, "{line:?}");
        }
    }

    #[test]
    fn messages_headers_and_parts_are_told_apart() {
        let mut mail = Mail::new(ModelOptions::default(), Locale::C);
        for (line, state, mode) in [
            ("\n", State::Start, Mode::Fresh),
            ("Subject: a\n", State::Header, Mode::Keep),
            ("Content-Type: multipart/mixed; boundary=B\n", State::Header, Mode::Mime),
            ("\n", State::Body, Mode::Keep),
            ("--\n", State::Body, Mode::Keep),
            ("-- B\n", State::Body, Mode::Keep),
            ("--B\n", State::Part, Mode::Keep),
            ("X-A: b\n", State::Part, Mode::Skip),
            ("\n", State::Body, Mode::Keep),
            ("-----BEGIN PGP MESSAGE-----\n", State::Body, Mode::Armour),
            ("text\n", State::Body, Mode::Armour),
            ("-----END PGP SIGNATURE-----\n", State::Body, Mode::Keep),
            ("From not after an empty line\n", State::Body, Mode::Keep),
            ("\n", State::Body, Mode::Keep),
            (">From \n", State::Body, Mode::Keep),
            ("\n", State::Body, Mode::Keep),
            ("Content-ID: stray\n", State::Part, Mode::Mime),
            ("\n", State::Body, Mode::Keep),
            ("From a new message\n", State::Header, Mode::Skip),
            ("\n", State::Body, Mode::Keep),
            ("1\n", State::Body, Mode::Keep),
            ("2\n", State::Body, Mode::Keep),
            ("3\n", State::Body, Mode::Keep),
            ("4\n", State::Body, Mode::Keep),
            ("5\n", State::Body, Mode::Keep),
            ("6\n", State::Body, Mode::Keep),
            ("Content-ID: too late\n", State::Body, Mode::Keep),
            ("\n", State::Body, Mode::Keep),
            ("------------------------------\n", State::Part, Mode::Keep),
            ("\n", State::Header, Mode::Skip),
        ] {
            mail.line(&mut line.as_bytes().to_vec());
            assert_eq!((mail.state, mail.mode), (state, mode), "{line}");
        }
    }
}
