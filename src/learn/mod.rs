// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning: counts features and computes weights.
//!
//! ```text
//! features ─→ count (table, digrams, tokens, documents) ─→ state ─→ reference ─→ fit ─→ model
//!                                                            ⇅
//!                                                       online dump
//! ```

pub(crate) mod counter;
mod documents;
pub(crate) mod dump;
pub(crate) mod fit;
mod groups;
pub(crate) mod learner;
pub(crate) mod memory_dump;
pub(crate) mod merge;
pub(crate) mod moments;
pub(crate) mod options;
#[cfg(test)]
mod oracle;
mod orders;
mod prepare;
mod progress;
pub(crate) mod reference;
mod round;
pub(crate) mod runs;
mod settings;
pub(crate) mod state;
pub(crate) mod table;
pub(crate) mod tokens;
pub(crate) mod weights;
pub(crate) mod words;

use crate::category::header::Header;
use crate::category::writer;
use crate::error::{Result, Warning, WarningSink};
use crate::model::digram::DigramTable;
use crate::model::medium::MEDIA;
use crate::model::settings::ModelOption;
use dbacl_numeric::quantize::QuantWeight;
pub(crate) use progress::Progress;
pub(crate) use settings::{LearnSettings, Preload};
use state::LearningState;
use std::io::{self, Write};
use table::Table;

/// A category as learned, ready to be written.
pub(crate) struct LearnedModel {
    /// The header's numbers.
    pub header: Header,
    /// The digitised reference measure.
    pub digrams: DigramTable,
}

impl LearnedModel {
    /// The bytes of the category file, as [`Self::write`] writes them.
    pub(crate) fn to_bytes(&self, name: &[u8], patterns: &[Vec<u8>], table: &Table) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory does not fail.
        let _ = self.write(&mut bytes, name, patterns, table);
        bytes
    }

    /// Writes the category file (spec model 9). `name` is the category's name in its first line,
    /// `patterns` are the stored expressions, `table` the counts that the model was learned from.
    ///
    /// # Errors
    /// Those of `out`.
    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        name: &[u8],
        patterns: &[Vec<u8>],
        table: &Table,
    ) -> io::Result<()> {
        let weight = |at| QuantWeight(table.weights(at).lambda);
        let slots = (0..table.size()).map(|at| (table.cell(at).id, weight(at)));
        writer::write(out, &self.header, name, patterns, &self.digrams, slots)
    }
}

/// Turns counts and their reference measure into a model: fit, class masses, document statistics
/// (spec model 5, steps 6 to 8). The weights are left in the table of `state`, where they replace
/// what the features are made of: their texts are not known any more.
///
/// # Errors
/// A number that leaves the range of the formulas.
pub(crate) fn finish(
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
    let fitted = fit::fit(state, settings, &digrams, preload, progress)?;
    let masses: [f64; MEDIA] = fit::class_masses(state, fitted.log_partition);
    let moments = moments::measure(state, settings, &fitted, progress);
    let header = Header {
        reference_only: state.options.has(ModelOption::ReferenceOnly),
        divergence: fitted.divergence,
        log_partition: fitted.log_partition,
        max_order: state.max_order,
        multinomial: state.options.has(ModelOption::Multinomial),
        bits: state.table.bits(),
        features: state.total.into(),
        unique_features: state.used,
        documents: state.documents,
        moments,
        log_masses: masses.map(|mass| -dbacl_numeric::elementary::log(mass)),
        options: state.options,
        scheme: Some(state.scheme),
    };
    Ok(LearnedModel { header, digrams })
}

const NO_UNIGRAMS: &str = "\n         You have not defined any unigrams, so in this model
         features will be treated independently, which is quite
         likely incorrect. I hope you know what you're doing,
         because I don't!\n";
