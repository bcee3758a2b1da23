// SPDX-License-Identifier: GPL-3.0-or-later
//! Filters: from a raw line to the text that is cut into tokens.
//!
//! ```text
//! line → mail (headers, parts, decoders, plain text) → markup → text     with -T email
//! line ─────────────────────────────────────────────→ markup → text     with -T html, -T xml
//! line ──────────────────────────────────────────────────────→ text     otherwise
//! ```
//!
//! Every filter works on the line in place. But for what waits in the decoders of mail, a line
//! never grows. All take time linear in what they read, and memory that does not depend on it.

mod bytes;
pub mod decode;
mod entity;
mod header;
mod mail;
pub mod markup;
pub mod mime;
mod pending;
mod plain;
mod rewrite;

use crate::filter::mail::Mail;
use crate::filter::markup::Markup;
use crate::model::medium::Medium;
use crate::model::settings::{Locale, ModelOption, ModelOptions};

/// What becomes of a filtered line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Its text goes to the tokenizer; it may be empty.
    Keep,
    /// It is not tokenised. The line is as the filter left it.
    Drop,
}

/// The chain of filters of a run.
#[derive(Debug)]
pub struct Filter {
    chain: Chain,
    /// The medium does not follow the parts of mail: n-grams run on over lines.
    has_one_medium: bool,
}

#[derive(Debug)]
enum Chain {
    Text,
    Markup(Markup),
    Mail(Box<Mail>, Markup),
}

impl Filter {
    /// The chain for the input type and the kinds in `options`.
    pub fn new(options: ModelOptions, locale: Locale) -> Self {
        let chain = if options.has(ModelOption::Mail) {
            Chain::Mail(Box::new(Mail::new(options, locale)), Markup::new(options, locale))
        } else if options.has_any(&[ModelOption::Xml, ModelOption::Html]) {
            Chain::Markup(Markup::new(options, locale))
        } else {
            Chain::Text
        };
        Self { chain, has_one_medium: options.has(ModelOption::Straddle) }
    }

    /// Starts a new file: forgets what does not outlive one.
    pub fn start_file(&mut self) {
        match &mut self.chain {
            Chain::Text => {}
            Chain::Markup(markup) => markup.start_file(),
            Chain::Mail(mail, markup) => {
                mail.start_file();
                markup.start_file();
            }
        }
    }

    /// Filters one line, which is not empty and holds no NUL, in place.
    pub fn line(&mut self, line: &mut Vec<u8>) -> Verdict {
        match &mut self.chain {
            Chain::Text => {}
            Chain::Markup(markup) => markup.line(line),
            Chain::Mail(mail, markup) => {
                let outcome = mail.line(line);
                markup.choose(outcome.markup);
                if !outcome.is_kept {
                    return Verdict::Drop;
                }
                markup.line(line);
            }
        }
        Verdict::Keep
    }

    /// The medium of the tokens of the line just filtered.
    pub fn medium(&self) -> Medium {
        match &self.chain {
            Chain::Mail(mail, _) if !self.has_one_medium => mail.medium(),
            _ => Medium::TEXT,
        }
    }

    /// Whether the line just filtered belongs to a header block of a mail.
    pub fn in_header(&self) -> bool {
        matches!(&self.chain, Chain::Mail(mail, _) if mail.in_header())
    }
}
