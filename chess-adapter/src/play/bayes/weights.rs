// SPDX-License-Identifier: GPL-3.0-or-later
//! Weights of words in the files of the classifier's categories.

use std::path::Path;

use anyhow::{Context as _, Result};
use dbacl::choices::Groups;
use dbacl::{FeatureId, MappedCategory, open_category};

use crate::play::bayes::stage::{Outcome, Stage, category};

/// One of the classifier's categories, as a table of its words' weights.
pub struct Weights(Option<MappedCategory>);

impl Weights {
    /// Opens the category of a stage and outcome. If there is none, all weights are 0.
    ///
    /// # Errors
    ///
    /// The file is there and is no category.
    pub fn open(folder: &Path, stage: Stage, outcome: Outcome) -> Result<Self> {
        let path = folder.join(category(stage, outcome));
        if !path.exists() {
            return Ok(Self(None));
        }
        let open =
            open_category(&path).with_context(|| format!("cannot use {}", path.display()))?;
        Ok(Self(Some(open)))
    }

    /// Whether there is a category.
    pub const fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// How many words were learned, each as often as it occurred.
    pub fn occurrences(&self) -> u32 {
        self.0.as_ref().map_or(0, |category| category.header().features)
    }

    /// The weight of a word, nats: what it adds to the logarithm of a text's probability beyond
    /// what its letters do.
    pub fn of(&self, word: FeatureId) -> f64 {
        let Some(category) = &self.0 else { return 0.0 };
        let slot = category.find(word).filter(|slot| slot.id == word);
        let weight = slot.map_or(0.0, |slot| f64::from(slot.weight.weight()));
        weight - category.header().log_partition
    }
}

/// The classifier's number of a word.
pub fn feature(word: &str) -> FeatureId {
    let mut groups = Groups::default();
    groups.push_word(word.as_bytes(), 1);
    groups.end_alternative();
    groups.end_group(0);
    groups.get(0).ids()[0]
}
