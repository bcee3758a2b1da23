// SPDX-License-Identifier: GPL-3.0-or-later
//! Turns a document into features, scores and a verdict.

use super::set::CategorySet;
use crate::document::{Cutter, FeatureReader, FeatureSink, FilteredText};
use crate::error::Warning;
use crate::input::source::Source;
use crate::model::medium::Medium;
use crate::model::settings::ModelOption;
use crate::score::document::{self, CategoryScore};
use crate::score::scorer::Scorer;
use crate::score::words::Wanted;
use crate::token::Feature;
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
    scores: DocumentScores<D>,
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
        let mut scores = DocumentScores::new(Scorer::new(self.models.clone(), bits));
        scores.expect_words(reader.cutter(), self.reading.order, Wanted::default());
        Classifier { reader, scores, names: self.names.clone(), counts_length: false }
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
        let _ = self.reader.read_bytes(text, &mut self.scores);
    }

    /// Warnings that arose while scoring; each is returned once.
    pub fn warnings(&mut self) -> Vec<Warning> {
        self.scores.warnings()
    }

    /// The verdict on a document from a stream.
    ///
    /// # Errors
    /// The error that ended reading. There is no verdict on a part of a document.
    pub fn read(&mut self, document: impl Read) -> io::Result<Verdict> {
        self.begin();
        let source = Source { name: Vec::new(), reader: Box::new(document) };
        let error = self.reader.read(source, &mut self.scores)?;
        let verdict = self.finish();
        error.map_or(Ok(verdict), Err)
    }

    /// The verdict on a document that has been filtered before.
    pub fn classify_filtered(&mut self, document: &FilteredText) -> Verdict {
        self.reader.cutter().restart();
        self.scores.scorer.forget_words();
        self.reader.replay(document, &mut self.scores);
        self.finish()
    }

    fn begin(&mut self) {
        self.reader.start_anew();
        self.scores.scorer.forget_words();
    }

    /// The verdict on the texts that were added. The next text begins another document.
    pub fn finish(&mut self) -> Verdict {
        let scorer = &mut self.scores.scorer;
        scorer.settle_words(&mut |_| {});
        let category_scores = document::finish(scorer, self.counts_length);
        let percentages = document::percentages(&category_scores);
        let verdict = Verdict {
            names: self.names.clone(),
            best: document::best(&category_scores),
            scores: category_scores.iter().map(|category_score| category_score.score).collect(),
            complexities: category_scores
                .iter()
                .map(|category_score| category_score.complexity)
                .collect(),
            probabilities: percentages.iter().map(|percent| percent / 100.0).collect(),
        };
        scorer.start_document();
        verdict
    }
}

/// Scores the features of documents as they come in.
pub(crate) struct DocumentScores<D = Mmap> {
    /// The scores.
    pub scorer: Scorer<D>,
    by_words: bool,
    warnings: Vec<Warning>,
}

impl<D: AsRef<[u8]>> DocumentScores<D> {
    /// Scores of `scorer`'s categories.
    pub(crate) const fn new(scorer: Scorer<D>) -> Self {
        Self { scorer, by_words: false, warnings: Vec::new() }
    }

    /// Prepares to score words instead of the texts of features where that is possible; it is
    /// faster.
    pub(crate) fn expect_words(&mut self, cutter: &Cutter, order: u8, wanted: Wanted) {
        self.by_words = cutter.has_only_words() && self.scorer.expect_words(order, wanted);
    }

    /// The scores of the document so far.
    pub(crate) fn category_scores(&mut self, counts_length: bool) -> Vec<CategoryScore> {
        self.scorer.settle_words(&mut |warning| self.warnings.push(warning));
        document::finish(&self.scorer, counts_length)
    }

    /// Ends the document and returns its scores.
    pub(crate) fn finish(&mut self, counts_length: bool) -> Vec<CategoryScore> {
        let category_scores = self.category_scores(counts_length);
        self.scorer.start_document();
        category_scores
    }

    /// Warnings that arose while scoring; each is returned once.
    pub(crate) fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }
}

impl<D: AsRef<[u8]>> FeatureSink for DocumentScores<D> {
    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        if self.by_words {
            let Self { scorer, warnings, .. } = self;
            let mut warn = |warning| warnings.push(warning);
            cutter.words(line, &mut scorer.words(medium, &mut warn));
            scorer.end_of_line(&mut warn);
        } else {
            cutter.features(line, medium, &mut |feature| self.feature(feature));
        }
        Ok(())
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.scorer.score(&feature, &mut |warning| self.warnings.push(warning));
    }
}
