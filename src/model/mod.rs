// SPDX-License-Identifier: GPL-3.0-or-later
//! What learning and scoring share: the settings that a model is learned under, the media that its
//! features come from, the statistics of its documents, and the digrams that price a word which no
//! feature stands for.
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

pub(crate) mod digram;
pub(crate) mod medium;
pub(crate) mod moments;
pub(crate) mod settings;
