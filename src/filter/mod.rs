// SPDX-License-Identifier: GPL-3.0-or-later
//! Mail, HTML and XML to the text that is cut into words.
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
//! time linear in what they read, what they hold of it is bounded, and none fails: what is not mail
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

mod bytes;
mod chain;
pub(crate) mod decode;
mod entity;
mod header;
mod mail;
pub(crate) mod markup;
pub(crate) mod mime;
mod pending;
#[cfg(test)]
mod pieces;
mod plain;
mod rewrite;
pub(crate) mod unicode;

pub(crate) use chain::{Filter, reads_unicode};
