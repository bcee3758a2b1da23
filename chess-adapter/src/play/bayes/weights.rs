// SPDX-License-Identifier: GPL-3.0-or-later
//! What the files of the classifier's categories say of words.

use std::path::Path;

use anyhow::{Context as _, Result};
use dbacl::choices::Groups;
use dbacl::{FeatureId, MappedCategory, open_category};

use crate::play::bayes::stage::{Outcome, Stage, category};

/// One of the classifier's categories, as a table of what its words weigh.
pub struct Weights(Option<MappedCategory>);

impl Weights {
    /// Opens the category of a stage and outcome; one that is not there knows no word.
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

    /// What a word adds to the logarithm of a text's probability, nats, beyond what its letters do:
    /// the less, the rarer it was in the texts learned.
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
