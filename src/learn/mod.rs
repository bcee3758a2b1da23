// SPDX-License-Identifier: GPL-3.0-or-later
//! Features → counts → weights.
//!
//! ```text
//! features ─→ count (table, digrams, tokens, documents) ─→ state ─→ reference ─→ fit ─→ model
//!                                                            ⇅
//!                                                       online dump
//! ```

pub mod counter;
mod documents;
pub mod dump;
pub mod fit;
mod groups;
pub mod learner;
pub mod memory_dump;
pub mod merge;
pub mod moments;
pub mod options;
#[cfg(test)]
mod oracle;
mod orders;
mod prepare;
pub mod reference;
mod round;
pub mod state;
pub mod table;
pub mod tokens;
pub mod weights;
pub mod words;

use crate::category::header::Header;
use crate::category::writer;
use crate::error::{Result, Warning, WarningSink};
use crate::model::digram::DigramTable;
use crate::model::medium::MEDIA;
use crate::model::settings::{ModelOption, ModelOptions, Scheme};
use crate::numeric::quantize::QuantWeight;
use reference::Reference;
use state::LearningState;
use std::io::{self, Write};
use table::Table;
use weights::Weights;

/// Receives lines of progress text; silent unless a sink is set.
pub struct Progress<'a>(Option<&'a mut dyn FnMut(&str)>);

impl<'a> Progress<'a> {
    /// Progress that goes to `sink`, one line a call, without line end.
    pub fn to(sink: &'a mut dyn FnMut(&str)) -> Self {
        Self(Some(sink))
    }

    /// Progress that nobody reads.
    pub fn silent() -> Self {
        Self(None)
    }

    /// Says one line; the text is made only when somebody reads it.
    pub fn say(&mut self, text: impl FnOnce() -> String) {
        if let Some(sink) = &mut self.0 {
            sink(&text());
        }
    }

    /// Whether somebody reads.
    pub fn is_heard(&self) -> bool {
        self.0.is_some()
    }
}

/// How a category is learned: the options of a run, with the letters that set them.
#[derive(Debug, Clone)]
pub struct LearnSettings {
    /// Bits of the table's size at the start (`-h`), 0..=30.
    pub bits: u8,
    /// Bits up to which the table may grow (`-H`).
    pub max_bits: Option<u8>,
    /// Features and messages are kept with probability 2^-n (`-x`).
    pub decimation: Option<u32>,
    /// The reference measure (`-L`).
    pub reference: Reference,
    /// Quality 1..=4 of the fit (`-q`), if given.
    pub quality: Option<u8>,
    /// Cut-off as given (`-z`): features seen that often or less carry no weight.
    pub min_count: i32,
    /// Measure how far documents are from the category, for confidences (`-X`).
    pub confidence: bool,
    /// Keep a reservoir of documents, which gives the spread of that distance. The reference keeps
    /// none where counts are kept (`-o`); the header's alpha, beta and s2 are 0 then.
    pub reservoir: bool,
    /// The model's option word.
    pub options: ModelOptions,
    /// The tokenizing scheme.
    pub scheme: Scheme,
}

#[cfg(test)]
impl LearnSettings {
    /// Settings of tests: all words that are made of letters, the uniform measure.
    fn plain(bits: u8, max_bits: Option<u8>, options: ModelOptions) -> Self {
        Self {
            bits,
            max_bits,
            decimation: None,
            reference: Reference::Uniform,
            quality: None,
            min_count: 0,
            confidence: false,
            reservoir: false,
            options,
            scheme: Scheme::Alpha,
        }
    }
}

/// A category as learned, ready to be written.
pub struct LearnedModel {
    /// The header's numbers.
    pub header: Header,
    /// The digitised reference measure.
    pub digrams: DigramTable,
    /// The weights by slot.
    pub weights: Weights,
}

impl LearnedModel {
    /// Writes the category file (spec model 9). `name` is what its first line calls the category,
    /// `patterns` the stored expressions, `table` the counts that the model was learned from.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        &self,
        out: &mut dyn Write,
        name: &[u8],
        patterns: &[Vec<u8>],
        table: &Table,
    ) -> io::Result<()> {
        let weights = self.weights.slots().iter().map(|slot| QuantWeight(slot.lambda));
        let slots = table.ids().zip(weights);
        writer::write(out, &self.header, name, patterns, &self.digrams, slots)
    }
}

/// A weight file's entries to start the fit from (`-1`), in slot order, empty ones left out.
pub struct Preload {
    /// Ids and stored weights.
    pub weights: Vec<(crate::token::id::FeatureId, QuantWeight)>,
}

/// Turns counts and their reference measure into a model: fit, class masses, document statistics
/// (spec model 5, steps 6 to 8).
///
/// # Errors
/// A number that leaves the range of the formulas.
pub fn finish(
    state: &mut LearningState,
    settings: &LearnSettings,
    digrams: DigramTable,
    preload: Option<&Preload>,
    progress: &mut Progress<'_>,
    warnings: WarningSink<'_>,
) -> Result<LearnedModel> {
    if state.total_of[1] == 0 {
        warnings(Warning::new(NO_UNIGRAMS));
        state.make_multinomial();
    }
    let (fitted, weights) = fit::fit(state, settings, &digrams, preload, progress)?;
    let masses: [f64; MEDIA] = fit::class_masses(state, &weights, fitted.log_partition);
    let moments = moments::measure(state, settings, &fitted, &weights, progress);
    let header = Header {
        reference_only: state.options.has(ModelOption::ReferenceOnly),
        divergence: fitted.divergence,
        log_partition: fitted.log_partition,
        max_order: state.max_order,
        multinomial: state.options.has(ModelOption::Multinomial),
        bits: state.table.bits(),
        features: state.total,
        unique_features: state.used,
        documents: state.documents,
        moments,
        log_masses: masses.map(|mass| -crate::numeric::elementary::log(mass)),
        options: state.options,
        scheme: Some(state.scheme),
    };
    Ok(LearnedModel { header, digrams, weights })
}

const NO_UNIGRAMS: &str = "\n         You have not defined any unigrams, so in this model
         features will be treated independently, which is quite
         likely incorrect. I hope you know what you're doing,
         because I don't!\n";
