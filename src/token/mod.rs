// SPDX-License-Identifier: GPL-3.0-or-later
//! Turns text into features.
//!
//! A line that has passed the filters is cut into words by a scheme ([`tokenizer`]); the window of
//! the last n words ([`ngram`]) gives the features. Regular expressions ([`pattern`]) give features
//! of their own. A feature is known to models by the 32-bit hash of its bytes ([`id`]).

pub(crate) mod id;
pub(crate) mod lexicon;
pub(crate) mod ngram;
pub(crate) mod ngram_line;
pub(crate) mod pattern;
pub(crate) mod show;

use crate::model::medium::Medium;

pub(crate) use dbacl_words::{class, tokenizer, word};

pub(crate) use crate::model::digram::BOUNDARY;

/// Introduces the medium byte after a feature's body.
pub(crate) const MEDIUM_MARK: u8 = 0x02;

/// Number of a regular expression, from 0, in the order in which a run loaded them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PatternId(pub u8);

/// A feature as cut from the text, before any model has seen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature<'a> {
    /// The words between boundary marks, `03 word1 03 word2 03 … 03` (spec model 2).
    pub body: &'a [u8],
    /// Where in the document it came from.
    pub medium: Medium,
    /// Number of words, as stored in three bits: eight captured groups give 0.
    pub order: u8,
    /// The regular expression that it came from; `None` for the standard tokenizer.
    pub pattern: Option<PatternId>,
}

impl<'a> Feature<'a> {
    /// Its words, without the marks between them.
    pub fn words(&self) -> impl Iterator<Item = &'a [u8]> {
        let marks = |byte: &u8| *byte == BOUNDARY;
        let body = self.body.strip_prefix(&[BOUNDARY]).unwrap_or(self.body);
        body.strip_suffix(&[BOUNDARY]).unwrap_or(body).split(marks)
    }

    /// Whether the body holds only boundary marks. Such features are neither learned nor scored.
    pub(crate) fn is_blank(&self) -> bool {
        self.body.iter().all(|&byte| byte == BOUNDARY)
    }
}
