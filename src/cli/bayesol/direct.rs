// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores of a text at full precision, from the classifier itself.

use std::ffi::{OsStr, OsString};

use crate::cli::dbacl::config::Builder;
use crate::cli::dbacl::options::Key;
use crate::cli::getopt::Event;
use crate::cli::output::Messages;
use crate::document::{FeatureReader, FeatureSink};
use crate::error::Warning;
use crate::model::settings::ModelOption;
use crate::numeric::elementary::bits;
use crate::score::document;
use crate::score::scorer::Scorer;
use crate::token::Feature;

static MESSAGES: Messages = Messages::of(super::NAME);

/// Bits of the table of empirical counts, as in the classifier.
const EMPIRICAL_BITS: u8 = 15;

/// Categories, and what they make of a text.
pub struct Judges {
    reader: FeatureReader<'static>,
    scores: Scores,
}

struct Scores(Scorer);

impl FeatureSink for Scores {
    fn feature(&mut self, feature: Feature<'_>) {
        self.0.score(&feature, &mut |warning: Warning| MESSAGES.warning(&warning.0));
    }
}

impl Judges {
    /// Loads `categories`, which the classifier could compare with each other.
    ///
    /// # Errors
    /// What to say, line by line.
    pub fn load(categories: &[OsString]) -> Result<Self, Vec<String>> {
        let variable = |name: &str| std::env::var_os(name);
        let mut builder = Builder::new(OsStr::new(super::NAME), &MESSAGES, &variable);
        for name in categories {
            let event = Event::Option { key: Key::Category, value: Some(name.clone()) };
            builder.act(event).map_err(|failure| failure.lines)?;
        }
        let mut config = builder.finish().map_err(|failure| failure.lines)?;
        let models = std::mem::take(&mut config.models);
        let options = config.read_options();
        let bits = options.has(ModelOption::Entropy).then_some(EMPIRICAL_BITS);
        let scores = Scores(Scorer::new(models, bits));
        Ok(Self { reader: FeatureReader::new(&options), scores })
    }

    /// Takes in a text; several make up one document.
    pub fn read(&mut self, text: &[u8]) {
        // Memory can be read, and scoring asks for no end.
        let _ = self.reader.read_bytes(text, &mut self.scores);
    }

    /// Each category's name, cross-entropy in bits per token, and complexity.
    pub fn scores(&self) -> impl Iterator<Item = (&[u8], f64, f64)> {
        let scorer = &self.scores.0;
        let standings = document::finish(scorer, false);
        let scores = standings.into_iter().map(|standing| {
            let cross_entropy =
                if standing.complexity > 0.0 { bits(-standing.mean()) } else { 0.0 };
            (cross_entropy, standing.complexity)
        });
        scorer.models().iter().zip(scores).map(|(model, score)| (&model.name[..], score.0, score.1))
    }
}
