// SPDX-License-Identifier: GPL-3.0-or-later
//! Mail, HTML and XML to the text that is cut into words.
//!
//! ```
//! use dbacl_filter::Filter;
//! use dbacl_model::settings::{Locale, ModelOption, ModelOptions};
//!
//! let options = ModelOptions::default().with(ModelOption::Mail).with(ModelOption::Html);
//! let mut filter = Filter::new(options, Locale::C);
//! filter.start_file();
//! let mail = "From: a@b.c\nX-Mailer: none\nContent-Type: text/html\n\n<p>Good <b>morning</b>\n";
//! let mut texts = Vec::new();
//! for line in mail.split_inclusive('\n') {
//!     let mut line = line.as_bytes().to_vec();
//!     if filter.line(&mut line) {
//!         texts.push((filter.medium().number(), String::from_utf8(line)?));
//!     }
//! }
//! let expected = [(12, "From: a@b.c\n"), (2, ""), (2, "Good morning\n")]; // of a sender, of HTML
//! assert_eq!(texts, expected.map(|(medium, text)| (medium, text.to_owned())));
//! # Ok::<(), std::string::FromUtf8Error>(())
//! ```
//!
//! A [`Filter`] is a chain that its options choose:
//!
//! ```text
//! line → mail (headers, parts, decoders, plain text) → markup → text     with -T email
//! line → Unicode mail (structure, character sets, markup) ────→ texts    with -T email:unicode
//! line ─────────────────────────────────────────────→ markup → text     with -T html, -T xml
//! line → mail (headers, parts, decoders, plain text) ──────────→ text     Filter::mail_only
//! line ──────────────────────────────────────────────────────→ text     otherwise
//! ```
//!
//! The classic filters work on the line in place, as dbacl 1.14.1 does, and a line never grows but
//! by what waits in the decoders of mail. [`unicode`] makes any number of texts of a line. All take
//! time linear in what they read, what they hold of it is bounded, and none fails: what is no mail
//! or no markup is text. The medium of a text ([`Filter::medium`]) says which part of a message it
//! came from.
//!
//! | module | what it does |
//! |---|---|
//! | [`decode`] | the encodings of mail, as dbacl 1.14.1 decodes them |
//! | [`mime`] | what is in a part, and where parts end |
//! | [`markup`] | takes the tags out of HTML and XML |
//! | [`unicode`] | reads mail as Unicode text, and HTML as a reader would see it |
//!
//! "spec email 9.4" and its like name sections of dbacl's `docs/spec`.

#![warn(missing_docs)]

mod bytes;
mod chain;
pub mod decode;
mod entity;
mod header;
mod mail;
pub mod markup;
pub mod mime;
mod pending;
#[cfg(test)]
mod pieces;
mod plain;
mod rewrite;
pub mod unicode;

pub use chain::{Filter, reads_unicode};
