// SPDX-License-Identifier: GPL-3.0-or-later
//! Cuts lines of text into features: those of regular expressions, and the n-grams of the
//! tokenizer's words.

use super::options::ReadOptions;
use crate::model::medium::Medium;
use crate::model::settings::ModelOption;
use crate::token::Feature;
use crate::token::ngram::Window;
use crate::token::pattern::PatternList;
use crate::token::tokenizer::Tokenizer;
use crate::token::word::WordSink;

/// The part of a [`super::FeatureReader`] that cuts lines into features; n-grams may go on from
/// line to line.
#[derive(Debug, Clone)]
pub struct Cutter {
    patterns: PatternList,
    keep_case: bool,
    tokenizer: Tokenizer,
    window: Window,
    /// Whether words are features; else only captures of the expressions are.
    takes_words: bool,
}

impl Cutter {
    /// A cutter at the start of a run.
    pub fn new(options: &ReadOptions) -> Self {
        let keep_case = options.has(ModelOption::KeepCase);
        let straddle = options.has(ModelOption::Straddle);
        Self {
            patterns: options.patterns.clone(),
            keep_case,
            tokenizer: Tokenizer::new(options.scheme, keep_case, straddle, options.order),
            window: Window::new(options.order),
            takes_words: options.has(ModelOption::StandardTokenizer),
        }
    }

    /// Calls `each` for the features of a line: those of the expressions, then those of the words.
    /// Of words that end at the same place the longest n-gram comes first. The line is left as the
    /// tokenizer leaves it: schemes of bytes fold its case unless case is kept.
    pub fn features(
        &mut self,
        line: &mut Vec<u8>,
        medium: Medium,
        each: &mut impl FnMut(Feature<'_>),
    ) {
        self.captures(line, medium, each);
        if self.takes_words {
            self.tokenizer.line(line, &mut self.window.feeding(medium, each));
        }
    }

    /// Calls `each` for what the expressions capture in a line.
    pub fn captures(&mut self, line: &[u8], medium: Medium, each: &mut impl FnMut(Feature<'_>)) {
        if !self.patterns.is_empty() {
            self.patterns.features(line, self.keep_case, &mut |pattern, order, body| {
                each(Feature { body, medium, order, pattern: Some(pattern) });
            });
        }
    }

    /// Passes the words of a line to `sink`, which makes n-grams of them itself.
    pub fn words(&mut self, line: &mut Vec<u8>, sink: &mut impl WordSink) {
        if self.takes_words {
            self.tokenizer.line(line, sink);
        }
    }

    /// The folded form of a line, in which the words stand; `None` if [`Self::features`] folds the
    /// line in place.
    pub fn folded(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        self.tokenizer.folded(line)
    }

    /// Whether all features are made of words.
    pub fn has_only_words(&self) -> bool {
        self.takes_words && self.patterns.is_empty()
    }

    /// The expressions.
    pub const fn patterns(&self) -> &PatternList {
        &self.patterns
    }

    /// The next line is cut as at the start of a run.
    pub fn restart(&mut self) {
        self.window.clear();
        self.tokenizer.restart();
    }

    /// Ends a source: no n-gram continues after it.
    pub fn end_of_source(&mut self) {
        self.window.clear();
        self.tokenizer.end_of_file();
    }

    /// Whether the next line would be cut as by a new cutter.
    pub(super) fn is_at_rest(&self) -> bool {
        self.tokenizer.is_at_rest()
    }
}
