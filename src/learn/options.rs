// SPDX-License-Identifier: GPL-3.0-or-later
//! Options of learning, with the defaults of the program.

use super::LearnSettings;
use super::reference::Reference;
use crate::document::ReadOptions;
use crate::error::{Result, WarningSink};
use crate::model::settings::{ModelOption, Scheme};

/// How a category is learned: how documents are read, and how their counts are fitted.
///
/// The defaults are those of `dbacl -l -H 25`. Categories that are to be compared must be learned
/// with the same reading: kind of text, tokenizer, order, expressions.
///
/// ```
/// use dbacl::{LearnOptions, Scheme};
///
/// // dbacl -l NAME -w 2 -e alnum -H 20
/// let options = LearnOptions::text().order(2).tokenizer(Scheme::Alnum).max_table_bits(20);
/// assert_eq!(options.reading().order, 2);
/// ```
#[derive(Debug, Clone)]
pub struct LearnOptions {
    reading: ReadOptions,
    settings: LearnSettings,
}

impl Default for LearnOptions {
    fn default() -> Self {
        Self::text()
    }
}

impl LearnOptions {
    /// Plain text: single words of letters, the Dirichlet reference measure.
    pub fn text() -> Self {
        Self::new(ReadOptions::text(), Reference::Dirichlet)
    }

    /// Mail (`-T email`): markup removed, the uniform reference measure, statistics of messages.
    pub fn mail() -> Self {
        Self::new(ReadOptions::mail(), Reference::Uniform)
    }

    fn new(reading: ReadOptions, reference: Reference) -> Self {
        let settings = LearnSettings {
            bits: 15,
            max_bits: Some(25),
            decimation: None,
            reference,
            quality: None,
            min_count: 0,
            confidence: false,
            reservoir: false,
            options: reading.options,
            scheme: reading.scheme,
        };
        Self { reading, settings }
    }

    /// Reads documents as `reading` says and fits by `settings`. Both must have the same options
    /// and tokenizer.
    pub(crate) const fn of(reading: ReadOptions, settings: LearnSettings) -> Self {
        Self { reading, settings }
    }

    /// Longest n-gram, 1 to 7 words (`-w`).
    #[must_use]
    pub fn order(mut self, order: u8) -> Self {
        self.reading.order = order.clamp(1, 7);
        self
    }

    /// How text is cut into words (`-e`).
    #[must_use]
    pub fn tokenizer(mut self, scheme: Scheme) -> Self {
        (self.reading.scheme, self.settings.scheme) = (scheme, scheme);
        self
    }

    /// Adds an option of reading or of the model (`-j`, `-S`, `-M`, `-r`, kinds of `-T`).
    #[must_use]
    pub fn with(mut self, option: ModelOption) -> Self {
        self.reading.options.insert(option);
        self.settings.options.insert(option);
        self
    }

    /// Makes features of what a regular expression captures (`-g`), in place of words; several may
    /// be given. POSIX extended syntax; `EXPRESSION||2` takes the second group.
    ///
    /// # Errors
    /// [`Error::Pattern`](crate::error::Error::Pattern) when it cannot be compiled,
    /// [`Error::TooManyPatterns`](crate::error::Error::TooManyPatterns) for the 64th.
    pub fn pattern(mut self, expression: &str, warnings: WarningSink<'_>) -> Result<Self> {
        self.reading.patterns.add(expression.as_bytes(), warnings)?;
        self.reading.options.remove(ModelOption::StandardTokenizer);
        self.settings.options.remove(ModelOption::StandardTokenizer);
        Ok(self)
    }

    /// Bits of the table's size at the start, 0 to 30 (`-h`): room for 2^bits features. A full
    /// table grows, unless [`Self::max_table_bits`] forbids it.
    #[must_use]
    pub const fn table_bits(mut self, bits: u8) -> Self {
        self.settings.bits = if bits < 30 { bits } else { 30 };
        self
    }

    /// Bits up to which the table may grow (`-H`), 25 by default. Features for which there is no
    /// room are not learned, and a warning says so.
    #[must_use]
    pub const fn max_table_bits(mut self, bits: u8) -> Self {
        self.settings.max_bits = Some(if bits < 30 { bits } else { 30 });
        self
    }

    /// The reference measure, which prices a feature before anything is learned (`-L`).
    #[must_use]
    pub const fn reference(mut self, reference: Reference) -> Self {
        self.settings.reference = reference;
        self
    }

    /// Features with this count or a lower one get no weight (`-z`).
    #[must_use]
    pub const fn min_count(mut self, count: i32) -> Self {
        self.settings.min_count = count;
        self
    }

    /// Quality of the fit, 1 (fast) to 4 (exact) (`-q`).
    #[must_use]
    pub fn quality(mut self, quality: u8) -> Self {
        self.settings.quality = Some(quality.clamp(1, 4));
        self
    }

    /// Features and messages are kept with probability 2^-`bits` (`-x`).
    #[must_use]
    pub const fn decimation(mut self, bits: u32) -> Self {
        self.settings.decimation = Some(bits);
        self
    }

    /// Keeps a sample of documents from which p-values are computed later (`-X`).
    #[must_use]
    pub fn confidence(mut self) -> Self {
        (self.settings.confidence, self.settings.reservoir) = (true, true);
        self.with(ModelOption::Entropy)
    }

    /// How documents are read.
    pub const fn reading(&self) -> &ReadOptions {
        &self.reading
    }

    /// How counts are fitted.
    pub(crate) const fn settings(&self) -> &LearnSettings {
        &self.settings
    }

    /// The texts of the expressions as a category stores them, `EXPRESSION||DIGITS`.
    pub(crate) fn stored_patterns(&self) -> Vec<Vec<u8>> {
        self.reading.patterns.stored_all()
    }
}
