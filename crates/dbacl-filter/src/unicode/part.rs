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
    /// The medium of what is shown beside the text: links, and more that is asked for.
    pub aside: Medium,
}

/// The reader of parts, one after the other.
#[derive(Debug)]
pub struct Part {
    description: Option<Description>,
    /// Decoded bytes of a line, and of the beginning of the part.
    bytes: Vec<u8>,
    sample: Vec<u8>,
    decoder: Option<Decoder>,
    /// Text of a line.
    text: Vec<u8>,
    builder: Builder,
    html: Box<Html>,
    has_shown: bool,
}

impl Part {
    /// The reader; text that a page hides is left out unless it has a medium.
    pub fn new(options: ModelOptions, hidden: Option<Medium>) -> Self {
        Self {
            description: None,
            bytes: Vec::new(),
            sample: Vec::new(),
            decoder: None,
            text: Vec::new(),
            builder: Builder::new(Medium::TEXT),
            html: Box::new(Html::new(options, hidden)),
            has_shown: false,
        }
    }

    /// Begins a part.
    pub fn start(&mut self, description: Description) {
        self.sample.clear();
        self.decoder = None;
        self.has_shown = false;
        self.builder.start_plain(description.medium);
        if description.content == Content::Markup {
            self.html.start(description.medium, description.aside);
        }
        self.description = Some(description);
    }

    /// Whether a part is being read.
    pub const fn is_open(&self) -> bool {
        self.description.is_some()
    }

    /// Whether the part is a page that is shown as part of the mail.
    pub fn is_shown_markup(&self) -> bool {
        self.description
            .is_some_and(|part| part.content == Content::Markup && part.medium != ATTACHED)
    }

    /// Takes a line of the part, with its end.
    pub fn line(&mut self, line: &[u8], output: &mut Lines) {
        let Some(description) = &mut self.description else { return };
        let is_plain = matches!(description.transfer, Transfer::Identity);
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        if is_plain {
            self.bytes(line, output);
        } else {
            description.transfer.decode(line, &mut bytes);
            self.bytes(&bytes, output);
        }
        self.bytes = bytes;
    }

    fn bytes(&mut self, bytes: &[u8], output: &mut Lines) {
        if self.description.is_some_and(|part| part.content == Content::Strings) {
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
        let Some(description) = self.description else { return };
        let sample = std::mem::take(&mut self.sample);
        let mark = Charset::by_mark(&sample);
        let named = || {
            let head = &sample[..sample.len().min(HEAD)];
            (description.content == Content::Markup).then(|| declared_charset(head)).flatten()
        };
        let charset = match mark {
            Some((charset, _)) => charset,
            None => match description.charset.or_else(named) {
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
        if self.description.is_some_and(|part| part.content == Content::Markup) {
            self.html.feed(&self.text, output);
        } else {
            self.has_shown |= !self.text.iter().all(u8::is_ascii_whitespace);
            self.builder.lines(&self.text, output);
        }
    }

    /// Ends the part, if there is one. Returns whether a reader has seen something of it.
    pub fn finish(&mut self, output: &mut Lines) -> bool {
        if self.decoder.is_none() {
            self.decide(output);
        }
        self.text.clear();
        if let Some(mut decoder) = self.decoder.take() {
            decoder.finish(&mut self.text);
            self.show(output);
        }
        self.builder.end_line(output);
        match self.description.take() {
            Some(Description { content: Content::Markup, .. }) => {
                self.html.finish(output);
                self.html.has_shown()
            }
            _ => self.has_shown,
        }
    }
}
