// SPDX-License-Identifier: GPL-3.0-or-later
//! How a category is learned: the settings of a run, and weights to start from.

use super::reference::Reference;
use crate::model::settings::{ModelOptions, Scheme};
use crate::token::id::FeatureId;
use dbacl_numeric::quantize::QuantWeight;

/// How a category is learned: the options of a run, with the letters that set them.
#[derive(Debug, Clone)]
pub(crate) struct LearnSettings {
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
    /// Cut-off as given (`-z`): features with this count or a lower one get no weight.
    pub min_count: i32,
    /// Measure how far documents are from the category, for confidences (`-X`).
    pub confidence: bool,
    /// Keep a reservoir of documents, which gives the spread of that distance. dbacl 1.14.1 keeps
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
    pub(super) fn plain(bits: u8, max_bits: Option<u8>, options: ModelOptions) -> Self {
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

/// Ids and stored weights of an existing category from which the fit starts (`-1`), in slot order,
/// without empty slots.
pub(crate) type Preload = [(FeatureId, QuantWeight)];
