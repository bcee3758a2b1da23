// SPDX-License-Identifier: GPL-3.0-or-later
//! How categories are learned and fitted in blocks, and what does not suit blocks.

use super::error::BlockError;
use crate::joint::fit::FitOptions;
use crate::learn::options::LearnOptions;
use crate::learn::reference::Reference;
use crate::model::settings::ModelOption;

/// The largest number of chains.
pub const CHAINS: u64 = 8;

/// The largest number of features that take part, unless another one is given.
pub const FEATURES: usize = 1 << 19;

/// How categories are learned and fitted in blocks.
#[derive(Debug, Clone)]
pub struct BlockSettings {
    /// How documents are read, and their counts fitted: under the uniform measure, without regular
    /// expressions.
    pub learn: LearnOptions,
    /// The fit; cost and blend must be given.
    pub fit: FitOptions,
    /// Documents of a block, 1 at least.
    pub block: u64,
    /// Features that take part, at most.
    pub features: usize,
}

/// Checks whether documents can be fitted in blocks with these settings.
///
/// # Errors
/// [`BlockError::Settings`].
pub fn check(settings: &BlockSettings) -> Result<(), BlockError> {
    let (reading, learn) = (settings.learn.reading(), settings.learn.settings());
    let what = if settings.block == 0 {
        "a block has one document at least"
    } else if settings.fit.cost.is_none() || settings.fit.blend.is_none() {
        "cost and blend cannot be chosen in blocks"
    } else if !reading.patterns.is_empty() {
        "regular expressions cannot be learned in blocks"
    } else if learn.reference != Reference::Uniform {
        "blocks need the uniform measure"
    } else if reading.reads_mail() || reading.has(ModelOption::Multinomial) {
        "mail and multinomial categories cannot be learned in blocks"
    } else {
        return Ok(());
    };
    Err(BlockError::Settings(what))
}
