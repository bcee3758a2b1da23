// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning a category from documents: reading, counting and fitting.

use super::counter::Counter;
use super::options::LearnOptions;
use super::state::LearningState;
use super::table::Table;
use super::{LearnSettings, Progress, finish};
use crate::category::reader::Category;
use crate::document::{Cutter, FeatureReader, FeatureSink, FilteredText, LineState};
use crate::error::{Error, Result, Warning};
use crate::input::source::Source;
use crate::model::medium::Medium;
use crate::token::Feature;
use std::io::{self, Read};
use std::path::Path;

/// Learns a category from documents.
///
/// ```
/// use dbacl::{LearnOptions, Learner};
///
/// let mut learner = Learner::new(&LearnOptions::text())?;
/// learner.learn(b"the quick brown fox jumps over the lazy dog");
/// learner.learn(b"the dog sleeps");
/// let category = learner.finish()?;
/// assert_eq!(category.header().unique_features, 9);
/// # Ok::<(), dbacl::Error>(())
/// ```
///
/// The category is the one that `dbacl -l` learns from the same documents, one a file, to the byte.
pub struct Learner {
    reader: FeatureReader<'static>,
    counts: LearnedCounts,
    settings: LearnSettings,
    patterns: Vec<Vec<u8>>,
}

impl Learner {
    /// A learner without documents.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when there is no memory for the table that `options` ask for;
    /// [`Error::UnstorablePattern`] for an expression that no category can hold.
    pub fn new(options: &LearnOptions) -> Result<Self> {
        options.reading().patterns.refuse_unstorable()?;
        let reader = FeatureReader::new(options.reading());
        let counts = LearnedCounts::new(options)?;
        let (settings, patterns) = (options.settings().clone(), options.stored_patterns());
        Ok(Self { reader, counts, settings, patterns })
    }

    /// Learns a document in memory.
    pub fn learn(&mut self, document: &[u8]) {
        // Reading memory cannot fail, and counting accepts all features.
        let _ = self.reader.read_bytes(document, &mut self.counts);
    }

    /// Learns a document from a stream.
    ///
    /// # Errors
    /// The error that ended reading. The part of the document that was read is learned.
    pub fn read(&mut self, document: impl Read) -> io::Result<()> {
        let source = Source { name: Vec::new(), reader: Box::new(document) };
        self.reader.read(source, &mut self.counts)?.map_or(Ok(()), Err)
    }

    /// Learns a document that has been filtered before ([`FeatureReader::filter`]).
    #[doc(hidden)]
    pub fn learn_filtered(&mut self, document: &FilteredText) {
        self.reader.replay(document, &mut self.counts);
    }

    /// Warnings about the documents so far; each is returned once.
    pub fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.counts.warnings)
    }

    /// The category so far. Learning can go on.
    ///
    /// # Errors
    /// As for [`Self::finish`].
    pub fn category(&mut self) -> Result<Category<Vec<u8>>> {
        let LearnedCounts { counter, warnings, .. } = &mut self.counts;
        let state = counter.clone().into_state(&mut |warning| warnings.push(warning));
        conclude(state, &self.settings, &self.patterns, warnings)
    }

    /// The category.
    ///
    /// # Errors
    /// [`Error::NoTokens`] when the documents have no token, [`Error::Numeric`] when a number
    /// leaves the range of the formulas.
    pub fn finish(self) -> Result<Category<Vec<u8>>> {
        let LearnedCounts { counter, mut warnings, .. } = self.counts;
        let state = counter.into_state(&mut |warning| warnings.push(warning));
        conclude(state, &self.settings, &self.patterns, &mut warnings)
    }
}

/// From counts to the category.
///
/// # Errors
/// Those of [`Learner::finish`].
pub fn conclude(
    mut state: LearningState,
    settings: &LearnSettings,
    patterns: &[Vec<u8>],
    warnings: &mut Vec<Warning>,
) -> Result<Category<Vec<u8>>> {
    if state.used == 0 {
        return Err(Error::NoTokens);
    }
    if let Some(warning) = state.fullness() {
        warnings.push(warning);
    }
    let mut warn = |warning| warnings.push(warning);
    let mut progress = Progress::silent();
    let digrams = settings.reference.measure(&state.characters, &mut progress, &mut warn)?;
    let model = finish(&mut state, settings, digrams, None, &mut progress, &mut warn)?;
    let place = Path::new("category in memory");
    let mut bytes = Vec::new();
    let written = model.write(&mut bytes, b"category", patterns, &state.table);
    written.map_err(|error| Error::io(place, error))?;
    Category::new(bytes).map_err(|fault| Error::damaged(place, format!("{fault:?}")))
}

/// A counter without features.
///
/// # Errors
/// [`Error::OutOfMemory`] when there is no memory for the table.
pub fn empty_counter(options: &LearnOptions) -> Result<Counter> {
    let settings = options.settings();
    if !Table::fits_in_memory(settings.bits) {
        return Err(Error::OutOfMemory { what: format!("2^{} features", settings.bits) });
    }
    let LearnSettings { bits, options: model, scheme, min_count, .. } = *settings;
    let state = LearningState::new(bits, model, scheme, min_count);
    Ok(Counter::new(state, settings, false))
}

/// The counts of a learning run, as the features of documents come in.
pub struct LearnedCounts {
    /// The counts.
    pub counter: Counter,
    /// Features are counted by their words, not by their texts.
    by_words: bool,
    /// Warnings that arose while counting.
    pub warnings: Vec<Warning>,
}

impl LearnedCounts {
    /// Nothing counted yet.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when there is no memory for the table.
    pub fn new(options: &LearnOptions) -> Result<Self> {
        let mut counter = empty_counter(options)?;
        let reading = options.reading();
        let by_words = reading.patterns.is_empty() && counter.expect_words(reading.order);
        counter.forget_appearances();
        Ok(Self { counter, by_words, warnings: Vec::new() })
    }

    /// Continues the counts of `counter`; `by_words` says whether it expects words.
    pub const fn going_on(counter: Counter, by_words: bool) -> Self {
        Self { counter, by_words, warnings: Vec::new() }
    }

    /// Whether features are counted by their words; the counts of parts can be joined then.
    pub const fn are_by_words(&self) -> bool {
        self.by_words
    }
}

impl FeatureSink for LearnedCounts {
    fn text(&mut self, _: &[u8], state: LineState, _: &mut Cutter) -> io::Result<()> {
        self.counter.line_of_mail(state.in_header, &mut |warning| self.warnings.push(warning));
        Ok(())
    }

    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        if self.by_words {
            let Self { counter, warnings, .. } = self;
            let mut warn = |warning| warnings.push(warning);
            cutter.words(line, &mut counter.words(medium, &mut warn));
            counter.end_of_words(&mut warn);
        } else {
            cutter.features(line, medium, &mut |feature| self.feature(feature));
        }
        Ok(())
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.counter.count(feature, &mut |warning| self.warnings.push(warning));
    }

    fn end_of_source(&mut self, _: &[u8], _: &mut Cutter) -> io::Result<()> {
        self.counter.end_of_file(&mut |warning| self.warnings.push(warning));
        Ok(())
    }
}
