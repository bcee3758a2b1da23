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

mod attributes;
mod blob;
mod declared;
mod elements;
mod html;
pub mod legend;
mod lines;
mod links;
mod part;
mod shapes;
mod style;
mod tags;

use crate::bytes::{starts_with_ci, strip_prefix_ci};
use crate::header::{HeaderKind, HeaderScan, is_excluded};
use crate::mime::{self, ContentType, Encoding};
use crate::unicode::lines::Lines;
use crate::unicode::part::{ATTACHED, Content, Description, Part};
use crate::unicode::tags::Tags;
use dbacl_charset::transfer::{Base64, Transfer};
use dbacl_charset::{Charset, fields, parameters};
use dbacl_mail::mailbox::begins_message;
use dbacl_model::medium::Medium;
use dbacl_model::settings::{ModelOption, ModelOptions};

/// The medium of text that is shown.
const TEXT: Medium = Medium::new(3);

/// A field that is longer is read in pieces.
const LONGEST_FIELD: usize = 1 << 16;
/// The most parts within parts that are treated as parts.
const DEEPEST: usize = 32;
/// Bytes of a boundary that count; RFC 2046 allows 70.
const LONGEST_BOUNDARY: usize = 200;
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

/// The description of the content in the header of a message or part.
#[derive(Debug, Clone, Default)]
struct Headers {
    kind: ContentType,
    is_multipart: bool,
    /// Only one of the parts is shown.
    is_alternative: bool,
    /// The parts are messages unless their headers name another type.
    is_digest: bool,
    /// What stands between the parts.
    boundary: Vec<u8>,
    charset: Option<Charset>,
    encoding: Encoding,
    is_attached: bool,
}

impl Headers {
    /// The kind of content in a word.
    fn code(&self) -> &'static [u8] {
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
}

/// The filter.
#[derive(Debug, Default)]
pub struct UnicodeMail {
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
    headers: Headers,
    /// The header being read is that of a message, whose fields are shown.
    is_message: bool,
    /// The depth of the parts of which one is a message that comes with the mail.
    attached: Option<usize>,
    /// The headers of the multiparts that are open, the outermost first.
    open: Vec<Headers>,
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
    pub fn new(options: ModelOptions) -> Self {
        let tags = options.has(ModelOption::MailTags).then(Box::default);
        Self { options, tags, ..Self::default() }
    }

    /// Begins a source, with the initial state.
    pub fn start_file(&mut self) {
        *self = Self::new(self.options);
    }

    /// The medium of the line handed on last.
    pub fn medium(&self) -> Medium {
        self.last.map_or(TEXT, |(medium, _)| medium)
    }

    /// Whether that line belongs to the header of a message, or the last line read if it gave none.
    pub fn in_header(&self) -> bool {
        self.last.is_some_and(|(_, in_header)| in_header)
    }

    /// Takes a line as it was read, or a piece of a long one; [`Self::next`] returns the lines of
    /// text that it gives.
    pub fn take(&mut self, line: &[u8]) {
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
    pub fn next(&mut self, line: &mut Vec<u8>) -> bool {
        let ready = if self.tags.is_some() { &mut self.tagged } else { &mut self.output };
        let next = ready.pop(line);
        self.last = next.or(self.last);
        next.is_some()
    }

    /// Ends the source: text that was held back is passed on.
    pub fn finish(&mut self) {
        if matches!(self.place, Place::Header | Place::PartHeader) {
            self.end_field();
            self.headers = Headers::default();
        }
        self.end_part();
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
        }
    }

    /// Whether a message of a mailbox begins with `line`.
    pub fn is_begun_by(&self, line: &[u8]) -> bool {
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
            match self.place {
                Place::Start if is_empty => {}
                Place::Start => {
                    self.start_header(Place::Header);
                    self.header_line(line);
                }
                Place::Header | Place::PartHeader if is_empty => {
                    self.end_field();
                    self.end_header();
                }
                Place::Header | Place::PartHeader => self.header_line(line),
                Place::Text | Place::Skipped | Place::Preamble | Place::Epilogue => {
                    self.body_line(line);
                }
            }
        }
        self.is_after_text = !is_empty;
    }

    /// The next piece of a line, which neither begins a field nor is a boundary.
    fn more_of_line(&mut self, piece: &[u8]) {
        match self.place {
            Place::Header | Place::PartHeader if self.has_fields => self.more_of_field(piece),
            Place::Start | Place::Header | Place::PartHeader => {}
            Place::Text | Place::Skipped | Place::Preamble | Place::Epilogue => {
                self.content(piece);
            }
        }
    }

    fn start_header(&mut self, place: Place) {
        let is_digest = self.open.last().is_some_and(|parts| parts.is_digest);
        self.place = place;
        self.field.clear();
        self.has_fields = false;
        self.is_message = place == Place::Header;
        self.headers = Headers::default();
        if is_digest && place == Place::PartHeader {
            self.headers.kind = ContentType::Message;
        }
    }

    /// A line of a header that is not empty.
    fn header_line(&mut self, line: &[u8]) {
        if matches!(line[0], b' ' | b'\t') && self.has_fields {
            return self.more_of_field(line);
        }
        // A boundary in a header ends it.
        if self.place == Place::PartHeader
            && let Some(found) = self.boundary(line)
        {
            self.end_field();
            self.end_header();
            return self.pass_boundary(found);
        }
        self.end_field();
        let is_quoted_from = line.starts_with(b">From ") || line.starts_with(b"From ");
        if is_field(line) {
            self.has_fields = true;
            self.field.extend_from_slice(line.trim_ascii_end());
        } else if !is_quoted_from {
            // Text without the empty line that should precede it.
            self.end_header();
            self.body_line(line);
        }
    }

    /// A line that goes on with the field, or a piece of one.
    fn more_of_field(&mut self, line: &[u8]) {
        if self.field.len() > LONGEST_FIELD && !starts_with_ci(&self.field, b"content-") {
            let mut piece = self.field.clone();
            self.read_field(&mut piece);
            let name = memchr::memchr(b':', &self.field).map_or(0, |colon| colon + 1);
            self.field.truncate(name);
        }
        if self.field.len() <= LONGEST_FIELD {
            self.field.extend_from_slice(line.trim_ascii_end());
        }
    }

    /// Ends a field: it is shown, or read for the description of the content.
    fn end_field(&mut self) {
        let mut field = std::mem::take(&mut self.field);
        if !field.is_empty() {
            self.read_field(&mut field);
        }
        field.clear();
        self.field = field;
    }

    fn read_field(&mut self, field: &mut Vec<u8>) {
        if let Some(tags) = self.tags.as_mut().filter(|_| self.place == Place::Header) {
            tags.field(field);
        }
        let mut scan = HeaderScan::START;
        let kind = scan.scan(field);
        if kind == HeaderKind::Mime {
            if let Some(tags) = &mut self.tags {
                tags.content_field(field);
            }
            self.mime_field(field);
            return;
        }
        let is_shown = scan.shows(kind, self.options)
            || self.options.has(ModelOption::MailXHeaders) && !is_excluded(field);
        if !is_shown || !self.is_message {
            return;
        }
        // For the reader a message within the mail is text.
        let medium =
            if self.place == Place::Header { Medium::new(scan.medium) } else { self.text_medium() };
        self.show_field(field, medium);
    }

    /// Shows a field now, or when its character set is known.
    fn show_field(&mut self, field: &[u8], medium: Medium) {
        if std::str::from_utf8(field).is_err() {
            self.raw_size += field.len();
            self.raw.push((field.to_vec(), medium));
            if self.raw_size > MOST_RAW {
                self.flush_raw(None);
            }
        } else {
            self.push_field(field, None, medium);
        }
    }

    /// Decodes a field, from `charset` where it is not UTF-8, and hands it on.
    fn push_field(&mut self, field: &[u8], charset: Option<Charset>, medium: Medium) {
        self.scratch.clear();
        fields::decode(field, charset, &mut self.scratch);
        self.scratch.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        self.output.push_long(&self.scratch, medium, self.place == Place::Header);
    }

    /// Shows the fields whose character set was not known. They are decoded from `charset`, or
    /// without it from the set that is detected in all of them together.
    fn flush_raw(&mut self, charset: Option<Charset>) {
        if self.raw.is_empty() {
            return;
        }
        self.raw_size = 0;
        let raw = std::mem::take(&mut self.raw);
        let charset = charset.unwrap_or_else(|| {
            let all: Vec<u8> = raw.iter().flat_map(|(field, _)| field).copied().collect();
            Charset::guess(&all)
        });
        for (field, medium) in &raw {
            self.push_field(field, Some(charset), *medium);
        }
    }

    /// A field that describes the content.
    fn mime_field(&mut self, field: &[u8]) {
        if let Some(value) = strip_prefix_ci(field, b"Content-Type:") {
            self.content_type(value);
        } else if let Some(value) = strip_prefix_ci(field, b"Content-Transfer-Encoding:") {
            self.headers.encoding = mime::encoding(value);
        } else if let Some(value) = strip_prefix_ci(field, b"Content-Disposition:") {
            let value = value.trim_ascii_start();
            self.headers.is_attached = starts_with_ci(value, b"attachment");
            self.show_label(b"Content-Disposition: ", value, b"filename");
        } else if self.options.has(ModelOption::MailHeaders)
            && starts_with_ci(field, b"Content-Description:")
        {
            self.show_field(field, self.label_medium());
        }
    }

    fn content_type(&mut self, value: &[u8]) {
        let end = value.iter().position(|&byte| matches!(byte, b';' | b'('));
        let name = value[..end.unwrap_or(value.len())].trim_ascii();
        let headers = &mut self.headers;
        headers.kind = mime::content_type(name);
        headers.is_multipart = starts_with_ci(name, b"multipart/");
        headers.is_alternative = name.eq_ignore_ascii_case(b"multipart/alternative");
        headers.is_digest = name.eq_ignore_ascii_case(b"multipart/digest");
        headers.boundary = parameters::value(value, b"boundary").unwrap_or_default();
        headers.boundary.truncate(LONGEST_BOUNDARY);
        headers.charset = parameters::value(value, b"charset")
            .filter(|label| !fields::is_plain_ascii(label))
            .and_then(|label| Charset::by_label(&label));
        self.show_label(b"Content-Type: ", value, b"name");
    }

    /// The medium of labels of parts.
    fn label_medium(&self) -> Medium {
        if self.place == Place::Header { Medium::new(9) } else { self.text_medium() }
    }

    /// The medium of what a reader sees here.
    fn text_medium(&self) -> Medium {
        if self.attached.is_some() { ATTACHED } else { TEXT }
    }

    /// Shows type or disposition and file name of a part, with `email:headers`.
    fn show_label(&mut self, label: &[u8], value: &[u8], name: &[u8]) {
        if !self.options.has(ModelOption::MailHeaders) {
            return;
        }
        let end = memchr::memchr(b';', value).unwrap_or(value.len());
        let mut text = label.to_vec();
        text.extend_from_slice(value[..end].trim_ascii());
        if let Some(name) = parameters::value(value, name) {
            text.push(b' ');
            text.extend(name);
        }
        self.show_field(&text, self.label_medium());
    }

    /// Ends a header: decides how the content is read.
    fn end_header(&mut self) {
        let in_mail = self.place == Place::Header;
        let headers = std::mem::take(&mut self.headers);
        if let Some(tags) = &mut self.tags {
            tags.part(self.open.len(), headers.code());
        }
        if headers.is_multipart && !headers.boundary.is_empty() && self.open.len() < DEEPEST {
            let charset = headers.charset;
            self.open.push(headers);
            self.place = Place::Preamble;
            if in_mail {
                // The text before the first part is shown if there are no parts.
                self.hold(self.open.len());
                self.start_part(Content::Plain, &Headers { charset, ..Headers::default() });
            }
            return;
        }
        let is_encoded = matches!(headers.encoding, Encoding::Base64 | Encoding::QuotedPrintable);
        let atts = self.options.has(ModelOption::MailAttachments);
        let content = match headers.kind {
            ContentType::Message if !is_encoded => {
                if self.open.last().is_some_and(|parts| !parts.is_digest) {
                    self.attached.get_or_insert(self.open.len());
                }
                self.start_header(Place::PartHeader);
                self.headers = Headers::default();
                self.is_message = true;
                return;
            }
            ContentType::Unknown | ContentType::Plain | ContentType::Message => {
                let is_markup = self.options.has(ModelOption::MailNoPlain);
                if is_markup { Content::Markup } else { Content::Plain }
            }
            ContentType::Html | ContentType::Rich | ContentType::Xml | ContentType::Sgml => {
                let is_plain = self.options.has(ModelOption::MailPlain);
                if is_plain { Content::Plain } else { Content::Markup }
            }
            ContentType::Octets | ContentType::Word if atts => Content::Strings,
            _ => {
                self.place = Place::Skipped;
                return;
            }
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

    /// The depth of the innermost alternative that is open.
    fn alternative(&self) -> Option<usize> {
        self.open.iter().rposition(|parts| parts.is_alternative).map(|at| at + 1)
    }

    /// Holds back the text of the coming part until the parts of this depth end. Text that is held
    /// back already stays with the outer parts.
    fn hold(&mut self, depth: usize) {
        self.is_holding = true;
        self.held_depth.get_or_insert(depth);
    }

    fn start_part(&mut self, content: Content, headers: &Headers) {
        let transfer = match headers.encoding {
            Encoding::Base64 => Transfer::Base64(Base64::default()),
            Encoding::QuotedPrintable => Transfer::QuotedPrintable,
            _ => Transfer::Identity,
        };
        let is_text = content != Content::Strings && !headers.is_attached;
        let medium = if is_text { self.text_medium() } else { ATTACHED };
        if headers.charset.is_some() && self.place == Place::Text {
            self.flush_raw(headers.charset);
        }
        let description = Description { content, transfer, charset: headers.charset, medium };
        self.part = Some(Part::new(description, self.options));
    }

    /// A line of a body.
    fn body_line(&mut self, line: &[u8]) {
        match self.boundary(line) {
            Some(found) => self.pass_boundary(found),
            None => self.content(line),
        }
    }

    /// A line of a part's content, or a piece of one.
    fn content(&mut self, line: &[u8]) {
        let Some(part) = &mut self.part else { return };
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
        self.open.iter().enumerate().rev().find_map(|(at, parts)| {
            let behind = rest.strip_prefix(parts.boundary.trim_ascii_end())?;
            match behind {
                b"" => Some((at + 1, false)),
                b"--" => Some((at + 1, true)),
                _ => None,
            }
        })
    }

    fn pass_boundary(&mut self, (depth, is_last): (usize, bool)) {
        let is_preamble = self.place == Place::Preamble && depth == self.open.len();
        self.end_part();
        if is_preamble && self.held_depth == Some(depth) {
            // Readers do not see the text before the parts.
            self.held.clear();
            self.held_depth = None;
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
        let Some(part) = self.part.take() else { return };
        let is_page = part.is_shown_markup();
        let output = if self.is_holding { &mut self.held } else { &mut self.output };
        let has_shown = part.finish(output);
        let is_better = is_page && !self.is_holding && has_shown && self.alternative().is_some();
        self.is_holding = false;
        if is_better {
            // The reader sees this one, not the one before it.
            self.held.clear();
        }
    }

    /// Closes the parts that are deeper than `depth`.
    fn close(&mut self, depth: usize) {
        self.open.truncate(depth);
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

/// Whether a line begins a header field: a name of visible characters, and a colon.
fn is_field(line: &[u8]) -> bool {
    let end = line.iter().position(|byte| !byte.is_ascii_graphic() || *byte == b':');
    // Old programs put a blank before the colon.
    end.is_some_and(|end| {
        (1..=200).contains(&end) && line[end..].trim_ascii_start().starts_with(b":")
    })
}

#[cfg(test)]
mod tests;
