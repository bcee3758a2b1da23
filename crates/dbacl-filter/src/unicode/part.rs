// SPDX-License-Identifier: GPL-3.0-or-later
//! The content of a text part: from its encoded lines to lines of text in UTF-8.
//!
//! ```text
//! lines ─→ bytes (transfer encoding) ─→ UTF-8 (character set) ─→ text (markup) ─→ lines
//! ```

use crate::plain::strings;
use crate::unicode::declared::declared_charset;
use crate::unicode::html::Html;
use crate::unicode::lines::{Builder, Lines};
use dbacl_charset::transfer::Transfer;
use dbacl_charset::{Charset, Decoder};
use dbacl_model::medium::Medium;
use dbacl_model::settings::ModelOptions;

/// The medium of attached texts and messages.
pub const ATTACHED: Medium = Medium::new(1);

/// Bytes of a text by which its character set is detected; they are held back until then.
const SAMPLE: usize = 1 << 13;
/// Bytes in which a page may name its character set.
const HEAD: usize = 1024;

/// How a part is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Text as it stands.
    Plain,
    /// Text with tags.
    Markup,
    /// The strings in binary data.
    Strings,
}

/// The description of a part in its header.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// What it is read as.
    pub content: Content,
    /// How its bytes are encoded.
    pub transfer: Transfer,
    /// The character set that its header names, if it names one.
    pub charset: Option<Charset>,
    /// The medium of its text.
    pub medium: Medium,
}

/// The reader of a part.
#[derive(Debug)]
pub struct Part {
    description: Description,
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
    pub fn new(description: Description, options: ModelOptions) -> Self {
        let is_markup = description.content == Content::Markup;
        Self {
            description,
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
    pub fn is_shown_markup(&self) -> bool {
        self.html.is_some() && self.description.medium != ATTACHED
    }

    /// Takes a line of the part, with its end.
    pub fn line(&mut self, line: &[u8], output: &mut Lines) {
        if matches!(self.description.transfer, Transfer::Identity) {
            return self.bytes(line, output);
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        self.description.transfer.decode(line, &mut bytes);
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
            self.builder.lines(&self.text, output);
        }
    }

    /// Ends the part. Returns whether a reader has seen something of it.
    pub fn finish(mut self, output: &mut Lines) -> bool {
        if self.decoder.is_none() {
            self.decide(output);
        }
        self.text.clear();
        if let Some(mut decoder) = self.decoder.take() {
            decoder.finish(&mut self.text);
            self.show(output);
        }
        self.builder.end_line(output);
        self.html.map_or(self.has_shown, |html| html.finish(output))
    }
}
