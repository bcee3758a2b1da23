// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts features, in the order of spec model 4 and 8.1.

use super::LiteralState;
use crate::error::{Warning, WarningSink};
use crate::learn::LearnSettings;
use crate::learn::table::Place;
use crate::learn::tokens::append_text;
use crate::model::settings::ModelOption;
use crate::token::Feature;
use crate::token::id::FeatureId;
use dbacl_numeric::elementary::{count_f32, log, narrow};
use dbacl_numeric::random::Random;

/// Counts the features of a learning run into a [`LiteralState`].
pub(super) struct Counter {
    /// The counts so far.
    pub state: LiteralState,
    settings: LearnSettings,
    random: Random,
    /// Ids of the document being read, in order, with repeats; only when entropy is measured.
    document: Vec<FeatureId>,
    was_in_header: bool,
}

impl Counter {
    /// Continues counting in `state`.
    pub(super) fn new(state: LiteralState, settings: &LearnSettings) -> Self {
        let (settings, random) = (settings.clone(), Random::new());
        Self { state, settings, random, document: Vec::new(), was_in_header: false }
    }

    /// Whether to keep what is kept by chance (`-x`).
    fn draws(&mut self) -> bool {
        self.settings.decimation.is_none_or(|decimation| self.random.keeps(decimation))
    }

    /// Counts one feature.
    pub(super) fn count(&mut self, feature: Feature<'_>, warnings: WarningSink<'_>) {
        if self.state.message_dropped {
            return;
        }
        if !self.state.options.has(ModelOption::Mail) && !self.draws() {
            return;
        }
        let order = if self.state.is_multinomial() { 1 } else { feature.order };
        if let Some(at) = self.place(feature, order, warnings) {
            let measures_entropy = self.state.measures_entropy();
            let state = &mut self.state;
            let slot = &mut state.table.slots[at];
            slot.count += 1;
            state.max_count = state.max_count.max(slot.count);
            if measures_entropy {
                slot.shared += 1;
                self.document.push(slot.id);
            }
            state.total += 1;
            state.total_of[usize::from(slot.order)] += 1;
        }
        if order == 1 {
            self.state.characters.count(feature.body);
        }
    }

    /// The slot that an occurrence of the feature is counted in, which may be an empty one.
    fn place(
        &mut self,
        feature: Feature<'_>,
        order: u8,
        warnings: WarningSink<'_>,
    ) -> Option<usize> {
        let id = FeatureId::of(feature.body, feature.medium);
        loop {
            let state = &mut self.state;
            let at = match state.table.place(id) {
                Place::Found(at) => return Some(at),
                Place::Vacant(at) => at,
                Place::None => return None,
            };
            if state.table.has_room(state.used) {
                let slot = &mut state.table.slots[at];
                (slot.id, slot.order, slot.medium) = (id, order, feature.medium.number());
                state.used += 1;
                state.unique[usize::from(order)] += 1;
                state.max_order = state.max_order.max(order);
                append_text(&mut state.tokens, feature.body, feature.medium);
                return Some(at);
            }
            match self.settings.max_bits {
                Some(bits) if state.table.slots.len() < 1 << bits => state.table.grow(),
                Some(_) => {
                    warnings(Warning::new("the token hash table is nearly full, slowing down."));
                    self.settings.max_bits = None;
                    return Some(at);
                }
                None => return Some(at),
            }
        }
    }

    /// Takes note of the state that a mail filter left after a line: a change into a header block
    /// opens a message (spec email 14).
    pub(super) fn line_of_mail(&mut self, in_header: bool) {
        if in_header && !self.was_in_header {
            self.state.message_dropped = !self.draws();
            if !self.state.message_dropped {
                self.end_document();
            }
        }
        self.was_in_header = in_header;
    }

    /// Takes note of the end of an input file.
    pub(super) fn end_of_file(&mut self) {
        let options = self.state.options;
        if options.has(ModelOption::Mail) && options.has(ModelOption::StandardTokenizer) {
            self.end_document();
        }
    }

    /// Closes the document being read (spec model 8.1).
    fn end_document(&mut self) {
        let state = &mut self.state;
        if !state.measures_entropy() {
            return;
        }
        let document = std::mem::take(&mut self.document);
        if document.is_empty() {
            state.empty_documents += 1;
            return;
        }
        let length = count_f32(u32::try_from(document.len()).expect("a short document"));
        let mut entropy = 0.0f64;
        for &id in &document {
            let Some(slot) = state.table.find(id) else { continue };
            if slot.shared == 0 {
                continue; // seen earlier in this document
            }
            let share = count_f32(std::mem::take(&mut slot.shared)) / length;
            slot.share += share;
            let surprise = narrow(-log(f64::from(share)));
            if surprise.is_finite() {
                entropy += f64::from(share * surprise);
            }
        }
        if self.settings.reservoir {
            state.sample(&mut self.random, document, entropy);
        }
        state.negative_entropy_sum += -entropy;
        state.squared_entropy_sum += entropy * entropy;
        state.last_entropy = entropy;
        state.documents += 1;
    }
}
