// SPDX-License-Identifier: GPL-3.0-or-later
//! Per-category sums over the tokens of a document, in token order (spec model 12).

use super::empirical::{EmpiricalTable, Occurrence};
use super::model::Model;
use super::words::WordScores;
use crate::document::{Cutter, FeatureSink};
use crate::error::Warning;
use crate::model::medium::{MEDIA, Medium};
use crate::token::Feature;
use crate::token::id::FeatureId;
use dbacl_numeric::elementary::{count_f32, log, narrow};
use memmap2::Mmap;
use std::io;

/// Sums of one category over a document. They are aligned so that two threads' sums never share a
/// cache line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(64))]
pub(crate) struct Tally {
    /// Log-probability of the document, nats; at most about 0, higher is better.
    pub score: f64,
    /// Sum of squared token scores.
    pub squares: f64,
    /// Entropy increments of the tokens of the highest order.
    pub shannon: f64,
    /// Complexity: effective number of tokens.
    pub complexity: f64,
    /// Features scored.
    pub features: u32,
    /// Number of features, since the run began, that the category does not know.
    pub misses: u32,
    /// Number of order-1 tokens of each medium, since the run began.
    pub media: [u32; MEDIA],
}

/// How one category scored one token, for the trace.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Cell {
    /// Whether the category scores such tokens. If not, all other fields but `before` are 0.
    pub applies: bool,
    /// The weight, nats.
    pub lambda: f32,
    /// The reference log-probability, nats.
    pub reference: f32,
    /// Minus the log-partition per token, nats.
    pub renorm: f64,
    /// The multinomial term, nats.
    pub multinomial: f32,
    /// The id that was found, or 0 if the category does not know the token.
    pub id: u32,
    /// The score before the token, in nats.
    pub before: f32,
}

/// Scores documents under several categories.
pub(crate) struct Scorer<D = Mmap> {
    pub(super) models: Vec<Model<D>>,
    pub(super) tallies: Vec<Tally>,
    empirical: Option<EmpiricalTable>,
    has_warned: bool,
    warnings: Vec<Warning>,
    /// Scores of the standard tokenizer's words, if words are scored by their numbers.
    pub(super) words: Option<Box<WordScores>>,
}

impl<D: AsRef<[u8]>> Scorer<D> {
    /// A scorer for `models`, in the order of the command line. With `entropy_bits` the empirical
    /// entropy of documents is measured in a table of that size.
    pub(crate) fn new(models: Vec<Model<D>>, entropy_bits: Option<u8>) -> Self {
        let tallies = vec![Tally::default(); models.len()];
        let empirical = entropy_bits.map(EmpiricalTable::new);
        let (has_warned, warnings) = (false, Vec::new());
        Self { models, tallies, empirical, has_warned, warnings, words: None }
    }

    /// The categories.
    pub(crate) fn models(&self) -> &[Model<D>] {
        &self.models
    }

    /// Replaces the categories by newer versions of them, which score all later words. No words may
    /// be waiting.
    pub(crate) fn set_models(&mut self, models: Vec<Model<D>>) {
        if models.len() != self.models.len() {
            return;
        }
        self.settle_words();
        self.models = models;
        if let Some(words) = &mut self.words {
            words.reset();
        }
    }

    /// Whether a document of `tokens` tokens and one more cannot fill the table of empirical
    /// counts.
    #[inline]
    pub(super) fn remembers(&self, tokens: usize) -> bool {
        self.empirical.as_ref().is_none_or(|table| table.is_roomy(tokens))
    }

    /// What the table of empirical counts says of a token; `None` if there is no table.
    pub(super) fn occurrence(&mut self, id: FeatureId) -> Option<Occurrence> {
        let table = self.empirical.as_mut()?;
        let occurrence = table.count(id);
        if occurrence == Occurrence::NoRoom && !self.has_warned {
            self.has_warned = true;
            let bits = table.bits + 1;
            self.warnings.push(Warning::new(format!(
                "empirical hash full, calculation may be skewed. Try option -h {bits}"
            )));
        }
        Some(occurrence)
    }

    /// The sums so far, one per category.
    pub(crate) fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// Whether the empirical entropy is measured.
    pub(crate) const fn measures_entropy(&self) -> bool {
        self.empirical.is_some()
    }

    /// Starts a new document. Misses and media are still counted on, as in dbacl 1.14.1.
    pub(crate) fn start_document(&mut self) {
        self.settle_words();
        if let Some(words) = &mut self.words {
            words.counting = false;
            if let Some(remembered) = &mut words.remembered {
                remembered.clear();
            }
        }
        for tally in &mut self.tallies {
            *tally = Tally { misses: tally.misses, media: tally.media, ..Tally::default() };
        }
        if let Some(table) = &mut self.empirical {
            table.clear();
        }
    }

    /// Starts a new document whose entropy increments begin at `shannon` nats, for every category:
    /// an oddity of dbacl 1.14.1's mailinspect (spec tools 2.2).
    pub(crate) fn start_document_from(&mut self, shannon: f64) {
        self.start_document();
        for tally in &mut self.tallies {
            tally.shannon = shannon;
        }
    }

    /// Warnings that arose while scoring; each is returned once.
    pub(crate) fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// Scores one feature under every category that scores such features ([`Model::applies`]), and
    /// calls `trace` with each category's cell, in their order. Returns whether the feature was
    /// scored at all.
    pub(crate) fn score_each(
        &mut self,
        feature: &Feature<'_>,
        mut trace: impl FnMut(Cell, &Tally),
    ) -> bool {
        let id = FeatureId::of(feature.body, feature.medium);
        let mut occurrences = 0u32;
        let mut entropy_step = 0.0f32;
        match self.occurrence(id) {
            Some(Occurrence::Seen(1)) => occurrences = 1,
            Some(Occurrence::Seen(seen)) => {
                occurrences = seen;
                let (now, before) = (count_f32(seen), count_f32(seen - 1));
                entropy_step = narrow(
                    log(f64::from(now)) * f64::from(now)
                        - log(f64::from(before)) * f64::from(before),
                );
            }
            Some(Occurrence::NoSlot) | None => {}
            Some(Occurrence::NoRoom) => return false,
        }
        let mut multinomial = 0.0f32;
        for (model, tally) in self.models.iter().zip(&mut self.tallies) {
            let old = narrow(tally.score);
            if !model.applies(feature) {
                trace(Cell { before: old, ..Cell::default() }, tally);
                continue;
            }
            let slot = model.find(id);
            let lambda = slot.map_or(0.0, |slot| slot.weight.weight());
            let reference =
                if feature.order == 1 { model.log_reference(feature.body) } else { 0.0 };
            tally.features = tally.features.wrapping_add(1);
            tally.complexity += model.delta;
            if model.multinomial {
                multinomial = if occurrences > 0 {
                    let complexity = f64::from(narrow(tally.complexity));
                    narrow(log(complexity) - log(f64::from(count_f32(occurrences))))
                } else {
                    0.0
                };
                tally.score += f64::from((lambda + multinomial) + reference) - model.renorm;
            } else {
                tally.score += f64::from(lambda + reference) - model.renorm;
                if feature.order == model.max_order {
                    tally.shannon += f64::from(entropy_step);
                }
            }
            if slot.is_none_or(|slot| slot.id.0 == 0) {
                tally.misses = tally.misses.wrapping_add(1);
            }
            if feature.order == 1 {
                let step = tally.score - f64::from(old);
                tally.squares += step * step;
                let medium = &mut tally.media[feature.medium.index()];
                *medium = medium.wrapping_add(1);
            }
            let cell = Cell {
                applies: true,
                lambda,
                reference,
                renorm: -model.renorm,
                multinomial,
                id: slot.map_or(0, |slot| slot.id.0),
                before: old,
            };
            trace(cell, tally);
        }
        true
    }
}

impl<D: AsRef<[u8]>> FeatureSink for Scorer<D> {
    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        if self.words.is_some() {
            cutter.words(line, &mut self.words(medium));
            self.end_of_line();
        } else {
            cutter.features(line, medium, &mut |feature| self.feature(feature));
        }
        Ok(())
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.score_each(&feature, |_, _| {});
    }
}
