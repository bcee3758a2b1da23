// SPDX-License-Identifier: GPL-3.0-or-later
//! What the fuzz targets check: no panic on any bytes, and outputs bounded by inputs.
//!
//! A *target* is a function that takes any bytes and panics when a rule is broken; [`TARGETS`] has
//! all of them. Tests give them the seeds of `fuzz/seeds`, and `fuzz/run` builds them with coverage
//! and finds further inputs; see `docs/lab/fuzzing.md`.

mod chess;
mod imap;
mod mutation;
mod passing;
mod server;
mod tables;

pub use imap::{imap_lessons, imap_server};
pub use mutation::{changed, grown, processor_time, seeds};

use chess::{chess_protocol, pgn};
use imap::imap_state;
use passing::mail_filter;
use server::{server_http, server_milter, server_opensmtpd, server_packed, server_spamc};
use tables::tables;

use dbacl::checks::{
    category_open, charset, counts, css, decode, filter_files, learning_state, lines, mail_chain,
    mail_header, mailbox, markup, mime, options, pattern, risk, tokenizer, unicode, unicode_mail,
};

/// What takes any bytes, and panics when a rule is broken.
pub type Target = fn(&[u8]);

/// All targets, by name. `fuzz/seeds` has a folder for each.
pub const TARGETS: [(&str, Target); 30] = [
    ("category_open", category_open),
    ("charset", charset),
    ("chess_protocol", chess_protocol),
    ("counts", counts),
    ("css", css),
    ("decode", decode),
    ("filter_files", filter_files),
    ("imap_server", imap_server),
    ("imap_state", imap_state),
    ("learning_state", learning_state),
    ("lines", lines),
    ("mail_chain", mail_chain),
    ("mail_filter", mail_filter),
    ("mail_header", mail_header),
    ("mailbox", mailbox),
    ("markup", markup),
    ("mime", mime),
    ("options", options),
    ("pattern", pattern),
    ("pgn", pgn),
    ("risk", risk),
    ("server_http", server_http),
    ("server_milter", server_milter),
    ("server_opensmtpd", server_opensmtpd),
    ("server_packed", server_packed),
    ("server_spamc", server_spamc),
    ("tables", tables),
    ("tokenizer", tokenizer),
    ("unicode", unicode),
    ("unicode_mail", unicode_mail),
];
