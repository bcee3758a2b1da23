// SPDX-License-Identifier: GPL-3.0-or-later
//! Turns a document into features, scores and a verdict.

use super::set::CategorySet;
use crate::document::{FeatureReader, FilteredText};
use crate::error::Warning;
use crate::input::source::Source;
use crate::model::settings::ModelOption;
use crate::score::document;
use crate::score::scorer::Scorer;
use crate::score::words::Wanted;
use dbacl_numeric::invalid::quotient;
use memmap2::Mmap;
use std::io::{self, Read};
use std::sync::Arc;

/// Bits of the table of a document's own counts, unless others are asked for.
pub(crate) const EMPIRICAL_BITS: u8 = 15;

/// The verdict of a set of categories on a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    names: Arc<[String]>,
    best: usize,
    scores: Vec<f64>,
    complexities: Vec<f64>,
    probabilities: Vec<f64>,
}

impl Verdict {
    /// Name of the best category; of equally good ones the first, so of a text without tokens the
    /// first category of the set.
    pub fn best(&self) -> &str {
        &self.names[self.best]
    }

    /// Number of the best category, from 0.
    pub const fn best_index(&self) -> usize {
        self.best
    }

    /// Probability of the best category, 0 to 1. It is close to 1 for all but short texts.
    pub fn probability(&self) -> f64 {
        self.probabilities[self.best]
    }

    /// Log-probability of the document under each category, nats; the highest is best. `dbacl -n`
    /// prints them negated, as bits per token times complexity. With the default reference measure
    /// a letter that a category has never seen costs 2048 nats, so categories learned from a few
    /// sentences can have scores below -1000;
    /// [`crate::learn::reference::Reference::Uniform`] avoids this.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Effective number of tokens that each category scored.
    pub fn complexities(&self) -> &[f64] {
        &self.complexities
    }

    /// Log-probability of a token under each category, nats: score by complexity.
    pub fn means(&self) -> impl Iterator<Item = f64> + '_ {
        let each = self.scores.iter().zip(&self.complexities);
        each.map(|(&score, &complexity)| quotient(score, complexity))
    }

    /// Probability of each category, 0 to 1. They add up to 1 and are far too close to 0 and 1, as
    /// with any model that takes tokens for independent.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Names of the categories, in the order of all other lists.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// Classifies one document after the other.
pub struct Classifier<D = Mmap> {
    reader: FeatureReader<'static>,
    scorer: Scorer<D>,
    names: Arc<[String]>,
    counts_length: bool,
}

impl<D: AsRef<[u8]>> CategorySet<D> {
    /// The verdict on one document. For many documents a [`Self::classifier`] is faster.
    pub fn classify(&self, document: impl AsRef<[u8]>) -> Verdict {
        self.classifier().classify(document)
    }

    /// A classifier with memory of its own, for one document after the other.
    pub fn classifier(&self) -> Classifier<D> {
        let mut reader = FeatureReader::new(&self.reading);
        let measures_entropy = self.reading.has(ModelOption::Entropy);
        let bits = measures_entropy.then_some(EMPIRICAL_BITS);
        let mut scorer = Scorer::new(self.models.clone(), bits);
        if reader.cutter().has_only_words() {
            scorer.expect_words(self.reading.order, Wanted::default());
        }
        Classifier { reader, scorer, names: self.names.clone(), counts_length: false }
    }
}

impl<D: AsRef<[u8]>> Classifier<D> {
    /// The same classifier, with the length of a message as part of its score (`-P`).
    #[must_use]
    pub const fn counting_length(mut self) -> Self {
        self.counts_length = true;
        self
    }

    /// The verdict on a document in memory, whatever came before it.
    pub fn classify(&mut self, document: impl AsRef<[u8]>) -> Verdict {
        self.begin();
        self.add(document.as_ref());
        self.finish()
    }

    /// Adds a text to the present document; [`Self::finish`] ends the document.
    pub fn add(&mut self, text: &[u8]) {
        // Reading memory cannot fail, and scoring accepts all features.
        let _ = self.reader.read_bytes(text, &mut self.scorer);
    }

    /// Warnings that arose while scoring; each is returned once.
    pub fn warnings(&mut self) -> Vec<Warning> {
        self.scorer.warnings()
    }

    /// The verdict on a document from a stream.
    ///
    /// # Errors
    /// The error that ended reading. There is no verdict on a part of a document.
    pub fn read(&mut self, document: impl Read) -> io::Result<Verdict> {
        self.begin();
        let source = Source { name: Vec::new(), reader: Box::new(document) };
        let error = self.reader.read(source, &mut self.scorer)?;
        let verdict = self.finish();
        error.map_or(Ok(verdict), Err)
    }

    /// The verdict on a document that has been filtered before.
    pub fn classify_filtered(&mut self, document: &FilteredText) -> Verdict {
        self.reader.cutter().restart();
        self.scorer.forget_words();
        self.reader.replay(document, &mut self.scorer);
        self.finish()
    }

    fn begin(&mut self) {
        self.reader.start_anew();
        self.scorer.forget_words();
    }

    /// The verdict on the texts that were added. The next text begins another document.
    pub fn finish(&mut self) -> Verdict {
        let category_scores = self.scorer.finish(self.counts_length);
        let percentages = document::percentages(&category_scores);
        Verdict {
            names: self.names.clone(),
            best: document::best(&category_scores),
            scores: category_scores.iter().map(|category_score| category_score.score).collect(),
            complexities: category_scores
                .iter()
                .map(|category_score| category_score.complexity)
                .collect(),
            probabilities: percentages.iter().map(|percent| percent / 100.0).collect(),
        }
    }
}
