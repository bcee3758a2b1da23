// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning a category from documents: reading, counting and fitting.

use super::counter::Counter;
use super::options::LearnOptions;
use super::state::LearningState;
use super::table::Table;
use super::{LearnSettings, Progress, finish};
use crate::category::mapped::in_memory;
use crate::category::reader::Category;
use crate::document::{FeatureReader, FilteredText};
use crate::error::{Error, Result, Warning};
use crate::input::source::Source;
use std::io::{self, Read};

/// Learns a category from documents.
///
/// ```
/// use dbacl::{LearnOptions, Learner};
///
/// let mut learner = Learner::new(&LearnOptions::text())?;
/// learner.learn(b"the quick brown fox jumps over the lazy dog");
/// learner.learn(b"the dog sleeps");
/// let learned = learner.finish()?;
/// assert!(learned.warnings.is_empty());
/// assert_eq!(learned.category.header().unique_features, 9);
/// # Ok::<(), dbacl::Error>(())
/// ```
///
/// The category is the one that `dbacl -l -H 25` learns from the same documents, one a file, to the
/// byte.
pub struct Learner {
    reader: FeatureReader<'static>,
    counter: Counter,
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
        let mut counter = empty_counter(options)?;
        counter.forget_appearances();
        if options.reading().patterns.is_empty() {
            counter.expect_words(options.reading().order);
        }
        let (settings, patterns) = (options.settings().clone(), options.stored_patterns());
        Ok(Self { reader, counter, settings, patterns })
    }

    /// Learns a document in memory.
    pub fn learn(&mut self, document: impl AsRef<[u8]>) {
        // Reading memory cannot fail, and counting accepts all features.
        let _ = self.reader.read_bytes(document.as_ref(), &mut self.counter);
    }

    /// Learns a document from a stream.
    ///
    /// # Errors
    /// The error that ended reading. The part of the document that was read is learned.
    pub fn read(&mut self, document: impl Read) -> io::Result<()> {
        let source = Source { name: Vec::new(), reader: Box::new(document) };
        self.reader.read(source, &mut self.counter)?.map_or(Ok(()), Err)
    }

    /// Learns a document that has been filtered before ([`FeatureReader::filter`]).
    pub fn learn_filtered(&mut self, document: &FilteredText) {
        self.reader.replay(document, &mut self.counter);
    }

    /// The category so far. Learning can go on.
    ///
    /// # Errors
    /// As for [`Self::finish`].
    pub fn category(&self) -> Result<Learned> {
        let (state, warnings) = self.counter.clone().into_state();
        conclude(state, &self.settings, &self.patterns, warnings)
    }

    /// The category.
    ///
    /// # Errors
    /// [`Error::NoTokens`] when the documents have no token, [`Error::Numeric`] when a number
    /// leaves the range of the formulas.
    pub fn finish(self) -> Result<Learned> {
        let (state, warnings) = self.counter.into_state();
        conclude(state, &self.settings, &self.patterns, warnings)
    }
}

/// What was learned.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Learned {
    /// The category.
    pub category: Category<Vec<u8>>,
    /// Problems that did not stop learning, such as a table without room for further features.
    pub warnings: Vec<Warning>,
}

/// From counts to the category.
///
/// # Errors
/// Those of [`Learner::finish`].
pub(crate) fn conclude(
    mut state: LearningState,
    settings: &LearnSettings,
    patterns: &[Vec<u8>],
    mut warnings: Vec<Warning>,
) -> Result<Learned> {
    if state.used == 0 {
        return Err(Error::NoTokens);
    }
    if let Some(warning) = state.fullness() {
        warnings.push(warning);
    }
    let mut warn = |warning| warnings.push(warning);
    let progress = &mut Progress::silent();
    let digrams = settings.reference.measure(&state.characters, progress, &mut warn)?;
    let model = finish(&mut state, settings, digrams, None, progress, &mut warn)?;
    let category = in_memory(model.to_bytes(b"category", patterns, &state.table))?;
    Ok(Learned { category, warnings })
}

/// A counter without features.
///
/// # Errors
/// [`Error::OutOfMemory`] when there is no memory for the table.
pub(crate) fn empty_counter(options: &LearnOptions) -> Result<Counter> {
    let settings = options.settings();
    if !Table::fits_in_memory(settings.bits) {
        return Err(Error::OutOfMemory { what: format!("2^{} features", settings.bits) });
    }
    Ok(Counter::empty(settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTERS: &[u8; 10] = b"abcdefghij";

    #[test]
    fn tables_grow_and_a_full_one_is_reported() {
        let word =
            |number: usize| [10_000, 1_000, 100, 10, 1].map(|unit| LETTERS[number / unit % 10]);
        let words: Vec<_> = (0..60_000).map(word).collect();
        let words = words.join(&b' ');
        let learn = |options: &LearnOptions| {
            let mut learner = Learner::new(options).unwrap();
            learner.learn(&words);
            let so_far = learner.category().unwrap();
            let learned = learner.finish().unwrap();
            let texts = |learned: &Learned| {
                learned.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
            };
            (learned.category.header().unique_features, texts(&so_far), texts(&learned))
        };
        // Two words have the id of another one.
        assert_eq!(learn(&LearnOptions::text()), (59_998, Vec::new(), Vec::new()));
        let (features, so_far, at_end) = learn(&LearnOptions::text().max_table_bits(15));
        assert_eq!(features, 31_130);
        for warnings in [so_far, at_end] {
            assert!(warnings.iter().any(|text| text.contains("table full")), "{warnings:?}");
        }
    }
}
