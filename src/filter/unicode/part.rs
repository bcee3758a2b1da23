// SPDX-License-Identifier: GPL-3.0-or-later
//! The content of a text part: from its encoded lines to lines of text in UTF-8.
//!
//! ```text
//! lines ─→ bytes (transfer encoding) ─→ UTF-8 (character set) ─→ text (markup) ─→ lines
//! ```

use crate::filter::bytes::starts_with_ci;
use crate::filter::plain::strings;
use crate::filter::unicode::declared::declared_charset;
use crate::filter::unicode::described::Encodings;
use crate::filter::unicode::flowed::Flowed;
use crate::filter::unicode::html::Html;
use crate::filter::unicode::lines::{Builder, Lines};
use crate::model::medium::Medium;
use crate::model::settings::ModelOptions;
use dbacl_words::charset::transfer::{BASE64, Base64, NO_BASE64, Transfer};
use dbacl_words::charset::{Charset, Decoder};

/// The medium of attached texts and messages.
pub(super) const ATTACHED: Medium = Medium::new(1);

/// Bytes of a text by which its character set is detected; they are held back until then.
const SAMPLE: usize = 1 << 13;
/// Bytes in which a page may name its character set.
const HEAD: usize = 1024;

/// How a part is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Text as it stands.
    Plain,
    /// Text with tags.
    Markup,
    /// The strings in binary data.
    Strings,
}

/// The description of a part in its header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Description {
    /// What it is read as.
    pub content: Content,
    /// Whether text that looks like a page is one, and other text is none.
    pub is_doubtful: bool,
    /// How its bytes are encoded, as its header has it.
    pub encodings: Encodings,
    /// Whether lines that end in a blank go on with the next one.
    pub deletes_blanks: bool,
    /// The character set that its header names, if it names one.
    pub charset: Option<Charset>,
    /// The medium of its text.
    pub medium: Medium,
}

impl Encodings {
    /// How the bytes of a part are encoded that begins with this line. Of several encodings the
    /// line decides; `None` if it is blank.
    fn of_text(self, line: &[u8]) -> Option<Transfer> {
        let line = line.trim_ascii_end();
        let has_others = self.quoted_printable || self.uuencode || self.other;
        if self.base64 && has_others && line.is_empty() {
            return None;
        }
        Some(if self.base64 && (!has_others || is_base64(line)) {
            Transfer::Base64(Base64::default())
        } else if self.quoted_printable {
            Transfer::QuotedPrintable
        } else if self.uuencode {
            Transfer::Uuencode
        } else {
            Transfer::Identity
        })
    }
}

/// Whether a line looks like one of base64.
fn is_base64(line: &[u8]) -> bool {
    line.len().is_multiple_of(4) && line.iter().all(|&byte| BASE64[usize::from(byte)] != NO_BASE64)
}

/// Whether a text looks like a page: a tag that closes, or one that pages begin with.
fn looks_like_markup(text: &[u8]) -> bool {
    memchr::memchr_iter(b'<', text).any(|at| {
        let tag = &text[at + 1..];
        let is_end = tag.first() == Some(&b'/') && tag.get(1).is_some_and(u8::is_ascii_alphabetic);
        let begins = |name: &&[u8]| starts_with_ci(tag, name);
        is_end || [&b"!doctype html"[..], b"html", b"body", b"br", b"p>"].iter().any(begins)
    })
}

/// The reader of a part.
#[derive(Debug)]
pub(super) struct Part {
    description: Description,
    options: ModelOptions,
    /// `None` until the first line of the text.
    transfer: Option<Transfer>,
    flowed: Option<Flowed>,
    /// Decoded bytes of a line.
    bytes: Vec<u8>,
    /// Bytes of the beginning of the part.
    sample: Vec<u8>,
    decoder: Option<Decoder>,
    /// Text of a line.
    text: Vec<u8>,
    builder: Builder,
    /// Takes text with tags.
    html: Option<Box<Html>>,
    has_shown: bool,
}

impl Part {
    /// The reader at the beginning of a part. Text that a page hides is left out.
    pub(super) fn new(description: Description, options: ModelOptions) -> Self {
        let is_markup = description.content == Content::Markup;
        Self {
            description,
            options,
            transfer: None,
            flowed: description.deletes_blanks.then(Flowed::default),
            bytes: Vec::new(),
            sample: Vec::with_capacity(SAMPLE),
            decoder: None,
            text: Vec::new(),
            builder: Builder::plain(description.medium),
            html: is_markup.then(|| Box::new(Html::new(options, description.medium))),
            has_shown: false,
        }
    }

    /// Whether the part is a page that is shown as part of the mail.
    pub(super) fn is_shown_markup(&self) -> bool {
        self.html.is_some() && self.description.medium != ATTACHED
    }

    /// Takes a line of the part, with its end.
    pub(super) fn line(&mut self, line: &[u8], output: &mut Lines) {
        self.transfer = self.transfer.or_else(|| self.description.encodings.of_text(line));
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        match &mut self.transfer {
            None | Some(Transfer::Identity) => {
                self.bytes = bytes;
                return self.bytes(line, output);
            }
            Some(transfer) => transfer.decode(line, &mut bytes),
        }
        self.bytes(&bytes, output);
        self.bytes = bytes;
    }

    fn bytes(&mut self, bytes: &[u8], output: &mut Lines) {
        if self.description.content == Content::Strings {
            self.text.clear();
            self.text.extend_from_slice(bytes);
            strings(&mut self.text);
            self.builder.lines(&self.text, output);
            return;
        }
        if self.decoder.is_some() {
            return self.decode(bytes, output);
        }
        let (sampled, rest) = bytes.split_at(bytes.len().min(SAMPLE - self.sample.len()));
        self.sample.extend_from_slice(sampled);
        if self.sample.len() == SAMPLE {
            self.decide(output);
            self.decode(rest, output);
        }
    }

    /// Decides on the character set by the bytes read so far, and decodes them.
    fn decide(&mut self, output: &mut Lines) {
        let sample = std::mem::take(&mut self.sample);
        if self.description.is_doubtful {
            let medium = self.description.medium;
            let is_page = looks_like_markup(&sample);
            self.html = is_page.then(|| Box::new(Html::new(self.options, medium)));
        }
        let mark = Charset::by_mark(&sample);
        let named = || {
            let head = &sample[..sample.len().min(HEAD)];
            self.html.is_some().then(|| declared_charset(head)).flatten()
        };
        let charset = match mark {
            Some((charset, _)) => charset,
            None => match self.description.charset.or_else(named) {
                Some(declared) => declared.or_detect(&sample),
                None => Charset::detect(&sample),
            },
        };
        self.decoder = Some(Decoder::new(charset));
        self.decode(&sample[mark.map_or(0, |(_, length)| length)..], output);
        self.sample = sample;
    }

    fn decode(&mut self, bytes: &[u8], output: &mut Lines) {
        let Some(decoder) = &mut self.decoder else { return };
        self.text.clear();
        decoder.decode(bytes, &mut self.text);
        self.show(output);
    }

    fn show(&mut self, output: &mut Lines) {
        if let Some(html) = &mut self.html {
            html.feed(&self.text, output);
        } else {
            self.has_shown |= !self.text.iter().all(u8::is_ascii_whitespace);
            if let Some(flowed) = &mut self.flowed {
                let mut joined = Vec::new();
                flowed.join(&self.text, &mut joined);
                self.text = joined;
            }
            self.builder.lines(&self.text, output);
        }
    }

    /// Takes all of the part as read, so that it is known what it is.
    pub(super) fn settle(&mut self, output: &mut Lines) {
        if self.decoder.is_none() {
            self.decide(output);
        }
    }

    /// Ends the part. Returns whether a reader has seen something of it.
    pub(super) fn finish(mut self, output: &mut Lines) -> bool {
        self.settle(output);
        self.text.clear();
        if let Some(mut decoder) = self.decoder.take() {
            decoder.finish(&mut self.text);
            self.show(output);
        }
        if let Some(flowed) = &mut self.flowed {
            self.text.clear();
            flowed.finish(&mut self.text);
            self.builder.lines(&self.text, output);
        }
        self.builder.end_line(output);
        self.html.map_or(self.has_shown, |html| html.finish(output))
    }
}
