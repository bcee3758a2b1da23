// SPDX-License-Identifier: GPL-3.0-or-later
//! What learning and scoring share: the settings that a model is learned under, the media that its
//! features come from, the statistics of its documents, and the digrams that price a word which no
//! feature stands for.
//!
//! ```
//! use dbacl_model::digram::DigramTable;
//! use dbacl_model::settings::{ModelOption, ModelOptions};
//!
//! // What a category file says of the messages that it was learned from.
//! let options = ModelOptions::default().with(ModelOption::Mail).with(ModelOption::MailHeaders);
//! assert!(options.has(ModelOption::Mail) && !options.has(ModelOption::Html));
//!
//! // Under a table of two steps, the word `a` between its boundary marks costs 1.5 nats.
//! let mut table = DigramTable::zero();
//! table.set(0x03, usize::from(b'a'), -1.0);
//! table.set(usize::from(b'a'), 0x03, -0.5);
//! assert_eq!(table.log_reference(b"\x03a\x03"), -1.5);
//! ```
//!
//! | module | what it defines |
//! |---|---|
//! | [`settings`] | the options of a model, with the numbers and names that a file stores |
//! | [`medium`] | the part of a document that a word came from |
//! | [`digram`] | counts of adjacent characters, and what a word costs under them |
//! | [`moments`] | what learning measured of a category's documents |
//!
//! Learning and scoring know this crate and not each other, so all that they must agree on stands
//! here. "spec model 4.1" and its like name sections of dbacl's `docs/spec`. What this page leaves
//! out is for dbacl's own crates.

#![warn(missing_docs)]

pub mod digram;
pub mod medium;
pub mod moments;
pub mod settings;
