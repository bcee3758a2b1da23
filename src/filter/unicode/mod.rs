// SPDX-License-Identifier: GPL-3.0-or-later
//! Mail as Unicode text (`-T email:unicode`): the text that a reader of the mail sees, decoded by
//! its character sets.
//!
//! ```text
//! line ─→ structure (messages, headers, parts) ─┬→ fields ─────────────────┬→ lines of UTF-8
//!                                               └→ part (bytes → text) ────┘
//! ```
//!
//! Unlike the classic filter this one is a MIME parser: fields are unfolded, parameters read,
//! boundaries nested. One line of mail may give no line of text, or many, which wait in `output`.
//! Memory is bounded: a field, the sample by which a character set is detected, and the plain text
//! of an alternative until it is known whether a reader sees it (`MOST_HELD`). Nothing recurses.

pub(crate) mod agreement;
mod attributes;
mod blob;
mod colours;
mod declared;
mod described;
mod elements;
mod flowed;
mod header;
mod html;
pub(crate) mod legend;
mod lines;
pub(crate) mod links;
mod part;
pub(crate) mod shapes;
mod sheet;
mod style;
mod tags;
mod values;

use crate::filter::bytes::starts_with_ci;
use crate::filter::mime::ContentType;
use crate::filter::unicode::described::Headers;
use crate::filter::unicode::lines::Lines;
use crate::filter::unicode::part::{ATTACHED, Content, Description, Part};
use crate::filter::unicode::tags::Tags;
use crate::mail::mailbox::begins_message;
use crate::model::medium::Medium;
use crate::model::settings::{ModelOption, ModelOptions};

/// The medium of text that is shown.
const TEXT: Medium = Medium::new(3);

/// A field that is longer is read in pieces.
const LONGEST_FIELD: usize = 1 << 16;
/// The most parts within parts that are treated as parts.
const DEEPEST: usize = 32;
/// Bytes of a boundary that is not declared.
const LONGEST_GUESS: usize = 200;
/// Text that may turn out not to be shown is held up to this size.
const MOST_HELD: usize = 1 << 18;
/// Fields in an unknown character set are held up to this size.
const MOST_RAW: usize = 1 << 14;

/// Where in a message the next line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// Before the first message.
    #[default]
    Start,
    /// In the header of the mail.
    Header,
    /// In the header of a part, or of a message within the mail.
    PartHeader,
    /// In a part whose content is read.
    Text,
    /// In a part whose content is not read.
    Skipped,
    /// Before the first part of several.
    Preamble,
    /// Behind the last.
    Epilogue,
}

/// A multipart that is open.
#[derive(Debug)]
struct Parts {
    headers: Headers,
    /// The last boundary was its closing one. Mail programs show parts after it.
    is_closed: bool,
    /// A line of the preamble that may be a boundary, though it is not declared: the next line
    /// says whether a part begins.
    guess: Vec<u8>,
    /// Such a line was the first boundary.
    is_guessed: bool,
}

/// The filter.
#[derive(Debug, Default)]
pub(crate) struct UnicodeMail {
    options: ModelOptions,
    place: Place,
    /// The line before was not empty.
    is_after_text: bool,
    /// The last line was a piece without a line end: the next one goes on with it.
    goes_on: bool,
    /// The source is a mailbox of several messages.
    is_mailbox: bool,
    /// The field that is being read, unfolded.
    field: Vec<u8>,
    /// Whether the header has a field already.
    has_fields: bool,
    /// The last lines of the header, of which the first is not a field.
    strays: Vec<u8>,
    headers: Headers,
    /// The header being read is that of a message, whose fields are shown.
    is_message: bool,
    /// The depth of the parts of which one is a message that comes with the mail.
    attached: Option<usize>,
    /// The multiparts that are open, the outermost first.
    open: Vec<Parts>,
    part: Option<Part>,
    /// The text of the part goes into `held`.
    is_holding: bool,
    /// Text that is held back until it is known whether a reader sees it.
    held: Lines,
    /// The depth of the multipart that the held text belongs to.
    held_depth: Option<usize>,
    /// Fields with bytes in an unknown character set.
    raw: Vec<(Vec<u8>, Medium)>,
    raw_size: usize,
    /// Takes the place of the lines of text, if it is asked for.
    tags: Option<Box<Tags>>,
    scratch: Vec<u8>,
    output: Lines,
    /// A line on its way to the tags.
    line: Vec<u8>,
    /// Text and tags of messages that have ended.
    tagged: Lines,
    /// Medium of the last line that was passed on, and whether it belongs to a header.
    last: Option<(Medium, bool)>,
}

impl UnicodeMail {
    /// The filter for the kinds in `options`.
    pub(crate) fn new(options: ModelOptions) -> Self {
        let is_whole = options.has(ModelOption::MailWhole);
        let tags = options.has(ModelOption::MailTags).then(|| Box::new(Tags::new(is_whole)));
        Self { options, tags, ..Self::default() }
    }

    /// Begins a source, with the initial state.
    pub(crate) fn start_file(&mut self) {
        *self = Self::new(self.options);
    }

    /// The medium of the line handed on last.
    pub(crate) fn medium(&self) -> Medium {
        self.last.map_or(TEXT, |(medium, _)| medium)
    }

    /// Whether that line belongs to the header of a message, or the last line read if it gave none.
    pub(crate) fn in_header(&self) -> bool {
        self.last.is_some_and(|(_, in_header)| in_header)
    }

    /// Takes a line as it was read, or a piece of a long one; [`Self::next`] returns the lines of
    /// text that it gives.
    pub(crate) fn take(&mut self, line: &[u8]) {
        // A line that just fills the reader's room arrives joined with the next one.
        let mut rest = line;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            self.take_one(&rest[..end]);
            rest = &rest[end..];
        }
        self.tag();
        self.last = Some((TEXT, self.place == Place::Header));
    }

    /// Puts the next line of text that waits in the place of `line`.
    pub(crate) fn next(&mut self, line: &mut Vec<u8>) -> bool {
        let ready = if self.tags.is_some() { &mut self.tagged } else { &mut self.output };
        let next = ready.pop(line);
        self.last = next.or(self.last);
        next.is_some()
    }

    /// Ends the source: text that was held back is passed on.
    pub(crate) fn finish(&mut self) {
        if !self.strays.is_empty() {
            self.end_header_at_text();
        }
        if matches!(self.place, Place::Header | Place::PartHeader) {
            self.end_field();
            self.headers = Headers::default();
        }
        self.end_part();
        self.open.clear();
        self.close(0);
        self.attached = None;
        self.release();
        self.flush_raw(None);
        self.goes_on = false;
        self.place = Place::Start;
        self.tag();
        if let Some(tags) = &mut self.tags {
            tags.finish(&mut self.tagged);
        }
    }

    /// Lines that would be shown go to the tags, where these are asked for.
    fn tag(&mut self) {
        let Some(tags) = &mut self.tags else { return };
        while let Some((medium, _)) = self.output.pop(&mut self.line) {
            tags.line(&self.line, medium);
            if tags.is_whole && medium == TEXT {
                let text = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
                self.tagged.push(text, TEXT, false);
            }
        }
    }

    /// Whether a message of a mailbox begins with `line`.
    pub(crate) fn is_begun_by(&self, line: &[u8]) -> bool {
        !self.is_after_text
            && line.starts_with(b"From ")
            && (self.place == Place::Start || self.is_mailbox && begins_message(line))
    }

    fn take_one(&mut self, line: &[u8]) {
        if std::mem::replace(&mut self.goes_on, !line.ends_with(b"\n")) {
            return self.more_of_line(line);
        }
        let is_empty = matches!(line, b"\n" | b"\r\n");
        if self.is_begun_by(line) {
            self.is_mailbox = true;
            self.finish();
            self.start_header(Place::Header);
        } else {
            self.within(line);
        }
        self.is_after_text = !is_empty;
    }

    /// A line that begins no message.
    fn within(&mut self, line: &[u8]) {
        let is_empty = matches!(line, b"\n" | b"\r\n");
        match self.place {
            Place::Start if is_empty => {}
            Place::Start => {
                self.start_header(Place::Header);
                self.header_line(line);
            }
            Place::Header | Place::PartHeader if is_empty => self.end_of_header(line),
            Place::Header | Place::PartHeader => self.header_line(line),
            Place::Text | Place::Skipped | Place::Preamble | Place::Epilogue => {
                self.body_line(line);
            }
        }
    }

    /// The next piece of a line, which neither begins a field nor is a boundary.
    fn more_of_line(&mut self, piece: &[u8]) {
        match self.place {
            Place::Header | Place::PartHeader => self.header_piece(piece),
            Place::Start => {}
            Place::Text | Place::Skipped | Place::Preamble | Place::Epilogue => {
                self.content(piece);
            }
        }
    }

    /// Ends a header: decides how the content is read.
    fn end_header(&mut self) {
        let in_mail = self.place == Place::Header;
        let mut headers = std::mem::take(&mut self.headers);
        headers.settle();
        if let Some(tags) = &mut self.tags {
            tags.part(self.open.len(), headers.code());
        }
        // The text before the first part is shown if there are no parts.
        let holds = in_mail || self.held_depth.is_none();
        let can_have_parts = self.open.len() < DEEPEST && (holds || !headers.boundaries.is_empty());
        if headers.has_parts() && can_have_parts {
            self.place = Place::Preamble;
            let depth = self.open.len() + 1;
            if holds {
                self.hold(depth);
                let content = self.content_of(headers.kind).unwrap_or(Content::Plain);
                self.start_part(content, &headers);
            }
            self.open.push(Parts {
                headers,
                is_closed: false,
                guess: Vec::new(),
                is_guessed: false,
            });
            return;
        }
        if headers.kind == ContentType::Message && !headers.encodings.encode() {
            if self.open.last().is_some_and(|parts| !parts.headers.is_digest) {
                self.attached.get_or_insert(self.open.len());
            }
            self.start_header(Place::PartHeader);
            self.headers = Headers::default();
            self.is_message = true;
            return;
        }
        let Some(content) = self.content_of(headers.kind) else {
            self.place = Place::Skipped;
            return;
        };
        self.place = Place::Text;
        if let Some(depth) = self.alternative()
            && content == Content::Plain
            && !headers.is_attached
        {
            self.hold(depth);
        }
        self.start_part(content, &headers);
    }

    /// How content of a type is read; `None` if it is not.
    const fn content_of(&self, kind: ContentType) -> Option<Content> {
        match kind {
            ContentType::Unknown | ContentType::Plain | ContentType::Message => {
                let is_markup = self.options.has(ModelOption::MailNoPlain);
                Some(if is_markup { Content::Markup } else { Content::Plain })
            }
            ContentType::Html | ContentType::Rich | ContentType::Xml | ContentType::Sgml => {
                let is_plain = self.options.has(ModelOption::MailPlain);
                Some(if is_plain { Content::Plain } else { Content::Markup })
            }
            ContentType::Octets | ContentType::Word
                if self.options.has(ModelOption::MailAttachments) =>
            {
                Some(Content::Strings)
            }
            _ => None,
        }
    }

    /// The depth of the innermost alternative that is open.
    fn alternative(&self) -> Option<usize> {
        let shows_one = |parts: &Parts| parts.headers.is_alternative && !parts.is_closed;
        self.open.iter().rposition(shows_one).map(|at| at + 1)
    }

    /// Holds back the text of the coming part until the parts of this depth end. Text that is held
    /// back already stays with the outer parts.
    fn hold(&mut self, depth: usize) {
        self.is_holding = true;
        self.held_depth.get_or_insert(depth);
    }

    fn start_part(&mut self, content: Content, headers: &Headers) {
        let is_text = content != Content::Strings;
        let medium = if is_text && !headers.is_attached { self.text_medium() } else { ATTACHED };
        if headers.charset.is_some() && self.place == Place::Text {
            self.flush_raw(headers.charset);
        }
        let asks_for_kind =
            self.options.has_any(&[ModelOption::MailNoPlain, ModelOption::MailPlain]);
        let description = Description {
            content,
            is_doubtful: headers.is_doubtful && is_text && !asks_for_kind,
            encodings: headers.encodings,
            deletes_blanks: headers.deletes_blanks && content == Content::Plain,
            charset: headers.charset,
            medium,
        };
        self.part = Some(Part::new(description, self.options));
    }

    /// A line of a body.
    fn body_line(&mut self, line: &[u8]) {
        if let Some(found) = self.boundary(line) {
            return self.pass_boundary(found);
        }
        if self.place == Place::Preamble {
            return self.preamble_line(line);
        }
        self.content(line);
    }

    /// A line of a preamble. A part begins after a line that looks like a boundary, though none
    /// that is declared has occurred, if a field of a part follows it.
    fn preamble_line(&mut self, line: &[u8]) {
        let Some(parts) = self.open.last_mut() else { return };
        if !parts.guess.is_empty() && starts_with_ci(line, b"content-") {
            let guess = std::mem::take(&mut parts.guess);
            parts.headers.boundaries.push(guess[2..].trim_ascii_end().to_vec());
            parts.is_guessed = true;
            self.pass_boundary((self.open.len(), false));
            return self.header_line(line);
        }
        self.pass_guess();
        let is_short = line.len() <= LONGEST_GUESS && line.ends_with(b"\n");
        match self.open.last_mut() {
            Some(parts) if is_short && line.starts_with(b"--") => parts.guess = line.to_vec(),
            _ => self.content(line),
        }
    }

    /// What looked like a boundary is a line like others.
    fn pass_guess(&mut self) {
        let Some(parts) = self.open.last_mut() else { return };
        let guess = std::mem::take(&mut parts.guess);
        self.content(&guess);
    }

    /// A line of a part's content, or a piece of one.
    fn content(&mut self, line: &[u8]) {
        let Some(part) = self.part.as_mut().filter(|_| !line.is_empty()) else { return };
        if self.is_holding {
            part.line(line, &mut self.held);
            if self.held.size() > MOST_HELD {
                self.is_holding = false;
                self.release();
            }
        } else {
            part.line(line, &mut self.output);
        }
    }

    /// The depth of the parts whose boundary a line is, and whether it is their last one.
    fn boundary(&self, line: &[u8]) -> Option<(usize, bool)> {
        let rest = line.strip_prefix(b"--")?.trim_ascii_end();
        let last = rest.strip_suffix(b"--");
        self.open.iter().enumerate().rev().find_map(|(at, parts)| {
            let boundaries = &parts.headers.boundaries;
            let is = |line: &[u8]| boundaries.iter().any(|boundary| boundary == line);
            if is(rest) {
                Some((at + 1, false))
            } else {
                last.is_some_and(is).then_some((at + 1, true))
            }
        })
    }

    fn pass_boundary(&mut self, (depth, is_last): (usize, bool)) {
        let is_preamble = self.place == Place::Preamble && depth == self.open.len();
        self.end_part();
        self.open.truncate(depth);
        let Some(parts) = self.open.last_mut() else { return };
        let shows_preamble = parts.is_guessed || parts.headers.shows_preamble();
        parts.is_closed |= is_last;
        if is_preamble && self.held_depth == Some(depth) {
            if !shows_preamble {
                self.held.clear();
            }
            self.release();
        }
        self.close(if is_last { depth - 1 } else { depth });
        self.attached = self.attached.filter(|&attached| attached < depth);
        if is_last {
            self.place = Place::Epilogue;
        } else {
            self.start_header(Place::PartHeader);
        }
    }

    /// Ends the part that is being read.
    fn end_part(&mut self) {
        self.pass_guess();
        let Some(mut part) = self.part.take() else { return };
        let output = if self.is_holding { &mut self.held } else { &mut self.output };
        part.settle(output);
        let is_page = part.is_shown_markup();
        let has_shown = part.finish(output);
        let is_better = is_page && !self.is_holding && has_shown && self.alternative().is_some();
        self.is_holding = false;
        if is_better {
            // The reader sees this one, not the one before it.
            self.held.clear();
        }
    }

    /// Shows what was held for parts that are deeper than `depth`, and over.
    fn close(&mut self, depth: usize) {
        if self.held_depth.is_some_and(|held| held > depth) {
            self.release();
        }
    }

    /// Shows what was held.
    fn release(&mut self) {
        self.output.append(&mut self.held);
        self.held_depth = None;
    }
}

#[cfg(test)]
mod tests;
