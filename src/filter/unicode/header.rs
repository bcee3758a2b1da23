// SPDX-License-Identifier: GPL-3.0-or-later
//! The header of a message or part: lines to fields, and fields to text.

use super::described::Headers;
use super::part::ATTACHED;
use super::{LONGEST_FIELD, MOST_RAW, Place, TEXT, UnicodeMail};
use crate::filter::bytes::{starts_with_ci, strip_prefix_ci};
use crate::filter::header::{HeaderKind, HeaderScan, is_excluded};
use crate::filter::mime::ContentType;
use crate::mail::header_fields::{Field, is_folded};
use crate::model::medium::Medium;
use crate::model::settings::ModelOption;
use dbacl_words::charset::{Charset, fields, parameters};

/// Bytes and lines in a header that are not fields, up to which it is open whether text begins with
/// them.
const MOST_STRAY: usize = 1 << 13;
const MOST_STRAY_LINES: usize = 64;

impl UnicodeMail {
    pub(super) fn start_header(&mut self, place: Place) {
        let is_digest = self.open.last().is_some_and(|parts| parts.headers.is_digest);
        self.place = place;
        self.field.clear();
        self.has_fields = false;
        self.is_message = place == Place::Header;
        self.strays.clear();
        self.headers = Headers::default();
        if is_digest && place == Place::PartHeader {
            self.headers.kind = ContentType::Message;
        }
    }

    /// A line of a header that is not empty.
    pub(super) fn header_line(&mut self, line: &[u8]) {
        // A boundary in a header ends it.
        if self.place == Place::PartHeader
            && let Some(found) = self.boundary(line)
        {
            self.end_header_at_text();
            return self.pass_boundary(found);
        }
        if !self.strays.is_empty() {
            return self.stray(line);
        }
        if is_folded(line) && self.has_fields {
            return self.more_of_field(line);
        }
        if let Some(field) = Field::of(line) {
            self.end_field();
            self.has_fields = true;
            self.field.extend_from_slice(field.name);
            self.field.push(b':');
            self.field.extend_from_slice(field.value.trim_ascii_end());
        } else if !(line.starts_with(b">From ") || line.starts_with(b"From ")) {
            self.stray(line);
        }
    }

    /// A line that is not a field, or that follows such a line. If a field of a known name comes
    /// next the header goes on, and the lines before it are in it (RFC 7103, 7.2).
    fn stray(&mut self, line: &[u8]) {
        let in_message = self.is_message;
        if Field::of(line).is_some_and(|field| field.is_known(in_message)) {
            self.join_strays();
            return self.header_line(line);
        }
        self.strays.extend_from_slice(line);
        let lines = memchr::memchr_iter(b'\n', &self.strays).count();
        if self.strays.len() > MOST_STRAY || lines > MOST_STRAY_LINES {
            self.end_header_at_text();
        }
    }

    /// A piece of a longer line of a header.
    pub(super) fn header_piece(&mut self, piece: &[u8]) {
        if !self.strays.is_empty() {
            self.stray(piece);
        } else if self.has_fields {
            self.more_of_field(piece);
        }
    }

    /// The lines that were doubtful are in the header: what is not a field joins the field before
    /// it, or is passed over where there is none.
    fn join_strays(&mut self) {
        let strays = std::mem::take(&mut self.strays);
        for line in strays.split_inclusive(|&byte| byte == b'\n') {
            if Field::of(line).is_some() {
                self.header_line(line);
            } else if self.has_fields {
                self.more_of_field(&[b" ", line].concat());
            }
        }
    }

    /// The empty line after a header. Lines before it that are not fields are text, unless the
    /// header says that what follows is not plainly text.
    pub(super) fn end_of_header(&mut self, line: &[u8]) {
        if !self.strays.is_empty() && self.has_fields {
            self.end_field();
            let Headers { encodings, is_multipart, kind, .. } = &self.headers;
            if encodings.encode() || *is_multipart || *kind == ContentType::Message {
                self.strays.clear();
            }
        }
        let begins_text = !self.strays.is_empty();
        self.end_header_at_text();
        if begins_text {
            self.within(line);
        }
    }

    /// The end of a header: lines at its end that are not fields are text, without the empty line
    /// that should precede it.
    pub(super) fn end_header_at_text(&mut self) {
        self.end_field();
        let strays = std::mem::take(&mut self.strays);
        self.end_header();
        strays.split_inclusive(|&byte| byte == b'\n').for_each(|line| self.within(line));
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
    pub(super) fn end_field(&mut self) {
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
        // A line within Content-Type that looks like a field leaves the boundary to that field.
        self.headers.strange_boundaries_in(field);
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
    pub(super) fn flush_raw(&mut self, charset: Option<Charset>) {
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
            self.headers.content_type(value);
            self.show_label(b"Content-Type: ", value, b"name");
        } else if let Some(value) = strip_prefix_ci(field, b"Content-Transfer-Encoding:") {
            self.headers.encodings.read(value);
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

    /// The medium of labels of parts.
    fn label_medium(&self) -> Medium {
        if self.place == Place::Header { Medium::new(9) } else { self.text_medium() }
    }

    /// The medium of what a reader sees here.
    pub(super) fn text_medium(&self) -> Medium {
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
}
